"""Scores of all moves in given states of one sentence, for those who watch a model decide."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dyparse.rollout.scorer import Scorer, score, table_rows
from dyparse.runtime.kernels import cached_njit
from dyparse.system import States, System, features


def move_scores(system: System, scorer: Scorer, states: States) -> NDArray[np.float32]:
    """[B, M]: the scores of every move, legal or not, in states of the scorer's first sentence."""
    scores = np.empty((len(states.length), len(system.moves)), dtype=np.float32)
    _move_scores(system.options, states, scorer, scores)
    return scores


@cached_njit
def _move_scores(options: Any, states: States, scorer: Scorer, out: NDArray[np.float32]) -> None:
    F, D = scorer.table.shape[1], scorer.output.shape[1]
    slots, rows = np.empty(F, dtype=np.int32), np.empty(F, dtype=np.int32)
    hidden = np.empty(D, dtype=np.float32)
    for i in range(out.shape[0]):
        features(options, states, i, slots)
        table_rows(slots, 0, scorer.table.shape[0] - 1, rows)
        score(scorer, rows, hidden, out[i])
