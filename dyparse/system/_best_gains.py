"""Best gains: an exact oracle for systems whose words leave the stack from its top.

Arc-eager, its non-monotonic variants and arc-hybrid share it. A *gain* is a gold head that a word
has when it is popped; the least loss of a state is the number of words it has still to pop less the
best gain of doing so. With position x for "token x is the front of the buffer", and n + 1 for "no
word is left":

    inner[j, x]  best gain of all words that come and go above j, from position j + 1 to x
    outer[p, x]  best gain from x to the end, with the lowest p words of the stack left

inner depends on the gold tree only. Its recursion is over k, the last word popped at the level just
above j: inner[j, x] = max_k inner[j, k] + inner[k, x] + [g(k) ∈ {j, x}]. outer[p] depends on the
lowest p words only, so a push makes one new row and a pop drops one. O(n³) per sentence, O(n²) per
push, O(n) per state.

The gain of a word that is popped is the system's own: kernels `pop_gain` and `bottom_gain`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dyparse.data.sentence import NONE
from dyparse.runtime.kernels import kernel, njit
from dyparse.system import buffer_front, gold_heads, stack_top

IMPOSSIBLE = -10_000  # a gain so low that no sum of gains makes up for it


class Gains(NamedTuple):
    """Tables of best gains for B gold trees, filled when a state of their row first asks.

    Stack words count from the bottom, the root apart.
    """

    options: NamedTuple  # its kernels are `pop_gain` and `bottom_gain`
    head: NDArray[np.int32]  # [B, N]         gold
    words: NDArray[np.int32]  # [B]            that the row's tables are for; 0 = none yet
    inner: NDArray[np.int16]  # [B, N, N+1]
    outer: NDArray[np.int16]  # [B, N+1, N+1]
    known: NDArray[np.int32]  # [B]            stack words for which outer holds, these words, their
    known_word: NDArray[np.int32]  # [B, N]         heads, and the first position it was made for
    known_head: NDArray[np.int32]  # [B, N]
    known_from: NDArray[np.int32]  # [B, N]


class Item(NamedTuple):
    """A word on the stack: its head so far, the token below it, and how many words lie below."""

    word: int
    head: int
    below: int
    depth: int


@kernel
def pop_gain(options, gold, n, item, x):
    """1 if an item has or can get its gold head when popped at x, else 0; or IMPOSSIBLE."""


@kernel
def bottom_gain(options, gold, n, word, x):
    """The same for a word that is pushed on the bottom of the stack and popped at x."""


@kernel
def root_takes_all(options):
    """True if a word above others on the stack can hang from the root when no word is left."""


def empty_gains(options: NamedTuple, gold: ArrayLike) -> Gains:
    """Tables to be filled, for gold[b, w], the head of word w."""
    head = gold_heads(gold)
    B, N = head.shape
    return Gains(
        options=options,
        head=head,
        words=np.zeros(B, dtype=np.int32),
        inner=np.zeros((B, N, N + 1), dtype=np.int16),
        outer=np.zeros((B, N + 1, N + 1), dtype=np.int16),
        known=np.zeros(B, dtype=np.int32),
        known_word=np.zeros((B, N), dtype=np.int32),
        known_head=np.zeros((B, N), dtype=np.int32),
        known_from=np.zeros((B, N), dtype=np.int32),
    )


@njit
def position(states, i):
    """The position of a state: its front, or n + 1 if no word is left."""
    b = buffer_front(states, i)
    return b if b > 0 else states.length[i]


@njit
def depth_of(states, i):
    """Words on the stack."""
    size = states.stack_size[i]
    return size - 1 if size > 0 and states.stack[i, 0] == 0 else size


@njit
def best_gain(gains, states, i):
    """The best gain from this state to the end; fills the tables that are needed for it."""
    fill_tables(gains, states, i)
    return gains.outer[i, depth_of(states, i), position(states, i)]


@njit
def gain_after_pop(gains, states, i, head):
    """The best gain from this state, if the top of the stack goes now and with this head."""
    gain = 1 if gains.head[i, stack_top(states, i, 0)] == head else 0
    return gain + gains.outer[i, depth_of(states, i) - 1, position(states, i)]


@njit
def gain_after_push(gains, states, i, head):
    """The best gain from this state, if the front goes on the stack now and with this head."""
    n, b, depth = states.length[i] - 1, buffer_front(states, i), depth_of(states, i)
    gold, inner, outer = gains.head[i], gains.inner[i, b], gains.outer[i, depth]
    item = Item(b, head, stack_top(states, i, 0), depth)
    best = IMPOSSIBLE
    for later in range(b + 1, n + 2):
        gain = pop_gain(gains.options, gold, n, item, later)
        best = max(best, inner[later] + outer[later] + gain)
    return best


@njit
def fill_tables(gains, states, i):
    """Make outer for the stack of this state from its front on.

    The rows that earlier states have in common with it are kept.
    """
    n = states.length[i] - 1
    options, gold, inner, outer = gains.options, gains.head[i], gains.inner[i], gains.outer[i]
    if gains.words[i] != n:
        fill_inner(gold, n, root_takes_all(options), inner)
        fill_bottom(options, gold, n, inner, outer[0])
        gains.words[i], gains.known[i] = n, 0
    x, depth = position(states, i), depth_of(states, i)
    below = 0 if states.stack_size[i] > depth else NONE
    is_same = True
    for p in range(depth):
        word = int(states.stack[i, states.stack_size[i] - depth + p])
        head = int(states.head[i, word])
        is_same = (
            is_same
            and p < gains.known[i]
            and gains.known_word[i, p] == word
            and gains.known_head[i, p] == head
            and gains.known_from[i, p] <= x
        )
        if not is_same:
            fill_outer(options, (gold, inner, outer), n, Item(word, head, below, p), x)
            gains.known_word[i, p], gains.known_head[i, p], gains.known_from[i, p] = word, head, x
            gains.known[i] = p + 1
        below = word


@njit
def fill_inner(gold, n, end_is_root, inner):
    """inner[j, x] for all j and x; k takes its gold head from below (j) or from the front (x)."""
    for j in range(n, 0, -1):
        inner[j, j + 1] = 0
        for x in range(j + 2, n + 2):
            inner[j, x] = IMPOSSIBLE
        for k in range(j + 1, n + 1):
            reached = inner[j, k] + (gold[k] == j)
            for x in range(k + 1, n + 2):
                inner[j, x] = max(inner[j, x], reached + inner[k, x])
            x = later_head(gold[k], k, n, end_is_root)
            if x != NONE and gold[k] != j:
                inner[j, x] = max(inner[j, x], reached + inner[k, x] + 1)


@njit
def later_head(head, word, n, end_is_root):
    """The position at which the front is a word's gold head, or NONE if there is no such."""
    if head == 0:
        return n + 1 if end_is_root else NONE
    return head if head > word else NONE


@njit
def fill_bottom(options, gold, n, inner, bottom):
    """bottom[x] = best gain from x to the end on a stack without words."""
    bottom[n + 1] = 0
    for x in range(n, 0, -1):
        bottom[x] = IMPOSSIBLE
        for later in range(x + 1, n + 2):
            gain = bottom_gain(options, gold, n, x, later)
            bottom[x] = max(bottom[x], inner[x, later] + gain + bottom[later])


@njit
def fill_outer(options, tables, n, item, start):
    """outer[p+1, x] = max(pop stack word p at x; push x, work above it, pop it somewhere later).

    The item is stack word p; positions x from the end down to start.
    """
    gold, inner, outer = tables
    end_is_root = root_takes_all(options)
    below, here = outer[item.depth], outer[item.depth + 1]
    here[n + 1] = max(below[n + 1] + pop_gain(options, gold, n, item, n + 1), IMPOSSIBLE)
    for x in range(n, start - 1, -1):
        best = IMPOSSIBLE
        for later in range(x + 1, n + 2):
            best = max(best, inner[x, later] + here[later])
        best += gold[x] == item.word
        later = later_head(gold[x], x, n, end_is_root)
        if later != NONE:
            best = max(best, inner[x, later] + here[later] + 1)
        here[x] = max(best, below[x] + pop_gain(options, gold, n, item, x))


@njit
def is_known_projective(head, length, verdict, i):
    """Whether row i is projective; verdict[i] remembers it: the length, negative if it is not."""
    if abs(verdict[i]) != length:
        verdict[i] = length if is_projective(head[i], length) else -length
    return verdict[i] > 0


@njit
def is_projective(head, length):
    """Whether no two arcs cross, those from the root (at position 0) included.

    Not if a word is its own head, to ask for no arc: the others need not be a part of a projective
    tree then, though no two of them cross.
    """
    for word in range(1, length):
        if head[word] == word:
            return False
        low, high = min(word, head[word]), max(word, head[word])
        for other in range(1, word):
            other_low, other_high = min(other, head[other]), max(other, head[other])
            if low < other_low < high < other_high or other_low < low < other_high < high:
                return False
    return True


@njit
def dependents_from(gold, start, length, head):
    """Words from start on whose gold head this is."""
    count = 0
    for word in range(start, length):
        count += gold[word] == head
    return count


@njit
def is_on_stack(states, i, token):
    """Whether a token is on the stack."""
    found = False
    for other in states.stack[i, : states.stack_size[i]]:
        found = found or other == token
    return found
