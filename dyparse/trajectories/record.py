"""All that can be seen of a derivation whose moves are known: states, costs, scores, arcs.

A rollout keeps what training needs. `record` takes its moves a second time and keeps the rest, so
that training does not pay for those who only watch.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dyparse.data.sentence import NONE
from dyparse.rollout.scorer import Scorer, score, table_rows
from dyparse.runtime.kernels import cached_njit
from dyparse.system import (
    States,
    System,
    arc,
    cost,
    features,
    legal,
    prefer,
    static,
    take_move,
)


class Recorded(NamedTuple):
    """T states before their moves, and the arcs that the moves added."""

    slots: NDArray[np.int32]  # [T, F]  token in each feature slot, or NONE
    legal: NDArray[np.bool_]  # [T, M]
    cost: NDArray[np.int32]  # [T, M]  the oracle's; meaningless where a move is not legal
    canonical: NDArray[np.int32]  # [T]  the canonical move
    score: NDArray[np.float32]  # [T, M]
    head: NDArray[np.int32]  # [T]  of the arc that the move taken added, or NONE
    dependent: NDArray[np.int32]  # [T]
    stack: NDArray[np.int32]  # [T, N]  bottom first, then NONE
    stack_size: NDArray[np.int32]  # [T]
    buffer: NDArray[np.int32]  # [T, N]  front first, then NONE
    buffer_size: NDArray[np.int32]  # [T]


def record(
    system: System,
    scorer: Scorer,
    words: NDArray[np.int32],
    gold: NDArray[np.int32],
    sentence: NDArray[np.int32],
    move: NDArray[np.int32],
) -> tuple[NDArray[np.int32], Recorded]:
    """Take T known moves: the heads at the end [B, N], and the states on the way there.

    Scorer, words and gold are those of `rollout`. move[t] is taken in sentence[t], whose moves are
    in order.
    """
    states = system.start(words)
    T, F, M, N = len(move), len(system.slots), len(system.moves), states.stack.shape[1]
    recorded = Recorded(
        slots=np.empty((T, F), dtype=np.int32),
        legal=np.empty((T, M), dtype=np.bool_),
        cost=np.zeros((T, M), dtype=np.int32),
        canonical=np.empty(T, dtype=np.int32),
        score=np.empty((T, M), dtype=np.float32),
        head=np.empty(T, dtype=np.int32),
        dependent=np.empty(T, dtype=np.int32),
        stack=np.full((T, N), NONE, dtype=np.int32),
        stack_size=np.empty(T, dtype=np.int32),
        buffer=np.full((T, N), NONE, dtype=np.int32),
        buffer_size=np.empty(T, dtype=np.int32),
    )
    _record(system.options, states, scorer, system.prepare(gold), sentence, move, recorded)
    return system.heads(states), recorded


@cached_njit
def _record(  # noqa: PLR0913, PLR0917 - as above
    options: Any,
    states: States,
    scorer: Scorer,
    gold: Any,
    sentence: Any,
    move: Any,
    out: Recorded,
) -> None:
    N, F = states.stack.shape[1], scorer.table.shape[1]
    M, D = scorer.output.shape
    rows, hidden = np.empty(F, dtype=np.int32), np.empty(D, dtype=np.float32)
    costs = np.zeros(M, dtype=np.int32)
    for t in range(move.shape[0]):
        i = sentence[t]
        features(options, states, i, out.slots[t])
        legal(options, states, i, out.legal[t])
        table_rows(out.slots[t], i * N, scorer.table.shape[0] - 1, rows)
        score(scorer, rows, hidden, out.score[t])
        cost(options, states, i, gold, costs)
        for m in range(M):
            out.cost[t, m] = costs[m]
        prefer(options, states, i, gold, out.legal[t], costs)
        out.canonical[t] = static(options, states, i, gold, out.legal[t], costs)
        out.stack_size[t] = states.stack_size[i]
        for k in range(states.stack_size[i]):
            out.stack[t, k] = states.stack[i, k]
        out.buffer_size[t] = states.end[i] - states.front[i]
        for k in range(out.buffer_size[t]):
            out.buffer[t, k] = states.buffer[i, states.front[i] + k]
        out.head[t], out.dependent[t] = arc(options, states, i, move[t])
        take_move(options, states, i, move[t])
