"""Probabilities of heads and labels: those of the moves that decided them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dyparse.data.sentence import NONE
from dyparse.runtime.kernels import njit
from dyparse.system import arc, without_label


class LogProbabilities(NamedTuple):
    """Of all decisions about each word's head, and of its label where moves carry labels."""

    head: NDArray[np.float64]  # [B, N]
    label: NDArray[np.float64]  # [B, N]  given the head


@njit
def add_log_probabilities(options, states, i, choice, move, out):
    """out.head[i, w] += log p(move) for every word w that some legal move would attach here, and
    out.label[i, w] = log p(label) for the word that the move does attach.

    p is the softmax over the scores of legal moves, the move's with all its labels together for the
    head; that of the label is its share of these. Summed over a derivation this is the probability
    of all decisions about the word's head: to attach it here, or not yet, or never.
    """
    total, with_any_label = 0.0, 0.0
    same = without_label(options, move)
    for other in range(choice.scores.shape[0]):
        if choice.legal[other]:
            odds = np.exp(np.float64(choice.scores[other] - choice.scores[move]))
            total += odds
            with_any_label += odds if without_label(options, other) == same else 0.0
    last = int(NONE)  # moves that differ in the label alone follow each other
    for other in range(choice.scores.shape[0]):
        if choice.legal[other]:
            dependent = int(arc(options, states, i, other)[1])
            if dependent not in (last, NONE):
                last = dependent
                if not is_attached_before(options, states, i, choice, other, dependent):
                    out.head[i, dependent] -= np.log(total / with_any_label)
    _, dependent = arc(options, states, i, move)
    if dependent != NONE:
        out.label[i, dependent] = -np.log(with_any_label)


@njit
def is_attached_before(options, states, i, choice, stop, dependent):
    """Whether a legal move that is listed before another one would attach the same word."""
    for move in range(stop):
        if choice.legal[move]:
            _, other = arc(options, states, i, move)
            if other == dependent:
                return True
    return False
