"""Arc-eager with a dynamic oracle that is exact for every gold tree and under the single-root rule.

Goldberg & Nivre (2012), A Dynamic Oracle for Arc-Eager Dependency Parsing; costs corrected (their
Figure 4 omits arcs).

    SHIFT    push b                        σ, b|β  →  σ|b, β
    RIGHT    s is head of b, push b       σ|s, b|β →  σ|s|b, β
    LEFT     b is head of s, pop s        σ|s, b|β →  σ, b|β       s has no head and is not the root
    REDUCE   pop s                         σ|s, β   →  σ, β         s has a head

`root=last`: the root waits at the end of the buffer, all words leave the stack, 2n moves
(Ballesteros & Nivre 2013).
`root=first`: the root is the bottom of the stack, the end is an empty buffer, words without head
hang from the root.

Two oracles, both exact where they are used:
* closed form, for projective gold trees without the single-root rule: the arcs that a move makes
  unreachable, counted;
* best gains, a dynamic programme over the positions of the buffer, for everything else.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from dyparse.sentence import NONE
from dyparse.system import (
    System,
    buffer_front,
    first_best,
    gold_heads,
    head_of,
    leftmost,
    push,
    rightmost,
    stack_top,
)

SHIFT, RIGHT, LEFT, REDUCE = range(4)
IMPOSSIBLE = -10_000  # a gain so low that no sum of gains makes up for it
UNKNOWN, NO, YES = -1, 0, 1


class ArcEagerOptions(NamedTuple):
    """What the kernels are told."""

    root_first: bool
    single_root: bool


class ArcEagerGold(NamedTuple):
    """Gold trees, and tables of best gains that are filled when a state of their row first asks.

    Position x of the buffer is token x, and n + 1 when no word is left. Stack words count from the
    bottom, the root apart.
    """

    options: ArcEagerOptions  # of the system that prepared it
    head: NDArray[np.int32]  # [B, N]
    words: NDArray[np.int32]  # [B]            that the row's tables are for; 0 = none yet
    projective: NDArray[np.int8]  # [B]            YES, NO or UNKNOWN
    inner: NDArray[np.int16]  # [B, N, N+1]    [j, x]: best gain from j+1 to x above j on the stack
    outer: NDArray[np.int16]  # [B, N+1, N+1]  [p, x]: best gain from x on with p stack words
    known: NDArray[np.int32]  # [B]            stack words for which outer holds, these words, their
    known_word: NDArray[np.int32]  # [B, N]         heads, and the first position it was made for
    known_head: NDArray[np.int32]  # [B, N]
    known_from: NDArray[np.int32]  # [B, N]


@dataclass(frozen=True)
class ArcEager(System):
    """Arc-eager; the `root` stands `last` or `first`, with `single_root` it has one dependent."""

    root: str = "last"
    single_root: bool = True

    moves: ClassVar[tuple[str, ...]] = ("SHIFT", "RIGHT", "LEFT", "REDUCE")
    slots: ClassVar[tuple[str, ...]] = (
        *("s0", "s1", "s2", "b0"),
        *("s0.head", "s0.left", "s0.right", "b0.left"),
    )

    def __post_init__(self) -> None:
        if self.root not in ("last", "first"):
            raise ValueError(f"system.root is {self.root!r}, expected 'last' or 'first'")
        super().__post_init__()

    @property
    def options(self) -> ArcEagerOptions:
        return ArcEagerOptions(root_first=self.root == "first", single_root=self.single_root)

    def most_moves(self, words: int) -> int:
        return 2 * words

    def prepare(self, gold: ArrayLike) -> ArcEagerGold:
        head = gold_heads(gold)
        B, N = head.shape
        return ArcEagerGold(
            options=self.options,
            head=head,
            words=np.zeros(B, dtype=np.int32),
            projective=np.full(B, UNKNOWN, dtype=np.int8),
            inner=np.zeros((B, N, N + 1), dtype=np.int16),
            outer=np.zeros((B, N + 1, N + 1), dtype=np.int16),
            known=np.zeros(B, dtype=np.int32),
            known_word=np.zeros((B, N), dtype=np.int32),
            known_head=np.zeros((B, N), dtype=np.int32),
            known_from=np.zeros((B, N), dtype=np.int32),
        )


@njit
def begin(options, states, i):
    """Root first: [0], 1..n. Root last: [], 1..n, 0."""
    n = states.length[i] - 1
    for word in range(1, n + 1):
        states.buffer[i, word - 1] = word
    states.end[i] = n
    if options.root_first:
        push(states, i, 0)
    else:
        states.buffer[i, n] = 0
        states.end[i] = n + 1


@njit
def is_finished(options, states, i):
    """Root first: the buffer is empty. Root last: only the root is left."""
    if options.root_first:
        return states.front[i] == states.end[i]
    return states.stack_size[i] == 0 and states.front[i] == states.end[i] - 1


@njit
def legal(options, states, i, out):
    """out[m] = 1 if move m may be taken."""
    out[:] = 0
    if is_finished(options, states, i):
        return
    s, b = stack_top(states, i, 0), buffer_front(states, i)
    out[SHIFT] = b > 0
    out[RIGHT] = b > 0 and s != NONE
    out[LEFT] = s > 0 and states.head[i, s] == NONE
    out[REDUCE] = s > 0 and states.head[i, s] != NONE
    if options.single_root:
        forbid_second_root(options, states, i, out)


@njit
def forbid_second_root(options, states, i, out):
    """Take out exactly the moves after which no tree with one root is reachable.

    Root last:  only the bottom word may hang from the root; when the last word goes on the stack,
    all others but one have heads.
    Root first: the root's dependent is never popped, so a second one is seen; else as above.
    """
    s, b = stack_top(states, i, 0), buffer_front(states, i)
    words_left = states.end[i] - states.front[i] - (0 if options.root_first else 1)
    if b == 0 and states.stack_size[i] > 1:
        out[LEFT] = 0
    if options.root_first:
        if s > 0 and states.head[i, s] == 0:
            out[REDUCE] = 0
        if s == 0 and states.right[i, 0] != NONE:
            out[RIGHT] = 0
    if words_left == 1:
        roots = root_candidates(options, states, i)
        out[SHIFT] = out[SHIFT] and roots == 0
        out[RIGHT] = out[RIGHT] and (roots == 1 or s == 0)


@njit
def root_candidates(options, states, i):
    """Stack words that hang from the root or may come to.

    Those without head, and the root's dependent.
    """
    count = 0
    for position in range(1 if options.root_first else 0, states.stack_size[i]):
        count += states.head[i, states.stack[i, position]] <= 0
    return count


@njit
def arc(options, states, i, move):  # noqa: ARG001 - all kernels of one name have the same parameters
    """LEFT b → s, RIGHT s → b."""
    s, b = stack_top(states, i, 0), buffer_front(states, i)
    if move == LEFT:
        return b, s
    if move == RIGHT:
        return s, b
    return NONE, NONE


@njit
def step(options, states, i, move):  # noqa: ARG001
    """SHIFT and RIGHT push b; LEFT and REDUCE pop s."""
    if move in (SHIFT, RIGHT):
        push(states, i, buffer_front(states, i))
        states.front[i] += 1
    else:
        states.stack_size[i] -= 1


@njit
def features(options, states, i, out):  # noqa: ARG001
    """The top of the stack and its neighbours in the tree, what lies below it, and the front."""
    s, b = stack_top(states, i, 0), buffer_front(states, i)
    out[0] = s
    out[1] = stack_top(states, i, 1)
    out[2] = stack_top(states, i, 2)
    out[3] = b
    out[4] = head_of(states, i, s)
    out[5] = leftmost(states, i, s)
    out[6] = rightmost(states, i, s)
    out[7] = leftmost(states, i, b)


@njit
def static(options, states, i, gold, is_legal, costs):  # noqa: ARG001
    """LEFT, RIGHT, SHIFT, REDUCE: the first that is legal and of least cost.

    On the way to a projective tree with one root this is Algorithm 1 of Goldberg & Nivre (2012):
    REDUCE only where SHIFT would lose an arc.
    """
    return first_best((LEFT, RIGHT, SHIFT, REDUCE), is_legal, costs)


@njit
def cost(options, states, i, gold, out):
    """out[m] = gold arcs lost by legal move m, by the cheapest oracle that is exact here."""
    if not options.single_root:
        if gold.projective[i] == UNKNOWN:
            gold.projective[i] = is_projective(gold.head[i], states.length[i])
        if gold.projective[i] == YES:
            count_lost_arcs(options, states, i, gold.head[i], out)
            return
    compare_best_gains(options, states, i, gold, out)


@njit
def is_projective(head, length):
    """YES if no two arcs cross, those from the root (at position 0) included; else NO."""
    for word in range(1, length):
        low, high = min(word, head[word]), max(word, head[word])
        for other in range(1, word):
            other_low, other_high = min(other, head[other]), max(other, head[other])
            if low < other_low < high < other_high or other_low < low < other_high < high:
                return NO
    return YES


@njit
def count_lost_arcs(options, states, i, gold, out):
    """Closed form: a word can get heads from stack and buffer while in the buffer, then from the
    buffer only.

    SHIFT   b loses a head on the stack (the root excepted, if first: b may still hang from it),
            and dependents without head there
    RIGHT   b loses any other head than s, and dependents without head on the stack
    LEFT    s loses any other head than b in the buffer (or the root, if first), and dependents in
            the buffer
    REDUCE  s loses dependents in the buffer
    """
    out[:] = 0
    s, b = stack_top(states, i, 0), buffer_front(states, i)
    if b > 0:
        for position in range(states.stack_size[i]):
            token = states.stack[i, position]
            open_dependent = token != 0 and gold[token] == b and states.head[i, token] == NONE
            lost_head = gold[b] == token
            out[SHIFT] += open_dependent + (lost_head and token != 0)
            out[RIGHT] += open_dependent + (lost_head and token != s)
        out[RIGHT] += gold[b] > b or (gold[b] == 0 and not options.root_first)
    if s > 0:
        for position in range(states.front[i], states.end[i]):
            token = states.buffer[i, position]
            lost_dependent = token != 0 and gold[token] == s
            out[LEFT] += lost_dependent + (gold[s] == token and token != b)
            out[REDUCE] += lost_dependent
        out[LEFT] += gold[s] == 0 and options.root_first


@njit
def compare_best_gains(options, states, i, gold, out):
    """out[m] = best gain now − (gain of the move + best gain after it); gain: a gold head given.

    A word's gain is counted when it is popped. LEFT and REDUCE leave the table of the stack below;
    SHIFT and RIGHT put b above the stack, work above it up to some position, and pop it there.
    """
    out[:] = 0
    fill_tables(options, states, i, gold)
    n = states.length[i] - 1
    s, b = stack_top(states, i, 0), buffer_front(states, i)
    x = b if b > 0 else n + 1
    p = states.stack_size[i] - options.root_first
    outer = gold.outer[i]
    now = outer[p, x]
    if p > 0:
        out[LEFT] = now - outer[p - 1, x] - (gold.head[i, s] == max(b, 0))
        out[REDUCE] = now - outer[p - 1, x] - (gold.head[i, s] == states.head[i, s])
    if b > 0:
        shifted, attached = IMPOSSIBLE, IMPOSSIBLE
        for later in range(b + 1, n + 2):
            above = gold.inner[i, b, later] + outer[p, later]
            shifted = max(shifted, above + pop_gain(options, gold.head[i], n, (b, NONE, p), later))
            attached = max(attached, above + pop_gain(options, gold.head[i], n, (b, s, p), later))
        out[SHIFT] = now - shifted
        out[RIGHT] = now - attached


@njit
def pop_gain(options, gold, n, item, x):
    """1 if a stack word has or gets its gold head when popped at x; item = (it, its head, p)."""
    word, head, below = item
    if head != NONE:
        if head == 0 and options.single_root and x <= n:
            return IMPOSSIBLE
        return 1 if gold[word] == head else 0
    if x <= n:
        return 1 if gold[word] == x else 0
    if options.single_root and below > 0:
        return IMPOSSIBLE
    return 1 if gold[word] == 0 else 0


@njit
def fill_tables(options, states, i, gold):
    """Make outer[p] for the stack of this state from its front on.

    Keep what earlier states of the row have in common.
    """
    n = states.length[i] - 1
    if gold.words[i] != n:
        fill_inner(options, gold.head[i], n, gold.inner[i])
        fill_bottom(options, gold.head[i], n, gold.inner[i], gold.outer[i, 0])
        gold.words[i], gold.known[i] = n, 0
    b = buffer_front(states, i)
    x = b if b > 0 else n + 1
    is_same = True
    for p in range(states.stack_size[i] - options.root_first):
        word = states.stack[i, p + options.root_first]
        head = states.head[i, word]
        is_same = (
            is_same
            and p < gold.known[i]
            and gold.known_word[i, p] == word
            and gold.known_head[i, p] == head
            and gold.known_from[i, p] <= x
        )
        if not is_same:
            fill_outer(options, (gold.head[i], gold.inner[i], gold.outer[i]), n, (word, head, p), x)
            gold.known_word[i, p], gold.known_head[i, p], gold.known_from[i, p] = word, head, x
            gold.known[i] = p + 1


@njit
def fill_inner(options, gold, n, inner):
    """inner[j, x] = max over k, the last word popped: inner[j, k] + inner[k, x] + [g(k) ∈ {j, x}].

    At x = n + 1 the root takes words that have no head, under the single-root rule none of those
    above j.
    """
    for j in range(n, 0, -1):
        inner[j, j + 1] = 0
        inner[j, j + 2 : n + 2] = IMPOSSIBLE
        for k in range(j + 1, n + 1):
            reached = inner[j, k] + (gold[k] == j)
            for x in range(k + 1, n + 2):
                inner[j, x] = max(inner[j, x], reached + inner[k, x])
            x = later_head(options, gold[k], k, n)
            if x != NONE and gold[k] != j:
                inner[j, x] = max(inner[j, x], reached + inner[k, x] + 1)


@njit
def later_head(options, head, word, n):
    """The position at which LEFT gives a word above others its gold head, or NONE."""
    if head == 0:
        return NONE if options.single_root else n + 1
    return head if head > word else NONE


@njit
def fill_bottom(options, gold, n, inner, bottom):
    """bottom[x] = best gain from x to the end on a stack without words.

    A word pushed there is popped at some later position.
    """
    bottom[n + 1] = 0
    head = 0 if options.root_first and not options.single_root else NONE
    for x in range(n, 0, -1):
        bottom[x] = IMPOSSIBLE
        for later in range(x + 1, n + 2):
            gain = max(
                pop_gain(options, gold, n, (x, NONE, 0), later),
                pop_gain(options, gold, n, (x, head, 0), later),
            )
            bottom[x] = max(bottom[x], inner[x, later] + gain + bottom[later])


@njit
def fill_outer(options, tables, n, item, start):
    """outer[p+1, x] = max(pop stack word p at x; push x, work above it, pop it somewhere later).

    item = (stack word p, its head, p); positions x from the end down to start.
    """
    gold, inner, outer = tables
    word, _, p = item
    below, here = outer[p], outer[p + 1]
    here[n + 1] = max(below[n + 1] + pop_gain(options, gold, n, item, n + 1), IMPOSSIBLE)
    for x in range(n, start - 1, -1):
        best = IMPOSSIBLE
        for later in range(x + 1, n + 2):
            best = max(best, inner[x, later] + here[later])
        best += gold[x] == word
        later = later_head(options, gold[x], x, n)
        if later != NONE:
            best = max(best, inner[x, later] + here[later] + 1)
        here[x] = max(best, below[x] + pop_gain(options, gold, n, item, x))
