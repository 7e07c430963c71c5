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
    while other != NONE and other != word:
        other = heads[i, other]
    return other == word


@njit
def top(heads, i, word):
    """The word without head above (or the word itself)."""
    while heads[i, word] != NONE:
        word = heads[i, word]
    return word


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
def can_end_with_one_root(heads, i, s, n):
    """Whether a single root can still be had from s and b = n.

    A word without head in λ2 is stuck. There may be one, which will be the root; n has to be below
    it already, or to get a head below it. If none is stuck, n can become the root.
    """
    stuck = NONE
    for word in range(s + 1, n):
        if heads[i, word] == NONE:
            if stuck != NONE:
                return False
            stuck = word
    if stuck == NONE or top(heads, i, n) == stuck:
        return True
    for word in range(1, s + 1):
        if top(heads, i, word) == stuck:
            return True
    return False


@njit
def leaves_one_root(heads, i, s, n, move):
    """Whether a single root can still be had after NO_ARC, LEFT or RIGHT at s and b = n."""
    head_s, head_n = heads[i, s], heads[i, n]
    take_arc(heads, i, s, n, move)
    possible = can_end_with_one_root(heads, i, s - 1, n)
    heads[i, s], heads[i, n] = head_s, head_n
    return possible


@njit
def planned_loss(options, gold, i, here, releases):
    """Wrong heads at the end of a plan that starts with the heads in `planned`."""
    s, b, n = here
    while b <= n:
        while s > 0:
            take_arc(gold.planned, i, s, b, planned_move(options, gold, i, (s, b, n), releases))
            s -= 1
        s, b = b, b + 1
    loss = 0
    for word in range(1, n + 1):
        loss += max(gold.planned[i, word], 0) != gold.head[i, word]
    return loss


@njit
def planned_move(options, gold, i, here, releases):
    """NO_ARC, LEFT or RIGHT, whatever the plan wants; where the single-root rule forbids it,
    another one, best an arc to a word that any head will do for.
    """
    s, b, n = here
    move = wanted_move(gold, i, here, releases)
    if not (options.single_root and b == n):
        return move
    is_s_loose, is_n_loose = is_loose(gold, i, s), is_loose(gold, i, n)
    if move == NO_ARC and is_s_loose and gold.planned[i, s] == NONE:
        if is_n_loose or not is_above(gold.planned, i, s, n):
            move = LEFT  # else s may be the root
    arcs = (RIGHT, LEFT) if is_n_loose and not is_s_loose else (LEFT, RIGHT)
    for other in (move, NO_ARC, *arcs):
        if leaves_one_root(gold.planned, i, s, n, other):
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
    k = 0
    while releases and gold.roots[i, k] != NONE:
        move = releasing_move(gold, i, s, b, gold.roots[i, k])
        if move != NO_ARC:
            return move
        k += 1
    return NO_ARC


@njit
def releasing_move(gold, i, s, b, y):
    """A move that lets y lose a wrong head, or prepares that; else NO_ARC.

    A word is loose if any head will do for now: it hopes for a head that it has not got.

    y = s   RIGHT, if b is loose and dominates y
    y = b   LEFT, if s is loose and dominates y; else RIGHT, if a loose word z < s dominates s: when
            z comes, it is above y
    y < b   LEFT, if s is loose and dominates y: then b dominates y, when y comes, or later
    """
    heads = gold.planned
    if heads[i, y] == NONE:
        return NO_ARC
    if y == s:
        return RIGHT if is_loose(gold, i, b) and is_above(heads, i, b, s) else NO_ARC
    if y == b:
        if is_loose(gold, i, s) and is_above(heads, i, s, b):
            return LEFT
        if is_above(heads, i, b, s):
            return NO_ARC
        word = heads[i, s]
        while word != NONE:
            if word < s and is_loose(gold, i, word):
                return RIGHT
            word = heads[i, word]
        return NO_ARC
    if not is_loose(gold, i, s) or heads[i, b] == gold.head[i, b]:
        return NO_ARC
    if is_above(heads, i, s, b) or is_above(heads, i, b, y) or not is_above(heads, i, s, y):
        return NO_ARC
    return LEFT


@njit
def is_loose(gold, i, word):
    """Whether a word hopes for a head that it has not got; one of the gold root hopes for none."""
    wanted = gold.head[i, word]
    return wanted != 0 and wanted != gold.planned[i, word]  # noqa: PLR1714 - numba: of two types
