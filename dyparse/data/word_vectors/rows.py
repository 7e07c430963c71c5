"""Vectors row by row: a word, then its numbers, as text or in binary.

word2vec writes both after a first line `WORDS NUMBERS`; fastText's .vec is the same text, GloVe's
has no first line. Numbers are looked at only where a row is kept.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dyparse.data.word_vectors.stream import GET_AGAIN, MOST_NUMBERS, VectorStream

HEADER = re.compile(rb"(\d{1,30}) (\d{1,30})\s*")
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
START = 1 << 18  # bytes that show the format
FORMATS = "expected word2vec, fastText or GloVe vectors, plain or gzipped"


class Rows(Protocol):
    """Words with their numbers, not yet understood."""

    width: int

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]: ...

    def vector(self, numbers: bytes) -> NDArray[np.float32]:
        """The numbers of the row that the iteration is at."""
        ...


@dataclass
class TextRows:
    """A line for each word. GloVe has words with spaces: the last fields are the numbers."""

    stream: VectorStream
    width: int
    count: int | None  # rows that the header promises

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        found = 0
        while (line := self.stream.line()) is not None:
            if not line and self._is_at_end():
                break
            if line.count(b" ") == self.width:
                word, _, numbers = line.partition(b" ")
            else:
                word, numbers = self._unusual(line)
            found += 1
            yield word, numbers
        if self.count not in (None, found):
            raise self.stream.malformed(
                f"the file ends after {found} words, but its first line says {self.count}; "
                f"{GET_AGAIN}, or correct its first line"
            )

    def _is_at_end(self) -> bool:
        """Whether only empty lines follow an empty one, which is the place of an error if not."""
        number = self.stream.line_number
        is_more = any(iter(self.stream.line, None))
        self.stream.line_number = number
        return not is_more

    def vector(self, numbers: bytes) -> NDArray[np.float32]:
        fields = numbers.split(b" ")
        try:
            with np.errstate(over="ignore"):
                row = np.array(list(map(float, fields)), np.float32)
        except ValueError as error:
            wrong = next(field for field in fields if not _is_number(field))
            raise self.stream.malformed(
                f"{_shown(wrong)} is no number; {GET_AGAIN}, or remove the line"
            ) from error
        return self.stream.require_finite(row)

    def _unusual(self, line: bytes) -> tuple[bytes, bytes]:
        """Word and numbers of a line whose word has spaces in it."""
        fields = line.split(b" ")
        first = max(len(fields) - self.width, 0)
        n_numbers = len(fields) - 1
        if first < 1 or (first > 1 and _is_number(fields[first - 1])):
            raise self.stream.malformed(
                f"{n_numbers} numbers, but the vectors have {self.width}; {GET_AGAIN}, or remove "
                "the line"
            )
        return b" ".join(fields[:first]), b" ".join(fields[first:])


@dataclass
class BinaryRows:
    """A word, a space, and float32 numbers; some writers end every row with a newline."""

    stream: VectorStream
    width: int
    count: int

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        for _ in range(self.count):
            yield self.stream.until(b" ").lstrip(b"\n"), self.stream.take(4 * self.width)
        if self.stream.peek(2).strip(b"\n"):
            raise self.stream.malformed(
                f"there is more after the {self.count} words of its first line; {GET_AGAIN}"
            )

    def vector(self, numbers: bytes) -> NDArray[np.float32]:
        return self.stream.require_finite(np.frombuffer(numbers, "<f4"))


def find_rows(stream: VectorStream) -> Rows:
    """The rows of a file, whichever format they are in; ConfigError if in none."""
    start = stream.peek(START)
    first, _, rest = start.partition(b"\n")
    if start.startswith(b"PK\x03\x04"):
        raise stream.malformed("a zip archive; unzip it first")
    if header := HEADER.fullmatch(first):
        count, width = int(header[1]), int(header[2])
        _require_sizes(stream, count, width)
        stream.line()
        if _is_text(rest.partition(b" ")[2][: 4 * width]):
            return TextRows(stream, width, count)
        stream.line_number = 0
        return BinaryRows(stream, width, count)
    numbers = first.rstrip().split(b" ")[1:]
    if not _is_text(first) or len(numbers) < 2 or not all(map(_is_number, numbers)):
        raise stream.malformed(f"no word vectors; {FORMATS}")
    _require_sizes(stream, 1, len(numbers))
    return TextRows(stream, len(numbers), None)


def _require_sizes(stream: VectorStream, count: int, width: int) -> None:
    if not (1 <= count < 2**31 and 1 <= width <= MOST_NUMBERS):
        raise stream.malformed(
            f"{count} words of {width} numbers, expected at least one word and 1 to "
            f"{MOST_NUMBERS} numbers; {FORMATS}"
        )


def _is_text(start: bytes) -> bool:
    """Whether bytes can be text, cut off anywhere: numbers in binary hardly ever can."""
    return not CONTROL.search(start) and any(_is_utf8(start[: len(start) - k]) for k in range(4))


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _shown(field: bytes) -> str:
    return ascii(field[:40].decode(errors="replace"))
