"""Replay of known moves: the tokens at the top and front before each, and the arc it added."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dyparse.data.sentence import NONE
from dyparse.runtime.kernels import cached_njit
from dyparse.system import (
    States,
    System,
    arc,
    buffer_front,
    head_of,
    stack_top,
    take_move,
)


class Replayed(NamedTuple):
    """T states and the arcs that their moves added; NONE where there is no such token or arc."""

    head: NDArray[np.int32]  # [T]  of the arc that the move added
    dependent: NDArray[np.int32]  # [T]
    replaced: NDArray[np.int32]  # [T]  the dependent's head before; NONE if it had none
    top: NDArray[np.int32]  # [T]  token on top of the stack, before the move
    below: NDArray[np.int32]  # [T]  the one below it
    front: NDArray[np.int32]  # [T]  of the buffer
    top_head: NDArray[np.int32]  # [T]  the top's head so far


def replay(
    system: System,
    words: NDArray[np.int32],
    sentence: NDArray[np.int32],
    move: NDArray[np.int32],
) -> tuple[NDArray[np.int32], Replayed]:
    """Take T known moves: the heads at the end [B, N], and the states and arcs on the way there.

    move[t] is taken in sentence[t], whose moves are in order; words[b] is its number of words.
    """
    states = system.start(words)
    replayed = Replayed(*(np.full(len(move), NONE, dtype=np.int32) for _ in Replayed._fields))
    _replay(system.options, states, sentence, move, replayed)
    return system.heads(states), replayed


@cached_njit
def _replay(options: Any, states: States, sentence: Any, move: Any, out: Replayed) -> None:
    for t in range(move.shape[0]):
        i = sentence[t]
        out.top[t] = stack_top(states, i, 0)
        out.below[t] = stack_top(states, i, 1)
        out.front[t] = buffer_front(states, i)
        out.top_head[t] = head_of(states, i, out.top[t])
        head, dependent = arc(options, states, i, move[t])
        if dependent != NONE:
            out.head[t] = head
            out.dependent[t] = dependent
            out.replaced[t] = states.head[i, dependent]
        take_move(options, states, i, move[t])
