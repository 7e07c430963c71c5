"""Covington, for every tree, with an exact dynamic oracle, also under the single-root rule.

Gómez-Rodríguez & Fernández-González (2015), An Efficient Dynamic Oracle for Unrestricted
Non-Projective Parsing. Two lists and the buffer, λ1 = 1..s, λ2 = s+1..b−1, β = b..n, so that s and
b say it all:

    SHIFT    b goes to λ1, and λ2 with it     s, b  →  b, b+1
    NO_ARC   s goes to λ2                     s, b  →  s−1, b
    LEFT     b is head of s, which goes to λ2  s, b  →  s−1, b     s has no head; no path s → … → b
    RIGHT    s is head of b, s goes to λ2      s, b  →  s−1, b     b has no head; no path b → … → s

The end is an empty buffer; words without head hang from the root. Where neither LEFT nor RIGHT is
legal there is nothing to ask: `step` goes on by NO_ARC, and by SHIFT when λ1 is empty, to the next
state with a choice. No tree and no cost is lost by that.

Oracle. The hope of a word is the head it has; else its gold head, if they can still meet; else 0.

    loss = words whose head is wrong, or is missing and can meet them no more  +  cycles of hope

Their Algorithm 1 with its root arcs put right: 0 → y is lost as soon as y has a head, not before.
All costs follow from one table of hopes (`count_lost_arcs`).

Single root. Exactly one word ends without head. While b < n any move may be taken, because n can
still become the head of everything. From then on words without head in λ2 are stuck: there may be
one, which will be the root, and n has to get below it. The loss grows by the words of the gold root
that are not to be the root, and by one if n cannot get below the root for free (`root_surcharge`).
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dyparse.data.sentence import NONE
from dyparse.runtime.kernels import njit
from dyparse.system import (
    System,
    buffer_front,
    buffer_second,
    clear,
    first_best,
    gold_heads,
    head_of,
    leftmost,
    rightmost,
    stack_top,
)

SHIFT, NO_ARC, LEFT, RIGHT = range(4)
FOUND = -1


class CovingtonOptions(NamedTuple):
    """What the kernels are told."""

    single_root: bool


class CovingtonGold(NamedTuple):
    """Gold trees, and room for the oracle to work in; nothing there outlives a call."""

    options: CovingtonOptions  # of the system that prepared it
    head: NDArray[np.int32]  # [B, N]
    hope: NDArray[np.int32]  # [B, N]  the head a word has, or its gold head if within reach, or 0
    built: NDArray[np.int32]  # [B, N]  heads after a move; NONE = not attached
    reached: NDArray[np.int32]  # [B, N]  words that n can get below: the climb that came by
    queue: NDArray[np.int32]  # [B, N]  words among them that may take any head


@dataclass(frozen=True)
class Covington(System):
    """Covington, non-projective; with `single_root` the root has one dependent."""

    single_root: bool = True

    moves: ClassVar[tuple[str, ...]] = ("SHIFT", "NO_ARC", "LEFT", "RIGHT")
    slots: ClassVar[tuple[str, ...]] = (
        *("s0", "s1", "l0", "b0", "b1"),
        *("s0.head", "s0.left", "s0.right", "b0.head", "b0.left", "b0.right"),
    )

    @property
    def options(self) -> CovingtonOptions:
        return CovingtonOptions(single_root=self.single_root)

    def most_moves(self, words: int) -> int:
        return words + words * (words - 1) // 2

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
def place(states, i):
    """(s, b, n): the last word of λ1, or 0; the first of the buffer, or n + 1; the last word."""
    return np.int64(states.stack_size[i]), np.int64(states.front[i] + 1), np.int64(states.end[i])


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
def stuck_word(heads, i, s, n):
    """The word without head in λ2 when b = n, which will be the root; or NONE."""
    word = s + 1
    while word < n and heads[i, word] != NONE:
        word += 1
    return word if word < n else NONE


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
    out[10] = rightmost(states, i, b)


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


@njit
def can_meet(word, other, s, b):
    """Whether two words will still be s and b of a state, this one included."""
    low, high = min(word, other), max(word, other)
    return (high > b) | ((high == b) & (low <= s))


@njit
def fill_hope(heads, gold, i, here):
    """Make the table of hopes; returns how many words are to hang from the root."""
    s, b, n = here
    roots = 0
    for word in range(1, n + 1):
        head, wanted = heads[i, word], gold.head[i, word]
        hope = wanted if can_meet(word, wanted, s, b) else 0
        hope = hope if head == NONE else head
        gold.hope[i, word] = hope
        roots += (hope == 0) & (wanted == 0)
    return roots


@njit
def count_lost_arcs(gold, i, here, out):
    """Lost hopes, less cycles that go with them, and cycles that a new arc closes.

    SHIFT   every hope between b and λ1; a cycle through b may be among them
    NO_ARC  the hope between s and b
    LEFT    the hope of s, if it is not b (the root is a hope too), and a cycle if b is below s
    RIGHT   the hope of b, if it is not s, and a cycle if s is below b

    A hope that lies on a cycle is free: one of them is lost anyway.
    """
    s, b, n = here
    s_on_cycle, s_below_b, _ = climb_hope(gold, i, n, s, b)
    b_on_cycle, b_below_s, last = climb_hope(gold, i, n, b, s)
    hope_s, hope_b = gold.hope[i, s], gold.hope[i, b]
    b_hopes_back = 0 < hope_b <= s
    lost = 0
    for word in range(1, s + 1):
        lost += gold.hope[i, word] == b
    clear(out)
    out[SHIFT] = lost + b_hopes_back - (b_on_cycle and (b_hopes_back or last <= s))
    if hope_s == b:
        out[NO_ARC] = 1 - s_on_cycle
    else:
        out[LEFT] = int(hope_s > 0 or gold.head[i, s] == 0) - s_on_cycle + b_below_s
    if hope_b == s:
        out[NO_ARC] = 1 - b_on_cycle
    else:
        out[RIGHT] = int(hope_b > 0 or gold.head[i, b] == 0) - b_on_cycle + s_below_b


@njit
def climb_hope(gold, i, n, word, other):
    """(word is on a cycle, word is below the other, last word before the root or before word)."""
    is_below, last, above, steps = False, word, gold.hope[i, word], 0
    while above not in (0, word) and steps < n:  # it may run into a cycle further up
        is_below |= above == other
        last, above = above, gold.hope[i, above]
        steps += 1
    return above == word, is_below, last


@njit
def is_root_at_stake(gold, i, here):
    """Whether a move can change more than the number of roots.

    It cannot if n is below a gold root by hopes that are not about s or b.
    """
    s, b, n = here
    word, above, steps = n, gold.hope[i, n], 0
    while word not in (s, b) and above != 0 and steps < n:  # it may run into a cycle
        word, above = above, gold.hope[i, above]
        steps += 1
    return word in (s, b) or above != 0 or gold.head[i, word] != 0


@njit
def compare_surcharges(states, i, gold, out):
    """Add to each cost the surcharge after the move, less the surcharge now."""
    s, b, n = place(states, i)
    for word in range(1, n + 1):
        gold.built[i, word] = states.head[i, word]
    now = root_surcharge(gold, i, (s, b, n))
    out[SHIFT] += root_surcharge(gold, i, (b, b + 1, n)) - now
    out[NO_ARC] += root_surcharge(gold, i, (s - 1, b, n)) - now
    gold.built[i, s] = b
    out[LEFT] += root_surcharge(gold, i, (s - 1, b, n)) - now
    gold.built[i, s], gold.built[i, b] = states.head[i, s], s
    out[RIGHT] += root_surcharge(gold, i, (s - 1, b, n)) - now


@njit
def root_surcharge(gold, i, here):
    """What a single root adds to the loss.

    Words of the gold root, without the one that will be the root; and 1 if n cannot get below it
    for free. If no word is stuck and none wants the root, the word above n may be it.
    """
    s, b, n = here
    roots = fill_hope(gold.built, gold, i, here)
    stuck = stuck_word(gold.built, i, s, n) if b == n else NONE
    surcharge = 0
    if b <= n and (roots > 0 or stuck != NONE):
        spared = stuck == NONE or gold.head[i, stuck] == 0
        surcharge = roots - spared + (not can_hang_below(gold, i, here, stuck))
    return surcharge


@njit
def can_hang_below(gold, i, here, stuck):
    """Whether n can get below the stuck word, or else a gold root, without loss.

    Search upwards from n: along hopes; from a word without hope, and from one on a cycle that has
    no head yet, to every word it can meet.
    """
    s, b, n = here
    for word in range(1, n + 1):
        gold.reached[i, word] = 0
    size, done = climb(gold, i, n, stuck, 0), 0
    while done < size:
        word = gold.queue[i, done]
        done += 1
        for other in range(1, n + 1):
            if gold.reached[i, other] == 0 and can_meet(word, other, s, b):
                size = climb(gold, i, other, stuck, size)
                if size == FOUND:
                    return True
    return size == FOUND


@njit
def climb(gold, i, start, stuck, size):
    """Follow hopes up to words not reached before; put in the queue which may take any head.

    Returns the size of the queue, or FOUND.
    """
    word = last = np.int64(start)
    while word != 0 and gold.reached[i, word] == 0:
        gold.reached[i, word] = start
        last, word = word, np.int64(gold.hope[i, word])
    if word == 0:
        if last == stuck or (stuck == NONE and gold.head[i, last] == 0):
            return FOUND
        gold.queue[i, size] = last
        return size + 1
    if gold.reached[i, word] == start:
        first = word
        while True:
            if gold.built[i, word] == NONE:
                gold.queue[i, size] = word
                size += 1
            word = np.int64(gold.hope[i, word])
            if word == first:
                break
    return size
