"""Probabilities of heads: those of the moves that decided them."""

import numpy as np

from dyparse.data.sentence import NONE
from dyparse.runtime.kernels import njit
from dyparse.system import arc


@njit
def add_log_probability(options, states, i, choice, move, out):
    """out[i, w] += log p(move) for every word w that some legal move would attach in this state.

    p is the softmax over the scores of legal moves. Summed over a derivation this is the
    probability of all decisions about the word's head: to attach it here, or not yet, or never.
    """
    total = 0.0
    for other in range(choice.scores.shape[0]):
        if choice.legal[other]:
            total += np.exp(np.float64(choice.scores[other] - choice.scores[move]))
    for other in range(choice.scores.shape[0]):
        if choice.legal[other]:
            _, dependent = arc(options, states, i, other)
            if dependent != NONE and not is_attached_before(
                options, states, i, choice, other, dependent
            ):
                out[i, dependent] -= np.log(total)


@njit
def is_attached_before(options, states, i, choice, stop, dependent):
    """Whether a legal move that is listed before another one would attach the same word."""
    for move in range(stop):
        if choice.legal[move]:
            _, other = arc(options, states, i, move)
            if other == dependent:
                return True
    return False
