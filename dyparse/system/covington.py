"""Covington, for every tree, with an exact dynamic oracle, also under the single-root rule.

Gómez-Rodríguez & Fernández-González (2015), An Efficient Dynamic Oracle for Unrestricted
Non-Projective Parsing. Two lists and the buffer, λ1 = 1..s, λ2 = s+1..b−1, β = b..n, so that s
and b are the whole state, apart from the arcs:

    SHIFT    b goes to λ1, and λ2 with it     s, b  →  b, b+1
    NO_ARC   s goes to λ2                     s, b  →  s−1, b
    LEFT     b is head of s, which goes to λ2  s, b  →  s−1, b     s has no head; no path s → … → b
    RIGHT    s is head of b, s goes to λ2      s, b  →  s−1, b     b has no head; no path b → … → s

The end is an empty buffer; words without head hang from the root. Where neither LEFT nor RIGHT is
legal there is no choice: `step` continues by NO_ARC, and by SHIFT when λ1 is empty, to the next
state with one. That loses no tree and changes no cost.

Oracle. One table of hopes (`_hopes`): a word hopes for the head it has, or for its gold head.

Single root. Exactly one word ends without head. While b < n any move may be taken, because n can
still become the head of everything. From then on words without head in λ2 are stuck: there may be
one, which will be the root, and n has to get below it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dyparse.data.sentence import NONE
from dyparse.runtime.kernels import njit
from dyparse.system import (
    States,
    System,
    buffer_front,
    buffer_second,
    first_best,
    gold_heads,
    head_of,
    leftmost,
    rightmost,
    stack_top,
)
from dyparse.system._hopes import (
    LEFT,
    NO_ARC,
    RIGHT,
    SHIFT,
    CovingtonGold,
    compare_surcharges,
    count_lost_arcs,
    fill_hope,
    is_root_at_stake,
    place,
    stuck_word,
)


class CovingtonOptions(NamedTuple):
    """Options as numbers, for the compiled kernels."""

    single_root: bool


@dataclass(frozen=True)
class Covington(System):
    """Covington, non-projective; with `single_root` the root has one dependent."""

    single_root: bool = True

    trees: ClassVar[str] = "all"
    moves: ClassVar[tuple[str, ...]] = ("SHIFT", "NO_ARC", "LEFT", "RIGHT")
    arcless: ClassVar[tuple[str, ...]] = ("SHIFT", "NO_ARC")
    needs: ClassVar[Mapping[str, str]] = {
        "SHIFT": "a word in the buffer",
        "NO_ARC": "a word in λ1",
        "LEFT": "a last word of λ1 that has no head and does not dominate the front of the buffer",
        "RIGHT": "a front of the buffer that has no head and does not dominate the last word of λ1",
    }
    slots: ClassVar[tuple[str, ...]] = (
        "s0",
        "s1",
        "l0",
        "b0",
        "b1",
        "s0.head",
        "s0.left",
        "s0.right",
        "b0.head",
        "b0.left",
    )

    @property
    def options(self) -> CovingtonOptions:
        return CovingtonOptions(single_root=self.single_root)

    def most_moves(self, words: int) -> int:
        return words + words * (words - 1) // 2

    def lists(self, states: States, row: int) -> dict[str, list[int]]:
        """λ1 = 1..s and λ2 = s+1..b−1."""
        s, b, _ = map(int, place(states, row))
        return {"λ1": list(range(1, s + 1)), "λ2": list(range(s + 1, b))}

    def prepare(self, gold: ArrayLike) -> CovingtonGold:
        head = gold_heads(gold)
        hope, built, reached, queue = (np.zeros_like(head) for _ in range(4))
        return CovingtonGold(self.options, head, hope, built, reached, queue)


@njit
def begin(options, states, i):
    """λ1 is empty, the buffer 1..n. The stack holds 1..n once and for all, its size is s."""
    n = states.length[i] - 1
    for word in range(1, n + 1):
        states.stack[i, word - 1] = states.buffer[i, word - 1] = word
    states.end[i] = n


@njit
def is_finished(options, states, i):
    """The buffer is empty."""
    return states.front[i] == states.end[i]


@njit
def top(heads, i, word):
    """The word without head above (or the word itself)."""
    while heads[i, word] != NONE:
        word = heads[i, word]
    return word


@njit
def legal(options, states, i, out):
    """out[m] = 1 if move m may be taken."""
    s, b, n = place(states, i)
    out[LEFT], out[RIGHT] = legal_arcs(options, states, i)
    out[SHIFT] = b <= n
    out[NO_ARC] = b <= n and s > 0
    if options.single_root and b == n:
        headless = 0
        for word in range(1, n + 1):
            headless += states.head[i, word] == NONE
        out[SHIFT] = headless == 1
        out[NO_ARC] = s > 0 and may_pass(states.head, i, s, n)


@njit
def legal_arcs(options, states, i):
    """Whether LEFT and RIGHT are legal.

    Single root, b = n: LEFT does no harm; RIGHT needs to bring n below the stuck word, if any.
    """
    s, b, n = place(states, i)
    left = right = False
    if s > 0 and b <= n:
        top_s, top_b = top(states.head, i, s), top(states.head, i, b)
        left = top_s == s and top_b != s
        right = top_b == b and top_s != b
        if right and options.single_root and b == n:
            stuck = stuck_word(states.head, i, s, n)
            right = stuck in (NONE, top_s)
    return left, right


@njit
def may_pass(heads, i, s, n):
    """Whether, after NO_ARC at s and b = n, at most one word is stuck and n can be below it."""
    stuck = stuck_word(heads, i, s, n)
    is_second = stuck != NONE and heads[i, s] == NONE
    if heads[i, s] == NONE:
        stuck = s
    is_below = stuck == NONE or top(heads, i, n) == stuck
    word = s - 1 if heads[i, n] == NONE else 0
    while word > 0 and not is_below:
        is_below = top(heads, i, word) == stuck
        word -= 1
    return is_below and not is_second


@njit
def arc(options, states, i, move):
    """LEFT b → s, RIGHT s → b."""
    s, b, _ = place(states, i)
    if move == LEFT:
        return b, s
    if move == RIGHT:
        return s, b
    return NONE, NONE


@njit
def step(options, states, i, move):
    """SHIFT or pass s; then on to the next state in which an arc is legal, or to the end."""
    pass_or_shift(states, i, move == SHIFT)
    left, right = legal_arcs(options, states, i)
    while not (left or right or is_finished(options, states, i)):
        pass_or_shift(states, i, states.stack_size[i] == 0)
        left, right = legal_arcs(options, states, i)


@njit
def pass_or_shift(states, i, is_shift):
    """Move b and λ2 to λ1, or else s to λ2."""
    if is_shift:
        states.front[i] += 1
        states.stack_size[i] = states.front[i]
    else:
        states.stack_size[i] -= 1


@njit
def features(options, states, i, out):
    """The words at the ends of λ1, λ2 and buffer, and the neighbours of s and b in the tree."""
    s, b = stack_top(states, i, 0), buffer_front(states, i)
    after = states.stack_size[i] + 1
    out[0] = s
    out[1] = stack_top(states, i, 1)
    out[2] = after if after < b else NONE
    out[3] = b
    out[4] = buffer_second(states, i)
    out[5] = head_of(states, i, s)
    out[6] = leftmost(states, i, s)
    out[7] = rightmost(states, i, s)
    out[8] = head_of(states, i, b)
    out[9] = leftmost(states, i, b)


@njit
def static(options, states, i, gold, is_legal, costs):
    """LEFT, RIGHT, SHIFT, NO_ARC: the first that is legal and of least cost.

    On the way to a gold tree: its arc between s and b; else NO_ARC only where SHIFT would lose an
    arc between b and a word before s.
    """
    return first_best((LEFT, RIGHT, SHIFT, NO_ARC), is_legal, costs)


@njit
def cost(options, states, i, gold, out):
    """out[m] = gold arcs lost by legal move m, and what it adds to the price of a single root."""
    here = place(states, i)
    s, b, n = here
    roots = fill_hope(states.head, gold, i, here)
    count_lost_arcs(gold, i, here, out)
    if options.single_root and (roots > 0 or b == n):
        if is_root_at_stake(gold, i, here):
            compare_surcharges(states, i, gold, out)
        else:  # one of several words of the gold root gets another head, as all but one must
            out[LEFT] -= gold.head[i, s] == 0
            out[RIGHT] -= gold.head[i, b] == 0
