"""Products of activations with packed weights."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dyparse.compiled.tile import (
    COLUMNS,
    ROWS,
    STEPS,
    ZERO,
    dequantise,
    largest_weight,
    tile_1,
    tile_2,
    tile_4,
    tile_6,
)
from dyparse.runtime.kernels import cached_njit, njit

GROUP = 4  # bytes that one instruction multiplies and adds
LEAST_WEIGHT = float(np.finfo(np.float32).tiny)  # smaller ones are 0 in int8


class Packed(NamedTuple):
    """Weights in blocks of 64 outputs, as tiles read them: in int8 four inputs side by side."""

    weights: NDArray[Any]  # int8 or float32 [blocks, inputs / 4, 256] or [·, inputs, 64]
    start: NDArray[Any]  # int32 or float32 [blocks, 64]  −ZERO · Σ weights, in int8
    scale: NDArray[np.float32]  # [blocks, 64]  from sums to numbers


def pack(matrices: Sequence[NDArray[np.float32]], *, is_int8: bool) -> list[Packed]:
    """Matrices [outputs, inputs] whose products are added up; so they share a scale per output.

    What the sums begin with is in the first one; in the others it is 0.
    """
    if not is_int8:
        return [_in_blocks(m, np.zeros(len(m), np.float32), np.ones(len(m))) for m in matrices]
    most = np.max([np.abs(m).max(-1, initial=0.0) for m in matrices], axis=0)
    step = np.where(most > LEAST_WEIGHT, most, 1.0) / largest_weight()  # [outputs]
    whole = [np.rint(m / step[:, None]).astype(np.int8) for m in matrices]
    start = -ZERO * np.sum([w.sum(-1, dtype=np.int64) for w in whole], axis=0)
    first, *others = whole
    packed = [_in_blocks(first, start.astype(np.int32), step / STEPS)]
    return packed + [_in_blocks(w, np.zeros_like(start, np.int32), step / STEPS) for w in others]


def _in_blocks(
    matrix: NDArray[Any],
    start: NDArray[Any],
    scale: NDArray[np.float64],
) -> Packed:
    n_outputs, n_inputs = matrix.shape
    blocks = -(-n_outputs // COLUMNS)
    group = GROUP if matrix.dtype == np.int8 else 1
    depth = -(-n_inputs // group)
    padded = np.zeros((blocks * COLUMNS, depth * group), matrix.dtype)
    padded[:n_outputs, :n_inputs] = matrix
    weights = padded.reshape(blocks, COLUMNS, depth, group).transpose(0, 2, 1, 3)
    missing = (0, blocks * COLUMNS - n_outputs)
    return Packed(
        np.ascontiguousarray(weights).reshape(blocks, depth, COLUMNS * group),
        np.pad(start, missing).reshape(blocks, COLUMNS),
        np.pad(scale.astype(np.float32), missing).reshape(blocks, COLUMNS),
    )


def padded_rows(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows as wide as whole blocks, for what is added to products."""
    return np.pad(rows, ((0, 0), (0, -rows.shape[1] % COLUMNS))).astype(np.float32)


class Activations(NamedTuple):
    """Inputs of products: bytes with a factor for each row, or float32."""

    values: NDArray[Any]  # uint8 or float32 [rows, inputs]
    factor: NDArray[np.float32]  # [rows]  or [1], for all


ONE = np.ones(1, np.float32)


def activations(rows: NDArray[np.float32], *, is_int8: bool) -> Activations:
    """Numbers of any size, each row scaled by its largest one."""
    if not is_int8:
        return Activations(np.ascontiguousarray(rows), ONE)
    values = np.empty((len(rows), rows.shape[1] + -rows.shape[1] % GROUP), np.uint8)
    factor = np.empty(len(rows), np.float32)
    _quantise(rows, values, factor)
    return Activations(values, factor)


@cached_njit
def _quantise(rows, values, factor):
    for i in range(rows.shape[0]):
        most = np.float32(0)
        for k in range(rows.shape[1]):
            most = max(most, abs(rows[i, k]))
        factor[i] = most
        scale = np.float32(STEPS) / most if most > 0 else np.float32(0)
        for k in range(rows.shape[1]):
            values[i, k] = np.uint8(np.int32(np.rint(rows[i, k] * scale)) + ZERO)
        for k in range(rows.shape[1], values.shape[1]):
            values[i, k] = ZERO


class Added(NamedTuple):
    """What is added to each product: a row of a table."""

    table: NDArray[np.float32]  # [·, outputs, in whole blocks]
    rows: NDArray[np.int64]  # [n]


def multiply(
    packed: Packed,
    inputs: Activations,
    added: Added,
    out: NDArray[np.float32],
    out_rows: NDArray[np.int64],
) -> None:
    """out[out_rows[i]] = weights · inputs[i] + table[rows[i]].

    Only as many outputs are written as `out` has columns; it must be of float32.
    """
    _multiply(packed, inputs, added, out, out_rows)


@cached_njit
def _multiply(packed, inputs, added, out, out_rows):
    n, width = out_rows.shape[0], out.shape[1]
    sums = np.empty((ROWS, COLUMNS), packed.start.dtype)
    last = np.empty((1, COLUMNS), np.float32)
    rows = np.arange(n)
    for block in range(packed.weights.shape[0]):
        column = block * COLUMNS
        is_whole = column + COLUMNS <= width
        i = 0
        while i < n:
            n_rows = rows_at_once(n - i)
            begin_sums(packed.start, block, n_rows, sums)
            add_tile(packed.weights, block, inputs.values, 0, rows, i, n_rows, sums)
            for r in range(n_rows):
                t = i + r
                factor = inputs.factor[t if inputs.factor.shape[0] > 1 else 0]
                if is_whole:
                    finish(packed, block, sums, r, factor, added, t, out, out_rows[t], column)
                else:
                    finish(packed, block, sums, r, factor, added, t, last, 0, 0)
                    for c in range(width - column):
                        out[out_rows[t], column + c] = last[0, c]
            i += n_rows


@njit
def finish(packed, block, sums, r, factor, added, t, out, row, column):
    """Write one row of sums as numbers, with what is added to product t."""
    at = block * COLUMNS
    dequantise(
        sums, r, packed.scale, block, factor, added.table, added.rows[t], at, out, row, column
    )


@njit
def rows_at_once(n):
    """How many of n rows the next tile takes."""
    if n >= ROWS:
        return ROWS
    return 4 if n >= 4 else 2 if n >= 2 else 1


@njit
def begin_sums(start, block, n_rows, sums):
    """What the sums of a block begin with, in every row."""
    for r in range(n_rows):
        for c in range(COLUMNS):
            sums[r, c] = start[block, c]


@njit
def add_tile(weights, block, inputs, column, rows, first, n_rows, sums):
    """sums[r] += weights · inputs[rows[first + r], column …], for n_rows of `rows_at_once`."""
    depth = weights.shape[1]
    if n_rows == ROWS:
        tile_6(weights, block, depth, inputs, column, rows, first, sums)
    elif n_rows == 4:
        tile_4(weights, block, depth, inputs, column, rows, first, sums)
    elif n_rows == 2:
        tile_2(weights, block, depth, inputs, column, rows, first, sums)
    else:
        tile_1(weights, block, depth, inputs, column, rows, first, sums)
