"""Scores of moves from feature slots, compiled: the part of the network that every state needs."""

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from dyparse.data.sentence import NONE
from dyparse.runtime.kernels import ONE_ROW, njit


class Scorer(NamedTuple):
    """Arrays for the scores of a state: output · relu(bias + Σ_f table[token_f, f])."""

    table: NDArray[np.float32]  # [tokens + 1, F, D]  the last row is for an empty slot
    bias: NDArray[np.float32]  # [D]
    output: NDArray[np.float32]  # [M, D]
    output_bias: NDArray[np.float32]  # [M]


@njit
def table_rows(slots, first, empty, rows):
    """rows[f] = row of the table for the token in slot f; the last row if there is none."""
    for f in range(slots.shape[0]):
        rows[f] = empty if slots[f] == NONE else first + slots[f]


@register_jitable(fastmath={"reassoc", "contract"}, **ONE_ROW)
def score(scorer, rows, hidden, scores):
    """scores[m] = output[m] · relu(bias + Σ_f table[rows[f], f])."""
    D = hidden.shape[0]
    for d in range(D):
        hidden[d] = scorer.bias[d]
    for f in range(rows.shape[0]):
        contribution = scorer.table[rows[f], f]
        for d in range(D):
            hidden[d] += contribution[d]
    for m in range(scores.shape[0]):
        total = scorer.output_bias[m]
        weight = scorer.output[m]
        for d in range(D):
            total += weight[d] * max(hidden[d], np.float32(0))
        scores[m] = total
