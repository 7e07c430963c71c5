"""Tokens as spans of a text, and where its white space is."""

import re
from typing import NamedTuple

VISIBLE = re.compile(r"\S")
LINE_END = r"(?:\r\n|\r(?!\n)|[\n\x0b\x0c\x85\u2028])"
BLANK_LINE = re.compile(rf"{LINE_END}[^\S\n\r\x0b\x0c\x85\u2028]*{LINE_END}|\u2029")


class Token(NamedTuple):
    """A token: text[start:end], and the words that it is made of if these are several."""

    start: int
    end: int
    words: tuple[str, ...] = ()
