"""The tables of `_buffer_gains`: their layout, and the gains that depend on gold alone.

A *place* (a, q) is what the buffer looks like: the front a, then q, q+1, …, n and the root, which
stands at n+1. No word left is the place (n+1, n+2). A gain is a word that gets its gold head. With
g(a) where the gold head of a stands:

    hit(a, x)      = 1 if a word popped at the place x = (a', q') can get its gold head there:
                     g(a) = a' by LEFT, g(a) = q' by LEFT_NONPROJECTIVE
    inner[j, q][x] = best gain from (q, q+1) to x above j on the stack: the front a is pushed at
                     (a, r), and after inner[a, r][x] popped at x for [g(a) = j] or hit(a, x), or
                     the second word is removed

inner depends on the gold tree alone. A word j without gold dependents from q on gains nothing from
them, so all such words share one row; few others remain.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from dyparse.data.sentence import NONE
from dyparse.runtime.kernels import njit
from dyparse.system import buffer_front, buffer_second, clear
from dyparse.system._best_gains import IMPOSSIBLE

GOAL, LAST, REACH, OWN, BASE = range(5)  # rows of a layout


class BufferGold(NamedTuple):
    """Gold trees, and tables of best gains that are filled when a state of their row first asks."""

    options: Any  # of the system that prepared it
    head: NDArray[np.int32]  # [B, N]
    projective: NDArray[np.int32]  # [B]  verdict of `is_known_projective`
    exact_words: int  # the longest sentence in which gaps of any length are planned
    words: NDArray[np.int32]  # [B]  that the row's tables are for; 0 = none yet
    layout: NDArray[np.int32]  # [B, 5, N+2]
    inner: NDArray[np.int16]  # [B, R, C]
    outer: NDArray[np.int16]  # [B, N, C]
    beyond: NDArray[np.int16]  # [B, N]  outer at a place outside the tables, for each p; scratch
    known: NDArray[np.int32]  # [B]  the first tables of outer that hold
    known_item: NDArray[np.int32]  # [B, 3, N]  top, its head, first front of each that holds


class Tables(NamedTuple):
    """The tables of one sentence.

    layout[GOAL, a]  where the gold head of a stands
    layout[LAST, a]  the last gold dependent of a
    layout[REACH, a] the larger of both
    layout[OWN, j]   row inner[j, j+1] if that is not shared; inner[j, q] is q − j − 1 later
    layout[BASE, q]  + a is the index of the place (a, q)
    """

    n: int  # words
    gap: int  # the longest gap of a place in the tables
    layout: NDArray[np.int32]  # [5, N+2]
    inner: NDArray[np.int16]  # [R, C]  the shared rows [q]; own ones; the last for (j, q) outside
    outer: NDArray[np.int16]  # [N, C]


def make_gold(options: Any, head: NDArray[np.int32], exact_words: int) -> BufferGold:
    """Empty tables, as large as the trees need."""
    B, N = head.shape
    R, C = _table_size(options, head, exact_words)
    return BufferGold(
        options=options,
        head=head,
        projective=np.zeros(B, dtype=np.int32),
        exact_words=exact_words,
        words=np.zeros(B, dtype=np.int32),
        layout=np.zeros((B, 5, N + 2), dtype=np.int32),
        inner=np.empty((B, R, C), dtype=np.int16),
        outer=np.zeros((B, N, C), dtype=np.int16),
        beyond=np.empty((B, N), dtype=np.int16),
        known=np.zeros(B, dtype=np.int32),
        known_item=np.zeros((B, 3, N), dtype=np.int32),
    )


def _table_size(options: Any, head: NDArray[np.int32], exact_words: int) -> tuple[int, int]:
    """(rows, places) of inner that suffice for every sentence of up to N − 1 words.

    Padding after the last word of a sentence may look like a head; that only adds rows.
    """
    B, N = head.shape
    rows = places = 0
    for words in {min(N - 1, exact_words), N - 1}:
        gap = longest_gap(options, exact_words, words)
        last = np.zeros((B, N), dtype=np.int64)
        for word in range(2, words + 1):
            sentences = np.flatnonzero((head[:, word] > 0) & (head[:, word] < word))
            last[sentences, head[sentences, word]] = word
        own = np.clip(last - np.arange(N), 0, gap + 1).sum(1).max(initial=0)
        rows = max(rows, N + 2 + int(own))
        places = max(places, 1 + sum(min(gap, words - a) + 1 for a in range(1, words + 1)))
    return rows, places


@register_jitable
def longest_gap(options, exact_words, n):
    """The longest gap that is planned in a sentence of n words."""
    right_buffer_helps = options.right_buffer and options.left_nonprojective
    if not (options.right_nonprojective or right_buffer_helps):
        return 0
    return n if n <= exact_words else min(options.gap, n)


@njit
def place_of(states, i):
    """(a, q) of the buffer."""
    n = states.length[i] - 1
    front, second = buffer_front(states, i), buffer_second(states, i)
    if front == 0:
        return n + 1, n + 2
    return front, (second if second != 0 else n + 1)


@njit
def lay_out(tables, head):
    """Where everything stands in the tables of a sentence with these gold heads."""
    n, gap, layout = tables.n, tables.gap, tables.layout
    clear(layout)
    for word in range(1, n + 1):
        layout[GOAL, word] = head[word] if head[word] > 0 else n + 1
        layout[LAST, head[word]] = word
    own = n + 2
    for a in range(1, n + 1):
        layout[REACH, a] = max(layout[GOAL, a], layout[LAST, a])
        layout[OWN, a] = own
        own += max(0, min(layout[LAST, a] - a, gap + 1))
    used = 0
    for q in range(2, n + 2):
        low = max(1, q - 1 - gap)
        layout[BASE, q] = used - low
        used += q - low
    layout[BASE, n + 2] = used - (n + 1)


@njit
def row_of(tables, j, q):
    """The row of inner[j, q], j NONE for the shared one."""
    if j == NONE or tables.layout[LAST, j] < q:
        return q
    if q - j - 1 > tables.gap:
        return len(tables.inner) - 1
    return tables.layout[OWN, j] + q - j - 1


@njit
def span(tables, q):
    """(begin, end) of the places from (q, q+1) on: where a word pushed with q second is popped."""
    base = tables.layout[BASE]
    return base[q + 1] + q, base[tables.n + 2] + tables.n + 2


@njit
def last_second(tables, front):
    """The largest second token of a place with this front."""
    return max(front + 1, min(front + 1 + tables.gap, tables.n + 1))


@njit
def fill_inner(options, tables):
    """All rows, the shared one and the others of each q, from the end of the sentence on."""
    for q in range(tables.n + 1, 1, -1):
        low = max(1, q - 1 - tables.gap)
        for j in range(low - 1, q):  # one call for both kinds, so that it is compiled in once
            if j < low or tables.layout[LAST, j] >= q:
                fill_row(options, tables, NONE if j < low else j, q)


@njit
def fill_row(options, tables, j, start):
    """inner[j, start], j NONE for the shared row: forward from (start, start+1).

    The words pushed at a second word q continue as one, from the best of them; only those that
    have gold dependents or their gold head from q on continue alone.
    """
    n, gap, layout = tables.n, tables.gap, tables.layout
    row = tables.inner[row_of(tables, j, start)]
    begin, end = span(tables, start)
    for x in range(begin, end):
        row[x] = IMPOSSIBLE
    row[begin] = 0
    for q in range(start + 1, n + 2):
        here, best = layout[BASE, q], IMPOSSIBLE
        for a in range(max(start, q - 1 - gap), q):
            gain = row[here + a] + (layout[GOAL, a] == j)
            best = max(best, gain)
            if layout[REACH, a] >= q:
                spread_alone(options, tables, row, gain, (a, q))
        begin, end = span(tables, q)
        spread(tables.inner[q, begin:end], best, row[begin:end])
        if q <= n and gap > 0:
            remove_second(options, tables, row, (j, start), q)


@njit
def remove_second(options, tables, row, level, q):
    """Continue a row from all (a, q) to (a, q+1); level = (j, start) of the row."""
    j, start = level
    low, goal = max(start, q - tables.gap), tables.layout[GOAL, q]
    here, there = tables.layout[BASE, q], tables.layout[BASE, q + 1]
    gain = 1 if options.right_nonprojective and goal == j else 0
    spread(row[here + low : here + q], gain, row[there + low : there + q])
    if options.right_buffer and low <= goal < q:
        row[there + goal] = max(row[there + goal], row[here + goal] + 1)


@njit
def spread(source, gain, target):
    """target[x] = max(target[x], source[x] + gain), in int16 throughout so that it vectorises."""
    gain = np.int16(gain)
    for x in range(len(target)):
        target[x] = max(target[x], np.int16(source[x] + gain))


@njit
def spread_alone(options, tables, row, gain, place):
    """Continue a row from this place, where its front is pushed above others; where it is popped,
    it may get its gold head.
    """
    a, q = place
    goal, base, n = tables.layout[GOAL, a], tables.layout[BASE], tables.n
    source = tables.inner[row_of(tables, a, q)]
    if tables.layout[LAST, a] >= q:
        begin, end = span(tables, q)
        spread(source[begin:end], gain, row[begin:end])
    if goal < q or (goal > n and options.single_root):
        return
    for second in range(goal + 1, last_second(tables, goal) + 1):
        x = base[second] + goal
        row[x] = max(row[x], source[x] + gain + 1)
    if options.left_nonprojective and goal > q:
        begin, end = base[goal] + max(q, goal - 1 - tables.gap), base[goal] + goal
        spread(source[begin:end], gain + 1, row[begin:end])
