"""The oracle of Covington: a table of hopes, and a surcharge for the single-root rule.

The hope of a word is the head it has; else its gold head, if they can still meet; else 0.

    loss = words whose head is wrong, or is missing and can no longer meet them  +  cycles of hope

Algorithm 1 of Gómez-Rodríguez & Fernández-González (2015) with its root arcs put right: 0 → y is
lost as soon as y has a head, not before. All costs follow from one table of hopes
(`count_lost_arcs`).

Single root. The loss grows by the words of the gold root that are not to be the root, and by one if
n cannot get below the root for free (`root_surcharge`). Proofs: docs/theory.md.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dyparse.data.sentence import NONE
from dyparse.runtime.kernels import njit
from dyparse.system import clear

SHIFT, NO_ARC, LEFT, RIGHT = range(4)
FOUND = -1


class CovingtonGold(NamedTuple):
    """Gold trees, and room for the oracle to work in; nothing there outlives a call."""

    options: Any  # of the system that prepared it
    head: NDArray[np.int32]  # [B, N]
    hope: NDArray[np.int32]  # [B, N]  the head a word has, or its gold head if within reach, or 0
    built: NDArray[np.int32]  # [B, N]  heads after a move; NONE = not attached
    reached: NDArray[np.int32]  # [B, N]  words that n can get below: the climb that came by
    queue: NDArray[np.int32]  # [B, N]  words among them that may take any head


@njit
def place(states, i):
    """(s, b, n): the last word of λ1, or 0; the first of the buffer, or n + 1; the last word."""
    return np.int64(states.stack_size[i]), np.int64(states.front[i] + 1), np.int64(states.end[i])


@njit
def stuck_word(heads, i, s, n):
    """The word without head in λ2 when b = n, which will be the root; or NONE."""
    word = s + 1
    while word < n and heads[i, word] != NONE:
        word += 1
    return word if word < n else NONE


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
    """The loss that a single root adds.

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
