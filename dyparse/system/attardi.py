"""Attardi's system of degree 2 with a dynamic oracle that is exact for every gold tree.

Attardi (2006), Experiments with a Multilanguage Non-Projective Dependency Parser, with the moves
and the start of Gómez-Rodríguez, Sartorio & Satta (2014), A Polynomial-Time Dynamic Oracle for
Non-Projective Dependency Parsing, but that the root is never a dependent. Arc-standard, and two
moves over the word between, which build most of the non-projective trees of treebanks. The root is
the bottom of the stack; the end is the root alone on the stack and an empty buffer, after 2n moves.

    SHIFT    push b                        σ, b|β        →  σ|b, β
    LEFT     s0 is head of s1, remove s1   σ|s1|s0, β    →  σ|s0, β       s1 is not the root
    RIGHT    s1 is head of s0, remove s0   σ|s1|s0, β    →  σ|s1, β
    LEFT2    s0 is head of s2, remove s2   σ|s2|s1|s0, β →  σ|s1|s0, β    s2 is not the root
    RIGHT2   s2 is head of s0, remove s0   σ|s2|s1|s0, β →  σ|s2|s1, β

With `single_root`, RIGHT from the root only when the buffer is empty, and no RIGHT2 from the root.

The oracle is the search of `_removal_search`. The paper's table asks for a gold tree that the
system can build; the search does not.
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
    LEFT2,
    RIGHT,
    RIGHT2,
    SHIFT,
    RemovalGold,
    prepare_removals,
    removal_costs,
)
from dyparse.system.arc_hybrid import begin, is_finished

__all__ = ["Attardi", "begin", "is_finished"]  # kernels of arc-hybrid that hold here too

REACH = 3  # s0, s1 and s2 can be removed


class AttardiOptions(NamedTuple):
    """Options as numbers, for the compiled kernels."""

    single_root: bool


@dataclass(frozen=True)
class Attardi(System):
    """Attardi's system of degree 2; with `single_root` the root has one dependent."""

    single_root: bool = True

    trees: ClassVar[str] = "projective, most others"
    searches: ClassVar[bool] = True
    moves: ClassVar[tuple[str, ...]] = ("SHIFT", "LEFT", "RIGHT", "LEFT2", "RIGHT2")
    arcless: ClassVar[tuple[str, ...]] = ("SHIFT",)
    needs: ClassVar[Mapping[str, str]] = {
        "SHIFT": "a word in the buffer",
        "LEFT": "two words on top of the stack",
        "RIGHT": "a word on top of the stack",
        "LEFT2": "three words on top of the stack",
        "RIGHT2": "two words on top of the stack",
    }
    slots: ClassVar[tuple[str, ...]] = (
        "s0",
        "s1",
        "s2",
        "s3",
        "b0",
        "s0.left",
        "s0.right",
        "s1.left",
        "s1.right",
    )

    @property
    def options(self) -> AttardiOptions:
        return AttardiOptions(single_root=self.single_root)

    def most_moves(self, words: int) -> int:
        return 2 * words

    def prepare(self, gold: ArrayLike) -> RemovalGold:
        return prepare_removals(self.options, gold, REACH)


@njit
def legal(options, states, i, out):
    """out[m] = 1 if move m may be taken."""
    clear(out)
    s1, s2, b = stack_top(states, i, 1), stack_top(states, i, 2), buffer_front(states, i)
    out[SHIFT] = b != NONE
    out[LEFT] = s1 > 0
    out[RIGHT] = s1 > 0 or (s1 == 0 and (b == NONE or not options.single_root))
    out[LEFT2] = s2 > 0
    out[RIGHT2] = s2 > 0 or (s2 == 0 and not options.single_root)


@njit
def arc(options, states, i, move):
    """LEFT s0 → s1, RIGHT s1 → s0, LEFT2 s0 → s2, RIGHT2 s2 → s0."""
    if move == SHIFT:
        return NONE, NONE
    s0 = stack_top(states, i, 0)
    other = stack_top(states, i, 1 if move in (LEFT, RIGHT) else 2)
    return (s0, other) if move in (LEFT, LEFT2) else (other, s0)


@njit
def step(options, states, i, move):
    """SHIFT pushes b, LEFT removes s1, LEFT2 s2, RIGHT and RIGHT2 s0."""
    if move == SHIFT:
        push(states, i, buffer_front(states, i))
        states.front[i] += 1
        return
    states.stack_size[i] -= 1
    top = states.stack_size[i]
    if move == LEFT2:
        states.stack[i, top - 2] = states.stack[i, top - 1]
    if move in (LEFT, LEFT2):
        states.stack[i, top - 1] = states.stack[i, top]


@njit
def features(options, states, i, out):
    """The top of the stack, the front, and the outermost dependents of s0 and s1."""
    s0, s1 = stack_top(states, i, 0), stack_top(states, i, 1)
    out[0] = s0
    out[1] = s1
    out[2] = stack_top(states, i, 2)
    out[3] = stack_top(states, i, 3)
    out[4] = buffer_front(states, i)
    out[5] = leftmost(states, i, s0)
    out[6] = rightmost(states, i, s0)
    out[7] = leftmost(states, i, s1)
    out[8] = rightmost(states, i, s1)


@njit
def static(options, states, i, gold, is_legal, costs):
    """Remove a word as soon as it costs nothing, else SHIFT.

    Cohen, Gómez-Rodríguez & Satta (2012), on the way to a tree that the system can build.
    """
    return first_best((LEFT, RIGHT, LEFT2, RIGHT2, SHIFT), is_legal, costs)


@njit
def cost(options, states, i, gold, out):
    """out[m] = gold arcs that legal move m makes unreachable."""
    removal_costs(REACH, states, i, gold, out)
