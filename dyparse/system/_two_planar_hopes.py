"""The oracle of 2-planar: hopes, those that cross, and what a state loses at least.

A word without head *hopes* for its gold head, if that is a word and the arc can still be made: its
later end is in the buffer, its earlier end in the buffer too, or on a plane, which is one of the
two stacks. Arcs on a plane join its top and the front, so those to come do not cross each other;
and any hopes that do not cross can be made there.

    loss = words whose head is wrong, or is missing and out of reach
         + the fewest hopes to give up so that the others have no cycle with the arcs so far,
           and each can have a plane on which it crosses no other

(`_two_planar_search`). Proofs: docs/theory.md.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dyparse.data.sentence import NONE
from dyparse.runtime.kernels import njit
from dyparse.system._two_planar_search import (
    ALLOWED,
    BUILT,
    CYCLE,
    HIGH,
    HOPE,
    LIST,
    LOW,
    MARK,
    ON,
    PLANES,
    TANGLED,
    extra_loss,
)


class TwoPlanarGold(NamedTuple):
    """Gold trees, their crossing arcs, and room for the oracle to work in."""

    options: Any  # of the system that prepared it
    head: NDArray[np.int32]  # [B, N]
    words: NDArray[np.int32]  # [B]             that TANGLED was filled for; 0 = not yet
    work: NDArray[np.int32]  # [B, rows, N + 1]


@njit
def fill_tangled(work, head, n):
    """List the words whose gold arc crosses another one."""
    size = 0
    for word in range(1, n + 1):
        is_tangled = False
        for other in range(1, n + 1):
            is_tangled |= arcs_cross(word, head[word], other, head[other])
        if is_tangled:
            work[TANGLED, size] = word
            size += 1
    work[TANGLED, size] = NONE


@njit
def arcs_cross(word, head, other, head2):
    """Whether two arcs between words cross."""
    if head == 0 or head2 == 0:
        return False
    low, high = min(word, head), max(word, head)
    low2, high2 = min(other, head2), max(other, head2)
    return low < low2 < high < high2 or low2 < low < high2 < high


@njit
def least_loss(work, head, n, b, floor):
    """The loss of the state in BUILT and PLANES with front b, which is not below the floor."""
    lost = fill_hopes(work, head, n, b)
    cycles = find_cycles(work, n)
    k = load_tangled(work)
    if k > 1 or (k > 0 and cycles > 0):
        return lost + extra_loss(work, k, cycles, max(floor - lost, cycles))
    return lost + cycles


@njit
def fill_hopes(work, head, n, b):
    """HOPE and ALLOWED of every word; a word that has a head has it as hope. Returns lost words."""
    lost = 0
    for word in range(1, n + 1):
        built, wanted = work[BUILT, word], head[word]
        hope, planes = built, 0
        if built != NONE:
            lost += built != wanted
        else:
            planes = open_planes(work, word, wanted, b) if wanted != 0 else 0
            lost += wanted != 0 and planes == 0
            hope = wanted if planes != 0 else 0
        work[HOPE, word], work[ALLOWED, word] = hope, planes
    return lost


@njit
def open_planes(work, word, other, b):
    """The planes, as bits, in which two words can still meet."""
    low, high = min(word, other), max(word, other)
    if high < b or low == high:
        return 0
    return 3 if low >= b else work[PLANES, low]


@njit
def find_cycles(work, n):
    """Number the cycles of hopes in CYCLE, from 1; returns how many."""
    cycles = 0
    for word in range(n + 1):
        work[MARK, word] = work[CYCLE, word] = 0
    for start in range(1, n + 1):
        word = start
        while word != 0 and work[MARK, word] == 0:
            work[MARK, word] = start
            word = work[HOPE, word]
        if word != 0 and work[MARK, word] == start:
            cycles += 1
            while work[CYCLE, word] == 0:
                work[CYCLE, word] = cycles
                word = work[HOPE, word]
    return cycles


@njit
def load_tangled(work):
    """Put the hopes among the tangled arcs where the search finds them; returns how many."""
    k, position = 0, 0
    while work[TANGLED, position] != NONE:
        word = work[TANGLED, position]
        if work[ALLOWED, word] != 0:
            hope = work[HOPE, word]
            work[LIST, k], work[ON, k] = work[ALLOWED, word], work[CYCLE, word]
            work[LOW, k], work[HIGH, k] = min(word, hope), max(word, hope)
            k += 1
        position += 1
    return k
