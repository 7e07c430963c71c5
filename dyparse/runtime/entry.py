"""The start of every program: errors as one message, and environment variables for torch."""

import gc
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from dyparse.errors import ConfigError, DyparseError, DyparseWarning, TreebankError
from dyparse.runtime.console import escape_unencodable_output
from dyparse.runtime.launch import launched
from dyparse.runtime.signals import Stopped, signals_as_exceptions

# How long OpenMP threads spin before they sleep. If they spin long while another thread waits for a
# busy core, training is dozens of times slower; if they do not spin at all, it is twice as slow.
# torch reads this when it is imported.
os.environ.setdefault("GOMP_SPINCOUNT", "10000")

CLOSED_PIPE = 141  # as the shell shows a program that SIGPIPE ended


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turn an error that the user can fix into one message and exit status 2.

    A warning is one line too; Ctrl-C and SIGTERM end the program with status 130 and 143, a closed
    pipe with 141 and without a word.
    """
    require_streams()
    escape_unencodable_output()
    try:
        with signals_as_exceptions(), _plain_warnings():
            yield
    except DyparseError as error:
        on_every_rank = isinstance(error, ConfigError | TreebankError)
        sys.exit(2 if on_every_rank and not _is_first_here() else print_error(str(error)))
    except Stopped as stop:
        _write(f"{stop}\n")
        sys.exit(stop.status)
    except KeyboardInterrupt:
        _write("interrupted\n")
        sys.exit(130)
    except BrokenPipeError:  # nobody reads our output any more, nor what Python flushes at its end
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        sys.exit(CLOSED_PIPE)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        sys.exit(print_error(f"{place}{error.strerror or error}"))
    except MemoryError:
        sys.exit(
            print_error("not enough memory; lower the batch size, or split very long sentences")
        )


def require_streams() -> None:
    """Exit if standard output is closed; if standard error is, messages are dropped."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - stays open
    if sys.stdout is None:
        sys.exit(print_error("standard output is closed; send it to a file, or to /dev/null"))


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Print each of our own warnings as `warning: …`; those of libraries as usual."""
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
    """Limit torch's caches of compiled shapes, for programs that meet ever new shapes.

    Two layers of torch keep what they compiled for each of the last 1,024 shapes. In a long text
    hardly two batches have the same shape, so memory would grow with it. So it does in training,
    for batches have ever new numbers of states. To be called before torch is imported.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "32")
    os.environ.setdefault("LRU_CACHE_CAPACITY", "32")


def print_error(message: str) -> int:
    """Print an error; returns the exit status."""
    _write(f"error: {message}\n")
    return 2


def _write(text: str) -> None:
    if sys.stderr is not None:
        with suppress(OSError):  # its reader may be gone
            sys.stderr.write(text)


def _is_first_here() -> bool:
    """Whether this is the first, or the only, process of a training on its machine."""
    return not launched() or os.environ.get("LOCAL_RANK", os.environ["RANK"]) == "0"


@contextmanager
def collecting_no_garbage() -> Iterator[None]:
    """No garbage collection in the body: imports and models make many objects, and all stay."""
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()
