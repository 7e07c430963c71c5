"""The bytes of a file of word vectors, in order, with their places for messages."""

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from dyparse.errors import ConfigError

GZIP = b"\x1f\x8b"
CHUNK = 1 << 20
LONGEST = 1 << 20  # bytes of a line or of a word
MOST_NUMBERS = 10_000  # of a vector
GET_AGAIN = "get the file again"


class VectorStream:
    """A file that is read from front to back, unzipped if need be, with a progress bar."""

    def __init__(self, path: Path, raw: BinaryIO, bar: "tqdm[Any]") -> None:
        self.path, self.raw, self.bar = path, raw, bar
        is_zipped = raw.read(len(GZIP)) == GZIP
        raw.seek(0)
        self.file: BinaryIO = gzip.GzipFile(fileobj=raw) if is_zipped else raw  # type: ignore[assignment]  # typeshed: no BinaryIO
        self.ahead, self.at = b"", 0
        self.offset = 0  # of the next byte, unzipped
        self.line_number = 0  # of the last line; 0 in binary files

    def peek(self, n: int) -> bytes:
        """The next n bytes, or fewer at the end of the file; they stay ahead."""
        while len(self.ahead) - self.at < n and self._read_on(n):
            pass
        return self.ahead[self.at : self.at + n]

    def take(self, n: int) -> bytes:
        """The next n bytes."""
        found = self.peek(n)
        if len(found) < n:
            raise self.malformed(f"the file ends {n - len(found)} bytes too early; {GET_AGAIN}")
        self._step(n)
        return found

    def until(self, end: bytes) -> bytes:
        """What comes before the next such byte, which is passed over."""
        found = self._find(end)
        if found < 0:
            raise self.malformed(f"the file ends within a word; {GET_AGAIN}")
        word = self.ahead[self.at : found]
        self._step(len(word) + 1)
        return word

    def line(self) -> bytes | None:
        """The next line without white space at its end; None at the end of the file."""
        self.line_number += 1
        found = self._find(b"\n")
        line = self.ahead[self.at :] if found < 0 else self.ahead[self.at : found]
        if found < 0 and not line:
            return None
        self._step(len(line) + (found >= 0))
        return line.rstrip()

    def require_finite(self, numbers: NDArray[np.float32]) -> NDArray[np.float32]:
        """The same numbers, if all of them are finite."""
        if not np.isfinite(numbers).all():
            raise self.malformed(f"a number that is not finite in float32; {GET_AGAIN}")
        return numbers

    def malformed(self, finding: str) -> ConfigError:
        """The error for what was found here."""
        place = f":{self.line_number}" if self.line_number else f", byte {self.offset}"
        return ConfigError(f"encoder.vectors: {self.path}{place}: {finding}")

    def _find(self, end: bytes) -> int:
        """Where this byte is next in what is ahead; -1 if the file has no more of them."""
        found = self.ahead.find(end, self.at)
        while found < 0:
            if len(self.ahead) - self.at > LONGEST:
                raise self.malformed(
                    f"a line or word of more than {LONGEST} bytes; is this a file of word vectors?"
                )
            if not self._read_on(CHUNK):
                return -1
            found = self.ahead.find(end, self.at)
        return found

    def _step(self, n: int) -> None:
        self.at += n
        self.offset += n

    def _read_on(self, n: int) -> bool:
        """Read at least a chunk; whether there was one."""
        try:
            chunk = self.file.read(max(n, CHUNK))
        except (OSError, EOFError, zlib.error) as error:
            raise self.malformed(f"cannot be read ({error}); {GET_AGAIN}") from error
        self.ahead, self.at = self.ahead[self.at :] + chunk, 0
        self.bar.update(self.raw.tell() - self.bar.n)
        return bool(chunk)


@contextmanager
def open_stream(path: Path) -> Iterator[VectorStream]:
    """The stream of a file; ConfigError if it cannot be opened."""
    try:
        raw, size = path.open("rb"), path.stat().st_size
    except OSError as error:
        raise ConfigError(
            f"encoder.vectors: {path}: {error.strerror}; give a file of word vectors"
        ) from error
    with (
        raw,
        tqdm(None, path.name, size, leave=False, unit="B", unit_scale=True, disable=None) as bar,
    ):
        yield VectorStream(path, raw, bar)
