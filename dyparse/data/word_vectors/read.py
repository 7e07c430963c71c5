"""The vectors that are needed, from a file of any format."""

from collections.abc import Set
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dyparse.data.word_vectors import fasttext
from dyparse.data.word_vectors.fasttext import Subwords
from dyparse.data.word_vectors.rows import Rows, find_rows
from dyparse.data.word_vectors.stream import VectorStream, open_stream


@dataclass(frozen=True)
class Wanted:
    """The vectors to keep."""

    forms: Set[str]  # those of a treebank
    first: int  # so many words from the start of the file, which has the most frequent ones there
    buckets: int  # those of subwords too, if there are at most so many


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Vectors of words, then those of subwords, if they are kept."""

    words: list[str]
    matrix: NDArray[np.float32]  # [words + buckets, width]
    subwords: Subwords


def read_vectors(path: Path, wanted: Wanted) -> WordVectors:
    """The vectors wanted; ConfigError with file and place if they cannot be read."""
    with open_stream(path) as stream:
        if stream.peek(len(fasttext.MAGIC)) == fasttext.MAGIC:
            return _from_fasttext(stream, wanted)
        return _from_rows(find_rows(stream), wanted)


class KeptWords(dict[str, int]):
    """The words of a file that are kept, each with the place where it came first."""

    def __init__(self, wanted: Wanted) -> None:
        super().__init__()
        self.first = wanted.first
        self.wanted = {*wanted.forms, *(form.lower() for form in wanted.forms)}

    def keeps(self, place: int, name: bytes) -> bool:
        """Whether a word is kept that comes at this place; one that is not Unicode never is."""
        try:
            word = name.decode()
        except UnicodeDecodeError:
            return False
        is_kept = word not in self and bool(word) and (place < self.first or word in self.wanted)
        if is_kept:
            self[word] = place
        return is_kept


def _from_rows(rows: Rows, wanted: Wanted) -> WordVectors:
    kept, numbers = KeptWords(wanted), bytearray()
    for place, (name, fields) in enumerate(rows):
        if kept.keeps(place, name):
            numbers += rows.vector(fields).tobytes()
    matrix = np.frombuffer(numbers, np.float32).reshape(-1, rows.width)
    return WordVectors(list(kept), matrix, Subwords())


def _from_fasttext(stream: VectorStream, wanted: Wanted) -> WordVectors:
    """Words of the dictionary, and all forms of the treebank that have subwords: their vectors are
    computed now, unless the subwords are kept.
    """
    header = fasttext.read_header(stream)
    kept = KeptWords(wanted)
    for place, name in enumerate(fasttext.read_words(stream, header)):
        kept.keeps(place, name)
    keeps_subwords = header.subwords.buckets <= wanted.buckets
    parts = {word: fasttext.rows_of(word, place, header) for word, place in kept.items()}
    if not keeps_subwords:
        unknown = sorted(f for f in wanted.forms if f not in kept and f.lower() not in kept)
        parts |= {form: rows for form in unknown if (rows := fasttext.rows_of(form, None, header))}
    means = Means(list(parts.values()), header.width)
    subwords: list[NDArray[np.float32]] = []
    for start, vectors in fasttext.read_matrix(stream, header):
        means.add(start, vectors)
        if keeps_subwords:
            subwords.append(vectors[max(header.n_words - start, 0) :])
    matrix = np.concatenate([means.result(), *subwords])
    return WordVectors(list(parts), matrix, header.subwords if keeps_subwords else Subwords())


class Means:
    """Means of rows of a matrix that is seen only piece by piece."""

    def __init__(self, parts: list[list[int]], width: int) -> None:
        sizes = np.fromiter(map(len, parts), np.int64, len(parts))
        rows = np.fromiter(chain.from_iterable(parts), np.int64, int(sizes.sum()))
        order = np.argsort(rows, kind="stable")
        self.rows, self.targets = rows[order], np.repeat(np.arange(len(parts)), sizes)[order]
        self.sizes = sizes
        self.sums = np.zeros((len(parts), width), np.float32)

    def add(self, start: int, rows: NDArray[np.float32]) -> None:
        """Take in the rows from number `start` on."""
        begin, end = np.searchsorted(self.rows, (start, start + len(rows)))
        np.add.at(self.sums, self.targets[begin:end], rows[self.rows[begin:end] - start])

    def result(self) -> NDArray[np.float32]:
        """The means, when all rows have been seen."""
        self.sums /= self.sizes[:, None]
        return self.sums
