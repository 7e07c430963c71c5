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

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dyparse.data.sentence import NONE
from dyparse.runtime.kernels import njit
from dyparse.system import (
    System,
    buffer_front,
    clear,
    first_best,
    head_of,
    leftmost,
    push,
    rightmost,
    stack_top,
)
from dyparse.system._best_gains import (
    IMPOSSIBLE,
    Gains,
    Item,
    best_gain,
    dependents_from,
    empty_gains,
    gain_after_pop,
    gain_after_push,
    is_known_projective,
    is_on_stack,
    position,
)

SHIFT, RIGHT, LEFT, REDUCE = range(4)
ROOTS = ("last", "first")


class ArcEagerOptions(NamedTuple):
    """Options as numbers, for the compiled kernels."""

    root_first: bool
    single_root: bool


class ArcEagerGold(NamedTuple):
    """Gold trees, whether they are projective, and their tables of best gains."""

    options: ArcEagerOptions  # of the system that prepared it
    head: NDArray[np.int32]  # [B, N]
    projective: NDArray[np.int32]  # [B]  verdict of `is_known_projective`
    gains: Gains


@dataclass(frozen=True)
class ArcEager(System):
    """Arc-eager; the `root` stands `last` or `first`, with `single_root` it has one dependent."""

    root: str = field(default="last", metadata={"choices": ROOTS})
    single_root: bool = True

    trees: ClassVar[str] = "projective"
    moves: ClassVar[tuple[str, ...]] = ("SHIFT", "RIGHT", "LEFT", "REDUCE")
    arcless: ClassVar[tuple[str, ...]] = ("SHIFT", "REDUCE")
    needs: ClassVar[Mapping[str, str]] = {
        "SHIFT": "a word at the front of the buffer",
        "RIGHT": "a word at the front of the buffer and a token on the stack",
        "LEFT": "a word without head on top of the stack, and a token in the buffer",
        "REDUCE": "a word with a head on top of the stack",
    }
    slots: ClassVar[tuple[str, ...]] = (
        "s0",
        "s1",
        "s2",
        "b0",
        "s0.head",
        "s0.left",
        "s0.right",
        "b0.left",
    )

    def __post_init__(self) -> None:
        if self.root not in ROOTS:
            raise ValueError(f"system.root is {self.root!r}, expected 'last' or 'first'")
        super().__post_init__()

    @property
    def options(self) -> ArcEagerOptions:
        return ArcEagerOptions(root_first=self.root == "first", single_root=self.single_root)

    def most_moves(self, words: int) -> int:
        return 2 * words

    def prepare(self, gold: ArrayLike) -> ArcEagerGold:
        gains = empty_gains(self.options, gold)
        projective = np.zeros(len(gains.head), dtype=np.int32)
        return ArcEagerGold(self.options, gains.head, projective, gains)


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
    clear(out)
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
    for word in states.stack[i, int(options.root_first) : states.stack_size[i]]:
        count += states.head[i, word] <= 0
    return count


@njit
def arc(options, states, i, move):
    """LEFT b → s, RIGHT s → b."""
    s, b = stack_top(states, i, 0), buffer_front(states, i)
    if move == LEFT:
        return b, s
    if move == RIGHT:
        return s, b
    return NONE, NONE


@njit
def step(options, states, i, move):
    """SHIFT and RIGHT push b; LEFT and REDUCE pop s."""
    if move in (SHIFT, RIGHT):
        push(states, i, buffer_front(states, i))
        states.front[i] += 1
    else:
        states.stack_size[i] -= 1


@njit
def features(options, states, i, out):
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
def static(options, states, i, gold, is_legal, costs):
    """LEFT, RIGHT, SHIFT, REDUCE: the first that is legal and of least cost.

    On the way to a projective tree with one root this is Algorithm 1 of Goldberg & Nivre (2012):
    REDUCE only where SHIFT would lose an arc.
    """
    return first_best((LEFT, RIGHT, SHIFT, REDUCE), is_legal, costs)


@njit
def cost(options, states, i, gold, out):
    """out[m] = gold arcs lost by legal move m, by the cheapest oracle that is exact here."""
    if not options.single_root and is_known_projective(
        gold.head, states.length[i], gold.projective, i
    ):
        count_lost_arcs(options, states, i, gold.head[i], out)
        return
    compare_best_gains(states, i, gold.gains, out)


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
    clear(out)
    s, b = stack_top(states, i, 0), buffer_front(states, i)
    if b > 0:
        dependents = 0
        for token in states.stack[i, int(options.root_first) : states.stack_size[i]]:
            dependents += gold[token] == b and states.head[i, token] == NONE
        has_head = is_on_stack(states, i, gold[b])
        is_later = gold[b] > b or (gold[b] == 0 and not options.root_first)
        out[SHIFT] = dependents + (has_head and gold[b] != 0)
        out[RIGHT] = dependents + (is_later or (has_head and gold[b] != s))
    if s > 0:
        out[REDUCE] = dependents_from(gold, position(states, i), states.length[i], s)
        is_later = 0 < b < gold[s] or (gold[s] == 0 and (options.root_first or b != 0))
        out[LEFT] = out[REDUCE] + is_later


@njit
def compare_best_gains(states, i, gains, out):
    """out[m] = best gain now − best gain if move m is taken; a gain is a gold head given."""
    clear(out)
    now = best_gain(gains, states, i)
    s, b = stack_top(states, i, 0), buffer_front(states, i)
    if s > 0:
        out[LEFT] = now - gain_after_pop(gains, states, i, max(b, 0))
        out[REDUCE] = now - gain_after_pop(gains, states, i, int(states.head[i, s]))
    if b > 0:
        out[SHIFT] = now - gain_after_push(gains, states, i, int(NONE))
        out[RIGHT] = now - gain_after_push(gains, states, i, s)


@njit
def root_takes_all(options):
    """Without the single-root rule, every word that has no head in the end hangs from the root."""
    return not options.single_root


@njit
def pop_gain(options, gold, n, item, x):
    """1 if the item has its gold head, or gets it from the front (the root, if no word is left)."""
    if item.head != NONE:
        if item.head == 0 and options.single_root and x <= n:
            return IMPOSSIBLE
        return 1 if gold[item.word] == item.head else 0
    if x <= n:
        return 1 if gold[item.word] == x else 0
    if options.single_root and item.depth > 0:
        return IMPOSSIBLE
    return 1 if gold[item.word] == 0 else 0


@njit
def bottom_gain(options, gold, n, word, x):
    """As `pop_gain`; on the bottom a word may also have been given the root as its head."""
    gain = pop_gain(options, gold, n, Item(word, int(NONE), int(NONE), 0), x)
    if options.root_first and not options.single_root and gold[word] == 0:
        return 1
    return gain
