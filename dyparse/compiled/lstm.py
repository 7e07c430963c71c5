"""A layer of a BiLSTM over sentences without padding."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dyparse.compiled.products import add_tile, begin_sums, pack, rows_at_once
from dyparse.compiled.tile import COLUMNS, LANES, ROWS, ZERO, dequantise, lstm_cell
from dyparse.runtime.kernels import cached_njit

DIRECTIONS = ("", "_reverse")


class Sentences(NamedTuple):
    """Where the tokens of sentences are, the longest sentence first."""

    first: NDArray[np.int64]  # [B]
    length: NDArray[np.int64]  # [B]  falling


class LstmWeights(NamedTuple):
    """Both directions of a layer: blocks of 16 units, with four gates each.

    The products with the layer below and with the state before are one sum.
    """

    below: NDArray[Any]  # [2 · blocks, ·, ·]  see Packed
    before: NDArray[Any]  # [2 · blocks, ·, ·]
    start: NDArray[Any]  # [2 · blocks, 64]
    scale: NDArray[np.float32]  # [2 · blocks, 64]


class Layer(NamedTuple):
    """The weights of a layer by what they are multiplied with."""

    below: NDArray[np.float32]  # [2 · blocks · 64, inputs]
    before: NDArray[np.float32]  # [2 · blocks · 64, units, in whole blocks]
    bias: NDArray[np.float32]  # [2 · blocks · 64]

    @classmethod
    def of(cls, weights: Mapping[str, NDArray[np.float32]], name: str) -> "Layer":
        """From the tensors of torch's LSTM, rows in the order of blocks, gates and units."""
        parts: list[tuple[NDArray[np.float32], ...]] = []
        for direction in DIRECTIONS:
            below, before, *biases = (
                weights[f"{name}.{kind}_l0{direction}"]
                for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            )
            units = in_whole_blocks(before.shape[1])
            before = np.pad(before, ((0, 0), (0, units - before.shape[1])))
            bias = np.add(*biases)[:, None]
            parts.append(tuple(_by_block(rows) for rows in (below, before, bias)))
        below, before, bias = (np.concatenate(rows) for rows in zip(*parts, strict=True))
        return cls(below, before, bias[:, 0])


def in_whole_blocks(units: int) -> int:
    """Units of a direction, those included that are always 0."""
    return -(-units // LANES) * LANES


def _by_block(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """[4 · units, ·] → [blocks · 4 · 16, ·], where units that there are not have zeros."""
    gates = rows.reshape(4, -1, rows.shape[-1])
    units = in_whole_blocks(gates.shape[1])
    padded = np.pad(gates, ((0, 0), (0, units - gates.shape[1]), (0, 0)))
    blocks = padded.reshape(4, -1, LANES, rows.shape[-1]).transpose(1, 0, 2, 3)
    found: NDArray[np.float32] = blocks.reshape(-1, rows.shape[-1])
    return found


def pack_layer(
    below: NDArray[np.float32], before: NDArray[np.float32], *, is_int8: bool
) -> LstmWeights:
    """The weights as the kernel reads them; `below` may have no inputs."""
    first, second = pack([below, before], is_int8=is_int8)
    return LstmWeights(first.weights, second.weights, first.start, first.scale)


def new_states(tokens: int, width: int, *, is_int8: bool) -> NDArray[Any]:
    """[tokens + 1, width]: room for the outputs of a layer; the last row stays 0."""
    if not is_int8:
        return np.zeros((tokens + 1, width), np.float32)
    return np.full((tokens + 1, width), ZERO, np.uint8)


@cached_njit
def run_lstm(weights, sentences, below, added, out):
    """Both directions of a layer.

    Inputs are below [tokens, ·] and what is added to the gates of a token, see `Added`; the outputs
    go to the first columns of out [tokens + 1, ·], whose last row stands for the state before.
    """
    n_sentences, zero = sentences.first.shape[0], out.shape[0] - 1
    blocks = weights.scale.shape[0] // 2
    units = blocks * LANES
    sums = np.empty((ROWS, COLUMNS), weights.start.dtype)
    gates = np.empty((1, COLUMNS), np.float32)
    token, before = np.empty(n_sentences, np.int64), np.empty(n_sentences, np.int64)
    for direction in range(2):
        cells = np.zeros((n_sentences, units), np.float32)
        active = n_sentences
        for t in range(sentences.length[0]):
            while sentences.length[active - 1] <= t:
                active -= 1
            for s in range(active):
                last = sentences.length[s] - 1
                place = sentences.first[s] + (last - t if direction else t)
                token[s] = place
                before[s] = zero if t == 0 else place + 1 if direction else place - 1
            for b in range(blocks):
                block = direction * blocks + b
                s = 0
                while s < active:
                    n_rows = rows_at_once(active - s)
                    begin_sums(weights.start, block, n_rows, sums)
                    add_tile(weights.below, block, below, 0, token, s, n_rows, sums)
                    column = direction * units
                    add_tile(weights.before, block, out, column, before, s, n_rows, sums)
                    for r in range(n_rows):
                        place = token[s + r]
                        dequantise(
                            sums, r, weights.scale, block, np.float32(1),
                            added.table, added.rows[place], block * COLUMNS, gates, 0, 0,
                        )  # fmt: skip
                        lstm_cell(gates, 0, cells, s + r, b * LANES, out, place, column + b * LANES)
                    s += n_rows
