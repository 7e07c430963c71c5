"""The walk: whole sentences of a whole batch through their states, in one compiled call.

Per state: feature slots, legal moves, scores (a sum of table rows, ReLU, a small product), costs,
the choice, the step. Neither Python nor torch is entered between two states, nothing is
differentiated. In training every visited state is written down, for one update over all of them.
"""

import functools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from dyparse.data.sentence import NONE
from dyparse.exploration import Choice, Exploration, follow
from dyparse.exploration.explore import Explore
from dyparse.rollout.scorer import Scorer, score, table_rows
from dyparse.runtime.kernels import cached_njit, njit
from dyparse.system import (
    System,
    cost,
    features,
    is_finished,
    legal,
    prefer,
    static,
    take_move,
)

T = TypeVar("T")
GREEDY = Explore(first_epochs=0, probability=1.0)


class VisitedStates(NamedTuple):
    """The states that a walk met, all sentences one after the other."""

    features: NDArray[np.int32]  # [T, F]  rows of the scorer's table
    legal: NDArray[np.bool_]  # [T, M]
    cost: NDArray[np.int32]  # [T, M]  as preference and exploration left it
    paid: NDArray[np.int32]  # [T]     cost of the move taken
    move: NDArray[np.int32]  # [T]     the move taken
    sentence: NDArray[np.int32]  # [T]  the sentence's row in the batch


def rollout(  # noqa: PLR0913 - two choices, the network, the batch, and when
    system: System,
    exploration: Exploration,
    scorer: Scorer,
    words: NDArray[np.int32],
    gold: NDArray[np.int32],
    *,
    epoch: int,
    seed: int | NDArray[np.uint64],
    threads: int = 1,
) -> VisitedStates:
    """Walk as the exploration says; what was visited.

    words[b] is the number of words of sentence b, whose tokens are rows b·N … of the table;
    gold[b, w] is the head of word w. A sentence has a seed of its own, or one drawn from the seed
    of all. The walk does not depend on the number of threads.
    """
    most = np.array([system.most_moves(n) for n in words.tolist()])
    first = np.cumsum(most) - most  # [B]  where a sentence's states are written
    total, F, M = int(most.sum()), len(system.slots), len(system.moves)
    visited = VisitedStates(
        features=np.empty((total, F), dtype=np.int32),
        legal=np.empty((total, M), dtype=np.bool_),
        cost=np.zeros((total, M), dtype=np.int32),
        paid=np.empty(total, dtype=np.int32),
        move=np.empty(total, dtype=np.int32),
        sentence=np.empty(total, dtype=np.int32),
    )
    if isinstance(seed, int):
        seed = np.random.default_rng(seed).integers(2**64, size=len(words), dtype=np.uint64)
    random = seed.copy()  # every row's generator counts on from it
    walker = (system.start(words), random)
    choices = (system.options, exploration.policy, epoch)
    prepared = system.prepare(gold)

    def walk_rows(begin: int, end: int) -> slice:
        start = int(first[begin])
        rows = (begin, end, start)
        return slice(start, _rollout(choices, scorer, walker, prepared, visited, rows))

    parts = _in_shards(walk_rows, words, threads)
    return VisitedStates(*(np.concatenate([array[part] for part in parts]) for array in visited))


def decode_greedily(
    system: System, scorer: Scorer, words: NDArray[np.int32], *, threads: int = 1
) -> NDArray[np.int32]:
    """[B, N]: the heads that the model finds by taking its favourite legal move all the way."""
    states = system.start(words)
    walker = (states, np.zeros(len(words), dtype=np.uint64))
    choices = (system.options, GREEDY.policy, 1)

    def walk_rows(begin: int, end: int) -> int:
        return _rollout(choices, scorer, walker, None, None, (begin, end, 0))

    _in_shards(walk_rows, words, threads)
    return system.heads(states)


def _in_shards(
    walk_rows: Callable[[int, int], T], words: NDArray[np.int32], threads: int
) -> list[T]:
    """walk_rows(begin, end) over all sentences, in shards of about equally many words."""
    if threads == 1 or len(words) < 2:
        return [walk_rows(0, len(words))]
    ends = np.cumsum(words)
    cuts = np.searchsorted(ends, ends[-1] * np.arange(1, threads) / threads)
    bounds = sorted({0, *cuts.tolist(), len(words)})
    return list(_pool(threads).map(walk_rows, bounds[:-1], bounds[1:]))


@functools.cache  # emptied in forked children: threads do not survive a fork
def _pool(threads: int) -> ThreadPoolExecutor:
    """Threads for the walk, which runs without Python's lock; made once."""
    return ThreadPoolExecutor(threads, thread_name_prefix="walk")


os.register_at_fork(after_in_child=_pool.cache_clear)


@njit
def copy(source: Any, target: Any) -> None:
    """Copy a row. (A loop: numba takes long to compile assignments of slices.)"""
    for k in range(source.shape[0]):
        target[k] = source[k]


@cached_njit
def _rollout(
    choices: Any, scorer: Scorer, walker: Any, gold: Any, visited: Any, rows: tuple[int, int, int]
) -> int:
    """Walk sentences begin … end − 1 to their ends, writing states down from position t on.

    Returns the position after the last. Without gold nothing costs anything.
    choices = (system's options, exploration's policy, epoch); walker = (states, random).
    """
    options, policy, epoch = choices
    states, random = walker
    begin, end, t = rows
    N, F = states.stack.shape[1], scorer.table.shape[1]
    M, D = scorer.output.shape
    slots, table_row = np.empty(F, dtype=np.int32), np.empty(F, dtype=np.int32)
    is_legal, costs = np.empty(M, dtype=np.bool_), np.zeros(M, dtype=np.int32)
    true_costs = np.zeros(M, dtype=np.int32)
    hidden, scores = np.empty(D, dtype=np.float32), np.empty(M, dtype=np.float32)
    for i in range(begin, end):
        while not is_finished(options, states, i):
            features(options, states, i, slots)
            legal(options, states, i, is_legal)
            table_rows(slots, i * N, scorer.table.shape[0] - 1, table_row)
            score(scorer, table_row, hidden, scores)
            canonical = NONE
            if gold is not None:
                cost(options, states, i, gold, costs)
                copy(costs, true_costs)
                prefer(options, states, i, gold, is_legal, costs)
                canonical = static(options, states, i, gold, is_legal, costs)
            move = follow(policy, epoch, Choice(scores, is_legal, costs, canonical), random, i)
            if visited is not None:
                copy(table_row, visited.features[t])
                copy(is_legal, visited.legal[t])
                copy(costs, visited.cost[t])
                visited.paid[t] = true_costs[move]
                visited.move[t] = move
                visited.sentence[t] = i
            take_move(options, states, i, move)
            t += 1
    return int(t)
