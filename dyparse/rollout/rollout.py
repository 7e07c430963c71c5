"""Rollouts: all sentences of a batch from their first state to their last, in one compiled call.

For each state: feature slots, legal moves, scores (a sum of table rows, ReLU, a small product),
costs, the choice of a move, the step. Between two states neither Python nor torch runs, and nothing
is differentiated. In training every visited state is recorded, and the network is then updated once
from all of them.
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
from dyparse.rollout.completions import RolledOut, complete
from dyparse.rollout.probability import LogProbabilities, add_log_probabilities
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
    """The states that a rollout visited, sentence after sentence."""

    features: NDArray[np.int32]  # [T, F]  rows of the scorer's table
    legal: NDArray[np.bool_]  # [T, M]
    cost: NDArray[np.int32]  # [T, M]  after `prefer` and the exploration
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
    """The states that are visited if the exploration chooses the moves.

    words[b] is the number of words of sentence b, whose tokens are rows b·N … of the table;
    gold[b, w] is the head of word w, or head and label where moves carry labels. The seed is an
    array with one for each sentence, or a number from which these are drawn. The number of threads
    changes nothing but the time.
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
    random = seed.copy()  # the states of the rows' generators, which change
    batch = (system.start(words), random)
    choices = (system.options, exploration.policy, epoch)
    prepared = system.prepare(gold)
    completions = exploration.completions(epoch)

    def roll_out(start: int, stop: int) -> slice:
        t = int(first[start])
        part = slice(t, _rollout(choices, scorer, batch, prepared, visited, None, (start, stop, t)))
        if completions:
            recorded = VisitedStates._make(array[part] for array in visited)
            complete(system, completions, scorer, RolledOut(words, prepared, random), recorded)
        return part

    parts = _in_chunks(roll_out, words, threads)
    return VisitedStates(*(np.concatenate([array[part] for part in parts]) for array in visited))


def decode_greedily(
    system: System,
    scorer: Scorer,
    words: NDArray[np.int32],
    *,
    threads: int = 1,
    log_probabilities: LogProbabilities | None = None,
) -> NDArray[np.int32]:
    """The heads if the legal move with the highest score is taken in every state: [B, N], or
    [B, N, 2], with labels, from moves with labels.

    To log_probabilities those of the decisions about each word are added, see
    `add_log_probabilities`; without it nothing of the kind is computed.
    """
    states = system.start(words)
    batch = (states, np.zeros(len(words), dtype=np.uint64))
    choices = (system.options, GREEDY.policy, 1)

    def roll_out(start: int, stop: int) -> int:
        return _rollout(choices, scorer, batch, None, None, log_probabilities, (start, stop, 0))

    _in_chunks(roll_out, words, threads)
    return system.heads(states)


def _in_chunks(
    roll_out: Callable[[int, int], T], words: NDArray[np.int32], threads: int
) -> list[T]:
    """roll_out(start, stop) over all sentences, one chunk for each thread, of about equal size."""
    if threads == 1 or len(words) < 2:
        return [roll_out(0, len(words))]
    ends = np.cumsum(words)
    cuts = np.searchsorted(ends, ends[-1] * np.arange(1, threads) / threads)
    bounds = sorted({0, *cuts.tolist(), len(words)})
    return list(_pool(threads).map(roll_out, bounds[:-1], bounds[1:]))


@functools.cache  # emptied in forked children: threads do not survive a fork
def _pool(threads: int) -> ThreadPoolExecutor:
    """Threads for rollouts, which run without Python's lock; made once."""
    return ThreadPoolExecutor(threads, thread_name_prefix="rollout")


os.register_at_fork(after_in_child=_pool.cache_clear)


@njit
def copy(source: Any, target: Any) -> None:
    """Copy a row. (A loop: numba takes long to compile assignments of slices.)"""
    for k in range(source.shape[0]):
        target[k] = source[k]


@cached_njit
def _rollout(  # noqa: PLR0913, PLR0917 - one each for what may be None, and then is not compiled
    choices: Any,
    scorer: Scorer,
    batch: Any,
    gold: Any,
    visited: Any,
    log_probabilities: Any,
    rows: tuple[int, int, int],
) -> int:
    """Roll out sentences start … stop − 1, recording their states from position t on.

    Returns the position after the last one. Without gold all costs are 0.
    choices = (system's options, exploration's policy, epoch); batch = (states, random);
    rows = (start, stop, t).
    """
    options, policy, epoch = choices
    states, random = batch
    start, stop, t = rows
    N, F = states.stack.shape[1], scorer.table.shape[1]
    M, D = scorer.output.shape
    slots, table_row = np.empty(F, dtype=np.int32), np.empty(F, dtype=np.int32)
    is_legal, costs = np.empty(M, dtype=np.bool_), np.zeros(M, dtype=np.int32)
    true_costs = np.zeros(M, dtype=np.int32)
    hidden, scores = np.empty(D, dtype=np.float32), np.empty(M, dtype=np.float32)
    for i in range(start, stop):
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
            choice = Choice(scores, is_legal, costs, canonical)
            move = follow(policy, epoch, choice, random, i)
            if visited is not None:
                copy(table_row, visited.features[t])
                copy(is_legal, visited.legal[t])
                copy(costs, visited.cost[t])
                visited.paid[t] = true_costs[move]
                visited.move[t] = move
                visited.sentence[t] = i
            if log_probabilities is not None:
                add_log_probabilities(options, states, i, choice, move, log_probabilities)
            take_move(options, states, i, move)
            t += 1
    return int(t)
