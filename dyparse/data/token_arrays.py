"""Columns of sentences as padded arrays: token 0 is the root, padding comes last."""

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from dyparse.data.vocabulary import PADDING, ROOT

ROOT_VALUE = "\0"  # stands for the root in every column; no word of a file can be this
MOST_REMEMBERED = 200_000

K = TypeVar("K")
T = TypeVar("T")
Array: TypeAlias = Any  # of numpy; in a batch, a tensor of torch


class Bags(NamedTuple):
    """Several numbers per entry, one entry after the other, as `embedding_bag` takes them."""

    numbers: Array  # int64 [total]
    offsets: Array  # int64 [entries]
    entry: Array  # int64 [B, N]  which entry a token has


class Sequences(NamedTuple):
    """A sequence of numbers per entry, padded."""

    numbers: Array  # int64 [entries, longest]
    entry: Array  # int64 [B, N]  which entry a token has


class Remembered(dict[K, T]):
    """A dictionary that computes missing values and keeps them; it is emptied when it is full."""

    def __init__(self, compute: Callable[[K], T]) -> None:
        super().__init__()
        self.compute = compute

    def __missing__(self, key: K) -> T:
        if len(self) >= MOST_REMEMBERED:
            self.clear()
        value = self[key] = self.compute(key)
        return value


def padded(
    words: NDArray[np.int32], flat: NDArray[Any], *, root: int, padding: int
) -> NDArray[Any]:
    """[B, N] from the values of all words in one row."""
    grid = np.full((len(words), int(words.max()) + 1), padding, dtype=flat.dtype)
    grid[:, 0] = root
    grid[:, 1:][np.arange(grid.shape[1] - 1) < words[:, None]] = flat
    return grid


def ids(
    words: NDArray[np.int32], columns: Sequence[Sequence[str]], number: Remembered[str, int]
) -> NDArray[np.int64]:
    """The number of every token's value.  int64 [B, N]"""
    flat = np.fromiter(map(number.__getitem__, chain.from_iterable(columns)), np.int64)
    return padded(words, flat, root=ROOT, padding=PADDING)


def bags(
    words: NDArray[np.int32], columns: Sequence[Sequence[str]], numbers: Remembered[str, list[int]]
) -> Bags:
    """The numbers of each distinct value of a column."""
    entries, entry = _distinct(words, columns)
    lists = list(map(numbers.__getitem__, entries))
    sizes = np.fromiter(map(len, lists), np.int64)
    flat = np.fromiter(chain.from_iterable(lists), np.int64)
    return Bags(flat, np.cumsum(sizes) - sizes, entry)


def sequences(
    words: NDArray[np.int32], columns: Sequence[Sequence[str]], numbers: Remembered[str, list[int]]
) -> Sequences:
    """The numbers of each distinct value of a column, as padded rows."""
    entries, entry = _distinct(words, columns)
    lists = list(map(numbers.__getitem__, entries))
    sizes = np.fromiter(map(len, lists), np.int64)
    rows = np.full((len(lists), sizes.max()), PADDING, dtype=np.int64)
    rows[np.arange(rows.shape[1]) < sizes[:, None]] = np.fromiter(chain(*lists), np.int64)
    return Sequences(rows, entry)


def _distinct(
    words: NDArray[np.int32], columns: Sequence[Sequence[str]]
) -> tuple[list[str], NDArray[np.int64]]:
    """The distinct values of a column, the root's first, and [B, N] which of them a token has;
    padding has the root's.
    """
    entries = list(dict.fromkeys(chain([ROOT_VALUE], *columns)))
    position = {value: k for k, value in enumerate(entries)}
    flat = np.fromiter(map(position.__getitem__, chain.from_iterable(columns)), np.int64)
    return entries, padded(words, flat, root=0, padding=0)
