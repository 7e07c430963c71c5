"""Arc-standard with a dynamic oracle that is exact for every gold tree, with one root or several.

Nivre (2004), Incrementality in Deterministic Dependency Parsing. The root is the bottom of the
stack; the end is the root alone on the stack and an empty buffer, after 2n moves.

    SHIFT    push b                        σ, b|β     →  σ|b, β
    LEFT     s0 is head of s1, remove s1   σ|s1|s0, β →  σ|s0, β     s1 is not the root
    RIGHT    s1 is head of s0, remove s0   σ|s1|s0, β →  σ|s1, β

With `single_root`, RIGHT from the root only when the buffer is empty: it ends the sentence.

The oracle is the search of `_removal_search`. From the start it loses what the nearest projective
tree lacks.
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
    clear,
    first_best,
    leftmost,
    push,
    rightmost,
    stack_top,
)
from dyparse.system._removal_search import (
    LEFT,
    RIGHT,
    SHIFT,
    RemovalGold,
    prepare_removals,
    removal_costs,
)
from dyparse.system.arc_hybrid import begin, is_finished

__all__ = ["ArcStandard", "begin", "is_finished"]  # kernels of arc-hybrid that hold here too

REACH = 2  # s0 and s1 can be removed


class ArcStandardOptions(NamedTuple):
    """Options as numbers, for the compiled kernels."""

    single_root: bool


@dataclass(frozen=True)
class ArcStandard(System):
    """Arc-standard; with `single_root` the root has one dependent."""

    single_root: bool = True

    trees: ClassVar[str] = "projective"
    searches: ClassVar[bool] = True
    moves: ClassVar[tuple[str, ...]] = ("SHIFT", "LEFT", "RIGHT")
    arcless: ClassVar[tuple[str, ...]] = ("SHIFT",)
    needs: ClassVar[Mapping[str, str]] = {
        "SHIFT": "a word in the buffer",
        "LEFT": "two words on top of the stack",
        "RIGHT": "a word on top of the stack",
    }
    slots: ClassVar[tuple[str, ...]] = (
        "s0",
        "s1",
        "s2",
        "b0",
        "s0.left",
        "s0.right",
        "s1.left",
        "s1.right",
    )

    @property
    def options(self) -> ArcStandardOptions:
        return ArcStandardOptions(single_root=self.single_root)

    def most_moves(self, words: int) -> int:
        return 2 * words

    def prepare(self, gold: ArrayLike) -> RemovalGold:
        return prepare_removals(self.options, gold, REACH)


@njit
def legal(options, states, i, out):
    """out[m] = 1 if move m may be taken."""
    clear(out)
    s1, b = stack_top(states, i, 1), buffer_front(states, i)
    out[SHIFT] = b != NONE
    out[LEFT] = s1 > 0
    out[RIGHT] = s1 > 0 or (s1 == 0 and (b == NONE or not options.single_root))


@njit
def arc(options, states, i, move):
    """LEFT s0 → s1, RIGHT s1 → s0."""
    s0, s1 = stack_top(states, i, 0), stack_top(states, i, 1)
    if move == LEFT:
        return s0, s1
    if move == RIGHT:
        return s1, s0
    return NONE, NONE


@njit
def step(options, states, i, move):
    """SHIFT pushes b, LEFT removes s1, RIGHT s0."""
    if move == SHIFT:
        push(states, i, buffer_front(states, i))
        states.front[i] += 1
        return
    states.stack_size[i] -= 1
    if move == LEFT:
        top = states.stack_size[i]
        states.stack[i, top - 1] = states.stack[i, top]


@njit
def features(options, states, i, out):
    """The top of the stack, the front, and the outermost dependents of s0 and s1."""
    s0, s1 = stack_top(states, i, 0), stack_top(states, i, 1)
    out[0] = s0
    out[1] = s1
    out[2] = stack_top(states, i, 2)
    out[3] = buffer_front(states, i)
    out[4] = leftmost(states, i, s0)
    out[5] = rightmost(states, i, s0)
    out[6] = leftmost(states, i, s1)
    out[7] = rightmost(states, i, s1)


@njit
def static(options, states, i, gold, is_legal, costs):
    """Remove a word as soon as it costs nothing, else SHIFT."""
    return first_best((LEFT, RIGHT, SHIFT), is_legal, costs)


@njit
def cost(options, states, i, gold, out):
    """out[m] = gold arcs that legal move m makes unreachable."""
    removal_costs(REACH, states, i, gold, out)
