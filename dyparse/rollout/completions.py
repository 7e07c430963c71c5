"""Costs of moves under the model: each legal move of a state is followed by the model's own moves
to the end of the sentence, and the wrong words of the tree are counted.

A rollout has recorded its moves, so its states are met again by taking them once more. Nothing of
this is compiled into the rollout itself.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dyparse.data.sentence import NONE
from dyparse.exploration import Choice, Completions, highest_scoring, uniform
from dyparse.rollout.scorer import Scorer, score, table_rows
from dyparse.runtime.kernels import cached_njit, njit
from dyparse.system import (
    System,
    copy_row,
    features,
    is_finished,
    legal,
    take_move,
    wrong_words,
)


class RolledOut(NamedTuple):
    """Inputs of a rollout."""

    words: NDArray[np.int32]  # [B]
    gold: Any  # as the system has prepared it
    random: NDArray[np.uint64]  # [B]  the generators of the rows, as the rollout has left them


def complete(
    system: System, completions: Completions, scorer: Scorer, made_from: RolledOut, visited: Any
) -> None:
    """Replace costs of visited states, which are all of some sentences, by those of completions."""
    states, ends = (system.start(made_from.words) for _ in range(2))
    rows = (states, ends, made_from.random)
    _complete(system.options, completions, (scorer, made_from.gold), rows, visited)


@cached_njit
def _complete(options: Any, completions: Any, network: Any, rows: Any, visited: Any) -> None:
    """network = (scorer, gold); rows = (states, states for scratch, generators)."""
    scorer, gold = network
    states, ends, random = rows
    F, (M, D) = scorer.table.shape[1], scorer.output.shape
    slots, table_row = np.empty(F, dtype=np.int32), np.empty(F, dtype=np.int32)
    is_legal, costs = np.empty(M, dtype=np.bool_), np.zeros(M, dtype=np.int32)
    hidden, scores = np.empty(D, dtype=np.float32), np.empty(M, dtype=np.float32)
    scratch = (slots, table_row, hidden, Choice(scores, is_legal, costs, NONE))
    t, T = 0, visited.move.shape[0]
    while t < T:
        i, stop = visited.sentence[t], t
        while stop < T and visited.sentence[stop] == i:
            stop += 1
        wanted = completions.states
        while t < stop and wanted > 0:  # selection sampling (Knuth): all sets are equally likely
            if uniform(random, i) * (stop - t) < wanted:
                wanted -= 1
                if uniform(random, i) < completions.probability:
                    for move in range(M):
                        if visited.legal[t, move]:
                            copy_row(states, ends, i)
                            take_move(options, ends, i, move)
                            follow_model(options, scorer, ends, i, scratch)
                            visited.cost[t, move] = wrong_words(options, ends, i, gold)
            take_move(options, states, i, visited.move[t])
            t += 1
        t = stop


@njit
def follow_model(options, scorer, states, i, scratch):
    """Take the highest-scoring move until the sentence is finished."""
    slots, table_row, hidden, choice = scratch
    N = states.stack.shape[1]
    while not is_finished(options, states, i):
        features(options, states, i, slots)
        legal(options, states, i, choice.legal)
        table_rows(slots, i * N, scorer.table.shape[0] - 1, table_row)
        score(scorer, table_row, hidden, choice.scores)
        take_move(options, states, i, highest_scoring(choice))
