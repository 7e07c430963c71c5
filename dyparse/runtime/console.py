"""Lines for the user, above a progress bar if there is one."""

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from tqdm import tqdm

from dyparse.runtime.launch import is_first_rank


def print_line(text: str) -> None:
    """Print a line on standard output; of several ranks only the first does."""
    if is_first_rank():
        try:
            tqdm.write(text)
        except OSError as error:
            raise type(error)(error.errno, error.strerror, "standard output") from error


def print_notice(message: str) -> None:
    """Print a line on standard error."""
    tqdm.write(message, file=sys.stderr)


@contextmanager
def standard_output() -> Iterator[TextIO]:
    """Standard output in UTF-8, whatever the locale."""
    sys.stdout.flush()
    out = io.TextIOWrapper(
        sys.stdout.buffer, "utf-8", "surrogateescape", newline="\n", write_through=True
    )
    try:
        yield out
    finally:
        out.detach()


def escape_unencodable_output() -> None:
    """Characters that standard output cannot encode are escaped there, as on standard error."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
