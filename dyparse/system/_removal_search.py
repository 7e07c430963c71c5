"""The exact oracle of systems whose moves shift a word, or take one of the top words off the stack.

Arc-standard removes s0 or s1, Attardi's system also s2; each word gets its head when it is removed.
Stack words stand in the order of the sentence, so what can still happen depends only on the set of
stack words and on the front j of the buffer. After Gómez-Rodríguez, Sartorio & Satta (2014), A
Polynomial-Time Dynamic Oracle for Non-Projective Dependency Parsing, whose question this answers
for every gold tree, by search instead of a table:

    least loss of a state = wrong arcs + words whose gold head is gone + extra(stack, j)
    price(d)              = gold dependents of d still there + [gold head there, and not the one
                            given], paid when d is removed; SHIFT has no price
    cost(move)            = price(move) + extra(after) − extra(before)

`extra` is the least sum of prices on a path to the end. A word less on the stack never makes it
larger: any path can be repeated without that word, or, under the single-root rule, with another
word in its place (docs/theory.md has the proofs). Hence

* a free removal (price 0) is always best, and the search branches only where there is none;
* e ≥ extra(without d) ≥ e − price(d), if e is extra with d; all is known if e is 0;
* a removal once declined is not tried later on the same path, unless it became cheaper;
* extra([0], j), with all words before j gone, is a lower bound for every state with front j. It
  counts arcs of the buffer only, so that arcs between stack words come on top of it: for
  arc-standard, those that would be lost if only the stack were left;
* a known path, the *witness*, is an upper bound for every state whose stack is part of the stack
  that the witness has when it arrives at j.

`extra` is found by iterative deepening: depth first, for 0, 1, 2, … to pay. A search's findings
about a state hold for the gold tree, so they are remembered, in a table of limited size, for later
searches and later states of the sentence. Time grows exponentially with extra, which is small for
the trees of treebanks, and large only for long random trees.

The state at hand and the moves of the search are in `_removal_workspace`.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dyparse.data.sentence import NONE
from dyparse.runtime.kernels import njit
from dyparse.system import clear, gold_heads
from dyparse.system._removal_workspace import (
    AT,
    AT_COLUMNS,
    BEFORE,
    BRANCH,
    BUDGET,
    DECLINED,
    FRONT,
    HEAD,
    HERE,
    IS_HARD,
    KEY,
    LEAST,
    MARK,
    MOVES,
    NEVER,
    PUSH,
    REACH,
    REMOVAL_KEY,
    REMOVED_AT,
    REST,
    SHIFT_KEY,
    SINGLE_ROOT,
    SIZE,
    STACK,
    STAYS,
    STUCK,
    TRAIL,
    WORDS,
    least_extra,
    load_rest,
    load_state,
    make,
    price_of,
    top_gets_head,
    undo,
)

SHIFT, LEFT, RIGHT, LEFT2, RIGHT2 = range(5)
WON, LOST, OPEN = range(3)  # how a path without choices ends

# Columns of the table of known states: key and 1 + extra of a state that was asked for; key and
# lower bound of one met in a search. Two tables, because searches would soon push out the others.
EXTRA_KEY, EXTRA, BOUND_KEY, BOUND = range(4)


class RemovalGold(NamedTuple):
    """Gold trees, and per tree the workspace and the table of known states.

    A row's part is filled when its first state asks.
    """

    options: Any  # of the system that prepared it
    head: NDArray[np.int32]  # [B, N]
    words: NDArray[np.int32]  # [B]                that the row was filled for; 0 = not yet
    random: NDArray[np.int64]  # [2, columns]
    work: NDArray[np.int64]  # [B, rows, columns]  at least as many columns as moves
    known: NDArray[np.int64]  # [B, entries, 4]


def prepare_removals(
    options: Any, gold: ArrayLike, reach: int, entries: int | None = None
) -> RemovalGold:
    """Gold trees with empty workspaces and tables of this many entries, a power of two."""
    head = gold_heads(gold)
    B, N = head.shape
    columns = 2 * N + AT_COLUMNS
    if entries is None:
        entries = 1 << int(np.clip(np.ceil(np.log2(16 * N)), 6, 12))
    limits = np.iinfo(np.int64)
    return RemovalGold(
        options=options,
        head=head,
        words=np.zeros(B, dtype=np.int32),
        random=np.random.default_rng(0).integers(limits.min, limits.max, (2, columns)),
        work=np.zeros((B, STUCK + (N if reach == 2 else 0), columns), dtype=np.int64),
        known=np.zeros((B, entries, 4), dtype=np.int64),
    )


@njit
def removal_costs(reach, states, i, gold, out):
    """out[m] = cost of SHIFT, LEFT, RIGHT and, if the reach is 3, of LEFT2, RIGHT2."""
    clear(out)
    work, known, n = gold.work[i], gold.known[i], states.length[i] - 1
    if gold.words[i] != n:
        gold.words[i] = n
        work[AT, WORDS], work[AT, REACH] = n, reach
        work[AT, SINGLE_ROOT] = 1 if gold.options.single_root else 0
        fill_row(work, known, gold.head[i], gold.random)
    load_state(work, states.stack[i], states.stack_size[i], states.front[i] + 1)
    now, least = 0, NEVER
    for branch in range(-1, PUSH + 1):  # -1: the state itself
        low, high, price = 0, NEVER, 0
        if branch >= 0:
            price = price_of(work, branch)
            if price == NEVER:
                continue
            low = now - price
            if branch != PUSH or least > 0:  # some move costs nothing
                high = now
            make(work, branch)
        after = extra(work, known, low, high)
        if branch < 0:
            now = after
        else:
            undo(work, work[AT, TRAIL] - 1)
            least = min(least, price + after - now)
            write_cost(work, branch, price + after - now, out)


@njit
def write_cost(work, branch, cost, out):
    """The cost of a branch as that of its moves; s0 may get a head that is not the better one."""
    if branch == PUSH:
        out[SHIFT] = cost
    elif branch == 2:
        out[LEFT2] = cost
    elif branch == 1:
        out[LEFT] = cost
    else:
        size = work[AT, SIZE]
        head = work[HEAD, work[STACK, size - 1]]
        has_head = top_gets_head(work)
        out[RIGHT] = cost + (has_head and head != work[STACK, size - 2])
        if size > 2 and work[AT, REACH] > 2:
            out[RIGHT2] = cost + (has_head and head != work[STACK, size - 3])


@njit
def extra(work, known, low, high):
    """extra of the state at hand, known to be low … high."""
    key, start = work[AT, KEY], work[AT, TRAIL]
    entry = key & (known.shape[0] - 1)
    if known[entry, EXTRA_KEY] == key and known[entry, EXTRA] > 0:
        return known[entry, EXTRA] - 1
    k, is_found = max(low, least_extra(work)), False
    while k < high and not is_found:
        for position in range(1, work[AT, SIZE]):
            work[DECLINED, work[STACK, position]] = NEVER
        is_found = search(work, known, k)
        undo(work, start)
        if not is_found:
            k += 1
    known[entry, EXTRA_KEY], known[entry, EXTRA] = key, k + 1
    return k


@njit
def search(work, known, k):
    """Whether extra ≤ k. The moves of the path that was tried last are left made."""
    choices = 0
    while True:
        verdict = run_freely(work, known, k)
        if verdict == WON:
            return True
        if verdict == OPEN:
            work[MARK, choices], work[BUDGET, choices] = work[AT, TRAIL], k
            work[BRANCH, choices] = NONE
            choices += 1
        k = NONE
        while k == NONE:
            if choices == 0:
                return False
            k = next_branch(work, known, choices - 1)
            if k == NONE:
                choices -= 1


@njit
def run_freely(work, known, k):
    """Make free removals, and pushes where nothing is left to pay, as far as they lead.

    WON if extra ≤ k is seen, LOST if extra > k is seen, OPEN if there is a choice.
    """
    while True:
        size, front = work[AT, SIZE], work[AT, FRONT]
        if work[STAYS, size - 1] >= front and work[REST, front] <= k:
            return WON
        if least_extra(work) > k:
            return LOST
        branch = 0
        while branch < PUSH and price_of(work, branch) > 0:
            branch += 1
        if branch == PUSH:
            if size == 1 and front > work[AT, WORDS]:
                return WON
            if k > 0:
                entry = work[AT, KEY] & (known.shape[0] - 1)
                is_known = known[entry, BOUND_KEY] == work[AT, KEY]
                return LOST if is_known and known[entry, BOUND] > k else OPEN
            if front > work[AT, WORDS]:
                return LOST
        make(work, branch)


@njit
def next_branch(work, known, choice):
    """Enter the next branch of a choice; what is left to pay there, or NONE after the last."""
    undo(work, work[MARK, choice])
    k, failed, top = work[BUDGET, choice], work[BRANCH, choice], work[AT, SIZE] - 1
    if NONE < failed < PUSH:
        work[DECLINED, work[STACK, top - failed]] = price_of(work, failed)
    for branch in range(failed + 1, PUSH + 1):
        price = price_of(work, branch)
        limit = k - work[LEAST, work[AT, FRONT]]
        if branch < min(PUSH, top):
            declined = work[DECLINED, work[STACK, top - branch]]
            work[BEFORE + branch, choice] = declined
            limit = min(limit, declined - 1)
        if price <= limit:
            work[BRANCH, choice] = branch
            make(work, branch)
            return k - price
    for depth in range(min(PUSH, top)):
        work[DECLINED, work[STACK, top - depth]] = work[BEFORE + depth, choice]
    entry = work[AT, KEY] & (known.shape[0] - 1)
    if known[entry, BOUND_KEY] != work[AT, KEY] or known[entry, BOUND] <= k:
        known[entry, BOUND_KEY], known[entry, BOUND] = work[AT, KEY], k + 1
    return NONE


@njit
def fill_row(work, known, head, random):
    """Keys, lower bounds and witness of a gold tree.

    A word that is its own head, to ask for no arc, gets one that is gone: it has no price then.
    """
    n = work[AT, WORDS]
    work[HERE, n + 1] = 0
    for word in range(n + 2):
        work[HEAD, word] = head[word] if 0 < word <= n else 0
        if 0 < word <= n and head[word] == word:
            work[HEAD, word] = n + 1
        work[SHIFT_KEY, word], work[REMOVAL_KEY, word] = random[0, word], random[1, word]
        work[LEAST, word], work[REST, word], work[REMOVED_AT, word] = 0, NEVER, 0
    front, is_first = 1, True
    work[AT, IS_HARD] = 0
    while front > 0:
        work[AT, SIZE], work[AT, FRONT] = 1, front
        load_rest(work)
        if search(work, known, work[LEAST, front]):
            undo_into_witness(work)
            front -= 1
            work[LEAST, front] = work[LEAST, front + 1]
        elif is_first:  # the system cannot build the tree, so the bounds are needed
            front, is_first = n, False
            work[AT, IS_HARD] = work[AT, REACH] == 2
        else:
            work[LEAST, front] += 1


@njit
def undo_into_witness(work):
    """Take all moves back; they, and then those of the old witness, are the new witness."""
    front = work[AT, FRONT]
    rest = 0 if work[AT, SIZE] == 1 and front > work[AT, WORDS] else work[REST, front]
    while work[AT, TRAIL] > 0:
        front, trail = work[AT, FRONT], work[AT, TRAIL] - 1
        move = work[MOVES, trail]
        undo(work, trail)
        if move == PUSH:
            work[REST, front] = rest
        else:
            work[REMOVED_AT, move >> 2] = front
            rest += price_of(work, move & 3)
    work[REST, work[AT, FRONT]] = rest
