"""Embeddings of words, and their products with the weights above: once for every distinct word.

Everything that a model reads of a word follows from its columns: the form gives word, subwords and
characters. So the products are computed when a word is first met, and kept.
"""

import threading
from collections.abc import Callable, Hashable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dyparse.compiled.products import Added, activations, multiply, pack, padded_rows
from dyparse.data.sentence import Sentence
from dyparse.data.token_arrays import ROOT_VALUE
from dyparse.runtime.kernels import cached_njit

MOST_BYTES = 48 << 20  # of products that are kept
LEAST_ROWS = 256
TAPS = 3  # characters that the convolution sees at once

Numbering = Callable[[str], Sequence[int]]  # from a value to its numbers


class Embedding(NamedTuple):
    """Vectors of a feature: the mean of those of its numbers, or a convolution over these."""

    column: str
    numbering: Numbering
    table: NDArray[np.float32]  # [size, width]; of a convolution [size, TAPS · width]
    bias: NDArray[np.float32]  # [width] of a convolution, else [0]

    @classmethod
    def mean(cls, column: str, numbering: Numbering, table: NDArray[np.float32]) -> "Embedding":
        """The mean of the vectors of a value's numbers."""
        return cls(column, numbering, np.ascontiguousarray(table), np.zeros(0, np.float32))

    @classmethod
    def convolution(
        cls,
        column: str,
        numbering: Numbering,
        table: NDArray[np.float32],
        weights: tuple[NDArray[np.float32], NDArray[np.float32]],
    ) -> "Embedding":
        """tanh of the maximum of a convolution; weights are [width, width, TAPS] and [width].

        The table then holds what a number contributes to the places after, at and before it.
        """
        kernel, bias = weights
        products = [table @ kernel[:, :, tap].T for tap in range(TAPS)]
        return cls(column, numbering, np.concatenate(products, axis=1), bias)

    @property
    def width(self) -> int:
        """Numbers of a vector."""
        return len(self.bias) or self.table.shape[1]

    def embed(self, values: Sequence[str], out: NDArray[np.float32]) -> None:
        """Write the vectors of values to out [values, width]."""
        lists = list(map(self.numbering, values))
        ends = np.cumsum(np.fromiter(map(len, lists), np.int64, len(lists)))
        numbers = np.fromiter(chain.from_iterable(lists), np.int64, int(ends[-1]))
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(self.table):
            raise IndexError(f"a feature of {self.column} has numbers beyond its embeddings")
        if len(self.bias):
            _convolve(self.table, self.bias, numbers, ends, out)
        else:
            _average(self.table, numbers, ends, out)


@cached_njit
def _average(table, numbers, ends, out):
    start = 0
    for i in range(ends.shape[0]):
        for d in range(table.shape[1]):
            out[i, d] = 0
        for k in range(start, ends[i]):
            row = table[numbers[k]]
            for d in range(table.shape[1]):
                out[i, d] += row[d]
        size = np.float32(max(ends[i] - start, 1))
        for d in range(table.shape[1]):
            out[i, d] /= size
        start = ends[i]


@cached_njit
def _convolve(table, bias, numbers, ends, out):
    width = bias.shape[0]
    total = np.empty(width, np.float32)
    start = 0
    for i in range(ends.shape[0]):
        out[i] = -np.inf
        for k in range(start, ends[i]):
            total[:] = bias
            for tap in range(TAPS):
                at = k + tap - 1
                if start <= at < ends[i]:
                    for d in range(width):
                        total[d] += table[numbers[at], tap * width + d]
            for d in range(width):
                out[i, d] = max(out[i, d], total[d])
        for d in range(width):
            out[i, d] = np.tanh(out[i, d])
        start = ends[i]


class WordProducts:
    """Rows of products for words, by all that is read of them.

    For each of several matrices over the embeddings there is a table: matrix · embeddings + bias.
    Safe in several threads: full tables are not overwritten but replaced by new ones.
    """

    def __init__(
        self,
        embeddings: Sequence[Embedding],
        matrices: Sequence[tuple[NDArray[np.float32], NDArray[np.float32]]],
        *,
        is_int8: bool,
    ) -> None:
        self.embeddings, self.is_int8 = list(embeddings), is_int8
        self.columns = list(dict.fromkeys(e.column for e in embeddings))
        self.packed = [pack([matrix], is_int8=is_int8)[0] for matrix, _ in matrices]
        self.biases = [padded_rows(bias[None]) for _, bias in matrices]
        width = sum(bias.shape[1] for bias in self.biases)
        self.most = max(LEAST_ROWS, MOST_BYTES // (4 * max(width, 1)))
        self._lock = threading.Lock()
        self._clear(self.most)

    def __call__(self, sentences: Sequence[Sentence]) -> list[Added]:
        """For every matrix its table, and the row of every token in it, roots included."""
        keys = self._keys(sentences)
        with self._lock:
            rows = list(map(self._row.get, keys))
            if None in rows:
                new = dict.fromkeys(k for k, row in zip(keys, rows, strict=True) if row is None)
                if len(self._row) + len(new) > self._size:
                    new = dict.fromkeys(keys)
                    self._clear(max(self.most, len(new)))
                self._add(list(new))
                rows = list(map(self._row.get, keys))
            tables = self._tables
        found = np.array(rows, np.int64)
        return [Added(table, found) for table in tables]

    def _clear(self, size: int) -> None:
        self._row: dict[Hashable, int] = {}
        self._size = size
        self._tables = [np.empty((size, b.shape[1]), np.float32) for b in self.biases]

    def _add(self, keys: Sequence[Hashable]) -> None:
        """Compute the rows of these words."""
        columns: Any = [keys] if len(self.columns) == 1 else list(zip(*keys, strict=True))
        values: dict[str, Sequence[str]] = dict(zip(self.columns, columns, strict=True))
        vectors = np.empty((len(keys), sum(e.width for e in self.embeddings)), np.float32)
        start = 0
        for embedding in self.embeddings:
            embedding.embed(values[embedding.column], vectors[:, start : start + embedding.width])
            start += embedding.width
        inputs = activations(vectors, is_int8=self.is_int8)
        first = len(self._row)
        rows, nothing = np.arange(first, first + len(keys)), np.zeros(len(keys), np.int64)
        for packed, bias, table in zip(self.packed, self.biases, self._tables, strict=True):
            multiply(packed, inputs, Added(bias, nothing), table, rows)
        self._row.update(zip(keys, rows.tolist(), strict=True))

    def _keys(self, sentences: Sequence[Sentence]) -> list[Hashable]:
        """What is read of every token: a value, or one of each column."""
        columns = [
            list(chain.from_iterable(chain((ROOT_VALUE,), getattr(s, column)) for s in sentences))
            for column in self.columns
        ]
        return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
