"""Malformed CoNLL-U, with the fault and its line; and unusual CoNLL-U that is sound."""

from __future__ import annotations

import re
from typing import NamedTuple

from helpers.tiny import sample

TAGGED = "".join(s.to_conllu() for s in sample("dev")[:3])
WORD_LINE = re.compile(rb"(?:\xef\xbb\xbf)?[0-9]+\t")
WORD = "1\ta\t_\tX\t_\t_\t0\troot\t_\t_"


def rows(*lines: str) -> str:
    """CoNLL-U from "id form head label" lines; UPOS is X, since models read it."""
    text = ""
    for line in lines:
        token_id, form, head, label = line.split(" ")
        text += f"{token_id}\t{form}\t_\tX\t_\t_\t{head}\t{label}\t_\t_\n"
    return text + "\n"


SOUND = rows("1 a 2 det", "2 b 0 root", "3 c 2 obj")
LONG = rows(*(f"{word} w{word % 50} {word - 1} x" for word in range(1, 10_001)))


class Malformed(NamedTuple):
    """A file with one fault."""

    content: str | bytes
    line: int  # of the fault; 0 if the file as a whole is at fault
    finding: str  # a regular expression
    number: int = 1  # of the sentence

    @property
    def data(self) -> bytes:
        return self.content if isinstance(self.content, bytes) else self.content.encode()

    def place(self, path: object) -> str:
        """The beginning of a message about the file."""
        return f"{path}:{self.line}: " if self.line else f"{path}: "


FILES = {  # refused by everything that reads CoNLL-U
    "nine columns": Malformed(WORD.removesuffix("\t_") + "\n\n", 1, "9 columns"),
    "eleven columns": Malformed(WORD + "\t_\n\n", 1, "11 columns"),
    "one column": Malformed("nothing\n\n", 1, "1 column in 'nothing'"),
    "two tabs": Malformed(WORD.replace("\t", "\t\t", 1) + "\n\n", 1, "11 columns"),
    "spaces for tabs": Malformed(WORD.replace("\t", "    ") + "\n\n", 1, "replace the spaces"),
    "old Mac line ends": Malformed(SOUND.replace("\n", "\r"), 1, "carriage returns"),
    "comment among words": Malformed("# c\n" + WORD + "\n# late\n\n", 3, "move it up"),
    "blank line with a space": Malformed(WORD + "\n \n" + WORD + "\n\n", 2, "white space"),
    "comments without words": Malformed(
        SOUND + "# only\n\n" + SOUND, 6, "no word in the sentence", number=2
    ),
    "missing blank line": Malformed(WORD + "\n" + WORD + "\n\n", 2, "empty line"),
    "empty form": Malformed(WORD.replace("a", "") + "\n\n", 1, "column FORM is empty"),
    "empty id": Malformed(WORD.removeprefix("1") + "\n\n", 1, "column ID is empty"),
    "empty misc": Malformed(WORD.removesuffix("_") + "\n\n", 1, "column MISC is empty"),
    "id 0": Malformed(rows("0 a 0 root"), 1, "id '0'"),
    "id with leading zero": Malformed(rows("01 a 0 root"), 1, "id '01'"),
    "id with space": Malformed(rows("1 a 0 root").replace("1\t", " 1\t", 1), 1, "id ' 1'"),
    "id not ASCII": Malformed(rows("١ a 0 root"), 1, r"id '\\u0661'"),
    "id skipped": Malformed(rows("1 a 0 root", "3 b 1 x"), 2, "expected 2"),
    "id repeated": Malformed(rows("1 a 0 root", "2 b 1 x", "2 c 1 x"), 3, "expected 3"),
    "ids reversed": Malformed(rows("2 a 0 root", "1 b 2 x"), 1, "expected 1"),
    "id beyond all numbers": Malformed(rows("9" * 5000 + " a 0 root"), 1, "id '9+[.]{3}'"),
    "range backwards": Malformed(rows("1 a 0 root", "3-2 r _ _", "2 b 1 x"), 2, "runs backwards"),
    "ranges overlap": Malformed(
        rows("1-2 r _ _", "1 a 0 root", "2-3 r _ _", "2 b 1 x", "3 c 1 x"), 3, "overlaps"
    ),
    "range twice": Malformed(
        rows("1-2 r _ _", "1-2 r _ _", "1 a 0 root", "2 b 1 x"), 2, "overlaps"
    ),
    "range late": Malformed(
        rows("1 a 0 root", "1-2 r _ _", "2 b 1 x"), 2, "directly before word 1"
    ),
    "range early": Malformed(
        rows("2-3 r _ _", "1 a 0 root", "2 b 1 x", "3 c 1 x"), 1, "before word 2"
    ),
    "range beyond the end": Malformed(
        rows("1-3 r _ _", "1 a 0 root", "2 b 1 x"), 1, "last word, 2"
    ),
    "range beyond all numbers": Malformed(
        rows(f"1-{'9' * 5000} r _ _", "1 a 0 root"), 1, "id '1-9+[.]{3}'"
    ),
    "range from beyond all numbers": Malformed(
        rows(f"{'9' * 5000}-9 r _ _", "1 a 0 root"), 1, "id '9+[.]{3}'"
    ),
    "range at the end": Malformed(rows("1 a 0 root", "2-3 r _ _"), 2, "last word, 1"),
    "range of odd form": Malformed(rows("1-02 r _ _", "1 a 0 root", "2 b 1 x"), 1, "id '1-02'"),
    "range not ASCII": Malformed(rows("١-٢ r _ _", "1 a 0 root", "2 b 1 x"), 1, r"id '\\u0661"),
    "empty node early": Malformed(rows("1.1 e _ _", "1 a 0 root"), 1, "here 0.1"),
    "empty node skipped": Malformed(rows("1 a 0 root", "1.2 e _ _"), 2, "here 1.1"),
    "empty node zero": Malformed(rows("1 a 0 root", "1.0 e _ _"), 2, "id '1.0'"),
    "empty node in range": Malformed(
        rows("1 a 0 root", "2-3 r _ _", "1.1 e _ _", "2 b 1 x", "3 c 1 x"), 3, "before the range"
    ),
    "only a range": Malformed(rows("1-1 r _ _"), 1, "last word, 0"),
    "only an empty node": Malformed(rows("0.1 e _ _"), 1, "no word"),
    "Latin 1": Malformed(
        SOUND.replace("b", "é").encode("latin-1"), 2, "byte 0xe9 at position 3 is not UTF-8"
    ),
    "UTF-16": Malformed(SOUND.encode("utf-16"), 1, "NUL byte; expected UTF-8"),
    "UTF-8 cut short": Malformed(SOUND.encode() + "1\té".encode()[:-1], 5, "0xc3.* UTF-8", 2),
    "a surrogate as UTF-8": Malformed(
        SOUND.encode().replace(b"b", b"\xed\xa0\x80"), 2, "0xed.* UTF-8"
    ),
    "NUL": Malformed(SOUND.replace("b", "\0"), 2, "NUL byte; expected UTF-8"),
    "NUL in a comment": Malformed("# \0\n" + SOUND, 1, "NUL byte; expected UTF-8"),
    "bytes in a comment": Malformed(
        b"# sent_id = s\n# \xff\n" + SOUND.encode(), 2, "sentence 's': byte 0xff.* expected UTF-8"
    ),
    "byte order mark among words": Malformed(
        SOUND.replace("\n2", "\n\ufeff2"), 2, r"id '\\ufeff2'.* expected 2"
    ),
    "empty file": Malformed("", 0, "holds no sentence; expected"),
    "blank lines only": Malformed("\n\r\n\n", 0, "holds no sentence; expected"),
    "byte order mark only": Malformed("\ufeff", 0, "holds no sentence; expected"),
    "byte order mark and a blank line": Malformed("\ufeff\n", 0, "holds no sentence; expected"),
}

TREES = {  # refused where trees are read, but not by `parse`
    "empty head": Malformed(WORD.replace("\t0", "\t") + "\n\n", 1, "column HEAD is empty"),
    "empty deprel": Malformed(WORD.replace("root", "") + "\n\n", 1, "column DEPREL is empty"),
    "head missing": Malformed(rows("1 a 0 root", "2 b _ x"), 2, "has no head"),
    "head too large": Malformed(rows("1 a 0 root", "2 b 3 x"), 2, "head '3' of word 2 is outside"),
    "head beyond all numbers": Malformed(rows(f"1 a {'9' * 5000} x"), 1, "head '9+[.]{3}'"),
    "head negative": Malformed(rows("1 a 0 root", "2 b -1 x"), 2, "not a number"),
    "head with leading zero": Malformed(rows("1 a 0 root", "2 b 01 x"), 2, "not a number"),
    "head not ASCII": Malformed(rows("1 a 0 root", "2 b ١ x"), 2, "not a number"),
    "head with underscore": Malformed(rows("1 a 0 root", "2 b 1_0 x"), 2, "not a number"),
    "label missing": Malformed(rows("1 a 0 root", "2 b 1 _"), 2, "no label"),
    "own head": Malformed(rows("1 a 0 root", "2 b 2 x"), 2, "its own head"),
    "no root": Malformed(rows("1 a 2 x", "2 b 1 x"), 1, "no word has head 0"),
    "two roots": Malformed(
        rows("1 a 0 root", "2 b 0 root"), 2, r"2 words have head 0 \(1, 2\); expected"
    ),
    "ten thousand roots": Malformed(
        re.sub(r"\t[0-9]+\tx\t", "\t0\tx\t", LONG), 2, r"10000 words have head 0 \(1, .*\.\.\.\)"
    ),
    "cycle": Malformed(rows("1 a 0 root", "2 b 3 x", "3 c 2 x"), 2, "cycle: 2 -> 3 -> 2"),
    "fault behind a range": Malformed(
        rows("1-2 r _ _", "1 a 0 root", "1.1 e _ _", "2 b 2 x"), 4, "word 2 is its own head"
    ),
    "fault behind blank lines": Malformed(
        "\n\n" + SOUND + "\n" + rows("1 a 9 x"), 8, "head '9'", number=2
    ),
}

MALFORMED = FILES | TREES

ODD = {  # sound, though it may not look like it
    "byte order mark": "\ufeff" + SOUND,
    "byte order mark before a comment": "\ufeff# sent_id = s\n" + SOUND,
    "byte order mark between sentences": SOUND + "\ufeff" + SOUND,
    "CRLF": SOUND.replace("\n", "\r\n"),
    "CRLF and LF": SOUND.replace("\n", "\r\n", 2) + SOUND,
    "no final blank line": SOUND + SOUND.removesuffix("\n"),
    "no final newline": SOUND + SOUND.removesuffix("\n\n"),
    "blank lines, many": "\n\n" + SOUND + "\n\n" + SOUND + "\n\n\n",
    "comments of any kind": "#\n#text\n# text = \u2028\n# sent_id=\n" + SOUND,
    "ranges and empty nodes": rows(
        "0.1 e _ _", "1-2 r _ _", "1 a 0 root", "1.1 e _ _", "2 b 1 x", "3-3 r _ _", "3 c 1 x"
    ),
    "spaces in a form": SOUND.replace("b", "10  000"),
    "white space that is no tab": SOUND.replace("b", "\u2028\x0b\x0c\x85\u00a0"),
    "a form that looks like a comment": SOUND.replace("b", "#"),
    "control characters": SOUND.replace("b", "\x01\x1b[31m\x7f"),
    "beyond the BMP": SOUND.replace("b", "𐌲𐌿𐍄😀"),
    "a word of 100,000 characters": SOUND.replace("b", "long" * 25_000),
    "a comment of 100,000 characters": "# " + "long" * 25_000 + "\n" + SOUND,
}

TEXTS = {  # input of `parse --input lines`; its sentences, or the line of a fault and the finding
    "tabs": (b"a\tb\t\n\tc\n", ["a b", "c"], ""),
    "CRLF": (b"a b\r\n\r\nc\r\n", ["a b", "c"], ""),
    "CR": (b"a\rb\rc", ["a b c"], ""),
    "odd white space": ("a\u2028b\x0bc\x85d\u00a0e\x1cf".encode(), ["a b c d e f"], ""),
    "byte order mark": ("\ufeffa b\n".encode(), ["a b"], ""),
    "no final newline": (b"a\nb", ["a", "b"], ""),
    "blank lines": (b"\n \n\t\na\n\n", ["a"], ""),
    "nothing": (b"", [], ""),
    "nothing but blank lines": (b"\n \r\n", [], ""),
    "what looks like CoNLL-U": (
        SOUND.encode(),
        ["1 a _ X _ _ 2 det _ _", "2 b _ X _ _ 0 root _ _", "3 c _ X _ _ 2 obj _ _"],
        "",
    ),
    "what looks like a comment": (b"# text = a\n", ["# text = a"], ""),
    "10,000 words": (b"a " * 10_000, [" ".join("a" * 10_000)], ""),
    "a word of 100,000 characters": (b"long" * 25_000, ["long" * 25_000], ""),
    "NUL": (b"a b\na\0b\n", 2, "a NUL byte"),
    "Latin 1": ("a\né\n".encode("latin-1"), 2, "not UTF-8"),
    "UTF-16": ("a\n".encode("utf-16"), 1, "a NUL byte"),
    "a surrogate as UTF-8": (b"\xed\xa0\x80", 1, "not UTF-8"),
}


def without_trees(data: bytes) -> list[bytes]:
    """The lines without columns 7 and 8 of words."""
    lines = []
    for line in data.split(b"\n"):
        columns = line.split(b"\t")
        is_word = WORD_LINE.match(line)
        lines.append(b"\t".join([*columns[:6], b"", *columns[8:]]) if is_word else line)
    return lines
