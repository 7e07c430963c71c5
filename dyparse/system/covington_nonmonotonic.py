"""Covington whose arcs may replace earlier ones, for every tree, with an approximate oracle.

Fernández-González & Gómez-Rodríguez (2017), A Full Non-Monotonic Transition System for Unrestricted
Non-Projective Parsing. Lists, buffer, SHIFT and NO_ARC are those of Covington; LEFT and RIGHT are
legal wherever there is an s:

    LEFT     b is head of s, which goes to λ2  s, b  →  s−1, b     replaces the head of s; if there
                                                                  is a path s → … → b, the arc into
                                                                  b is removed
    RIGHT    s is head of b, s goes to λ2      s, b  →  s−1, b     replaces the head of b; if there
                                                                  is a path b → … → s, the arc into
                                                                  s is removed

The end is an empty buffer; words without head hang from the root. When λ1 is empty there is no
choice: `step` takes SHIFT.

The costs are not exact (`exact = False`). Any pending gold arc can be built when its words meet;
what counts is which built gold arcs are removed in cycles, and whether a word of the gold root can
lose a wrong head, and both depend on all moves until the end. No closed form is known for that. The
least loss is bounded by

    words with a wrong head or none, whose gold head is a word that they cannot meet any more
        ≤  least loss  ≤  loss of a plan

where two plans for the rest of the sentence are tried (`_covington_plans`). The cost of a move is
the upper bound after it, less that after the best legal move. A plan is followed to a tree that can
be reached, so canonical moves from a state lose at most its upper bound.

Training prefers moves that build no wrong arc: most wrong arcs can be replaced, so they cost
nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dyparse.data.sentence import NONE
from dyparse.runtime.kernels import njit
from dyparse.system import States, System, clear, first_best, gold_heads
from dyparse.system import covington as monotonic
from dyparse.system._covington_plans import (
    LEFT,
    NO_ARC,
    RIGHT,
    SHIFT,
    PlansGold,
    holds_gold_root,
    leaves_one_root,
    link,
    planned_loss,
    take_arc,
)
from dyparse.system._hopes import place, stuck_word
from dyparse.system.covington import arc, begin, features, is_finished, pass_or_shift

__all__ = ["CovingtonNonMonotonic", "arc", "begin", "features", "is_finished"]  # as in Covington


class CovingtonNonMonotonicOptions(NamedTuple):
    """Options as numbers, for the compiled kernels."""

    single_root: bool


@dataclass(frozen=True)
class CovingtonNonMonotonic(System):
    """Covington with arcs that replace others; with `single_root` the root has one dependent."""

    single_root: bool = True

    trees: ClassVar[str] = "all"
    moves: ClassVar[tuple[str, ...]] = monotonic.Covington.moves
    arcless: ClassVar[tuple[str, ...]] = monotonic.Covington.arcless
    needs: ClassVar[Mapping[str, str]] = {
        "SHIFT": "a word in the buffer",
        "NO_ARC": "a word in λ1",
        "LEFT": "a word in λ1",
        "RIGHT": "a word in λ1",
    }
    slots: ClassVar[tuple[str, ...]] = monotonic.Covington.slots
    exact: ClassVar[bool] = False

    @property
    def options(self) -> CovingtonNonMonotonicOptions:
        return CovingtonNonMonotonicOptions(single_root=self.single_root)

    def most_moves(self, words: int) -> int:
        return 1 + words * (words - 1) // 2

    def lists(self, states: States, row: int) -> dict[str, list[int]]:
        """λ1 = 1..s and λ2 = s+1..b−1."""
        s, b, _ = map(int, place(states, row))
        return {"λ1": list(range(1, s + 1)), "λ2": list(range(s + 1, b))}

    def prepare(self, gold: ArrayLike) -> PlansGold:
        head = gold_heads(gold)
        return PlansGold(self.options, head, *(np.zeros_like(head) for _ in range(2)))


@njit
def forget(options, gold, i):
    """Nothing is kept from one state to the next."""


@njit
def legal(options, states, i, out):
    """out[m] = 1 if move m may be taken.

    Single root: while b < n any move, because n can still become the head of everything.
    """
    for move in (SHIFT, NO_ARC, LEFT, RIGHT):
        out[move] = may_take(options, states, i, move)


@njit
def may_take(options, states, i, move):
    """Whether a move is legal."""
    s, b, n = place(states, i)
    if b > n or (move != SHIFT and s == 0):
        return False
    if not options.single_root or b < n:
        return True
    if move != SHIFT:
        stuck = stuck_word(states.head, i, s, n)
        return leaves_one_root(states.head, i, (s, b, n), stuck, move)
    n_roots = 0
    for word in range(1, n + 1):
        n_roots += states.head[i, word] == NONE
    return n_roots == 1


@njit
def step(options, states, i, move):
    """SHIFT or pass s, then SHIFT if λ1 is empty. An arc that the new one excludes is removed."""
    if move in (LEFT, RIGHT):
        head, dependent = arc(options, states, i, move)
        link(states.head, i, head, dependent)
        find_outermost_dependents(states, i)
    pass_or_shift(states, i, move == SHIFT)
    if states.stack_size[i] == 0 and not is_finished(options, states, i):
        pass_or_shift(states, i, is_shift=True)


@njit
def find_outermost_dependents(states, i):
    """Make `left` and `right` those of the heads."""
    for word in range(states.length[i]):
        states.left[i, word] = states.right[i, word] = NONE
    for word in range(states.length[i] - 1, 0, -1):
        head = states.head[i, word]
        if head > word:
            states.left[i, head] = word
        elif head != NONE and states.right[i, head] == NONE:
            states.right[i, head] = word


@njit
def static(options, states, i, gold, is_legal, costs):
    """LEFT, RIGHT, SHIFT, NO_ARC: the first that is legal and of least cost, after `prefer`.

    On the way to a gold tree as in Covington.
    """
    return first_best((LEFT, RIGHT, SHIFT, NO_ARC), is_legal, costs)


@njit
def cost(options, states, i, gold, out):
    """out[m] = upper bound of the loss after move m, less the least of the legal moves."""
    clear(out)
    s, b, n = place(states, i)
    if s == 0:
        return
    find_gold_roots(gold, i, n)
    least = n + 1
    for move in (SHIFT, NO_ARC, LEFT, RIGHT):
        if may_take(options, states, i, move):
            after = (b, b + 1, n) if move == SHIFT else (s - 1, b, n)
            out[move] = loss_bound(options, states, i, gold, move, after)
            least = min(least, out[move])
    for move in range(out.shape[0]):
        out[move] -= least


@njit
def find_gold_roots(gold, i, n):
    """List the words of the gold root."""
    found = 0
    for word in range(1, n + 1):
        if gold.head[i, word] == 0:
            gold.roots[i, found] = word
            found += 1
    gold.roots[i, found] = NONE


@njit
def loss_bound(options, states, i, gold, move, after):
    """Least loss of the plans after a move; that to release is only needed for a wrong head."""
    plan_from(states, i, gold, move)
    has_two_plans = holds_gold_root(gold, i)
    loss = planned_loss(options, gold, i, after, releases=False)
    if has_two_plans:
        plan_from(states, i, gold, move)
        loss = min(loss, planned_loss(options, gold, i, after, releases=True))
    return loss


@njit
def plan_from(states, i, gold, move):
    """Start a plan with the heads after a move."""
    s, b, n = place(states, i)
    for word in range(1, n + 1):
        gold.planned[i, word] = states.head[i, word]
    take_arc(gold.planned, i, s, b, move)


@njit
def prefer(options, states, i, gold, is_legal, costs):
    """Of the moves of cost 0, let a wrong arc keep it only if all others are wrong arcs too."""
    s, b, _ = place(states, i)
    is_wrong_left, is_wrong_right = gold.head[i, s] != b, gold.head[i, b] != s
    is_better = False
    for move in (SHIFT, NO_ARC, LEFT, RIGHT):
        is_wrong = (move == LEFT and is_wrong_left) or (move == RIGHT and is_wrong_right)
        is_better |= is_legal[move] and costs[move] == 0 and not is_wrong
    if is_better:
        costs[LEFT] += is_wrong_left
        costs[RIGHT] += is_wrong_right
