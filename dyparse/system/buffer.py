"""Arc-eager with moves that reach the second token of the buffer, with a dynamic oracle.

Fernández-González & Gómez-Rodríguez (2012), Improving Transition-Based Dependency Parsing with
Buffer Transitions. Any of the last four moves can be left out by an option of its name:

    SHIFT                push b                              σ, b|β  →  σ|b, β
    RIGHT                s is head of b, push b             σ|s, b|β →  σ|s|b, β
    LEFT                 b is head of s, pop s              σ|s, b|β →  σ, b|β     s has no head
    REDUCE               pop s                               σ|s, β  →  σ, β       s has a head
    LEFT_BUFFER          c is head of b, remove b           σ, b|c|β →  σ, c|β
    RIGHT_BUFFER         b is head of c, remove c           σ, b|c|β →  σ, b|β     c is not the root
    LEFT_NONPROJECTIVE   c is head of s, pop s            σ|s, b|c|β →  σ, b|c|β   s has no head
    RIGHT_NONPROJECTIVE  s is head of c, remove c         σ|s, b|c|β →  σ|s, b|β   c is not the root

The root waits at the end of the buffer; all words leave stack and buffer, in n to 2n moves. The
last two moves cross arcs over b. The paper has a static oracle. Here are two dynamic ones:
* closed form, for projective gold trees without the single-root rule: the arcs that a move makes
  unreachable, counted, as in arc-eager; exact;
* best gains, a dynamic programme over what the buffer looks like, for everything else; exact but
  for sentences of more than EXACT_WORDS words if words can be removed from behind b: there it
  plans no longer gaps than `gap`, and a cost may be off where only a longer one saves an arc.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from numpy.typing import ArrayLike

from dyparse.data.sentence import NONE
from dyparse.runtime.kernels import njit
from dyparse.system import (
    System,
    buffer_front,
    buffer_second,
    clear,
    first_best,
    gold_heads,
    head_of,
    leftmost,
    push,
    rightmost,
    stack_top,
)
from dyparse.system._best_gains import is_known_projective
from dyparse.system._buffer_gains import gains_after_push, gains_around, tables_for
from dyparse.system._buffer_tables import (
    GOAL,
    BufferGold,
    longest_gap,
    make_gold,
    place_of,
    span,
)

SHIFT, RIGHT, LEFT, REDUCE = range(4)
LEFT_BUFFER, RIGHT_BUFFER, LEFT_NONPROJECTIVE, RIGHT_NONPROJECTIVE = range(4, 8)
EXACT_WORDS = 60  # planning gaps of any length takes memory and time with more than n³


class BufferOptions(NamedTuple):
    """Options as numbers, for the compiled kernels."""

    left_buffer: bool
    right_buffer: bool
    left_nonprojective: bool
    right_nonprojective: bool
    gap: int
    single_root: bool


@dataclass(frozen=True)
class Buffer(System):
    """Arc-eager with up to four buffer moves; with `single_root` the root has one dependent."""

    left_buffer: bool = True
    right_buffer: bool = True
    left_nonprojective: bool = True
    right_nonprojective: bool = True
    gap: int = 2
    single_root: bool = True

    trees: ClassVar[str] = "projective, some others"
    moves: ClassVar[tuple[str, ...]] = (
        "SHIFT",
        "RIGHT",
        "LEFT",
        "REDUCE",
        "LEFT_BUFFER",
        "RIGHT_BUFFER",
        "LEFT_NONPROJECTIVE",
        "RIGHT_NONPROJECTIVE",
    )
    arcless: ClassVar[tuple[str, ...]] = ("SHIFT", "REDUCE")
    needs: ClassVar[Mapping[str, str]] = {
        "SHIFT": "a word at the front of the buffer",
        "RIGHT": "a word at the front of the buffer and a word on the stack",
        "LEFT": "a word without head on top of the stack",
        "REDUCE": "a word with a head on top of the stack",
        "LEFT_BUFFER": "a word at the front of the buffer and a token after it",
        "RIGHT_BUFFER": "two words at the front of the buffer",
        "LEFT_NONPROJECTIVE": "a word without head on the stack and two tokens in the buffer",
        "RIGHT_NONPROJECTIVE": "a word on the stack and two words at the front of the buffer",
    }
    slots: ClassVar[tuple[str, ...]] = (
        "s0",
        "s1",
        "s2",
        "b0",
        "b1",
        "s0.head",
        "s0.left",
        "s0.right",
        "b0.left",
        "b1.left",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gap < 0:
            raise ValueError(f"system.gap is {self.gap}, expected 0 or more")

    @property
    def options(self) -> BufferOptions:
        return BufferOptions(
            left_buffer=self.left_buffer,
            right_buffer=self.right_buffer,
            left_nonprojective=self.left_nonprojective,
            right_nonprojective=self.right_nonprojective,
            gap=self.gap,
            single_root=self.single_root,
        )

    def most_moves(self, words: int) -> int:
        return 2 * words

    def is_exact(self, words: int) -> bool:
        """Not where gaps longer than those planned can help."""
        gap = int(longest_gap(self.options, EXACT_WORDS, words))
        return gap == 0 or gap >= words

    def prepare(self, gold: ArrayLike) -> BufferGold:
        return make_gold(self.options, gold_heads(gold), EXACT_WORDS)


@njit
def begin(options, states, i):
    """[], 1..n, 0."""
    n = states.length[i] - 1
    for word in range(1, n + 1):
        states.buffer[i, word - 1] = word
    states.buffer[i, n] = 0
    states.end[i] = n + 1


@njit
def is_finished(options, states, i):
    """Only the root is left."""
    return states.stack_size[i] == 0 and states.front[i] == states.end[i] - 1


@njit
def legal(options, states, i, out):
    """out[m] = 1 if move m may be taken."""
    clear(out)
    if is_finished(options, states, i):
        return
    s, b, c = stack_top(states, i, 0), buffer_front(states, i), buffer_second(states, i)
    is_open = s != NONE and states.head[i, s] == NONE
    out[SHIFT] = b > 0
    out[RIGHT] = b > 0 and s != NONE
    out[LEFT] = is_open
    out[REDUCE] = s != NONE and not is_open
    out[LEFT_BUFFER] = options.left_buffer and c != NONE
    out[RIGHT_BUFFER] = options.right_buffer and c > 0
    out[LEFT_NONPROJECTIVE] = options.left_nonprojective and is_open and c != NONE
    out[RIGHT_NONPROJECTIVE] = options.right_nonprojective and s != NONE and c > 0
    if options.single_root:
        forbid_second_root(states, i, out)


@njit
def forbid_second_root(states, i, out):
    """Take out exactly the moves after which no tree with one root is reachable.

    Only the bottom word may hang from the root; when the last word leaves the buffer, all others
    but one have heads.
    """
    if buffer_front(states, i) == 0:
        out[LEFT] = out[LEFT] and states.stack_size[i] == 1
    elif buffer_second(states, i) == 0:
        without_head = 0
        for position in range(states.stack_size[i]):
            without_head += states.head[i, states.stack[i, position]] == NONE
        out[SHIFT] = without_head == 0
        out[RIGHT] = without_head == 1
        out[LEFT_BUFFER] = out[LEFT_BUFFER] and states.stack_size[i] == 0
        out[LEFT_NONPROJECTIVE] = 0


@njit
def arc(options, states, i, move):
    """(head, dependent) between s, b and c, the second token of the buffer."""
    s, b, c = stack_top(states, i, 0), buffer_front(states, i), buffer_second(states, i)
    head, dependent = NONE, NONE
    if move == RIGHT:
        head, dependent = s, b
    elif move == LEFT:
        head, dependent = b, s
    elif move == LEFT_BUFFER:
        head, dependent = c, b
    elif move == RIGHT_BUFFER:
        head, dependent = b, c
    elif move == LEFT_NONPROJECTIVE:
        head, dependent = c, s
    elif move == RIGHT_NONPROJECTIVE:
        head, dependent = s, c
    return head, dependent


@njit
def step(options, states, i, move):
    """Push b, pop s, remove b, or remove the second word by moving b into its place."""
    if move in (SHIFT, RIGHT):
        push(states, i, buffer_front(states, i))
        states.front[i] += 1
    elif move == LEFT_BUFFER:
        states.front[i] += 1
    elif move in (RIGHT_BUFFER, RIGHT_NONPROJECTIVE):
        states.buffer[i, states.front[i] + 1] = buffer_front(states, i)
        states.front[i] += 1
    else:
        states.stack_size[i] -= 1


@njit
def features(options, states, i, out):
    """The top of the stack and its neighbours in the tree, what lies below it, and the buffer."""
    s, b, c = stack_top(states, i, 0), buffer_front(states, i), buffer_second(states, i)
    out[0] = s
    out[1] = stack_top(states, i, 1)
    out[2] = stack_top(states, i, 2)
    out[3] = b
    out[4] = c
    out[5] = head_of(states, i, s)
    out[6] = leftmost(states, i, s)
    out[7] = rightmost(states, i, s)
    out[8] = leftmost(states, i, b)
    out[9] = leftmost(states, i, c)


@njit
def static(options, states, i, gold, is_legal, costs):
    """The first buffer move of least cost that adds a gold arc, else of the others eager REDUCE.

    As in the paper, arcs within the buffer are for neighbours. Other buffer moves are taken only if
    nothing else is of least cost.
    """
    others = (LEFT, RIGHT, REDUCE, SHIFT)
    buffer_moves = (LEFT_BUFFER, RIGHT_BUFFER, LEFT_NONPROJECTIVE, RIGHT_NONPROJECTIVE)
    best = first_best((*others, *buffer_moves), is_legal, costs)
    is_near = buffer_second(states, i) == buffer_front(states, i) + 1
    for move in buffer_moves:
        if is_legal[move] and costs[move] == costs[best]:
            head, dependent = arc(options, states, i, move)
            is_wanted = is_near or move in (LEFT_NONPROJECTIVE, RIGHT_NONPROJECTIVE)
            if is_wanted and gold.head[i, dependent] == head:
                return move
    return best


@njit
def cost(options, states, i, gold, out):
    """out[m] = gold arcs lost by legal move m, by the cheapest oracle that is exact here."""
    if not options.single_root and is_known_projective(
        gold.head, states.length[i], gold.projective, i
    ):
        count_lost_arcs(states, i, gold.head[i], out)
        return
    compare_best_gains(options, states, i, gold, out)


@njit
def count_lost_arcs(states, i, gold, out):
    """Closed form: a word can get heads from stack and buffer while in the buffer, then from the
    buffer only.

    Pushed by SHIFT or RIGHT, a word loses other heads on the stack and its dependents without head
    there, by RIGHT also other heads in the buffer. Popped from the stack, it loses other heads (if
    it has none yet) and its dependents in the buffer. Removed from the buffer, it loses all of it.
    """
    clear(out)
    s, b, c = stack_top(states, i, 0), buffer_front(states, i), buffer_second(states, i)
    if b > 0:
        above, ahead, dependents, later_dependents = ties(states, i, gold, b)
        out[SHIFT] = above + dependents
        out[RIGHT] = (gold[b] != s and (above or ahead)) + dependents
        removed = dependents + later_dependents
        out[LEFT_BUFFER] = (gold[b] != c and (above or ahead)) + removed
    if c > 0:
        above, ahead, dependents, later_dependents = ties(states, i, gold, c)
        removed = dependents + later_dependents
        out[RIGHT_BUFFER] = (gold[c] != b and (above or ahead)) + removed
        out[RIGHT_NONPROJECTIVE] = (gold[c] != s and (above or ahead)) + removed
    if s != NONE:
        _, ahead, _, later_dependents = ties(states, i, gold, s)
        out[LEFT] = (gold[s] != b and ahead) + later_dependents
        out[REDUCE] = later_dependents
        out[LEFT_NONPROJECTIVE] = (gold[s] != c and ahead) + later_dependents


@njit
def ties(states, i, gold, word):
    """(is the gold head of a word on the stack, is it in the buffer, dependents without head on the
    stack, dependents in the buffer).
    """
    head_on_stack, head_in_buffer = False, False
    on_stack, in_buffer = 0, 0
    for position in range(states.stack_size[i]):
        token = states.stack[i, position]
        head_on_stack = head_on_stack or gold[word] == token
        on_stack += gold[token] == word and states.head[i, token] == NONE
    for position in range(states.front[i], states.end[i]):
        token = states.buffer[i, position]
        head_in_buffer = head_in_buffer or gold[word] == token
        in_buffer += token > 0 and gold[token] == word
    return head_on_stack, head_in_buffer, on_stack, in_buffer


@njit
def compare_best_gains(options, states, i, gold, out):
    """out[m] = best gain now − best gain if move m is taken; gain: a gold head given.

    A word's gain is counted when it leaves the stack or the buffer.
    """
    clear(out)
    tables = tables_for(options, states, i, gold)
    a, q = place_of(states, i)
    s, p, goal = stack_top(states, i, 0), states.stack_size[i], tables.layout[GOAL]
    removed = gains_around(options, states, i, tables, gold.beyond[i])
    now = gold.beyond[i, p]
    if removed >= 0:
        by_front, by_top = removed + (goal[q] == a), removed + (goal[q] == s)
        now = max(now, by_front if options.right_buffer else now)  # may be better than was planned
        now = max(now, by_top if options.right_nonprojective and p > 0 else now)
        out[RIGHT_BUFFER] = now - by_front
        out[RIGHT_NONPROJECTIVE] = now - by_top
    if s != NONE:
        below = gold.beyond[i, p - 1]
        out[LEFT] = now - below - (goal[s] == a)
        out[REDUCE] = now - below - (goal[s] == states.head[i, s])
        out[LEFT_NONPROJECTIVE] = now - below - (goal[s] == q)
    if buffer_front(states, i) != 0:
        shifted, attached = gains_after_push(options, states, i, tables)
        out[SHIFT] = now - shifted
        out[RIGHT] = now - attached
        begin, _ = span(tables, q)
        out[LEFT_BUFFER] = now - tables.outer[p, begin] - (goal[a] == q)
