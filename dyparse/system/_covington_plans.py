"""The oracle of non-monotonic Covington: two plans for the rest of a sentence, and what they lose.

A plan says which move to take in a state. Following it to the end gives a tree that can be reached,
so its loss is an upper bound of the least loss (`planned_loss`).

    gold     the gold arc between s and b, if there is one; else NO_ARC, and SHIFT when λ1 is empty
    release  the same, and where there is no gold arc between s and b, moves that let a word y of
             the gold root lose a wrong head: an arc y → x removes it if x dominates y

What makes the plans fall short are built gold arcs, removed when a pending one closes a cycle.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dyparse.data.sentence import NONE
from dyparse.runtime.kernels import njit
from dyparse.system._hopes import stuck_word
from dyparse.system.covington import top

SHIFT, NO_ARC, LEFT, RIGHT = range(4)


class PlansGold(NamedTuple):
    """Gold trees, and room for the plans to work in; nothing there outlives a call."""

    options: Any  # of the system that prepared it
    head: NDArray[np.int32]  # [B, N]
    planned: NDArray[np.int32]  # [B, N]  heads on the way of a plan; NONE = not attached
    roots: NDArray[np.int32]  # [B, N]  the words of the gold root, then NONE


@njit
def is_above(heads, i, word, other):
    """Whether there is a path word → … → other; a word is above itself."""
    while other != word and other != NONE:  # noqa: PLR1714 - numba: of two types
        other = heads[i, other]
    return other == word


@njit
def link(heads, i, head, dependent):
    """Give the dependent its head; the arc into the head is removed if it would close a cycle."""
    closes_cycle = is_above(heads, i, dependent, head)
    heads[i, dependent] = head
    if closes_cycle:
        heads[i, head] = NONE


@njit
def take_arc(heads, i, s, b, move):
    """The arc of LEFT or RIGHT, if the move is one of them."""
    if move == LEFT:
        link(heads, i, b, s)
    elif move == RIGHT:
        link(heads, i, s, b)


@njit
def leaves_one_root(heads, i, here, stuck, move):
    """Whether a single root can still be had after NO_ARC, LEFT or RIGHT at s and b = n.

    A word without head in λ2 is stuck. There may be one, which will be the root; n has to be below
    it already, or to get a head below it. If none is stuck, n can become the root.
    """
    s, _, n = here
    head_s, head_n = heads[i, s], heads[i, n]
    take_arc(heads, i, s, n, move)
    possible = True
    if heads[i, s] == NONE:
        possible, stuck = stuck == NONE, s
    if possible and stuck != NONE:
        word = n
        while word != 0 and top(heads, i, word) != stuck:
            word = s - 1 if word == n else word - 1
        possible = word != 0
    heads[i, s], heads[i, n] = head_s, head_n
    return possible


@njit
def planned_loss(options, gold, i, here, releases):
    """Wrong heads at the end of a plan that starts with the heads in `planned`."""
    s, b, n = here
    stuck = stuck_word(gold.planned, i, s, n) if b == n else NONE
    while b <= n:
        releases = releases and holds_gold_root(gold, i)
        while s > 0:
            if not releases and (b < n or not options.single_root):
                s = next_with_gold_arc(gold, i, s, b)
            if s > 0:
                move = planned_move(options, gold, i, (s, b, n), (stuck, releases))
                take_arc(gold.planned, i, s, b, move)
                if b == n and gold.planned[i, s] == NONE:
                    stuck = s
                s -= 1
        s, b = b, b + 1
    loss = 0
    for word in range(1, n + 1):
        loss += max(gold.planned[i, word], 0) != gold.head[i, word]
    return loss


@njit
def holds_gold_root(gold, i):
    """Whether a word of the gold root has a head."""
    k = 0
    while gold.roots[i, k] != NONE:
        if gold.planned[i, gold.roots[i, k]] != NONE:
            return True
        k += 1
    return False


@njit
def next_with_gold_arc(gold, i, s, b):
    """The last word up to s that has a gold arc with b, or 0."""
    head = gold.head[i, b]
    while s > 0 and gold.head[i, s] != b and s != head:
        s -= 1
    return s


@njit
def planned_move(options, gold, i, here, plan):
    """NO_ARC, LEFT or RIGHT, whatever the plan wants; where the single-root rule forbids it,
    another one, best an arc to a word that any head will do for.

    The plan is: the stuck word when b = n, or NONE; whether it releases words of the gold root.
    """
    s, b, n = here
    stuck, releases = plan
    move = wanted_move(gold, i, here, releases)
    if not (options.single_root and b == n):
        return move
    is_s_loose, is_n_loose = is_loose(gold, i, s), is_loose(gold, i, n)
    is_free = is_n_loose or not is_above(gold.planned, i, s, n)  # LEFT would lose no gold arc
    if move == NO_ARC and is_s_loose and gold.planned[i, s] == NONE and is_free:
        move = LEFT  # else s is stuck
    arcs = (RIGHT, LEFT) if is_n_loose and not is_s_loose else (LEFT, RIGHT)
    for other in (move, NO_ARC, *arcs):
        if leaves_one_root(gold.planned, i, here, stuck, other):
            break
    return other


@njit
def wanted_move(gold, i, here, releases):
    """The gold arc between s and b, an arc that helps to release a word, or NO_ARC."""
    s, b, _ = here
    if gold.head[i, s] == b:
        return LEFT
    if gold.head[i, b] == s:
        return RIGHT
    move, k = NO_ARC, 0
    while releases and move == NO_ARC and gold.roots[i, k] != NONE:
        y = gold.roots[i, k]
        if gold.planned[i, y] != NONE:
            move = releasing_move(gold, i, s, b, y)
        k += 1
    return move


@njit
def releasing_move(gold, i, s, b, y):
    """A move that lets y lose its head, or prepares that; else NO_ARC.

    A word is loose if any head will do for now: it hopes for a head that it has not got.

    y = s   RIGHT, if b is loose and dominates y
    y = b   LEFT, if s is loose and dominates y; else RIGHT, if a loose word z < s dominates s: when
            z comes, it is above y
    y < b   LEFT, if s is loose and dominates y: then b dominates y, when y comes, or later
    """
    heads = gold.planned
    if y == s:
        return RIGHT if is_loose(gold, i, b) and is_above(heads, i, b, s) else NO_ARC
    if y == b:
        if is_above(heads, i, s, b):
            return LEFT if is_loose(gold, i, s) else right_if_below_loose(gold, i, s, b)
        return right_if_below_loose(gold, i, s, b)
    is_useful = is_loose(gold, i, s) and heads[i, b] != gold.head[i, b] and is_above(heads, i, s, y)
    is_new = is_useful and not is_above(heads, i, s, b) and not is_above(heads, i, b, y)
    return LEFT if is_new else NO_ARC


@njit
def right_if_below_loose(gold, i, s, b):
    """RIGHT if a loose word before s dominates it, and b does not; else NO_ARC."""
    word = gold.planned[i, s]
    while word != NONE and not (word < s and is_loose(gold, i, word)):
        word = gold.planned[i, word]
    return RIGHT if word != NONE and not is_above(gold.planned, i, b, s) else NO_ARC


@njit
def is_loose(gold, i, word):
    """Whether a word hopes for a head that it has not got; one of the gold root hopes for none."""
    return gold.head[i, word] != 0 and gold.head[i, word] != gold.planned[i, word]
