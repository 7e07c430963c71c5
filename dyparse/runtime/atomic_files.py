"""Files that are written completely or not at all."""

import errno
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from dyparse.errors import ConfigError

CANNOT_FLUSH = (errno.EINVAL, errno.ENOTSUP, errno.EACCES)  # file systems without this feature


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path to write to; it replaces the path if the block succeeds, else is removed.

    Devices and pipes are not replaced but written to directly.
    """
    with replacing_all([path]) as (temporary,):
        yield temporary


@contextmanager
def replacing_all(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Temporary paths to write to; they replace the paths, in this order, if the block succeeds,
    else are removed.

    All are flushed before the first is renamed, so a full disk leaves every old file in place.
    """
    targets = [_target(path) for path in paths]
    temporaries = [_temporary(path) for path in targets]
    renamed = [pair for pair in zip(temporaries, targets, strict=True) if pair[0] != pair[1]]
    try:
        yield temporaries
        for temporary, _ in renamed:
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
        for temporary, target in renamed:
            temporary.replace(target)
        for directory in dict.fromkeys(target.parent for _, target in renamed):
            _flush_directory(directory)
    finally:
        for temporary, _ in renamed:
            temporary.unlink(missing_ok=True)


def write(path: Path, content: bytes) -> None:
    """Write a file completely or not at all."""
    write_all({path: content})


def write_all(contents: Mapping[Path, bytes]) -> None:
    """Write several files completely, then rename them into place, in this order."""
    with replacing_all(list(contents)) as temporaries:
        for temporary, content in zip(temporaries, contents.values(), strict=True):
            temporary.write_bytes(content)


def require_apart(written: Mapping[str, str | Path | None], read: Iterable[str | Path]) -> None:
    """ConfigError if an output file is also an input, or is named by two options."""
    taken = {os.path.realpath(path): "which is read" for path in read}
    for option, path in written.items():
        if path:
            target = os.path.realpath(path)
            if reason := taken.get(target):
                raise ConfigError(f"{option} is {path}, {reason}; name another file")
            taken[target] = f"as {option} is"


def _target(path: Path) -> Path:
    """The file to replace: where links lead; OSError if nothing can be written there."""
    path = Path(os.path.realpath(path))
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a directory, expected a file to write", str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such directory to write to", str(path.parent))
    return path


def _temporary(path: Path) -> Path:
    is_special = path.exists() and not path.is_file()
    return path if is_special else path.with_name(f".{path.name}.{os.getpid()}.tmp")


def _flush_directory(directory: Path) -> None:
    """Make renames survive a power failure, where the file system supports it."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:  # a directory may be writable but not readable
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in CANNOT_FLUSH:
            raise
    finally:
        os.close(descriptor)
