"""Parser states of a batch, and how kernels read and change one of them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dyparse.data.sentence import NONE
from dyparse.runtime.kernels import njit


class States(NamedTuple):
    """B parser states side by side; row i is one parse. N counts the root token 0."""

    stack: NDArray[np.int32]  # [B, N]  bottom first
    stack_size: NDArray[np.int32]  # [B]
    buffer: NDArray[np.int32]  # [B, N]
    front: NDArray[np.int32]  # [B]     next unread position of buffer
    end: NDArray[np.int32]  # [B]     one past the last position of buffer
    length: NDArray[np.int32]  # [B]     tokens, root included
    head: NDArray[np.int32]  # [B, N]  NONE = not attached yet
    left: NDArray[np.int32]  # [B, N]  leftmost dependent, if left of its head
    right: NDArray[np.int32]  # [B, N]  rightmost dependent, if right of its head
    label: NDArray[np.int32]  # [B, N]  of the arc to the head; NONE, unless moves carry labels

    def copy(self) -> "States":
        """States that change independently of these."""
        return States(*(array.copy() for array in self))

    def take(self, rows: ArrayLike) -> "States":
        """The given rows, in the given order, as new states."""
        return States(*(array[np.asarray(rows, dtype=np.intp)] for array in self))


@njit
def clear(out):
    """Make everything 0. (A loop: numba takes long to compile assignments of slices.)"""
    for k in range(out.shape[0]):
        out[k] = 0


@njit
def copy_row(source, target, i):
    """Copy row i of all arrays into other states. (Tuples of unlike arrays have no loop.)"""
    for k in range(source.stack.shape[1]):
        target.stack[i, k] = source.stack[i, k]
        target.buffer[i, k] = source.buffer[i, k]
        target.head[i, k] = source.head[i, k]
        target.left[i, k] = source.left[i, k]
        target.right[i, k] = source.right[i, k]
        target.label[i, k] = source.label[i, k]
    target.stack_size[i] = source.stack_size[i]
    target.front[i], target.end[i] = source.front[i], source.end[i]
    target.length[i] = source.length[i]


@njit
def stack_top(states, i, depth):
    """The stack's token at this depth, 0 = top; NONE if the stack is not that deep."""
    position = states.stack_size[i] - 1 - depth
    return states.stack[i, position] if position >= 0 else NONE


@njit
def buffer_front(states, i):
    """The next token of the buffer, or NONE."""
    return states.buffer[i, states.front[i]] if states.front[i] < states.end[i] else NONE


@njit
def buffer_second(states, i):
    """The token after the front of the buffer, or NONE."""
    position = states.front[i] + 1
    return states.buffer[i, position] if position < states.end[i] else NONE


@njit
def head_of(states, i, token):
    """The token's head so far, or NONE, also of no token."""
    return states.head[i, token] if token != NONE else NONE


@njit
def leftmost(states, i, token):
    """The token's leftmost dependent to its left, or NONE, also of no token."""
    return states.left[i, token] if token != NONE else NONE


@njit
def rightmost(states, i, token):
    """The token's rightmost dependent to its right, or NONE, also of no token."""
    return states.right[i, token] if token != NONE else NONE


@njit
def push(states, i, token):
    """Put a token on the stack."""
    states.stack[i, states.stack_size[i]] = token
    states.stack_size[i] += 1


@njit
def attach(states, i, head, dependent):
    """Add one arc."""
    states.head[i, dependent] = head
    if dependent < head and (states.left[i, head] == NONE or dependent < states.left[i, head]):
        states.left[i, head] = dependent
    if dependent > head and dependent > states.right[i, head]:
        states.right[i, head] = dependent
