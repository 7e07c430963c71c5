"""The walk: whole sentences of a whole batch through their states, in one compiled call.

Per state: feature slots, legal moves, scores (a sum of table rows, ReLU, a small product), costs,
the choice, the step. Neither
Python nor torch is entered between two states, nothing is differentiated. In training every
visited state is written
down, for one update over all of them.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dyparse.compiled import cached_njit
from dyparse.exploration import Choice, Exploration, follow
from dyparse.exploration.explore import Explore
from dyparse.scorer import Scorer, score, table_rows
from dyparse.sentence import NONE
from dyparse.system import (
    States,
    System,
    cost,
    features,
    is_finished,
    legal,
    static,
    take_move,
)

GREEDY = Explore(first_epochs=0, probability=1.0)


class Visited(NamedTuple):
    """The states that a walk met, all sentences one after the other."""

    features: NDArray[np.int32]  # [T, F]  rows of the scorer's table
    legal: NDArray[np.bool_]  # [T, M]
    cost: NDArray[np.int32]  # [T, M]  as the exploration left it
    paid: NDArray[np.int32]  # [T]     cost of the move taken


def walk_and_record(  # noqa: PLR0913 - two choices, the network, the batch, and when
    system: System,
    exploration: Exploration,
    scorer: Scorer,
    words: NDArray[np.int32],
    gold: NDArray[np.int32],
    *,
    epoch: int,
    seed: int,
) -> Visited:
    """Walk as the exploration says; what was visited.

    words[b] is the number of words of sentence b, whose tokens are rows b·N … of the table;
    gold[b, w] is the head of word w.
    """
    most = [system.most_moves(n) for n in words.tolist()]
    T, F, M = sum(most), len(system.slots), len(system.moves)
    visited = Visited(
        features=np.empty((T, F), dtype=np.int32),
        legal=np.empty((T, M), dtype=np.bool_),
        cost=np.zeros((T, M), dtype=np.int32),
        paid=np.empty(T, dtype=np.int32),
    )
    states = system.start(words)
    random = np.random.default_rng(seed).integers(2**64, size=len(words), dtype=np.uint64)
    count = _walk(
        (system.options, exploration.policy, epoch),
        scorer,
        states,
        random,
        system.prepare(gold),
        visited,
    )
    return Visited(
        visited.features[:count], visited.legal[:count], visited.cost[:count], visited.paid[:count]
    )


def walk_greedily(system: System, scorer: Scorer, words: NDArray[np.int32]) -> NDArray[np.int32]:
    """[B, N]: the heads that the model finds by taking its favourite legal move all the way."""
    states = system.start(words)
    random = np.zeros(len(words), dtype=np.uint64)
    _walk((system.options, GREEDY.policy, 1), scorer, states, random, None, None)
    return system.heads(states)


@cached_njit
def _walk(
    choices: Any, scorer: Scorer, states: States, random: Any, gold: Any, visited: Any
) -> int:
    """Walk every sentence to its end; the number of states visited.

    Without gold nothing costs anything.
    """
    options, policy, epoch = choices
    N, F = states.stack.shape[1], scorer.table.shape[1]
    M, D = scorer.output.shape
    slots, rows = np.empty(F, dtype=np.int32), np.empty(F, dtype=np.int32)
    is_legal, costs = np.empty(M, dtype=np.bool_), np.zeros(M, dtype=np.int32)
    hidden, scores = np.empty(D, dtype=np.float32), np.empty(M, dtype=np.float32)
    t = 0
    for i in range(states.length.shape[0]):
        while not is_finished(options, states, i):
            features(options, states, i, slots)
            legal(options, states, i, is_legal)
            table_rows(slots, i * N, scorer.table.shape[0] - 1, rows)
            score(scorer, rows, hidden, scores)
            canonical = NONE
            if gold is not None:
                cost(options, states, i, gold, costs)
                canonical = static(options, states, i, gold, is_legal, costs)
            move = follow(policy, epoch, Choice(scores, is_legal, costs, canonical), random, i)
            if visited is not None:
                visited.features[t] = rows
                visited.legal[t] = is_legal
                visited.cost[t] = costs
                visited.paid[t] = costs[move]
            take_move(options, states, i, move)
            t += 1
    return t
