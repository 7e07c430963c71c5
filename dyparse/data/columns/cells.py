"""Cells of CoNLL-U: the names of the columns, and what can be written in them."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from dyparse.errors import TreebankError

FIELDS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
LONGEST_QUOTE = 80  # characters of a line in messages
NO_SPACE = "SpaceAfter=No"
RANGE = re.compile(r"\ufeff?(\d+)-(\d+)", re.ASCII)
TOKEN_RANGE = re.compile(r"(?:^|\|)TokenRange=(\d{1,18}):(\d{1,18})(?:\||$)", re.ASCII)
FIRST_IDS = [str(word) for word in range(1, 501)]


def word_ids(n_words: int) -> list[str]:
    """The ids of words, 1 to n, as text."""
    if n_words <= len(FIRST_IDS):
        return FIRST_IDS[:n_words]
    return [str(word) for word in range(1, n_words + 1)]


def space_after(cells: list[str]) -> str:
    """The space after a word or a range."""
    return "" if NO_SPACE in cells[-1].split("|") else " "


def joined_words(lines: Sequence[str], word_lines: Sequence[int], forms: Sequence[str]) -> str:
    """Words with their spaces; the form of a range stands for its words."""
    pieces, covered, number = [], 0, 0
    for index, line in enumerate(lines[: word_lines[-1] + 1]):
        cells = line.rstrip("\r\n").split("\t")
        is_word = index == word_lines[number]
        number += is_word
        if is_word and number > covered:
            pieces += [forms[number - 1], space_after(cells)]
        elif not is_word and (span := RANGE.fullmatch(cells[0])):
            covered = int(span[2])
            pieces += [cells[1], space_after(cells)]
    return "".join(pieces[:-1])


class MultiwordToken(NamedTuple):
    """A token of several words, such as French *du*, of the words *de* and *le*."""

    first: int  # the ids of its words
    last: int
    form: str
    misc: str


def multiword_tokens(lines: Sequence[str]) -> list[MultiwordToken]:
    """The ranges among the lines of a sentence."""
    rows = (line.rstrip("\r\n").split("\t") for line in lines if not line.startswith("#"))
    found = ((RANGE.fullmatch(cells[0]), cells) for cells in rows)
    return [MultiwordToken(int(span[1]), int(span[2]), c[1], c[-1]) for span, c in found if span]


def token_range(misc: str) -> tuple[int, int] | None:
    """Start and end of a token in the text, as MISC has them."""
    found = TOKEN_RANGE.search(misc)
    return (int(found[1]), int(found[2])) if found else None


def require_text(line: str) -> None:
    """TreebankError if UTF-8 cannot encode a line, or if it contains NUL."""
    try:
        line.encode()
    except UnicodeEncodeError as error:
        odd = line[error.start]
    else:
        if "\0" not in line:
            return
        odd = "\0"
    raise TreebankError(
        f"character {odd!a} in {line[:LONGEST_QUOTE]!a} cannot be written in CoNLL-U; expected "
        "text that UTF-8 can encode, without NUL: clean the input"
    )


def sound_columns(line: str) -> list[str]:
    """The cells of a line; TreebankError if it does not have ten that are not empty."""
    columns = line.split("\t")
    if len(columns) != len(FIELDS) or "" in columns or "\n" in line or "\r" in line:
        quoted = line if len(line) <= LONGEST_QUOTE else f"{line[:LONGEST_QUOTE]}..."
        raise TreebankError(
            f"{quoted!r} does not make a line of {len(FIELDS)} columns; "
            "words and tags must not be empty or contain tabs or line breaks: clean the input"
        )
    return columns
