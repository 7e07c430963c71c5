"""The fewest hopes to give up so that the others fit on two planes and close no cycle.

A hope is a gold arc that can still be made; it has a list of planes. Two hopes that cross need
different planes. So hopes fit on two planes if the graph of their crossings can be coloured with
two colours, each hope with one of its list. If not, there is a *contradiction*: an odd cycle of the
graph, or a path, of the wrong length, between two hopes with one plane each. From each
contradiction a hope must be given up, and from each cycle of heads and hopes:

    extra = min over D of |D| + cycles without a hope of D,

where the sets D have a hope of every contradiction.

Branch and bound: find a contradiction, give up one of its hopes, or keep it for good. The lower
bound is the number of contradictions, found one after the other, that have no hope in common which
may be given up. Time grows exponentially with extra at worst.
"""

from dyparse.data.sentence import NONE
from dyparse.runtime.kernels import njit

# Rows of the workspace. Of words: heads, planes (bits) that they are on, hopes, planes of the hope,
# number of the cycle that the word is on or 0, and marks of the search for cycles;
BUILT, PLANES, HOPE, ALLOWED, CYCLE, MARK = range(6)
# … words whose gold arc crosses another one, then NONE;
TANGLED = 6
# … of the hopes of such words: the ends, number of crossings, planes that are allowed, cycle,
# status, plane given, the hope because of which, and the queue of hopes whose crossings come next;
LOW, HIGH, CROSSINGS, LIST, ON, STATUS, PLANE, CAUSE, QUEUE = range(7, 16)
# … the hopes of a contradiction, the decisions of the search, and how often each cycle is hit.
FOUND, DECIDED, HITS = 16, 17, 18
ROWS = 19

OPEN, KEPT, COUNTED, GIVEN_UP = range(4)  # status; COUNTED: in a contradiction that was counted


@njit
def do_cross(work, one, other):
    """Whether two hopes cross."""
    low, high = work[LOW, one], work[HIGH, one]
    low2, high2 = work[LOW, other], work[HIGH, other]
    return low < low2 < high < high2 or low2 < low < high2 < high


@njit
def extra_loss(work, k, cycles, enough):
    """Extra of the k hopes in the workspace and of the cycles; known not to be less than `enough`.

    Each round decides about a hope, or goes back to the last one that was given up and keeps it.
    """
    load(work, k, cycles)
    best, given_up, unhit, depth = k + cycles, 0, cycles, 0
    while best > enough:
        bound, hope = least_to_give_up(work, k, best - given_up)
        if bound == 0:
            best = min(best, given_up + unhit)
        elif hope != NONE and given_up + max(bound, unhit) < best:
            work[STATUS, hope], work[DECIDED, depth] = GIVEN_UP, hope
            unhit -= hit(work, hope)
            given_up, depth = given_up + 1, depth + 1
            continue
        while depth > 0 and work[STATUS, work[DECIDED, depth - 1]] == KEPT:
            depth -= 1
            work[STATUS, work[DECIDED, depth]] = OPEN
        if depth == 0:
            break
        hope = work[DECIDED, depth - 1]
        work[STATUS, hope] = KEPT
        given_up, unhit = given_up - 1, unhit + unhit_again(work, hope)
    return best


@njit
def load(work, k, cycles):
    """Start with all hopes open, and no cycle hit."""
    for hope in range(k):
        work[STATUS, hope], work[CROSSINGS, hope] = OPEN, 0
        for other in range(k):
            work[CROSSINGS, hope] += do_cross(work, hope, other)
    for cycle in range(cycles + 1):
        work[HITS, cycle] = 0


@njit
def hit(work, hope):
    """Give a hope up; 1 if that is the first one of a cycle."""
    cycle = work[ON, hope]
    work[HITS, cycle] += 1
    return 1 if cycle > 0 and work[HITS, cycle] == 1 else 0


@njit
def unhit_again(work, hope):
    """Take a hope back; 1 if no other one of its cycle is given up."""
    cycle = work[ON, hope]
    work[HITS, cycle] -= 1
    return 1 if cycle > 0 and work[HITS, cycle] == 0 else 0


@njit
def least_to_give_up(work, k, limit):
    """(lower bound, hope): how many must be given up at least, and one to decide about, or NONE.

    No more than the limit is counted, which is also the bound if all of a contradiction is kept.
    """
    bound, first = 0, NONE
    size = find_contradiction(work, k)
    while size > 0 and bound < limit:
        hope = count_contradiction(work, size)
        bound = bound + 1 if hope != NONE else limit
        first = hope if first == NONE else first
        size = find_contradiction(work, k)
    for hope in range(k):
        if work[STATUS, hope] == COUNTED:
            work[STATUS, hope] = OPEN
    return bound, first


@njit
def count_contradiction(work, size):
    """Count the contradiction that is listed; its open hope with most crossings, or NONE."""
    first = NONE
    for position in range(size):
        hope = work[FOUND, position]
        if work[STATUS, hope] == OPEN:
            work[STATUS, hope] = COUNTED
            if first == NONE or work[CROSSINGS, hope] > work[CROSSINGS, first]:
                first = hope
    return first


@njit
def find_contradiction(work, k):
    """List a contradiction among hopes that are open or kept; returns its size, or 0.

    Breadth first, from the hopes with one plane, then from any.
    """
    done, size, start = 0, 0, 0
    for hope in range(k):
        work[PLANE, hope] = 0
        if work[STATUS, hope] <= KEPT and work[LIST, hope] != 3:
            size = enqueue(work, size, hope, work[LIST, hope], NONE)
    while start < k:
        while done < size:
            hope = work[QUEUE, done]
            done += 1
            size, clash = give_planes(work, k, size, hope)
            if clash != NONE:
                return list_contradiction(work, hope, clash)
        if work[STATUS, start] <= KEPT and work[PLANE, start] == 0:
            size = enqueue(work, size, start, 1, NONE)
        else:
            start += 1
    return 0


@njit
def give_planes(work, k, size, hope):
    """Give the hopes that cross this one the other plane; one that has the same plane, or NONE.

    Returns the size of the queue, too.
    """
    for other in range(k):
        if work[STATUS, other] <= KEPT and do_cross(work, hope, other):
            if work[PLANE, other] == 0:
                size = enqueue(work, size, other, 3 - work[PLANE, hope], hope)
            elif work[PLANE, other] == work[PLANE, hope]:
                return size, other
    return size, NONE


@njit
def enqueue(work, size, hope, plane, cause):
    """Give a hope its plane; returns the size of the queue."""
    work[PLANE, hope], work[CAUSE, hope], work[QUEUE, size] = plane, cause, hope
    return size + 1


@njit
def list_contradiction(work, one, other):
    """List two hopes that cross and have the same plane, and why; returns how many hopes.

    If both have it because of the same hope, those between make an odd cycle; what is the cause of
    that hope does not matter.
    """
    size, hope = 0, one
    while hope != NONE:
        work[FOUND, size] = hope
        hope, size = work[CAUSE, hope], size + 1
    n_first, hope = size, other
    while hope != NONE:
        for position in range(n_first):
            if work[FOUND, position] == hope:
                return close_cycle(work, position + 1, n_first, size)
        work[FOUND, size] = hope
        hope, size = work[CAUSE, hope], size + 1
    return size


@njit
def close_cycle(work, kept, n_first, size):
    """Shorten the first part of the list to the hopes that are kept; returns the new size."""
    for position in range(n_first, size):
        work[FOUND, kept + position - n_first] = work[FOUND, position]
    return kept + size - n_first
