"""A sentence as plain data: the columns of its words and the lines it was read from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import conllu

from dyparse.errors import TreebankError

NONE = -1
FIELDS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
HEAD, DEPREL = FIELDS.index("head"), FIELDS.index("deprel")
COLUMN = {"form": 1, "upos": 3, "xpos": 4, "feats": 5, "head": HEAD, "label": DEPREL}
MOST_WORDS = 2000  # for oracles, whose time grows with the cube of the length or faster
LONGEST_QUOTE = 80  # characters of a line in messages


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: the columns of its words 1..n and the lines it was read from.

    Ranges (1-2) and empty nodes (1.1) are only in `lines`. It is written as `lines`, with
    the columns replaced that `with_tree` or `with_columns` changed.
    """

    form: list[str]
    upos: list[str]
    xpos: list[str]
    feats: list[str]  # the raw column, "_" if none
    head: list[int]  # head[w - 1] of word w; 0 is the root, NONE where there is none
    label: list[str]  # "_" where there is none
    lines: list[str]  # with their line ends, including the blank lines after it
    word_lines: list[int]  # lines[word_lines[w - 1]] is the line of word w
    sent_id: str = ""  # from its comment
    path: str = ""  # of the file it was read from
    line_number: int = 1  # of lines[0] in path, counted from 1
    changed: tuple[str, ...] = field(default=(), compare=False)  # columns unlike those of the lines

    def __len__(self) -> int:
        return len(self.form)

    @property
    def place(self) -> str:
        """File, line and sent_id, for messages."""
        where = f"{self.path}:{self.line_number}: " if self.path else ""
        return f"{where}sentence {self.sent_id!r}" if self.sent_id else f"{where}sentence"

    def is_projective(self) -> bool:
        """Whether no two arcs cross, including the arc from position 0 to the root."""
        arcs = sorted(
            (min(word, head), -max(word, head))
            for word, head in enumerate(self.head, 1)
            if head != NONE
        )
        open_ends: list[int] = []
        for left, negative_right in arcs:
            while open_ends and open_ends[-1] <= left:
                open_ends.pop()
            if open_ends and open_ends[-1] < -negative_right:
                return False
            open_ends.append(-negative_right)
        return True

    def with_tree(self, head: Sequence[int], label: Sequence[str]) -> Sentence:
        """The same sentence with another tree; only HEAD and DEPREL of its lines change."""
        return self.with_columns({"head": list(map(int, head)), "label": label})

    def with_columns(self, columns: Mapping[str, Sequence[Any]]) -> Sentence:
        """The same sentence with other columns, named like its attributes: head, label, upos, …"""
        for name, values in columns.items():
            if len(values) != len(self):
                raise ValueError(f"{self.place} has {len(self)} words; got {len(values)} of {name}")
        lists: dict[str, Any] = {name: list(values) for name, values in columns.items()}
        return replace(self, **lists, changed=tuple(dict.fromkeys([*self.changed, *columns])))

    def to_conllu(self) -> str:
        """The sentence in CoNLL-U: byte for byte as it was read, except for changed columns."""
        if not self.changed:
            return "".join(self.lines)
        lines = list(self.lines)
        numbers = [COLUMN[name] for name in self.changed]
        columns = [self._as_text(name) for name in self.changed]
        last = max(numbers)
        for index, *values in zip(self.word_lines, *columns, strict=True):
            cells = lines[index].split("\t", last + 1)
            for number, value in zip(numbers, values, strict=True):
                cells[number] = value
            lines[index] = "\t".join(cells)
        return "".join(lines)

    def _as_text(self, name: str) -> list[str]:
        if name == "head":
            return ["_" if head == NONE else str(head) for head in self.head]
        column: list[str] = getattr(self, name)
        return column

    @classmethod
    def from_words(
        cls,
        words: Sequence[str],
        *,
        upos: Sequence[str] | None = None,
        xpos: Sequence[str] | None = None,
        feats: Sequence[str] | None = None,
        space_after: Sequence[bool] | None = None,
        text: str = "",
    ) -> Sentence:
        """A sentence of these words, without a tree; `text` becomes its `# text` comment."""
        none = ["_"] * len(words)
        misc = ["_" if space else "SpaceAfter=No" for space in space_after or [True] * len(words)]
        columns = [words, none, upos or none, xpos or none, feats or none, none, none, none, misc]
        if any(len(column) != len(words) for column in columns):
            raise ValueError(f"tags and spaces need {len(words)} values each, one for every word")
        comments = [f"# text = {' '.join(text.split())}"] if text.strip() else []
        rows = zip(map(str, range(1, len(words) + 1)), *columns, strict=True)
        return cls._from_lines([*comments, *("\t".join(row) for row in rows)])

    @classmethod
    def from_token_list(cls, tokens: conllu.TokenList) -> Sentence:
        """A sentence from a TokenList of `conllu`; fields may be missing."""
        rows = [conllu.Token({field: token.get(field) for field in FIELDS}) for token in tokens]
        text = conllu.TokenList(rows, metadata=tokens.metadata).serialize().rstrip("\n")
        metadata: dict[str, str] = tokens.metadata or {}
        sent_id = str(metadata.get("sent_id", ""))
        return cls._from_lines(text.split("\n") if rows else [], sent_id)

    @classmethod
    def _from_lines(cls, lines: list[str], sent_id: str = "") -> Sentence:
        """A sentence from lines without line ends."""
        word_lines, rows = [], []
        for index, line in enumerate(lines):
            _require_text(line)
            if line.startswith("#"):
                continue
            columns = _sound_columns(line)
            if "-" not in columns[0] and "." not in columns[0]:
                word_lines.append(index)
                rows.append(columns)
        number = {str(word): word for word in range(len(rows) + 1)}
        if [number.get(row[0]) for row in rows] != list(range(1, len(rows) + 1)) or not rows:
            found = ", ".join(row[0] for row in rows[:5]) or "no word"
            raise TreebankError(f"words need ids 1, 2, 3, ... in order, at least one; got {found}")
        return cls(
            form=[row[1] for row in rows],
            upos=[row[3] for row in rows],
            xpos=[row[4] for row in rows],
            feats=[row[5] for row in rows],
            head=[number.get(row[HEAD], NONE) for row in rows],
            label=[row[DEPREL] for row in rows],
            lines=[*(line + "\n" for line in lines), "\n"],
            word_lines=word_lines,
            sent_id=sent_id,
        )


def _require_text(line: str) -> None:
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


def _sound_columns(line: str) -> list[str]:
    columns = line.split("\t")
    if len(columns) != len(FIELDS) or "" in columns or "\n" in line or "\r" in line:
        quoted = line if len(line) <= LONGEST_QUOTE else f"{line[:LONGEST_QUOTE]}..."
        raise TreebankError(
            f"{quoted!r} does not make a line of {len(FIELDS)} columns; "
            "words and tags must not be empty or contain tabs or line breaks: clean the input"
        )
    return columns
