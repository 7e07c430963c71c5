"""All states that a system can reach in one sentence, with what the oracle says of each."""

from typing import Any

import numpy as np

from dyparse.data.sentence import Sentence
from dyparse.errors import ConfigError
from dyparse.system import States, System
from dyparse.web.exploring import describe

MOST_STATES = 10_000


def reachable_states(system: System, n_words: int, most: int) -> tuple[States, list[list[int]]]:
    """The states, breadth first, and for each the number of the next state after every legal move.

    ConfigError if there are more than so many.
    """
    layer = system.start([n_words])
    layers, number_of = [layer], {_key(system, layer, 0): 0}
    following: list[list[int]] = []
    while len(layer.length):
        rows, moves = np.nonzero(system.legal(layer))
        after = layer.take(rows)
        system.step(after, moves)
        found: list[list[int]] = [[] for _ in layer.length]
        new: list[int] = []
        for k, row in enumerate(rows.tolist()):
            key = _key(system, after, k)
            if key not in number_of:
                number_of[key] = len(number_of)
                new.append(k)
            found[row].append(number_of[key])
        if len(number_of) > most:
            raise ConfigError(
                f"this sentence of {n_words} words has more than {most} states in this system; "
                "choose a shorter one, by --sentence"
            )
        following += found
        layer = after.take(new)
        layers.append(layer)
    parts = (np.concatenate(arrays) for arrays in zip(*layers, strict=True))
    return States(*parts), following


def _key(system: System, states: States, row: int) -> bytes:
    """Equal for states that are the same for the system."""
    stack = states.stack[row, : states.stack_size[row]]
    buffer = states.buffer[row, states.front[row] : states.end[row]]
    legal = system.legal(states.take([row]))
    key = b"|".join(part.tobytes() for part in (stack, buffer, states.head[row], legal))
    return key + str(system.lists(states, row)).encode()


def table(system: System, sentence: Sentence, most: int = MOST_STATES) -> list[list[Any]]:
    """The reachable states as short lists: words stand for their gold arcs, moves and states are
    numbers.

    A state is: stack, buffer, heads so far, words of lost arcs, heads of the best tree in reach,
    canonical move, legal moves, other lists if there are any. A move is: its number, the next
    state, its cost, the arcs that it adds, and the words whose gold arcs it loses and gains.
    """
    states, following = reachable_states(system, len(sentence), most)
    gold = np.array([[0, *sentence.head]] * len(following), dtype=np.int32)
    static = system.static(states, gold).tolist()
    found = []
    for row, state in enumerate(describe(system, states, sentence.head)):
        moves = [
            [system.moves.index(move["move"]), after, move["cost"], move["adds"]]
            + ([_words(move["lost"]), _words(move["gained"])] if move["cost"] else [])
            for move, after in zip(state["legal"], following[row], strict=True)
        ]
        head, lost, best = states.head[row, 1:].tolist(), _words(state["lost"]), state["best_heads"]
        short = [state["stack"], state["buffer"], head, lost, best, static[row], moves]
        found.append(short + ([state["lists"]] if state["lists"] else []))
    return found


def _words(arcs: Any) -> list[int]:
    return [word for _, word in arcs]
