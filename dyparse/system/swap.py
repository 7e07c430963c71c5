"""Arc-hybrid with SWAP, which builds every tree, and its static-dynamic oracle.

de Lhoneux, Stymne & Nivre (2017), Arc-Hybrid Non-Projective Dependency Parsing with a
Static-Dynamic Oracle; here with the root at the bottom of the stack instead of the buffer's end.

    SHIFT    push b                         σ, b|β    →  σ|b, β
    LEFT     b is head of s, pop s          σ|s, b|β  →  σ, b|β      s is not the root
    RIGHT    r is head of s, pop s          σ|r|s, β  →  σ|r, β
    SWAP     put s back, behind b           σ|s, b|β  →  σ, b|s|β    0 < s < b

The start is [0], 1..n, the end [0] and an empty buffer. `single_root`: the root takes a dependent
only when the buffer is empty, hence just one.

The projective order o is the in-order traversal of the gold tree; SWAP sorts the words by it
(Nivre 2009). An arc is obtainable if both its words are left, and
* one of them is in the buffer; or
* the head lies directly below the dependent; or
* both are on the stack and the upper one will go back: a word x > upper of the buffer comes before
  it in o.
SHIFT, LEFT and RIGHT cost the obtainable gold arcs that they make unobtainable. SWAP is static: it
is due where o(s) > o(b), and else wrong.

The costs are not exact (`exact = False`). On the way to a gold tree that the options allow, moves
of cost 0 lose nothing; but a SWAP too early or too late is called wrong, though it may lose nothing
either. After errors costs are approximate: a pair of words once inverted cannot be inverted back,
so which arcs are obtainable *together* depends on the order of all words left, and no closed form
is known for that. The least cost of a legal move is made 0. Rules beyond the paper, the last three
for states that only errors lead to:
* a pop that loses nothing goes before a SWAP that is due;
* SWAP is not due where a word that should precede s is stuck behind it: it is smaller than s;
* SWAP gains the arcs that s lost to words on the stack by an early SHIFT;
* if every other move costs, SWAP is the best one; where it is not legal, a SHIFT that a later
  SWAP can undo.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dyparse.data.sentence import NONE
from dyparse.runtime.kernels import njit
from dyparse.system import (
    System,
    buffer_front,
    buffer_second,
    clear,
    first_best,
    gold_heads,
    leftmost,
    push,
    rightmost,
    stack_top,
)
from dyparse.system.arc_hybrid import LEFT, RIGHT, SHIFT, arc, begin, is_finished

__all__ = ["Swap", "arc", "begin", "is_finished"]  # kernels of arc-hybrid that hold here too

SWAP = 3


class SwapOptions(NamedTuple):
    """Options as numbers, for the compiled kernels."""

    single_root: bool


class SwapGold(NamedTuple):
    """Gold trees and the projective order of their words, found when a state first asks for it."""

    options: SwapOptions  # of the system that prepared it
    head: NDArray[np.int32]  # [B, N]
    words: NDArray[np.int32]  # [B]     that the row's order is for; 0 = none yet
    order: NDArray[np.int32]  # [B, N]  rank in the in-order traversal of the tree, the root's is 0


@dataclass(frozen=True)
class Swap(System):
    """Arc-hybrid with SWAP; with `single_root` the root has one dependent."""

    single_root: bool = True

    trees: ClassVar[str] = "all"
    moves: ClassVar[tuple[str, ...]] = ("SHIFT", "LEFT", "RIGHT", "SWAP")
    arcless: ClassVar[tuple[str, ...]] = ("SHIFT", "SWAP")
    needs: ClassVar[Mapping[str, str]] = {
        "SHIFT": "a word in the buffer",
        "LEFT": "a word on top of the stack and one in the buffer",
        "RIGHT": "a word on top of the stack",
        "SWAP": "a word on top of the stack that is left of the front of the buffer in the text",
    }
    slots: ClassVar[tuple[str, ...]] = (
        "s0",
        "s1",
        "s2",
        "b0",
        "b1",
        "s0.left",
        "s0.right",
        "s1.left",
        "s1.right",
        "b0.left",
    )
    exact: ClassVar[bool] = False

    @property
    def options(self) -> SwapOptions:
        return SwapOptions(single_root=self.single_root)

    def most_moves(self, words: int) -> int:
        """Each word is pushed and popped; each pair is swapped once, and one of it pushed again."""
        return 2 * words + words * (words - 1)

    def prepare(self, gold: ArrayLike) -> SwapGold:
        head = gold_heads(gold)
        return SwapGold(
            options=self.options,
            head=head,
            words=np.zeros(len(head), dtype=np.int32),
            order=np.zeros(head.shape, dtype=np.int32),
        )


@njit
def legal(options, states, i, out):
    """out[m] = 1 if move m may be taken."""
    for move in (SHIFT, LEFT, RIGHT, SWAP):
        out[move] = may_take(options, states, i, move)


@njit
def may_take(options, states, i, move):
    """Whether a move is legal.

    SHIFT wants a front; LEFT that and a word on the stack; RIGHT a word on the stack and, under the
    single-root rule, another one below it or an empty buffer; SWAP two words in sentence order.
    """
    s, r, b = stack_top(states, i, 0), stack_top(states, i, 1), buffer_front(states, i)
    if move == SHIFT:
        return b != NONE
    if move == LEFT:
        return b != NONE and s > 0
    if move == RIGHT:
        return s > 0 and (r > 0 or b == NONE or not options.single_root)
    return 0 < s < b


@njit
def step(options, states, i, move):
    """SHIFT pushes b, LEFT and RIGHT pop s, SWAP puts s behind b.

    Cells left behind are emptied: the same state is the same arrays, whatever swaps led to it.
    """
    if move == SHIFT:
        push(states, i, buffer_front(states, i))
        states.buffer[i, states.front[i]] = NONE
        states.front[i] += 1
        return
    if move == SWAP:
        b, front = buffer_front(states, i), states.front[i] - 1  # at least s was shifted
        states.buffer[i, front] = b
        states.buffer[i, front + 1] = stack_top(states, i, 0)
        states.front[i] = front
    states.stack_size[i] -= 1
    states.stack[i, states.stack_size[i]] = NONE


@njit
def features(options, states, i, out):
    """The tops of stack and buffer, and their outermost dependents."""
    s, r, b = stack_top(states, i, 0), stack_top(states, i, 1), buffer_front(states, i)
    out[0] = s
    out[1] = r
    out[2] = stack_top(states, i, 2)
    out[3] = b
    out[4] = buffer_second(states, i)
    out[5] = leftmost(states, i, s)
    out[6] = rightmost(states, i, s)
    out[7] = leftmost(states, i, r)
    out[8] = rightmost(states, i, r)
    out[9] = leftmost(states, i, b)


@njit
def static(options, states, i, gold, is_legal, costs):
    """LEFT, RIGHT, SWAP, SHIFT: the first that is legal and of least cost.

    On the way to the gold tree: LEFT or RIGHT if the arc is gold and s has all its dependents, SWAP
    if o(s) > o(b), else SHIFT.
    """
    return first_best((LEFT, RIGHT, SWAP, SHIFT), is_legal, costs)


@njit
def cost(options, states, i, gold, out):
    """out[m] = obtainable gold arcs lost by move m, less those of the best legal move.

    SHIFT  b loses dependents on the stack and a head below s, unless b will go back
    LEFT   s loses dependents in the buffer, heads there except b, head r, and if s will go back
           all its other arcs with the stack
    RIGHT  s loses the same, but head b instead of head r
    SWAP   see `judge_swap`
    """
    clear(out)
    find_order(states, i, gold)
    head, order = gold.head[i], gold.order[i]
    s, r, b = stack_top(states, i, 0), stack_top(states, i, 1), buffer_front(states, i)
    blocked = 0
    if s > 0:
        lost, blocked = arcs_with_buffer(states, i, s, head), arcs_with_stack(states, i, s, r, head)
        if will_go_back(states, i, s, order):
            lost, blocked = lost + blocked, 0
        out[LEFT] = lost + (head[s] == r) - (head[s] == b)
        out[RIGHT] = lost
    if b != NONE and not will_go_back(states, i, b, order):
        out[SHIFT] = arcs_with_stack(states, i, b, s, head)
    judge_swap(options, states, i, order, blocked, out)
    subtract_least(options, states, i, out)


@njit
def arcs_with_buffer(states, i, word, head):
    """Gold arcs between a word of the stack and those of the buffer."""
    count = 0
    for position in range(states.front[i], states.end[i]):
        other = states.buffer[i, position]
        count += (head[other] == word) + (head[word] == other)
    return count


@njit
def arcs_with_stack(states, i, word, below, head):
    """Gold arcs between a word and those of the stack, but for the one from the token below it."""
    count = 0
    for position in range(states.stack_size[i]):
        other = states.stack[i, position]
        count += (other > 0 and head[other] == word) + (head[word] == other and other != below)
    return count


@njit
def will_go_back(states, i, word, order):
    """Whether SWAP will be due for a word: one of the buffer follows it, but precedes it in o."""
    for position in range(states.front[i], states.end[i]):
        other = states.buffer[i, position]
        if other > word and order[other] < order[word]:
            return True
    return False


@njit
def judge_swap(options, states, i, order, blocked, out):
    """Cost of SWAP, given those of the other moves and the gold arcs of s blocked on the stack.

    Due: it costs nothing and SHIFT something. Not due: it gains the blocked arcs; else it is wrong
    if some other move costs nothing, and right if none does. If it is not legal, it is right to
    SHIFT what can be swapped later.
    """
    pops_free = out[LEFT] == 0 and may_take(options, states, i, LEFT)
    pops_free |= out[RIGHT] == 0 and may_take(options, states, i, RIGHT)
    is_free = pops_free or out[SHIFT] == 0
    if not may_take(options, states, i, SWAP):
        if not is_free and can_go_back(states, i):
            out[SHIFT] = 0
    elif not pops_free and is_due(states, i, order):
        out[SHIFT] = max(out[SHIFT], 1)
    else:
        out[SWAP] = -blocked if blocked > 0 else is_free


@njit
def is_due(states, i, order):
    """Whether b precedes s in o, and no smaller word that does so too is stuck behind s."""
    s, b = stack_top(states, i, 0), buffer_front(states, i)
    for position in range(states.front[i], states.end[i]):
        other = states.buffer[i, position]
        if other < s and order[other] < order[s]:
            return False
    return order[b] < order[s]


@njit
def can_go_back(states, i):
    """Whether b, once on the stack, can be swapped: a word of the buffer follows it."""
    for position in range(states.front[i] + 1, states.end[i]):
        if states.buffer[i, position] > states.buffer[i, states.front[i]]:
            return True
    return False


@njit
def subtract_least(options, states, i, out):
    """Make the least cost of a legal move 0."""
    best = NONE
    for move in (SHIFT, LEFT, RIGHT, SWAP):
        if may_take(options, states, i, move) and (best == NONE or out[move] < out[best]):
            best = move
    least = out[best]  # there is one: cost is not asked at the end
    for move in range(out.shape[0]):
        out[move] -= least


@njit
def find_order(states, i, gold):
    """Rank the tokens as the in-order traversal of the gold tree meets them, once for each row.

    The scan goes from a token down to its next dependent, passes the token itself in between, and
    climbs when no dependent is left.
    """
    length = states.length[i]
    if gold.words[i] == length - 1:
        return
    gold.words[i] = length - 1
    token, scanned, rank = 0, 0, 0
    while token > 0 or scanned < length:
        if scanned == length:
            token, scanned = gold.head[i, token], token + 1
        elif scanned == token:
            gold.order[i, token] = rank
            rank, scanned = rank + 1, scanned + 1
        elif gold.head[i, scanned] == token:
            token, scanned = scanned, 1
        else:
            scanned += 1
