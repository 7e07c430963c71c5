"""Printing for the user: lines that stay clear of progress bars, standard output in UTF-8."""

import io
import os
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from tqdm import tqdm

from dyparse.runtime.launch import is_first_rank


def print_line(text: str) -> None:
    """Print a line on standard output, on the first rank only."""
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
    """Standard output as a UTF-8 stream, whatever the locale."""
    sys.stdout.flush()
    out = io.TextIOWrapper(
        sys.stdout.buffer, "utf-8", "surrogateescape", newline="\n", write_through=True
    )
    try:
        yield out
    finally:
        out.detach()


def shows_colours() -> bool:
    """Whether standard output is a terminal, of a user who has not set NO_COLOR."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def escape_unencodable_output() -> None:
    """Escape what standard output cannot encode instead of failing, as standard error does."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def columns(text: str) -> int:
    """Width of a text in a terminal: wide East Asian characters take two columns, accents none."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.category(c) in ("Mn", "Me", "Cf") for c in text)
