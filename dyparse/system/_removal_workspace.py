"""The workspace of `_removal_search`: the state at hand in one array, and the moves that change it.

Moves are made and undone in place, so a search copies no state. What later moves need is kept up to
date with every move: prices, lower bounds, and the key by which the state is remembered.
"""

from dyparse.runtime.kernels import njit

NEVER = 1_000_000  # more than any price, budget or position
PUSH = 3  # how a state continues: 0, 1, 2 removes s0, s1, s2; PUSH is SHIFT

# Rows of a sentence's workspace, one array because many are slow. Numbers of the state at hand:
AT = 0
SIZE, FRONT, KEY, TRAIL, WORDS, REACH, SINGLE_ROOT, IS_HARD = range(8)  # columns of AT
# … its stack, bottom first, and the least REMOVED_AT from the bottom up to each position;
STACK, STAYS = 1, 2
# … per word: still there, gold dependents still there, least price declined on this path;
HERE, KIDS, DECLINED = 3, 4, 5
# … the TRAIL moves made, 4 · word + depth or PUSH; and the open choices: TRAIL before them, what
# there was to pay, the branch that is tried, and what DECLINED was before, of s0, s1, s2.
MOVES, MARK, BUDGET, BRANCH, BEFORE = 6, 7, 8, 9, 10
# Of the gold tree: heads, the lower bound of each front, and the witness: the front at which it
# removes a word, and what it has left to pay when it arrives at a front.
HEAD, LEAST, REMOVED_AT, REST = 13, 14, 15, 16
# Random numbers that make up the key of a state: of the words shifted, and of those removed.
SHIFT_KEY, REMOVAL_KEY = 17, 18
# Of arc-standard and trees it cannot build: gold arcs of a stack word with words below it, and from
# row STUCK on, [word, p]: arcs lost at least between word and the stack up to position p below it.
BELOW, STUCK = 19, 20
AT_COLUMNS = 8


@njit
def top_gets_head(work):
    """Whether a move gives s0 its gold head."""
    size = work[AT, SIZE]
    head = work[HEAD, work[STACK, size - 1]]
    if head == work[STACK, size - 2]:
        return True
    if size < 3 or work[AT, REACH] < 3 or head != work[STACK, size - 3]:
        return False
    return head > 0 or work[AT, SINGLE_ROOT] == 0


@njit
def price_of(work, branch):
    """The immediate cost of removing s0, s1 or s2, or of a push; NEVER if no move does it."""
    size, has_front = work[AT, SIZE], work[AT, FRONT] <= work[AT, WORDS]
    if branch == PUSH:
        return 0 if has_front else NEVER
    if branch >= min(size - 1, work[AT, REACH]):
        return NEVER
    word = work[STACK, size - 1 - branch]
    head = work[HEAD, word]
    if branch > 0:
        return work[KIDS, word] + (work[HERE, head] and head != work[STACK, size - 1])
    if size == 2 and has_front and work[AT, SINGLE_ROOT]:
        return NEVER
    return work[KIDS, word] + (work[HERE, head] and not top_gets_head(work))


@njit
def make(work, branch):
    """Push the front word, or take the stack word at depth 0, 1 or 2 away."""
    size, trail = work[AT, SIZE], work[AT, TRAIL]
    work[AT, TRAIL] = trail + 1
    if branch == PUSH:
        word = work[AT, FRONT]
        work[STACK, size] = word
        work[STAYS, size] = min(work[STAYS, size - 1], work[REMOVED_AT, word])
        work[DECLINED, word] = NEVER
        work[AT, SIZE], work[AT, FRONT] = size + 1, word + 1
        work[AT, KEY] ^= work[SHIFT_KEY, word]
        if work[AT, IS_HARD]:
            count_stuck(work, size)
        work[MOVES, trail] = PUSH
        return
    first = size - 1 - branch
    word = work[STACK, first]
    for position in range(first, size - 1):
        work[STACK, position] = work[STACK, position + 1]
        place(work, position)
    if branch > 0:
        work[BELOW, work[STACK, size - 2]] -= are_linked(work, word, work[STACK, size - 2])
    work[AT, SIZE] = size - 1
    work[HERE, word] = 0
    work[KIDS, work[HEAD, word]] -= 1
    work[AT, KEY] ^= work[REMOVAL_KEY, word]
    work[MOVES, trail] = 4 * word + branch


@njit
def undo(work, mark):
    """Take moves back until there were `mark` of them."""
    while work[AT, TRAIL] > mark:
        work[AT, TRAIL] -= 1
        move, size = work[MOVES, work[AT, TRAIL]], work[AT, SIZE]
        if move == PUSH:
            work[AT, FRONT] -= 1
            work[AT, SIZE] = size - 1
            work[AT, KEY] ^= work[SHIFT_KEY, work[AT, FRONT]]
            continue
        word = move >> 2
        work[AT, SIZE] = size + 1
        work[HERE, word] = 1
        work[KIDS, work[HEAD, word]] += 1
        work[AT, KEY] ^= work[REMOVAL_KEY, word]
        if move & 3:
            work[BELOW, work[STACK, size - 1]] += are_linked(work, word, work[STACK, size - 1])
        for position in range(size - (move & 3), size + 1):
            word, work[STACK, position] = work[STACK, position], word
            place(work, position)


@njit
def place(work, position):
    """A word came to this position of the stack."""
    removed_at = work[REMOVED_AT, work[STACK, position]]
    work[STAYS, position] = min(work[STAYS, position - 1], removed_at)


@njit
def are_linked(work, a, b):
    """1 if there is a gold arc between two stack words."""
    return 1 if work[HEAD, a] == b or work[HEAD, b] == a else 0


@njit
def count_stuck(work, position):
    """STUCK and BELOW of the word at this position of arc-standard's stack.

    With only stack words up to p below it, the word either becomes the dependent of the one at p,
    and what is lost then is known, or its head.
    """
    word, below = work[STACK, position], 0
    for p in range(position):
        other = work[STACK, p]
        is_head = work[HEAD, word] == other
        below += is_head or work[HEAD, other] == word
        lost = below - is_head
        if p > 0:
            as_head = work[STUCK + word, p - 1] + work[BELOW, other] + is_head
            lost = min(lost + work[STUCK + other, p - 1], as_head)
        work[STUCK + word, p] = lost
    work[BELOW, word] = below


@njit
def least_extra(work):
    """A lower bound of extra: arcs lost in the buffer, and between stack words."""
    least, size = work[LEAST, work[AT, FRONT]], work[AT, SIZE]
    if size > 1 and work[AT, IS_HARD]:
        least += work[STUCK + work[STACK, size - 1], size - 2]
    return least


@njit
def load_state(work, stack, size, front):
    """Make this the state at hand."""
    work[AT, SIZE], work[AT, FRONT] = size, front
    for position in range(size):
        work[STACK, position] = stack[position]
    load_rest(work)


@njit
def load_rest(work):
    """What follows from stack and front."""
    n, front = work[AT, WORDS], work[AT, FRONT]
    key = work[REMOVAL_KEY, n + 1]  # states of a longer or shorter sentence have other keys
    for word in range(n + 1):
        work[HERE, word] = 1 if word >= front or word == 0 else 0
        work[KIDS, word] = 0
    work[STAYS, 0] = NEVER
    for position in range(1, work[AT, SIZE]):
        place(work, position)
        work[HERE, work[STACK, position]] = 1
    for word in range(1, n + 1):
        if work[HERE, word] == 1:
            work[KIDS, work[HEAD, word]] += 1
        else:
            key ^= work[REMOVAL_KEY, word]
        if word < front:
            key ^= work[SHIFT_KEY, word]
    work[AT, KEY], work[AT, TRAIL] = key, 0
    if work[AT, IS_HARD]:
        for position in range(1, work[AT, SIZE]):
            count_stuck(work, position)
