"""Arc-hybrid with a dynamic oracle that is exact for every gold tree.

Kuhlmann, Gómez-Rodríguez & Satta (2011), Dynamic Programming Algorithms for Transition-Based
Dependency Parsers; oracle for projective trees: Goldberg & Nivre (2013).

    SHIFT    push b                        σ, b|β    →  σ|b, β
    LEFT     b is head of s, pop s         σ|s, b|β  →  σ, b|β      s is not the root
    RIGHT    t is head of s, pop s         σ|t|s, β  →  σ|t, β

The root is the bottom of the stack; the end is the root alone; 2n moves. Under the single-root rule
the root takes its dependent last, when the buffer is empty.

Oracle: best gains (`_best_gains`). A word is popped with the word below it or the front as its
head, which is all that the recursion needs to know; so it is exact for non-projective trees too,
where counting lost arcs is not.
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
    leftmost,
    push,
    rightmost,
    stack_top,
)
from dyparse.system._best_gains import (
    Gains,
    Item,
    best_gain,
    empty_gains,
    gain_after_pop,
    gain_after_push,
)

SHIFT, LEFT, RIGHT = range(3)


class ArcHybridOptions(NamedTuple):
    """Options as numbers, for the compiled kernels."""

    single_root: bool


@dataclass(frozen=True)
class ArcHybrid(System):
    """Arc-hybrid, the root at the bottom of the stack; with `single_root` it has one dependent."""

    single_root: bool = True

    trees: ClassVar[str] = "projective"
    moves: ClassVar[tuple[str, ...]] = ("SHIFT", "LEFT", "RIGHT")
    arcless: ClassVar[tuple[str, ...]] = ("SHIFT",)
    needs: ClassVar[Mapping[str, str]] = {
        "SHIFT": "a word in the buffer",
        "LEFT": "a word on top of the stack and one in the buffer",
        "RIGHT": "a word on top of the stack",
    }
    slots: ClassVar[tuple[str, ...]] = (
        "s0",
        "s1",
        "s2",
        "b0",
        "b1",
        "s0.left",
        "s0.right",
        "s1.right",
        "b0.left",
    )

    @property
    def options(self) -> ArcHybridOptions:
        return ArcHybridOptions(self.single_root)

    def most_moves(self, words: int) -> int:
        return 2 * words

    def prepare(self, gold: ArrayLike) -> Gains:
        return empty_gains(self.options, gold)


@njit
def begin(options, states, i):
    """[0], 1..n."""
    n = states.length[i] - 1
    for word in range(1, n + 1):
        states.buffer[i, word - 1] = word
    states.end[i] = n
    push(states, i, 0)


@njit
def is_finished(options, states, i):
    """The root alone is left."""
    return states.stack_size[i] == 1 and states.front[i] == states.end[i]


@njit
def legal(options, states, i, out):
    """out[m] = 1 if move m may be taken; a single root takes its dependent last."""
    has_word, has_front = states.stack_size[i] > 1, states.front[i] < states.end[i]
    out[SHIFT] = has_front
    out[LEFT] = has_word and has_front
    waits = options.single_root and has_front and stack_top(states, i, 1) == 0
    out[RIGHT] = has_word and not waits


@njit
def arc(options, states, i, move):
    """LEFT b → s, RIGHT t → s."""
    if move == LEFT:
        return buffer_front(states, i), stack_top(states, i, 0)
    if move == RIGHT:
        return stack_top(states, i, 1), stack_top(states, i, 0)
    return NONE, NONE


@njit
def step(options, states, i, move):
    """SHIFT pushes b; LEFT and RIGHT pop s."""
    if move == SHIFT:
        push(states, i, buffer_front(states, i))
        states.front[i] += 1
    else:
        states.stack_size[i] -= 1


@njit
def features(options, states, i, out):
    """The tops of stack and buffer, and the dependents that show what is still missing."""
    s, t, b = stack_top(states, i, 0), stack_top(states, i, 1), buffer_front(states, i)
    out[0], out[1], out[2] = s, t, stack_top(states, i, 2)
    out[3], out[4] = b, buffer_second(states, i)
    out[5], out[6] = leftmost(states, i, s), rightmost(states, i, s)
    out[7], out[8] = rightmost(states, i, t), leftmost(states, i, b)


@njit
def static(options, states, i, gold, is_legal, costs):
    """LEFT, RIGHT, SHIFT: the first that is legal and of least cost."""
    return first_best((LEFT, RIGHT, SHIFT), is_legal, costs)


@njit
def cost(options, states, i, gold, out):
    """out[m] = best gain now − best gain if move m is taken; a gain is a gold head given."""
    clear(out)
    now = best_gain(gold, states, i)
    b = buffer_front(states, i)
    if states.stack_size[i] > 1:
        out[RIGHT] = now - gain_after_pop(gold, states, i, stack_top(states, i, 1))
        out[LEFT] = now - gain_after_pop(gold, states, i, b)
    if b != NONE:
        out[SHIFT] = now - gain_after_push(gold, states, i, NONE)


@njit
def root_takes_all(options):
    """The root, at the bottom, takes only what lies just above it."""
    return False


@njit
def pop_gain(options, gold, n, item, x):
    """1 if the word below the item or the front is its gold head.

    A single root gives its head only when no word is left, a front only while there is one.
    """
    waits = options.single_root and item.below == 0 and x <= n
    from_below = gold[item.word] == item.below and not waits
    from_front = x <= n and gold[item.word] == x
    return 1 if from_below or from_front else 0


@njit
def bottom_gain(options, gold, n, word, x):
    """As `pop_gain`, the root below."""
    return pop_gain(options, gold, n, Item(word, NONE, 0, 0), x)
