"""Best gains of arc-eager with buffer moves: a dynamic programme over what the buffer looks like.

Only the second word of the buffer can be removed, so a buffer is a *place* (a, q): the front a,
then q, q+1, …, n and the root. Between a and q is a gap of words removed. Every move that changes
the place makes q larger. A gain is a word that gets its gold head.

    inner[j, q][x] = best gain from (q, q+1) to x above j on the stack (`_buffer_tables`)
    outer[p][x]    = best gain from x to the end with p words on the stack: the top is popped, or
                     the front is pushed, or the second word is removed, as for inner

inner depends on the gold tree alone, outer has a table per word on the stack.

LEFT_BUFFER is a push and a pop. RIGHT_BUFFER alone reaches nothing that arc-eager does not. So gaps
are planned only with RIGHT_NONPROJECTIVE, or RIGHT_BUFFER and LEFT_NONPROJECTIVE: of any length in
sentences of up to `exact_words`, of the system's `gap` in longer ones. A state that already has a
longer gap is a place outside the tables, evaluated when it asks, without plans to remove more.
"""

import numpy as np

from dyparse.data.sentence import NONE
from dyparse.runtime.kernels import njit
from dyparse.system import stack_top
from dyparse.system._best_gains import IMPOSSIBLE
from dyparse.system._buffer_tables import (
    BASE,
    GOAL,
    LAST,
    REACH,
    Tables,
    fill_inner,
    fill_row,
    last_second,
    lay_out,
    longest_gap,
    place_of,
    row_of,
    span,
)


@njit
def tables_for(options, states, i, gold):
    """The tables of row i, with outer for the stack of this state from its front on.

    The tables that earlier states of the row have in common with it are kept.
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
