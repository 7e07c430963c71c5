"""Locks: one process at a time writes to a directory."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from dyparse.errors import ConfigError

LOCK = ".lock"


@contextmanager
def exclusive_directory(
    directory: Path, doing: str = "training", option: str = "output=DIR"
) -> Iterator[None]:
    """Create the directory if needed and lock it; the lock ends with the block or the process."""
    lock = FileLock(directory / LOCK)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        raise ConfigError(
            f"{directory}: another process is {doing} there; wait for it, or choose another place "
            f"with {option}"
        ) from None
    except OSError as error:
        raise unwritable(directory, str(error.strerror or error), option) from error
    try:
        yield
    finally:
        lock.release()


def unwritable(directory: Path, reason: str, option: str = "output=DIR") -> ConfigError:
    """The error for a directory that cannot be written to."""
    return ConfigError(
        f"{directory}: cannot be written ({reason}); choose another place with {option}"
    )
