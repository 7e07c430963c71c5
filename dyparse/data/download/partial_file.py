"""A file of which a part came, and beside it a record of what it is a part of."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from dyparse.runtime.atomic_files import write

CHUNK_BYTES = 1 << 16


@dataclass(frozen=True)
class Origin:
    """An address, what tells versions of the file there apart, and its size where it is known."""

    address: str
    validator: str | None
    size: int | None

    def __post_init__(self) -> None:
        size_is_sound = self.size is None or (type(self.size) is int and self.size >= 0)
        if not isinstance(self.address, str) or not size_is_sound:
            raise ValueError(f"{self} is no origin of a file")
        if not isinstance(self.validator, str | None):
            raise ValueError(f"the validator {self.validator!r} is no text")


class PartialFile:
    """`archive.tar.gz` in a directory, and `archive.json` if a server can be asked for the rest."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "archive.tar.gz"
        self.record = directory / "archive.json"

    def size(self) -> int:
        """How many bytes came."""
        is_there = self.path.is_file() and not self.path.is_symlink()
        return self.path.stat().st_size if is_there else 0

    def origin(self) -> Origin | None:
        """What this is a part of; None if that is not known, or the record is damaged."""
        try:
            return Origin(**json.loads(self.record.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def can_go_on(self) -> bool:
        """Whether a later download has something to go on from."""
        return self.size() > 0 and self.origin() is not None

    def start(self, address: str) -> int:
        """The byte to go on from at this address; 0 to begin anew.

        Of a part that is the whole file the last byte is fetched again: a server answers that
        question with 206 if the file is still the same.
        """
        origin, size = self.origin(), self.size()
        if origin is None or not origin.validator or origin.address != address:
            return 0
        if origin.size is None or size < origin.size:
            return size
        return max(0, size - 1) if size == origin.size else 0

    def begin(self, origin: Origin) -> None:
        """Drop what came; from here on the part is of this origin."""
        self.clear()
        if origin.validator:
            write(self.record, json.dumps(dataclasses.asdict(origin)).encode())

    def open_at(self, start: int) -> IO[bytes]:
        """The file, to be written on from this byte; what came after it goes."""
        file = open(self.path, "r+b" if start else "wb")  # noqa: SIM115  (the caller closes it)
        file.seek(start)
        file.truncate()
        return file

    def clear(self) -> None:
        self.path.unlink(missing_ok=True)
        self.record.unlink(missing_ok=True)

    def sha256(self) -> str:
        digest = hashlib.sha256()
        with open(self.path, "rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                digest.update(chunk)
        return digest.hexdigest()
