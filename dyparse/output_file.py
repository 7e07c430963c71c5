"""Files that are written whole or not at all; and standard output in any locale."""

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary name beside the path; it becomes the path if the block ends well, else vanishes.

    Devices and pipes are not replaced but written to.
    """
    path = Path(os.path.realpath(path))
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a directory, expected a file to write", str(path))
    if path.exists() and not path.is_file():
        yield path
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def escape_what_the_locale_lacks() -> None:
    """Characters that standard output cannot encode are escaped there, as on standard error."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
