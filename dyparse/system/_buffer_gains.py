"""Best gains of arc-eager with buffer moves: a dynamic programme over what the buffer looks like.

Only the second word of the buffer can be removed, so a buffer is a *place* (a, q): the front a,
then q, q+1, …, n and the root, which stands at n+1. Between a and q is a gap of words removed. No
word left is the place (n+1, n+2). Every move that changes the place makes q larger.

A gain is a word that gets its gold head. With g(a) where the gold head of a stands:

    hit(a, x)      = 1 if a word popped at the place x = (a', q') can get its gold head there:
                     g(a) = a' by LEFT, g(a) = q' by LEFT_NONPROJECTIVE
    inner[j, q][x] = best gain from (q, q+1) to x above j on the stack: the front a is pushed at
                     (a, r), and after inner[a, r][x] popped at x for [g(a) = j] or hit(a, x), or
                     the second word is removed
    outer[p][x]    = best gain from x to the end with p words on the stack: the top is popped, or
                     the front is pushed, or the second word is removed, as above

inner depends on the gold tree alone. A word j without gold dependents from q on gains nothing from
them, so all such words share one row; few others remain. outer has a table per word on the stack.

LEFT_BUFFER is a push and a pop. RIGHT_BUFFER alone reaches nothing that arc-eager does not. So gaps
are planned only with RIGHT_NONPROJECTIVE, or RIGHT_BUFFER and LEFT_NONPROJECTIVE: of any length in
sentences of up to `exact_words`, of the system's `gap` in longer ones. A state that already has a
longer gap is a place outside the tables, evaluated when it asks, without plans to remove more.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from dyparse.data.sentence import NONE
from dyparse.runtime.kernels import njit
from dyparse.system import buffer_front, buffer_second, clear, stack_top
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

    What stands after the last word of a sentence may look like a head; that only adds rows.
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
def tables_for(options, states, i, gold):
    """The tables of row i, with outer for the stack of this state from its front on.

    What earlier states of the row have in common is kept.
    """
    n = states.length[i] - 1
    gap = longest_gap(options, gold.exact_words, n)
    tables = Tables(n, gap, gold.layout[i], gold.inner[i], gold.outer[i])
    if gold.words[i] != n:
        lay_out(tables, gold.head[i])
        fill_inner(options, tables)
        gold.words[i], gold.known[i] = n, 0
    front, _ = place_of(states, i)
    known, is_same = gold.known_item[i], True
    for p in range(states.stack_size[i] + 1):
        word = states.stack[i, p - 1] if p > 0 else NONE
        head = states.head[i, word] if p > 0 else NONE
        start = front if p > 0 else 1
        is_same = (
            is_same
            and p < gold.known[i]
            and known[0, p] == word
            and known[1, p] == head
            and known[2, p] <= start
        )
        if not is_same:
            fill_outer(options, tables, (word, head, p), start)
            known[0, p], known[1, p], known[2, p] = word, head, start
            gold.known[i] = p + 1
    return tables


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

    The words pushed at a second word q go on as one, from the best of them; only those that have
    gold dependents or their gold head from q on go on alone.
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
    """Go on in a row from all (a, q) to (a, q+1); level = (j, start) of the row."""
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
    """Go on in a row from this place, where its front is pushed above others; where it is popped,
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


@njit
def last_second(tables, front):
    """The largest second token of a place with this front."""
    return max(front + 1, min(front + 1 + tables.gap, tables.n + 1))


@njit
def fill_outer(options, tables, item, start):
    """outer[p] from the end to the places of front `start`; item = (top, its head, p)."""
    top, head, p = item
    n, gap, layout = tables.n, tables.gap, tables.layout
    here, below = tables.outer[p], tables.outer[max(p - 1, 0)]
    _, end = span(tables, n + 1)
    popped = pop_gain(options, tables, item, (n + 1, n + 2))
    here[end - 1] = max(below[end - 1] + popped, IMPOSSIBLE) if p > 0 else 0
    head_of_top = layout[GOAL, top] if p > 0 and head == NONE else NONE
    for q in range(n + 1, start, -1):
        begin, _ = span(tables, q)
        shared = best_sum(tables.inner[q, begin:end], here[begin:end])
        popped = pop_gain(options, tables, item, (NONE, q))
        may_remove = q <= n and (p > 0 or options.right_buffer)
        head_of_second = layout[GOAL, q] if options.right_buffer else NONE
        by_top = options.right_nonprojective and layout[GOAL, q] == top
        for a in range(max(start, q - 1 - gap), q):
            best = shared + (layout[GOAL, a] == top)
            if layout[REACH, a] >= q:
                best = max(best, best_push(options, tables, p, top, (a, q)))
            if may_remove and q - a <= gap:
                removed = here[layout[BASE, q + 1] + a]
                best = max(best, removed + (by_top or a == head_of_second))
            x = layout[BASE, q] + a
            here[x] = max(best, below[x] + max(popped, a == head_of_top)) if p > 0 else best


@njit
def best_sum(one, other):
    """max over x of one[x] + other[x], in int16 throughout so that it vectorises."""
    best = np.int16(2 * IMPOSSIBLE)
    for x in range(len(one)):
        best = max(best, np.int16(one[x] + other[x]))
    return best


@njit
def best_push(options, tables, p, top, place):
    """Best gain from this place to the end if its front is pushed now on p words."""
    a, q = place
    begin, end = span(tables, q)
    row = tables.inner[row_of(tables, a, q)]
    best = best_sum(row[begin:end], tables.outer[p, begin:end])
    best = best + (tables.layout[GOAL, a] == top)
    return max(best, best_hit(options, tables, int(p), place))


@njit
def best_hit(options, tables, p, place):
    """Best gain from this place to the end if its front, pushed now on p words, gets its gold head
    when popped.
    """
    a, q = place
    n, goal, base = tables.n, tables.layout[GOAL, a], tables.layout[BASE]
    if goal < q or (goal > n and options.single_root and p > 0):
        return IMPOSSIBLE
    row, after = tables.inner[row_of(tables, a, q)], tables.outer[p]
    best = IMPOSSIBLE
    for second in range(goal + 1, last_second(tables, goal) + 1):
        x = base[second] + goal
        best = max(best, row[x] + after[x] + 1)
    if options.left_nonprojective and goal > q and not (goal > n and options.single_root):
        begin, end = base[goal] + max(q, goal - 1 - tables.gap), base[goal] + goal
        best = max(best, best_sum(row[begin:end], after[begin:end]) + 1)
    return best


@njit
def pop_gain(options, tables, item, place):
    """1 if the top has or can get its gold head when popped here; item = (top, its head, p).

    With front NONE: if it has, or can get it from the second token.
    """
    word, head, p = item
    if p == 0:
        return IMPOSSIBLE
    a, q = place
    goal = tables.layout[GOAL, word]
    if head != NONE:
        return 1 if goal == head else 0
    if a > tables.n and p > 1 and options.single_root:
        return IMPOSSIBLE
    by_second = options.left_nonprojective and goal == q
    if by_second and q > tables.n and options.single_root:
        return 0
    return 1 if goal == a or by_second else 0


@njit
def fill_beyond(options, states, i, tables, place, out):
    """out[p] = outer[p] at a place outside the tables, for every part of this stack.

    Its row of inner stays in the last one until the next call.
    """
    a, q = place
    if tables.layout[LAST, a] >= q:
        fill_row(options, tables, a, q)
    for p in range(states.stack_size[i] + 1):
        top = states.stack[i, p - 1] if p > 0 else NONE
        head = states.head[i, top] if p > 0 else NONE
        best = best_push(options, tables, p, top, place)
        if p > 0:
            best = max(best, out[p - 1] + pop_gain(options, tables, (top, head, p), place))
        out[p] = max(best, IMPOSSIBLE)


@njit
def gains_around(options, states, i, tables, out):
    """Best gain after the removal of the second word, if it can be removed; and out[p] = best gain
    from the place of this state on with p words of its stack: all, or one less.
    """
    a, q = place_of(states, i)
    p = states.stack_size[i]
    can_remove = q <= tables.n and (options.right_buffer or (options.right_nonprojective and p > 0))
    removed = IMPOSSIBLE
    for second in range(q + 1 if can_remove else q, q - 1, -1):
        if second - a - 1 > tables.gap:
            fill_beyond(options, states, i, tables, (a, second), out)
        else:
            out[p] = tables.outer[p, tables.layout[BASE, second] + a]
            out[max(p - 1, 0)] = tables.outer[max(p - 1, 0), tables.layout[BASE, second] + a]
        if second > q:
            removed = out[p]
    return removed


@njit
def gains_after_push(options, states, i, tables):
    """Best gains if the front is pushed now: without head, and as dependent of the top."""
    a, q = place_of(states, i)
    p = states.stack_size[i]
    begin, end = span(tables, q)
    row, after = tables.inner[row_of(tables, a, q)], tables.outer[p]
    sooner = best_sum(row[begin : end - 1], after[begin : end - 1])
    at_end = row[end - 1] + after[end - 1]
    attached = max(sooner, at_end) + (tables.layout[GOAL, a] == stack_top(states, i, 0))
    shifted = max(sooner, best_hit(options, tables, int(p), (a, q)))
    if p == 0 or not options.single_root:
        shifted = max(shifted, at_end)
    return shifted, attached
