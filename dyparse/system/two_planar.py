"""2-planar: two stacks, for trees whose arcs can be drawn on two planes without crossing there.

After Gómez-Rodríguez & Nivre (2010), A Transition-Based Parser for 2-Planar Dependency Structures.
Two stacks, one of them active, and the buffer; s is the top of the active stack, b the front:

    SHIFT    push b on both stacks                 σ, τ, b|β    →  σ|b, τ|b, β
    REDUCE   remove s from the active stack        σ|s, τ, β    →  σ, τ, β
    LEFT     b is head of s                        σ|s, τ, b|β  →  the same    s has no head; no
                                                                              path s → … → b
    RIGHT    s is head of b                        σ|s, τ, b|β  →  the same    b has no head; no
                                                                              path b → … → s
    SWITCH   the other stack becomes active        σ, τ, β      →  τ, σ, β     τ is not empty; the
                                                                              last move was another

The end is an empty buffer; words without head hang from the root. Without a precondition of SWITCH
runs need not end. This one forbids no tree; but a SWITCH cannot be taken back before another move,
so it may cost an arc.

The second stack stands in the part of the buffer that has been read, bottom first, then NONE. The
place after the last word of the buffer is SWITCHED if the last move was SWITCH.

Oracle. The gold arcs that can no more be made together on two planes (`_two_planar_hopes`) are
found by search (`_two_planar_search`). There is no option for a single root: a word without head
needs some head then, and whether one is left depends on what its arc crosses (docs/theory.md).
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
    clear,
    first_best,
    gold_heads,
    head_of,
    leftmost,
    push,
    rightmost,
    stack_top,
)
from dyparse.system._two_planar_hopes import TwoPlanarGold, fill_tangled, least_loss
from dyparse.system._two_planar_search import BUILT, PLANES, ROWS
from dyparse.system.covington import is_finished, top

__all__ = ["TwoPlanar", "is_finished"]  # a kernel of Covington that holds here too

SHIFT, REDUCE, LEFT, RIGHT, SWITCH = range(5)
ACTIVE, OTHER = 1, 2  # planes
SWITCHED = 1


class TwoPlanarOptions(NamedTuple):
    """There are none; its class tells the compiled kernels which system this is."""


@dataclass(frozen=True)
class TwoPlanar(System):
    """2-planar; any number of words hang from the root."""

    trees: ClassVar[str] = "2-planar"
    searches: ClassVar[bool] = True
    moves: ClassVar[tuple[str, ...]] = ("SHIFT", "REDUCE", "LEFT", "RIGHT", "SWITCH")
    arcless: ClassVar[tuple[str, ...]] = ("SHIFT", "REDUCE", "SWITCH")
    needs: ClassVar[Mapping[str, str]] = {
        "SHIFT": "a word in the buffer",
        "REDUCE": "a word on the active stack",
        "LEFT": "a top of the active stack that has no head and does not dominate the front",
        "RIGHT": "a front of the buffer that has no head and does not dominate the active top",
        "SWITCH": "a word on the other stack, and another move after the last SWITCH",
    }
    slots: ClassVar[tuple[str, ...]] = (
        "s0",
        "s1",
        "t0",
        "t1",
        "b0",
        "b1",
        "s0.head",
        "s0.left",
        "s0.right",
        "t0.head",
        "b0.head",
        "b0.left",
    )

    @property
    def options(self) -> TwoPlanarOptions:
        return TwoPlanarOptions()

    def most_moves(self, words: int) -> int:
        return max(1, 8 * words - 8)

    def lists(self, states: States, row: int) -> dict[str, list[int]]:
        """Both stacks, bottom first."""
        active = states.stack[row, : states.stack_size[row]].tolist()
        other = states.buffer[row, : other_size(states, row)].tolist()
        return {"active stack": active, "other stack": other}

    def prepare(self, gold: ArrayLike) -> TwoPlanarGold:
        head = gold_heads(gold)
        B, N = head.shape
        work = np.zeros((B, ROWS, N + 1), dtype=np.int32)
        return TwoPlanarGold(self.options, head, np.zeros(B, dtype=np.int32), work)


@njit
def begin(options, states, i):
    """Both stacks are empty, the buffer 1..n."""
    n = states.length[i] - 1
    for word in range(1, n + 1):
        states.buffer[i, word - 1] = word
    states.end[i] = n


@njit
def other_size(states, i):
    """Number of words on the stack that is not active."""
    size = states.front[i]
    while size > 0 and states.buffer[i, size - 1] == NONE:
        size -= 1
    return size


@njit
def other_top(states, i, depth):
    """The token of the other stack at this depth, 0 = top; NONE if it is not that deep."""
    position = other_size(states, i) - 1 - depth
    return states.buffer[i, position] if position >= 0 else NONE


@njit
def has_switched(states, i):
    """Whether the last move was SWITCH."""
    return states.buffer[i, states.end[i]] == SWITCHED


@njit
def legal(options, states, i, out):
    """out[m] = 1 if move m may be taken."""
    s, b = stack_top(states, i, 0), buffer_front(states, i)
    out[SHIFT] = b != NONE
    out[REDUCE] = s != NONE
    out[LEFT], out[RIGHT] = legal_arcs(states, i, s, b)
    out[SWITCH] = other_size(states, i) > 0 and not has_switched(states, i)


@njit
def legal_arcs(states, i, s, b):
    """Whether b → s and s → b can be made."""
    if NONE in (s, b):
        return False, False
    top_s, top_b = top(states.head, i, s), top(states.head, i, b)
    return top_s == s and top_b != s, top_b == b and top_s != b


@njit
def arc(options, states, i, move):
    """LEFT b → s, RIGHT s → b."""
    s, b = stack_top(states, i, 0), buffer_front(states, i)
    if move == LEFT:
        return b, s
    if move == RIGHT:
        return s, b
    return NONE, NONE


@njit
def step(options, states, i, move):
    """SHIFT pushes b on both stacks, REDUCE pops the active one, SWITCH exchanges them."""
    states.buffer[i, states.end[i]] = SWITCHED if move == SWITCH else NONE
    if move == SHIFT:
        b, size = buffer_front(states, i), other_size(states, i)
        push(states, i, b)
        states.buffer[i, states.front[i]] = NONE
        states.buffer[i, size] = b
        states.front[i] += 1
        if states.front[i] == states.end[i]:
            empty_stacks(states, i)
    elif move == REDUCE:
        states.stack_size[i] -= 1
        states.stack[i, states.stack_size[i]] = NONE
    elif move == SWITCH:
        states.stack_size[i] = other_size(states, i)
        for k in range(states.front[i]):
            word = states.stack[i, k]
            states.stack[i, k] = states.buffer[i, k]
            states.buffer[i, k] = word


@njit
def empty_stacks(states, i):
    """Remove the words that are left at the end, so that ends differ by their arcs only."""
    states.stack_size[i] = 0
    for k in range(states.end[i]):
        states.stack[i, k] = states.buffer[i, k] = NONE


@njit
def features(options, states, i, out):
    """The tops of both stacks, the buffer, and the neighbours of the tops and b in the tree."""
    s, b = stack_top(states, i, 0), buffer_front(states, i)
    t = other_top(states, i, 0)
    out[0] = s
    out[1] = stack_top(states, i, 1)
    out[2] = t
    out[3] = other_top(states, i, 1)
    out[4] = b
    out[5] = buffer_second(states, i)
    out[6] = head_of(states, i, s)
    out[7] = leftmost(states, i, s)
    out[8] = rightmost(states, i, s)
    out[9] = head_of(states, i, t)
    out[10] = head_of(states, i, b)
    out[11] = leftmost(states, i, b)


@njit
def static(options, states, i, gold, is_legal, costs):
    """LEFT, RIGHT, SHIFT, SWITCH, REDUCE: the first that is legal and of least cost.

    REDUCE comes before SWITCH if b has a gold arc with a word of the active stack.
    """
    if has_gold_arc(states, i, gold.head[i]):
        return first_best((LEFT, RIGHT, SHIFT, REDUCE, SWITCH), is_legal, costs)
    return first_best((LEFT, RIGHT, SHIFT, SWITCH, REDUCE), is_legal, costs)


@njit
def has_gold_arc(states, i, head):
    """Whether a gold arc between b and a word of the active stack is still missing."""
    b = buffer_front(states, i)
    for position in range(states.stack_size[i]):
        word = states.stack[i, position]
        if head[word] == b and states.head[i, word] == NONE:
            return True
        if head[b] == word and states.head[i, b] == NONE:
            return True
    return False


@njit
def cost(options, states, i, gold, out):
    """out[m] = loss after legal move m, less the least of them.

    After SWITCH one of the other moves has to follow, at the other stack.
    """
    clear(out)
    n, b = states.end[i], buffer_front(states, i)
    work, head = gold.work[i], gold.head[i]
    load_state(states, i, gold)
    now = least_loss(work, head, n, b, 0)
    work[PLANES, b] = ACTIVE + OTHER
    out[SHIFT] = least_loss(work, head, n, b + 1, now)
    s, t = stack_top(states, i, 0), other_top(states, i, 0)
    out[REDUCE], out[LEFT], out[RIGHT] = losses_at(states, i, gold, s, ACTIVE, now)
    least = min(out[SHIFT], out[REDUCE], out[LEFT], out[RIGHT])
    if not has_switched(states, i):
        out[SWITCH] = out[SHIFT]
        if out[SHIFT] > now:
            out[SWITCH] = min(out[SHIFT], *losses_at(states, i, gold, t, OTHER, now))
        least = min(least, out[SWITCH])
    for move in range(out.shape[0]):
        out[move] -= least


@njit
def load_state(states, i, gold):
    """Put heads and planes where the oracle works; crossing gold arcs, if they are not there."""
    work, n = gold.work[i], states.end[i]
    if gold.words[i] != n:
        gold.words[i] = n
        fill_tangled(work, gold.head[i], n)
    for word in range(1, n + 1):
        work[BUILT, word], work[PLANES, word] = states.head[i, word], 0
    for position in range(states.front[i]):
        if states.stack[i, position] != NONE:
            work[PLANES, states.stack[i, position]] += ACTIVE
        if states.buffer[i, position] != NONE:
            work[PLANES, states.buffer[i, position]] += OTHER


@njit
def losses_at(states, i, gold, s, plane, floor):
    """The loss after REDUCE, LEFT and RIGHT at the top s of this plane; n + 1 if not legal."""
    n, b = states.end[i], buffer_front(states, i)
    work, head = gold.work[i], gold.head[i]
    reduced = left = right = n + 1
    if s != NONE:
        work[PLANES, s] -= plane
        reduced = least_loss(work, head, n, b, floor)
        work[PLANES, s] += plane
        is_left, is_right = legal_arcs(states, i, s, b)
        if is_left:
            work[BUILT, s] = b
            left = least_loss(work, head, n, b, floor)
            work[BUILT, s] = NONE
        if is_right:
            work[BUILT, b] = s
            right = least_loss(work, head, n, b, floor)
            work[BUILT, b] = NONE
    return reduced, left, right
