"""States of a transition system as plain data: what is where, legal moves, costs, arcs lost.

describe(system, states, gold)          # many states of one sentence at once
describe_derivation(derivation)         # the state of a derivation, and its moves so far
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dyparse.data.sentence import NONE
from dyparse.system import States, System
from dyparse.web.playing import Derivation, Probabilities

Arc: TypeAlias = list[int]  # head, dependent
State: TypeAlias = dict[str, Any]
MOST_WORDS = 100  # of sentences whose lost arcs are named: the time is cubic


def describe(system: System, states: States, gold: Sequence[int] | None) -> list[State]:
    """Every state of one sentence as plain data; gold has the heads of words 1..n.

    Without gold there are no costs: they are None, and no arc is lost.
    """
    B = len(states.length)
    golds = None if gold is None else np.array([[0, *gold]] * B, dtype=np.int32)
    moves = _described_moves(system, states, golds)
    best = None if golds is None else system.best_heads(states, golds)
    is_final, heads = system.finished(states), system.heads(states)
    return [
        {
            "stack": states.stack[row, : states.stack_size[row]].tolist(),
            "buffer": states.buffer[row, states.front[row] : states.end[row]].tolist(),
            "lists": system.lists(states, row),
            "arcs": _arcs(states.head[row]),
            "final": bool(is_final[row]),
            "heads": heads[row, 1:].tolist(),
            "lost": [] if best is None or golds is None else _missing(golds[row], best[row]),
            "best_heads": None if best is None else best[row, 1:].tolist(),
            "legal": moves[row],
            "illegal": [
                {"move": name, "why": why_not(system, name)}
                for name in system.moves
                if not is_final[row] and name not in {move["move"] for move in moves[row]}
            ],
        }
        for row in range(B)
    ]


def describe_derivation(
    derivation: Derivation, gold: Sequence[int] | None, models: Mapping[str, Probabilities]
) -> State:
    """The state that a derivation has come to, its moves so far, and what models want next."""
    system, states = derivation.system, derivation.states
    (state,) = describe(system, states, gold)
    names = [move["move"] for move in state["legal"]]
    columns = [system.moves.index(name) for name in names]
    scores = {
        model: dict(zip(names, probabilities(states)[0, columns].tolist(), strict=True))
        for model, probabilities in models.items()
    }
    return {
        **state,
        "history": [taken._asdict() for taken in derivation.taken],
        "cost_so_far": derivation.paid,
        "static": derivation.static(),
        "scores": scores,
    }


def why_not(system: System, move: str) -> str:
    """Why a move may not be legal: what it needs; empty if the system does not say."""
    if not system.needs.get(move):
        return ""
    rule = ", and to leave a single root possible" if getattr(system, "single_root", False) else ""
    return f"needs {system.needs[move]}{rule}"


def _described_moves(
    system: System, states: States, golds: NDArray[np.int32] | None
) -> list[list[State]]:
    """For every state its legal moves, in the order of the system."""
    rows, moves = np.nonzero(system.legal(states))
    found: list[list[State]] = [[] for _ in states.length]
    if not len(rows):
        return found
    before, after = states.take(rows), states.take(rows)
    system.step(after, moves)
    costs = None if golds is None else system.cost(states, golds)
    lost: list[list[Arc]] = [[]] * len(rows)
    gained = lost
    if golds is not None and golds.shape[1] <= MOST_WORDS + 1:
        answer = system.lost(before, golds[rows], moves)
        lost, gained = (_marked(golds[rows], part) for part in (answer.arcs, answer.gained))
    for k, (row, move) in enumerate(zip(rows.tolist(), moves.tolist(), strict=True)):
        cost = None if costs is None else int(costs[row, move])
        added = np.where(after.head[k] == before.head[k], NONE, after.head[k])
        found[row].append(
            {
                "move": system.moves[move],
                "cost": cost,
                "lost": lost[k],
                "gained": gained[k],
                "adds": _arcs(added),
            }
        )
    for of_state in found:
        least = min((move["cost"] for move in of_state if move["cost"] is not None), default=None)
        for move in of_state:
            move["best"] = least is not None and move["cost"] == least
    return found


def _arcs(heads: NDArray[np.int32]) -> list[Arc]:
    """The arcs of the words that have a head."""
    return [[head, word] for word, head in enumerate(heads.tolist()) if head != NONE and word]


def _missing(gold: NDArray[np.int32], heads: NDArray[np.int32]) -> list[Arc]:
    """The gold arcs that a tree lacks."""
    return _arcs(np.where(gold == heads[: len(gold)], NONE, gold))


def _marked(golds: NDArray[np.int32], is_in: NDArray[np.bool_]) -> list[list[Arc]]:
    """For every row the gold arcs of the marked words."""
    chosen = np.where(is_in[:, : golds.shape[1]], golds, NONE)
    return [_arcs(row) for row in chosen]
