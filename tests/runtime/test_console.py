"""Printing for the user."""

import io
import sys

import pytest

from dyparse.runtime.console import (
    columns,
    escape_unencodable_output,
    print_line,
    standard_output,
)


@pytest.mark.parametrize(("rank", "printed"), [(None, "line\n"), ("0", "line\n"), ("1", "")])
def test_only_the_first_rank_prints_lines(rank, printed, capsys, monkeypatch):
    if rank is not None:
        monkeypatch.setenv("RANK", rank)
        monkeypatch.setenv("WORLD_SIZE", "2")
    print_line("line")
    assert capsys.readouterr().out == printed


def ascii_output(monkeypatch):
    """Standard output as it is in the C locale; the bytes that are written to it."""
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, "ascii", write_through=True))
    return written


def test_standard_output_is_utf8_in_any_locale_and_usable_afterwards(monkeypatch):
    written = ascii_output(monkeypatch)
    with standard_output() as out:
        out.write("žluť\n")
    sys.stdout.write("end\n")
    assert written.getvalue() == "žluť\nend\n".encode()


def test_characters_that_the_locale_lacks_are_escaped(monkeypatch):
    written = ascii_output(monkeypatch)
    escape_unencodable_output()
    sys.stdout.write("≥ 1")
    assert written.getvalue() == b"\\u2265 1"


def test_columns_of_a_text_are_those_of_a_terminal():
    assert [columns(text) for text in ("", "abc", "的確", "e\u0301", "é…")] == [0, 3, 4, 1, 2]
