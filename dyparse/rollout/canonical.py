"""Canonical derivations: every sentence to its end by the moves of the static oracle."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dyparse.runtime.kernels import cached_njit
from dyparse.system import System, cost, is_finished, legal, prefer, static, take_move


def canonical_heads(
    system: System, words: NDArray[np.int32], gold: NDArray[np.int32]
) -> NDArray[np.int32]:
    """[B, N]: the heads if the canonical move is taken in every state.

    words[b] is the number of words of sentence b, gold[b, w] the head of word w. Where costs are
    exact, no other moves build a tree with more gold arcs.
    """
    states, M = system.start(words), len(system.moves)
    is_legal, costs = np.zeros(M, dtype=np.bool_), np.zeros(M, dtype=np.int32)
    _follow_canonical(system.options, states, system.prepare(gold), is_legal, costs)
    return system.heads(states)


@cached_njit
def _follow_canonical(options: Any, states: Any, gold: Any, is_legal: Any, costs: Any) -> None:
    """Take canonical moves to the end of every sentence; is_legal and costs are scratch arrays."""
    for i in range(states.length.shape[0]):
        while not is_finished(options, states, i):
            legal(options, states, i, is_legal)
            cost(options, states, i, gold, costs)
            prefer(options, states, i, gold, is_legal, costs)
            move = static(options, states, i, gold, is_legal, costs)
            take_move(options, states, i, move)
