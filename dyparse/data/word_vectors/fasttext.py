"""fastText's .bin: a dictionary, then the vectors of its words and of hashed subwords.

The vector of a word is the mean of its own and those of its subwords; a word that is not in the
dictionary has its subwords only (Bojanowski et al. 2017). The layout is that of fastText's sources:
args.cc, dictionary.cc, densematrix.cc.
"""

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dyparse.data.word_vectors.stream import GET_AGAIN, MOST_NUMBERS, VectorStream

MAGIC = struct.pack("<i", 793712314)
START = struct.Struct("<14id")  # magic, version, options
DICTIONARY = struct.Struct("<3i2q")  # entries, words, labels, tokens, entries after pruning
SHAPE = struct.Struct("<2q")
VERSIONS = (11, 12)
SUPERVISED = 3
MOST_CHARACTERS = 50  # of a subword
ROWS_AT_ONCE = 4096
END_OF_SENTENCE = "</s>"  # the one entry without subwords


class Subwords(NamedTuple):
    """How words are cut into subwords, and into how many buckets these are hashed."""

    buckets: int = 0
    shortest: int = 0  # characters
    longest: int = 0

    def of(self, word: str) -> list[int]:
        """Buckets of a word's subwords: pieces of <word>, but neither < nor > alone."""
        if not self.buckets:
            return []
        characters = [c.encode("utf-8", "surrogatepass") for c in f"<{word}>"]
        return [
            value % self.buckets
            for start in range(len(characters))
            for size, value in enumerate(_hashes(characters[start : start + self.longest]), 1)
            if size >= self.shortest
            and not (size == 1 and (start == 0 or start == len(characters) - 1))
        ]

    def are_sound(self) -> bool:
        """Whether there can be such subwords."""
        sizes = 0 <= self.shortest <= self.longest <= MOST_CHARACTERS
        return 0 <= self.buckets < 2**31 and sizes


def _hashes(characters: Sequence[bytes]) -> Iterator[int]:
    """FNV-1a of the first character, of the first two, … . fastText takes bytes as signed numbers:
    those above 127 also change the upper bits.
    """
    value = 2166136261
    for character in characters:
        for byte in character:
            signed = byte if byte < 128 else byte | 0xFFFFFF00
            value = (value ^ signed) * 16777619 & 0xFFFFFFFF
        yield value


class Header(NamedTuple):
    """Sizes of a model."""

    width: int
    n_words: int
    n_labels: int
    subwords: Subwords


def read_header(stream: VectorStream) -> Header:
    """The header of a model, which must be neither quantised nor of an unknown version."""
    _, version, width, *_, kind, buckets, shortest, longest, _, _ = START.unpack(
        stream.take(START.size)
    )
    if version not in VERSIONS:
        raise stream.malformed(f"fastText's format {version}, expected one of {VERSIONS}")
    size, n_words, n_labels, _, pruned = DICTIONARY.unpack(stream.take(DICTIONARY.size))
    if version == VERSIONS[0] and kind == SUPERVISED:
        longest = 0
    subwords = Subwords(buckets, min(shortest, longest), longest)
    is_sound = 1 <= width <= MOST_NUMBERS and n_words >= 1 and n_labels >= 0
    if not is_sound or size != n_words + n_labels or not subwords.are_sound():
        raise stream.malformed(f"a fastText header with impossible numbers; {GET_AGAIN}")
    if pruned >= 0:
        raise quantised(stream)
    return Header(width, n_words, n_labels, subwords)


def read_words(stream: VectorStream, header: Header) -> Iterator[bytes]:
    """The words of the dictionary, in the order of their vectors; labels are passed over."""
    for number in range(header.n_words + header.n_labels):
        word = stream.until(b"\0")
        stream.take(9)  # its frequency and kind
        if number < header.n_words:
            yield word


def rows_of(word: str, place: int | None, header: Header) -> list[int]:
    """Rows of the matrix whose mean is a word's vector; place None: not in the dictionary."""
    own = [] if place is None else [place]
    is_cut = word != END_OF_SENTENCE or place is None
    return own + [header.n_words + b for b in header.subwords.of(word) if is_cut]


def read_matrix(stream: VectorStream, header: Header) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """The vectors of words, then those of buckets, some at a time, with the number of the first."""
    if stream.take(1) != b"\0":
        raise quantised(stream)
    n_rows, width = SHAPE.unpack(stream.take(SHAPE.size))
    expected = header.n_words + header.subwords.buckets, header.width
    if (n_rows, width) != expected:
        raise stream.malformed(f"a matrix of {n_rows} x {width}, expected {expected}; {GET_AGAIN}")
    for start in range(0, n_rows, ROWS_AT_ONCE):
        rows = min(ROWS_AT_ONCE, n_rows - start)
        numbers = np.frombuffer(stream.take(4 * rows * width), "<f4").reshape(rows, width)
        yield start, stream.require_finite(numbers)


def quantised(stream: VectorStream) -> Exception:
    """The error for a compressed model."""
    return stream.malformed("a quantised fastText model (.ftz); use the full .bin, or its .vec")
