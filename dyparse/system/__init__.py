"""Transition systems: which moves are legal in a state, and how many gold arcs each would lose.

Each module here is one system, explained on its page in docs/systems; arc_hybrid.py is the
shortest. All are used alike, through the class `System` below:

    system = dyparse.system.load("arc_eager", root="last", single_root=True)
    states = system.start([5, 3])                     # two sentences, of five and of three words
    while not system.finished(states).all():
        cost = system.cost(states, gold)              # [B, M]; gold[b, w] is the head of word w
        best = np.where(system.legal(states), cost, 99).argmin(1)
        system.step(states, best)                     # rows that are finished stay as they are
    system.heads(states)                              # [B, N]

`best_heads` gives the best tree that can still be reached, `lost` the gold arcs that a move loses.

To add one: write `dyparse/system/<name>.py` with a NamedTuple of options, a frozen dataclass
derived from `System`, and the kernels declared in _kernels.py; write `conf/system/<name>.yaml`.
`load`, training and the tests then find it by its name. Outside the package: put the same into
`my_module.py`, train with `system._target_=my_module.MySystem`, and compare its costs with
exhaustive search by `dyparse.evaluation.oracle_check.check_oracle(MySystem())`.

Modules whose names start with an underscore are shared by several systems, or are a part of one.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dyparse.config import choices
from dyparse.data.sentence import NONE
from dyparse.system._kernels import (
    arc,
    arcs_all,
    begin,
    begin_all,
    cost,
    cost_all,
    features,
    finish_all,
    finished_all,
    first_best,
    is_finished,
    legal,
    legal_all,
    prefer,
    prefer_all,
    static,
    static_all,
    step,
    step_all,
    take_move,
    without_label,
    wrong_words,
)
from dyparse.system._states import (
    States,
    attach,
    buffer_front,
    buffer_second,
    clear,
    copy_row,
    head_of,
    leftmost,
    push,
    rightmost,
    stack_top,
)

__all__ = [
    "Lost",
    "States",
    "System",
    "arc",
    "attach",
    "begin",
    "buffer_front",
    "buffer_second",
    "clear",
    "copy_row",
    "cost",
    "features",
    "first_best",
    "gold_heads",
    "head_of",
    "is_finished",
    "leftmost",
    "legal",
    "load",
    "names",
    "prefer",
    "push",
    "rightmost",
    "stack_top",
    "static",
    "step",
    "take_move",
    "without_label",
    "wrong_words",
]

EXPECTED = {bool: "true or false", int: "a whole number"}  # by the type of an option's default


class Lost(NamedTuple):
    """What moves lose: a best tree before each move against a best tree after it.

    A column per word, which stands for its gold arc. Gained arcs are rare: after some moves every
    best tree has gold arcs that no best tree before has, in place of others.
    """

    arcs: NDArray[np.bool_]  # [B, N]  in the tree before, not in the tree after
    gained: NDArray[np.bool_]  # [B, N]  the other way round
    before: NDArray[np.int32]  # [B, N]  heads of the best tree before the move
    after: NDArray[np.int32]  # [B, N]  heads of the best tree after it


class System:
    """The public face of every transition system: kernels over a batch of states."""

    moves: ClassVar[tuple[str, ...]]  # names, in the order of the columns of legal and cost
    arcless: ClassVar[tuple[str, ...]] = ()  # those that never add an arc, so need no label
    slots: ClassVar[tuple[str, ...]]  # names of the feature slots
    exact: ClassVar[bool] = True  # cost is exact for every gold tree; see also `is_exact`
    trees: ClassVar[str] = ""  # those that it builds: projective, all, or in other words
    searches: ClassVar[bool] = False  # time grows exponentially with the gold arcs out of reach
    needs: ClassVar[Mapping[str, str]] = {}  # what must be there for a move, in words

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]  # every system is one
            value, kind = getattr(self, field.name), type(field.default)
            if kind in EXPECTED and type(value) is not kind:
                raise ValueError(f"system.{field.name} is {value!r}, expected {EXPECTED[kind]}")

    @property
    def options(self) -> NamedTuple:
        """Options as numbers, for the compiled kernels, which are found by its class."""
        raise NotImplementedError

    def prepare(self, gold: ArrayLike) -> Any:
        """The oracle's tables for gold[b, w], the head of word w, to pass to `cost` and `static`.

        A NamedTuple with at least `options`, those of this system, and `head` [B, N]. It may
        remember what was computed for the last state of each row, so it belongs to one thread.
        """
        raise NotImplementedError

    def is_exact(self, words: int) -> bool:  # noqa: ARG002 - some systems look at the length
        """Whether costs are exact in every state of a sentence with this many words."""
        return self.exact

    def most_moves(self, words: int) -> int:
        """The most moves that a sentence with this many words can take."""
        raise NotImplementedError

    def start(self, lengths: ArrayLike) -> States:
        """The initial states of sentences with these numbers of words."""
        words = np.atleast_1d(np.asarray(lengths, dtype=np.int32))
        if words.ndim != 1 or (words < 1).any():
            raise ValueError(
                f"lengths are {lengths!r}, expected one number of words (>= 1) per sentence"
            )
        B, N = len(words), int(words.max(initial=0)) + 1
        grid = [np.full((B, N), NONE, dtype=np.int32) for _ in range(6)]
        column = [np.zeros(B, dtype=np.int32) for _ in range(3)]
        states = States(grid[0], column[0], grid[1], column[1], column[2], words + 1, *grid[2:])
        begin_all(self.options, states)
        return states

    def legal(self, states: States) -> NDArray[np.bool_]:
        """[B, M]: which moves may be taken; none where a sentence is finished."""
        out = np.zeros((len(states.length), len(self.moves)), dtype=np.bool_)
        legal_all(self.options, states, out)
        return out

    def cost(self, states: States, gold: Any) -> NDArray[np.int32]:
        """[B, M]: gold arcs that each legal move makes unreachable.

        Meaningless where a move is not legal.
        """
        out = np.zeros((len(states.length), len(self.moves)), dtype=np.int32)
        cost_all(self.options, states, self._prepared(states, gold), out)
        return out

    def labelled_cost(
        self, states: States, gold: ArrayLike, label: ArrayLike, given: ArrayLike, labels: int
    ) -> NDArray[np.int32]:
        """[B, M, labels]: the cost of each move with each label, if a word is right only with
        its gold head and its gold label.

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
        arcs_all(self.options, states, is_legal, arcs)
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
        static_all(self.options, states, prepared, self.legal(states), costs, out)
        return out

    def target(self, states: States, gold: Any) -> NDArray[np.int32]:
        """[B, M]: as `cost`, but above 0 also for best moves that training should not aim at."""
        prepared = self._prepared(states, gold)
        out = self.cost(states, prepared)
        prefer_all(self.options, states, prepared, self.legal(states), out)
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
        step_all(self.options, states, chosen)

    def best_heads(self, states: States, gold: Any) -> NDArray[np.int32]:
        """[B, N]: the tree that canonical moves end in from these states, which do not change.

        Where costs are exact, no tree that can be reached has more gold arcs.
        """
        prepared, ends, M = self._prepared(states, gold), states.copy(), len(self.moves)
        is_legal, costs = np.zeros(M, dtype=np.bool_), np.zeros(M, dtype=np.int32)
        finish_all(self.options, ends, prepared, is_legal, costs)
        return self.heads(ends)

    def lost(self, states: States, gold: Any, moves: ArrayLike) -> Lost:
        """The gold arcs that one move in each state makes unreachable, and the trees that show it.

        The tree before is that of `best_heads`. The one after loses gold arcs of it only, if a best
        tree does; else any best tree. Where costs are exact,

            number of `arcs` − number of `gained` = cost of the move.

        It is one answer of several: arcs that exclude each other may be lost in turn, so an arc
        named here may still be reachable, at the price of others. Where costs are not exact, the
        trees are reachable, but need not be best, and the numbers need not add up.
        """
        prepared, following = self._prepared(states, gold), states.copy()
        self.step(following, moves)
        before = self.best_heads(states, prepared)
        had = _gold_words(before, states, prepared)
        only_these = np.where(had, before, np.arange(before.shape[1]))  # else its own: out of reach
        spared, other = (self.best_heads(following, g) for g in (only_these, prepared))
        n_spared, n_other = (_gold_words(t, states, prepared).sum(-1) for t in (spared, other))
        after = np.where((n_spared >= n_other)[:, None], spared, other)
        has = _gold_words(after, states, prepared)
        return Lost(had & ~has, has & ~had, before, after)

    def lists(self, states: States, row: int) -> dict[str, list[int]]:  # noqa: ARG002 - few have any
        """The lists of a state that are neither stack nor buffer, by their names."""
        return {}

    def finished(self, states: States) -> NDArray[np.bool_]:
        """[B]: no move left."""
        out = np.zeros(len(states.length), dtype=np.bool_)
        finished_all(self.options, states, out)
        return out

    def heads(self, states: States) -> NDArray[np.int32]:
        """[B, N]: the head of every word; a word without one hangs from the root. Column 0 is 0."""
        return np.where(states.head == NONE, 0, states.head).astype(np.int32)

    def _prepared(self, states: States, gold: Any) -> Any:
        """Gold with its tables; ValueError if it does not fit these states."""
        prepared: Any = gold if hasattr(gold, "head") else self.prepare(gold)
        B, N = prepared.head.shape
        if prepared.options != self.options:
            raise ValueError("gold was prepared by a system with other options; prepare it again")
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


def _gold_words(heads: NDArray[np.int32], states: States, gold: Any) -> NDArray[np.bool_]:
    """[B, N]: the words of the states whose head is gold."""
    is_gold = np.zeros(heads.shape, dtype=np.bool_)
    columns = slice(1, min(heads.shape[1], gold.head.shape[1]))
    is_gold[:, columns] = heads[:, columns] == gold.head[:, columns]
    return np.asarray(is_gold & (np.arange(heads.shape[1]) < states.length[:, None]))


def names() -> list[str]:
    """Names of the transition systems: the modules here whose names start with a letter."""
    return choices.names("system")


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
    system: System = choices.load("system", name, **options)
    return system
