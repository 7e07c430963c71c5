"""Where programs begin: errors as one message, how OpenMP threads wait, what torch remembers."""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from dyparse.errors import ConfigError, DyparseError, DyparseWarning, TreebankError
from dyparse.runtime.console import escape_unencodable_output
from dyparse.runtime.signals import Stopped, signals_as_exceptions

# OpenMP threads that spin long while another waits for a busy core make training dozens of times
# slower; threads that do not spin at all make it twice as slow. Read when torch is imported.
os.environ.setdefault("GOMP_SPINCOUNT", "10000")


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turn an error that the user can mend into its message and exit status 2.

    A warning is one line too; Ctrl-C and SIGTERM end the program with their statuses, 130 and 143.
    """
    require_streams()
    escape_unencodable_output()
    try:
        with signals_as_exceptions(), _plain_warnings():
            yield
    except DyparseError as error:
        found_by_all = isinstance(error, ConfigError | TreebankError)
        sys.exit(2 if found_by_all and _is_other_process() else print_error(str(error)))
    except Stopped as stop:
        _tell(f"{stop}\n")
        sys.exit(stop.status)
    except KeyboardInterrupt:
        _tell("interrupted\n")
        sys.exit(130)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        sys.exit(print_error(f"{place}{error.strerror or error}"))
    except MemoryError:
        sys.exit(
            print_error("not enough memory; lower the batch size, or split very long sentences")
        )


def require_streams() -> None:
    """End if standard output is closed; where standard error is, messages go nowhere."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for good
    if sys.stdout is None:
        sys.exit(print_error("standard output is closed; send it to a file, or to /dev/null"))


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Our own warnings as `warning: …`, each of them; those of libraries as they come."""
    formatted = warnings.formatwarning

    def plain(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        line: str | None = None,
    ) -> str:
        if issubclass(category, DyparseWarning):
            return f"warning: {message}\n"
        return formatted(message, category, filename, lineno, line)

    warnings.formatwarning = plain
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", DyparseWarning)
            yield
    finally:
        warnings.formatwarning = formatted


def limit_shape_caches() -> None:
    """Bound the memory of parsing. Read when torch is imported.

    Two layers of torch keep what they compiled for each of the last 1,024 shapes. In a long text
    hardly two batches have the same one, so memory would grow with it; training meets the same
    shapes again in every epoch, and keeps them.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "32")
    os.environ.setdefault("LRU_CACHE_CAPACITY", "32")


def print_error(message: str) -> int:
    """Tell an error; the exit status."""
    _tell(f"error: {message}\n")
    return 2


def _tell(text: str) -> None:
    if sys.stderr is not None:
        with suppress(OSError):  # nobody reads it any more
            sys.stderr.write(text)


def _is_other_process() -> bool:
    """Whether torchrun started this process beside another on the same machine, which tells."""
    launched = {"RANK", "WORLD_SIZE"} <= os.environ.keys()
    return launched and os.environ.get("LOCAL_RANK", os.environ["RANK"]) != "0"
