"""Arc-eager whose LEFT and REDUCE may repair earlier decisions, with an exact dynamic oracle.

Honnibal, Goldberg & Johnson (2013), A Non-Monotonic Arc-Eager Transition System for Dependency
Parsing; costs corrected (their REDUCE omits a lost arc, their LEFT counts one twice).

    SHIFT    push b                        σ, b|β   →  σ|b, β
    RIGHT    s is head of b, push b       σ|s, b|β  →  σ|s|b, β
    LEFT     b is head of s, pop s        σ|s, b|β  →  σ, b|β     left_arc: also if s has a head,
                                                                  which is replaced
    REDUCE   pop s                        σ|t|s, β  →  σ|t, β     reduce: also if s has no head, it
                                                                  then gets t, the word below it

The root waits at the end of the buffer, all words leave the stack, 2n moves. The label of an arc is
chosen from its head and dependent when the tree is complete, so an arc that REDUCE adds needs no
label stored by the SHIFT before; where moves carry labels, REDUCE does too.

Oracles as in arc-eager: closed form for projective gold trees without the single-root rule, best
gains for everything else. Training prefers, among the moves of cost 0, those that are legal and
cost nothing in monotonic arc-eager too, where there are any (section 6 of the paper).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dyparse.data.sentence import NONE
from dyparse.runtime.kernels import njit
from dyparse.system import System, buffer_front, clear, first_best, stack_top
from dyparse.system import arc_eager as monotonic
from dyparse.system._best_gains import (
    IMPOSSIBLE,
    Gains,
    Item,
    best_gain,
    dependents_from,
    empty_gains,
    gain_after_pop,
    is_known_projective,
    is_on_stack,
    position,
)
from dyparse.system.arc_eager import LEFT, REDUCE, RIGHT, SHIFT, ArcEagerOptions, features

__all__ = ["NonMonotonic", "features"]  # the kernel of arc-eager that holds here too


class NonMonotonicOptions(NamedTuple):
    """Options as numbers, for the compiled kernels."""

    left_arc: bool
    reduce: bool
    single_root: bool
    monotonic: ArcEagerOptions


class NonMonotonicGold(NamedTuple):
    """Gold trees, and their tables of best gains for this system and for monotonic arc-eager."""

    options: NonMonotonicOptions  # of the system that prepared it
    head: NDArray[np.int32]  # [B, N]
    projective: NDArray[np.int32]  # [B]  verdict of `is_known_projective`
    gains: Gains
    monotonic: Gains
    likes: NDArray[np.int32]  # [B, M]  scratch of `prefer`: costs in monotonic arc-eager


@dataclass(frozen=True)
class NonMonotonic(System):
    """Arc-eager with non-monotonic LEFT (`left_arc`), REDUCE (`reduce`), or both."""

    left_arc: bool = True
    reduce: bool = True
    single_root: bool = True

    trees: ClassVar[str] = "projective"
    moves: ClassVar[tuple[str, ...]] = monotonic.ArcEager.moves
    arcless: ClassVar[tuple[str, ...]] = ("SHIFT",)
    needs: ClassVar[Mapping[str, str]] = {
        "SHIFT": "a word at the front of the buffer",
        "RIGHT": "a word at the front of the buffer and a word on the stack",
        "LEFT": "a word on top of the stack; without `left_arc` one that has no head",
        "REDUCE": "a word with a head on top of the stack; with `reduce` also one without",
    }
    slots: ClassVar[tuple[str, ...]] = monotonic.ArcEager.slots

    @property
    def options(self) -> NonMonotonicOptions:
        arc_eager = ArcEagerOptions(root_first=False, single_root=self.single_root)
        return NonMonotonicOptions(self.left_arc, self.reduce, self.single_root, arc_eager)

    def most_moves(self, words: int) -> int:
        return 2 * words

    def prepare(self, gold: ArrayLike) -> NonMonotonicGold:
        gains = empty_gains(self.options, gold)
        monotonic_options = self.options._replace(left_arc=False, reduce=False)
        return NonMonotonicGold(
            options=self.options,
            head=gains.head,
            projective=np.zeros(len(gains.head), dtype=np.int32),
            gains=gains,
            monotonic=empty_gains(monotonic_options, gold),
            likes=np.empty((len(gains.head), len(self.moves)), dtype=np.int32),
        )


@njit
def begin(options, states, i):
    """[], 1..n, 0."""
    monotonic.begin(options.monotonic, states, i)


@njit
def is_finished(options, states, i):
    """Only the root is left."""
    return monotonic.is_finished(options.monotonic, states, i)


@njit
def legal(options, states, i, out):
    """out[m] = 1 if move m may be taken.

    Single root: a word without head that is not the bottom one can always be reduced if `reduce`
    is set, so then only LEFT by the root has to be watched; else as in arc-eager.
    """
    clear(out)
    if is_finished(options, states, i):
        return
    s, b = stack_top(states, i, 0), buffer_front(states, i)
    has_head = s != NONE and states.head[i, s] != NONE
    out[SHIFT] = b > 0
    out[RIGHT] = b > 0 and s != NONE
    out[LEFT] = s != NONE and (not has_head or options.left_arc)
    out[REDUCE] = has_head or (options.reduce and states.stack_size[i] > 1)
    if options.single_root and options.reduce:
        out[LEFT] = out[LEFT] and (b != 0 or states.stack_size[i] == 1)
    elif options.single_root:
        monotonic.forbid_second_root(options.monotonic, states, i, out)


@njit
def arc(options, states, i, move):
    """LEFT b → s, RIGHT s → b, REDUCE t → s if s has no head."""
    s = stack_top(states, i, 0)
    if move == LEFT:
        return buffer_front(states, i), s
    if move == RIGHT:
        return s, buffer_front(states, i)
    if move == REDUCE and states.head[i, s] == NONE:
        return stack_top(states, i, 1), s
    return NONE, NONE


@njit
def step(options, states, i, move):
    """SHIFT and RIGHT push b; LEFT and REDUCE pop s.

    A head that LEFT replaced was the word below s, and s its last dependent.
    """
    if move == LEFT:
        s, t = stack_top(states, i, 0), stack_top(states, i, 1)
        if t != NONE and states.right[i, t] == s:
            states.right[i, t] = last_dependent(states, i, t, s)
    monotonic.step(options.monotonic, states, i, move)


@njit
def last_dependent(states, i, head, end):
    """The rightmost dependent of a head between it and end, or NONE."""
    for word in range(end - 1, head, -1):
        if states.head[i, word] == head:
            return word
    return NONE


@njit
def static(options, states, i, gold, is_legal, costs):
    """As in arc-eager: LEFT, RIGHT, SHIFT, REDUCE, the first that is legal and of least cost.

    A mistake that can be repaired costs nothing; `prefer` keeps it out of the canonical derivation.
    """
    return first_best((LEFT, RIGHT, SHIFT, REDUCE), is_legal, costs)


@njit
def cost(options, states, i, gold, out):
    """out[m] = gold arcs lost by legal move m, by the cheapest oracle that is exact here."""
    if has_closed_form(options, states, i, gold):
        count_lost_arcs(options, states, i, gold.head[i], out)
    else:
        compare_best_gains(states, i, gold.gains, out)


@njit
def forget(options, gold, i):
    """Fill the tables of row i again when they are needed next."""
    for word in range(gold.head.shape[1]):
        gold.monotonic.head[i, word] = gold.head[i, word]
    gold.projective[i] = gold.gains.words[i] = gold.monotonic.words[i] = 0


@njit
def has_closed_form(options, states, i, gold):
    """Whether lost arcs need only be counted."""
    if options.single_root:
        return False
    return is_known_projective(gold.head, states.length[i], gold.projective, i)


@njit
def prefer(options, states, i, gold, is_legal, costs):
    """Of the moves of cost 0, let only those keep it that cost 0 in monotonic arc-eager too.

    Where there are none, all keep it. A word that has no head may be on a stack from which
    monotonic arc-eager reaches no tree with one root; then all keep it too.
    """
    likes = gold.likes[i]
    if has_closed_form(options, states, i, gold):
        monotonic.count_lost_arcs(options.monotonic, states, i, gold.head[i], likes)
    elif best_gain(gold.monotonic, states, i) < 0:
        return
    else:
        monotonic.compare_best_gains(states, i, gold.monotonic, likes)
    has_head = stack_top(states, i, 0) != NONE and states.head[i, stack_top(states, i, 0)] != NONE
    likes[LEFT] += has_head
    likes[REDUCE] += not has_head
    is_shared = False
    for move in range(4):
        is_shared = is_shared or (is_legal[move] and costs[move] == 0 and likes[move] == 0)
    if is_shared:
        for move in range(4):
            costs[move] += costs[move] == 0 and likes[move] != 0


@njit
def count_lost_arcs(options, states, i, gold, out):
    """Closed form. A stack word can get heads from the buffer if it is open: without head, or any
    with `left_arc`; with `reduce`, one without head also from the word below it.

    SHIFT   b loses a head on the stack (with `reduce`, s excepted), and open dependents there
    RIGHT   b loses a head on the stack other than s, without `left_arc` one in the buffer too, and
            open dependents on the stack
    LEFT    s loses what it has or can get, if that is not b, and dependents in the buffer
    REDUCE  s loses what it can get, if that is not what it has or gets, and dependents there
    """
    clear(out)
    s, t, b = stack_top(states, i, 0), stack_top(states, i, 1), buffer_front(states, i)
    if b > 0:
        dependents = 0
        for token in states.stack[i, : states.stack_size[i]]:
            is_open = options.left_arc or states.head[i, token] == NONE
            dependents += gold[token] == b and is_open
        has_head = is_on_stack(states, i, gold[b])
        is_later = gold[b] > b or gold[b] == 0
        out[SHIFT] = dependents + (has_head and not (gold[b] == s and options.reduce))
        out[RIGHT] = dependents + (has_head and gold[b] != s)
        out[RIGHT] += is_later and not options.left_arc
    if s > 0:
        out[REDUCE] = dependents_from(gold, position(states, i), states.length[i], s)
        out[LEFT] = out[REDUCE]
        head = states.head[i, s] if states.head[i, s] != NONE else t
        if can_get_gold_head(options, (s, states.head[i, s], t), b, gold):
            out[LEFT] += gold[s] != b
            out[REDUCE] += gold[s] != head


@njit
def can_get_gold_head(options, top, b, gold):
    """Whether top = (word, its head, the word below it) has its gold head or can still get it."""
    s, head, t = top
    in_buffer = gold[s] == 0 or (b > 0 and gold[s] >= b)
    if head == NONE:
        return in_buffer or (options.reduce and gold[s] == t)
    return gold[s] == head or (options.left_arc and in_buffer)


@njit
def compare_best_gains(states, i, gains, out):
    """out[m] = best gain now − best gain if move m is taken; a gain is a gold head given."""
    monotonic.compare_best_gains(states, i, gains, out)
    s, t = stack_top(states, i, 0), stack_top(states, i, 1)
    if s != NONE and states.head[i, s] == NONE:
        out[REDUCE] = best_gain(gains, states, i) - gain_after_pop(gains, states, i, t)


@njit
def root_takes_all(options):
    """Without the single-root rule, every word that has no head in the end hangs from the root."""
    return not options.single_root


@njit
def pop_gain(options, gold, n, item, x):
    """1 if the item has its gold head, or can get it from the front (the root, if no word is left),
    or from the word below it.
    """
    head = gold[item.word]
    if item.head == NONE or options.left_arc:
        from_front = x if x <= n else 0
        is_forbidden = x > n and options.single_root and item.depth > 0
        if head == from_front and not is_forbidden:
            return 1
        if is_forbidden and item.head == NONE and not options.reduce:
            return IMPOSSIBLE
    if item.head != NONE:
        return 1 if head == item.head else 0
    return 1 if options.reduce and item.depth > 0 and head == item.below else 0


@njit
def bottom_gain(options, gold, n, word, x):
    """As `pop_gain`: there is nothing below the bottom."""
    return pop_gain(options, gold, n, Item(word, int(NONE), int(NONE), 0), x)
