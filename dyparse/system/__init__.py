"""Transition systems: what a move may do, and what it costs.

    system = dyparse.system.load("arc_eager", root="last", single_root=True)
    states = system.start([5, 3])                     # two sentences, of five and of three words
    while not system.finished(states).all():
        cost = system.cost(states, gold)              # [B, M]; gold[b, w] is the head of word w
        best = np.where(system.legal(states), cost, 99).argmin(1)
        system.step(states, best)                     # rows that are finished stay as they are
    system.heads(states)                              # [B, N]

To add a system: write `dyparse/system/<name>.py` with a NamedTuple of options (named after the
system), a frozen dataclass derived from `System`, and the kernels declared below; write
`conf/system/<name>.yaml`. Nothing else: `load`, training and the tests find it by its name. What
several systems share is in modules whose names begin with an underscore.
"""

import dataclasses
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dyparse.config import choices as choice
from dyparse.data.sentence import NONE
from dyparse.runtime.kernels import cached_njit, kernel, njit, optional_kernel


class States(NamedTuple):
    """B parser states side by side; row i is one parse. N counts the root token 0."""

    stack: NDArray[np.int32]  # [B, N]  bottom first
    stack_size: NDArray[np.int32]  # [B]
    buffer: NDArray[np.int32]  # [B, N]
    front: NDArray[np.int32]  # [B]     next unread position of buffer
    end: NDArray[np.int32]  # [B]     one past the last position of buffer
    length: NDArray[np.int32]  # [B]     tokens, root included
    head: NDArray[np.int32]  # [B, N]  NONE = not attached yet
    left: NDArray[np.int32]  # [B, N]  leftmost dependent, if left of its head
    right: NDArray[np.int32]  # [B, N]  rightmost dependent, if right of its head

    def copy(self) -> "States":
        """States that change independently of these."""
        return States(*(array.copy() for array in self))

    def take(self, rows: ArrayLike) -> "States":
        """The given rows, in the given order, as new states."""
        return States(*(array[np.asarray(rows, dtype=np.intp)] for array in self))


# Kernels: each is about one state, row i; a system implements them in its own module, all but
# `prefer`, which it may leave out.


@kernel
def begin(options, states, i):
    """Fill stack and buffer of the initial state; everything else is empty already."""


@kernel
def is_finished(options, states, i):
    """True if no move is left to take."""


@kernel
def legal(options, states, i, out):
    """out[m] = 1 if move m may be taken, else 0."""


@kernel
def arc(options, states, i, move):
    """(head, dependent) of the arc that the move adds, or (NONE, NONE)."""


@kernel
def step(options, states, i, move):
    """Change stack and buffer as the move does; its arc has been added already."""


@kernel
def cost(options, states, i, gold, out):
    """out[m] = gold arcs that legal move m makes unreachable.

    Gold is what the system's `prepare` returned.
    """


@kernel
def static(options, states, i, gold, is_legal, costs):
    """The canonical move: legal and, as costs say after `prefer`, of least cost."""


@optional_kernel
def prefer(options, states, i, gold, is_legal, costs):
    """Raise the cost of best moves that training should not aim at. Most systems have none."""


@kernel
def features(options, states, i, out):
    """out[f] = token in feature slot f, or NONE."""


@njit
def clear(out):
    """Make everything 0. (A loop: numba takes long to compile assignments of slices.)"""
    for k in range(out.shape[0]):
        out[k] = 0


@njit
def stack_top(states, i, depth):
    """The stack's token at this depth, 0 = top; NONE if the stack is not that deep."""
    position = states.stack_size[i] - 1 - depth
    return states.stack[i, position] if position >= 0 else NONE


@njit
def buffer_front(states, i):
    """The next token of the buffer, or NONE."""
    return states.buffer[i, states.front[i]] if states.front[i] < states.end[i] else NONE


@njit
def buffer_second(states, i):
    """The token after the front of the buffer, or NONE."""
    position = states.front[i] + 1
    return states.buffer[i, position] if position < states.end[i] else NONE


@njit
def head_of(states, i, token):
    """The token's head so far, or NONE, also of no token."""
    return states.head[i, token] if token != NONE else NONE


@njit
def leftmost(states, i, token):
    """The token's leftmost dependent to its left, or NONE, also of no token."""
    return states.left[i, token] if token != NONE else NONE


@njit
def rightmost(states, i, token):
    """The token's rightmost dependent to its right, or NONE, also of no token."""
    return states.right[i, token] if token != NONE else NONE


@njit
def push(states, i, token):
    """Put a token on the stack."""
    states.stack[i, states.stack_size[i]] = token
    states.stack_size[i] += 1


@njit
def attach(states, i, head, dependent):
    """Add one arc."""
    states.head[i, dependent] = head
    if dependent < head and (states.left[i, head] == NONE or dependent < states.left[i, head]):
        states.left[i, head] = dependent
    if dependent > head and dependent > states.right[i, head]:
        states.right[i, head] = dependent


@njit
def take_move(options, states, i, move):
    """Add the arc of a move, then change stack and buffer."""
    head, dependent = arc(options, states, i, move)
    if dependent != NONE:
        attach(states, i, head, dependent)
    step(options, states, i, move)


@njit
def first_best(order, is_legal, costs):
    """Of the moves in this order, the first that is legal and of least cost."""
    best = NONE
    for move in order:
        if is_legal[move] and (best == NONE or costs[move] < costs[best]):
            best = move
    return best


@cached_njit
def _begin_all(options, states):
    for i in range(states.length.shape[0]):
        begin(options, states, i)


@cached_njit
def _legal_all(options, states, out):
    for i in range(states.length.shape[0]):
        legal(options, states, i, out[i])


@cached_njit
def _finished_all(options, states, out):
    for i in range(states.length.shape[0]):
        out[i] = is_finished(options, states, i)


@cached_njit
def _cost_all(options, states, gold, out):
    for i in range(states.length.shape[0]):
        if not is_finished(options, states, i):
            cost(options, states, i, gold, out[i])


@cached_njit
def _static_all(options, states, gold, is_legal, costs, out):
    for i in range(states.length.shape[0]):
        if not is_finished(options, states, i):
            out[i] = static(options, states, i, gold, is_legal[i], costs[i])


@cached_njit
def _prefer_all(options, states, gold, is_legal, costs):
    for i in range(states.length.shape[0]):
        if not is_finished(options, states, i):
            prefer(options, states, i, gold, is_legal[i], costs[i])


@cached_njit
def _arcs_all(options, states, is_legal, out):
    for i in range(states.length.shape[0]):
        for move in range(is_legal.shape[1]):
            if is_legal[i, move]:
                out[i, move, 0], out[i, move, 1] = arc(options, states, i, move)


@cached_njit
def _step_all(options, states, moves):
    for i in range(states.length.shape[0]):
        if not is_finished(options, states, i):
            take_move(options, states, i, moves[i])


EXPECTED = {bool: "true or false", int: "a whole number"}  # of an option with such a default


class System:
    """The public face of every transition system: kernels over a batch of states."""

    moves: ClassVar[tuple[str, ...]]  # names, in the order of the columns of legal and cost
    slots: ClassVar[tuple[str, ...]]  # names of the feature slots
    exact: ClassVar[bool] = True  # cost is exact for every gold tree; see also `is_exact`

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]  # every system is one
            value, kind = getattr(self, field.name), type(field.default)
            if kind in EXPECTED and type(value) is not kind:
                raise ValueError(f"system.{field.name} is {value!r}, expected {EXPECTED[kind]}")

    @property
    def options(self) -> NamedTuple:
        """What the kernels are told; its class finds them."""
        raise NotImplementedError

    def prepare(self, gold: ArrayLike) -> Any:
        """Tables of the oracle for gold[b, w], the head of word w: pass the result to `cost` and
        `static`.

        A prepared object remembers what it computed for the last state of each row, so it belongs
        to one thread.
        """
        raise NotImplementedError

    def is_exact(self, words: int) -> bool:  # noqa: ARG002 - some systems look at the length
        """Whether cost is exact in every state of sentences with so many words."""
        return self.exact

    def most_moves(self, words: int) -> int:
        """An upper bound of the moves of one sentence."""
        raise NotImplementedError

    def start(self, lengths: ArrayLike) -> States:
        """The initial states of sentences with so many words each."""
        words = np.atleast_1d(np.asarray(lengths, dtype=np.int32))
        if words.ndim != 1 or (words < 1).any():
            raise ValueError(
                f"lengths are {lengths!r}, expected one number of words (>= 1) per sentence"
            )
        B, N = len(words), int(words.max(initial=0)) + 1
        grid = [np.full((B, N), NONE, dtype=np.int32) for _ in range(5)]
        column = [np.zeros(B, dtype=np.int32) for _ in range(3)]
        states = States(
            grid[0], column[0], grid[1], column[1], column[2], words + 1, grid[2], grid[3], grid[4]
        )
        _begin_all(self.options, states)
        return states

    def legal(self, states: States) -> NDArray[np.bool_]:
        """[B, M]: which moves may be taken; none where a sentence is finished."""
        out = np.zeros((len(states.length), len(self.moves)), dtype=np.bool_)
        _legal_all(self.options, states, out)
        return out

    def cost(self, states: States, gold: Any) -> NDArray[np.int32]:
        """[B, M]: gold arcs that each legal move makes unreachable.

        Meaningless where a move is not legal.
        """
        out = np.zeros((len(states.length), len(self.moves)), dtype=np.int32)
        _cost_all(self.options, states, self._prepared(states, gold), out)
        return out

    def labelled_cost(
        self, states: States, gold: ArrayLike, label: ArrayLike, given: ArrayLike, labels: int
    ) -> NDArray[np.int32]:
        """[B, M, labels]: the cost of each move with each label, if a word counts as right only
        with its gold head and its gold label.

        gold[b, w] and label[b, w] are head and label of word w, given[b, w] the label of the arc it
        has in this state. A gold head with a wrong label costs 1 when the label is given, and
        nothing when that arc is replaced later. Words that are left to the root in the end are
        taken to get the right label.
        """
        heads = gold_heads(gold)
        right, so_far = np.asarray(label), np.asarray(given)
        N = states.head.shape[1]
        is_spoilt = (states.head == heads[:, :N]) & (right[:, :N] != so_far[:, :N])
        spoilt = np.where(is_spoilt, np.arange(N), heads[:, :N])  # its own head: out of reach
        is_legal = self.legal(states)
        arcs = np.full((*is_legal.shape, 2), NONE, dtype=np.int32)
        _arcs_all(self.options, states, is_legal, arcs)
        head, dependent = arcs[..., 0], arcs[..., 1]  # [B, M]
        is_gold = (dependent != NONE) & (np.take_along_axis(heads, dependent, 1) == head)
        wrong = np.take_along_axis(right, dependent, 1)[..., None] != np.arange(labels)
        costs: NDArray[np.int32] = self.cost(states, spoilt)[..., None] + (
            is_gold[..., None] & wrong
        )
        return costs

    def static(self, states: States, gold: Any) -> NDArray[np.int32]:
        """[B]: the canonical move, one of least cost; NONE where a sentence is finished."""
        prepared = self._prepared(states, gold)
        out = np.full(len(states.length), NONE, dtype=np.int32)
        costs = self.target(states, prepared)
        _static_all(self.options, states, prepared, self.legal(states), costs, out)
        return out

    def target(self, states: States, gold: Any) -> NDArray[np.int32]:
        """[B, M]: as `cost`, but above 0 also for best moves that training should not aim at."""
        prepared = self._prepared(states, gold)
        out = self.cost(states, prepared)
        _prefer_all(self.options, states, prepared, self.legal(states), out)
        return out

    def step(self, states: States, moves: ArrayLike) -> None:
        """Take one move in every sentence that is not finished, in place."""
        chosen = np.asarray(moves, dtype=np.int32)
        if chosen.shape != states.length.shape:
            raise ValueError(f"moves have shape {chosen.shape}, expected {states.length.shape}")
        is_known = (chosen >= 0) & (chosen < len(self.moves))
        is_legal = self.legal(states)[np.arange(len(chosen)), np.where(is_known, chosen, 0)]
        wrong = np.flatnonzero(~self.finished(states) & ~(is_known & is_legal))
        if len(wrong):
            raise ValueError(
                f"move {chosen[wrong[0]]} is not legal in row {wrong[0]}; see legal(states)"
            )
        _step_all(self.options, states, chosen)

    def finished(self, states: States) -> NDArray[np.bool_]:
        """[B]: no move left."""
        out = np.zeros(len(states.length), dtype=np.bool_)
        _finished_all(self.options, states, out)
        return out

    def heads(self, states: States) -> NDArray[np.int32]:
        """[B, N]: the head of every word; a word without one hangs from the root. Column 0 is 0."""
        return np.where(states.head == NONE, 0, states.head).astype(np.int32)

    def _prepared(self, states: States, gold: Any) -> Any:
        """Gold with its tables, for these states; ValueError if it cannot be for them."""
        prepared: Any = gold if hasattr(gold, "head") else self.prepare(gold)
        B, N = prepared.head.shape
        if prepared.options != self.options:
            raise ValueError("gold was prepared by a system with other options; prepare it anew")
        if len(states.length) != B or states.length.max(initial=0) > N:
            raise ValueError(
                f"gold has shape {(B, N)}, expected a row for each of {len(states.length)} states "
                f"and at least {states.length.max(initial=0)} columns"
            )
        length = states.length[:, None]
        is_word = (np.arange(N) > 0) & (np.arange(N) < length)
        if (is_word & ((prepared.head < 0) | (prepared.head >= length))).any():
            raise ValueError("gold has heads outside the sentence, expected 0..n for words 1..n")
        return prepared


def names() -> list[str]:
    """Names of all transition systems: the modules of this folder that have no underscore."""
    return choice.names("system")


def gold_heads(gold: ArrayLike) -> NDArray[np.int32]:
    """Gold heads as [sentences, words + 1], a copy; ValueError if they are not of that shape."""
    head = np.array(gold, dtype=np.int32, order="C")
    if head.ndim != 2:
        raise ValueError(f"gold has shape {head.shape}, expected [sentences, words + 1]")
    return head


def load(name: str, **options: Any) -> System:
    """The transition system of this name; options are the fields of its dataclass.

    In text they may follow the name: `load("arc_eager:root=first,single_root=false")`.
    """
    system: System = choice.load("system", name, **options)
    return system
