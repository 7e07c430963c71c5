"""A sentence as plain data: columns of its words, the lines it was read from; its tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any, overload

from dyparse.data.columns.attributes import HEAD_CONFIDENCE, LABEL_CONFIDENCE, probability
from dyparse.data.columns.cells import (
    FIELDS,
    LONGEST_QUOTE,
    NO_SPACE,
    MultiwordToken,
    joined_words,
    multiword_tokens,
    require_text,
    sound_columns,
    token_range,
)
from dyparse.data.columns.heads import is_projective
from dyparse.data.columns.rows import BYTE_ORDER_MARK, lines_with, rows_of_trees, rows_with
from dyparse.data.sentence_json import sentence_json
from dyparse.data.word_rules import word_spans
from dyparse.errors import TreebankError

if TYPE_CHECKING:
    import conllu

NONE = -1
HEAD, DEPREL = FIELDS.index("head"), FIELDS.index("deprel")
COLUMN = {"form": 1, "lemma": 2, "upos": 3, "xpos": 4, "feats": 5, "head": HEAD, "label": DEPREL}
MOST_WORDS = 2000  # for oracles, whose time grows with the cube of the length or faster
NOTEBOOK_WIDTH = 960  # pixels; longer sentences are drawn in several rows
TEXT = re.compile(r"#\s*text\s*=\s*(.*\S)")


@dataclass(frozen=True, slots=True, repr=False)
class Sentence:
    """One sentence: the columns of its words 1..n and the lines it was read from.

        [token.form for token in sentence if token.upos == "VERB"]
        sentence[0].parent, sentence.root.children      # of word 1; of the word whose head is 0
        sentence.head, sentence.label                   # whole columns, without tokens

    `print(sentence)` shows CoNLL-U, and a notebook draws the tree. Ranges (1-2) and empty nodes
    (1.1) are only in `lines`. It is written as `lines`, with the columns replaced that `with_tree`
    or `with_columns` changed.
    """

    form: list[str]
    lemma: list[str]
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

    def __iter__(self) -> Iterator[Token]:
        return (Token(self, word) for word in range(1, len(self) + 1))

    @overload
    def __getitem__(self, index: int) -> Token: ...

    @overload
    def __getitem__(self, index: slice) -> list[Token]: ...

    def __getitem__(self, index: int | slice) -> Token | list[Token]:
        """Token number `index`, counted from 0 as in a list; a list of tokens for a slice."""
        found = range(1, len(self) + 1)[index]
        return Token(self, found) if isinstance(found, int) else [Token(self, k) for k in found]

    def __repr__(self) -> str:
        text = self.text
        shown = text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"
        return f"<Sentence of {len(self)} word{'s' * (len(self) != 1)}: {shown!r}>"

    def __str__(self) -> str:
        return self.to_conllu().rstrip("\r\n")

    def _repr_svg_(self) -> str | None:
        """The tree as a picture, for notebooks; None without a tree."""
        is_sound = all(-1 <= head <= len(self) and head != w for w, head in enumerate(self.head, 1))
        if self.root is None or not is_sound:
            return None
        from dyparse.drawing.svg import Tree, tree_picture

        upos = self.upos if set(self.upos) != {"_"} else ()
        return tree_picture(
            [Tree("", self.form, self.head, self.label, upos)], width=NOTEBOOK_WIDTH
        )

    @property
    def text(self) -> str:
        """The text of the sentence: its `# text` comment, else its words with their spaces."""
        comments = (line.removeprefix(BYTE_ORDER_MARK) for line in self.lines)
        found = next((match[1] for match in map(TEXT.match, comments) if match), "")
        return found or joined_words(self.lines, self.word_lines, self.form)

    @property
    def multiword_tokens(self) -> list[MultiwordToken]:
        """Its tokens of several words."""
        return multiword_tokens(self.lines)

    @property
    def root(self) -> Token | None:
        """The token whose head is 0, the first if there are several; None without a tree."""
        return next((token for token in self if token.head == 0), None)

    @property
    def place(self) -> str:
        """File, line and sent_id, for messages."""
        where = f"{self.path}:{self.line_number}: " if self.path else ""
        return f"{where}sentence {self.sent_id!r}" if self.sent_id else f"{where}sentence"

    def is_projective(self) -> bool:
        """Whether no two arcs cross, including the arc from position 0 to the root."""
        return is_projective(self.head)

    def with_tree(self, head: Sequence[int], label: Sequence[str]) -> Sentence:
        """The same sentence with another tree; only HEAD and DEPREL of its lines change."""
        return self.with_columns({"head": list(map(int, head)), "label": label})

    def with_columns(self, columns: Mapping[str, Sequence[Any]]) -> Sentence:
        """The same sentence with other columns, named like its attributes: head, label, upos, …"""
        n_words = len(self)
        for name, values in columns.items():
            if len(values) != n_words:
                raise ValueError(f"{self.place} has {n_words} words; got {len(values)} of {name}")
        values_of: dict[str, Any] = dict(zip(ATTRIBUTES, all_attributes(self), strict=True))
        values_of |= {name: list(values) for name, values in columns.items()}
        values_of["changed"] = tuple(dict.fromkeys([*self.changed, *columns]))
        return Sentence(**values_of)  # `replace` is slow

    def to_conllu(self) -> str:
        """The sentence in CoNLL-U: byte for byte as it was read, except for changed columns."""
        if not self.changed:
            return "".join(self.lines)
        old = [self.lines[index] for index in self.word_lines]
        if {"head", "label"} <= {*self.changed}:
            rows = rows_of_trees(old, [self._as_text(name) for name in COLUMN])
        else:  # the tree may be in the lines only
            rows = rows_with(old, {COLUMN[name]: self._as_text(name) for name in self.changed})
        return "".join(lines_with(self.lines, self.word_lines, rows))

    def to_json(self) -> str:
        """The sentence as one line of JSON: an object with sent_id, text, tokens and
        multiword_tokens.

        A token is a word with the ten fields of CoNLL-U, from id to misc, and start and end, where
        its token is in the text: id, head, start and end are numbers, the others text as in
        CoNLL-U; what is `_` there, or has no value, is null. A multiword token has first and last,
        the ids of its words, form, misc, start and end. Empty nodes are left out.
        """
        lines = self.to_conllu().split("\n")
        rows = [lines[index].rstrip("\r").split("\t") for index in self.word_lines]
        return sentence_json(self.sent_id, self.text, rows, self.head, self.multiword_tokens)

    def to_token_list(self) -> conllu.TokenList:
        """The sentence as a TokenList of the package `conllu`, with its comments as metadata."""
        import conllu

        text = self.to_conllu().removeprefix(BYTE_ORDER_MARK)
        lines = (line for line in text.split("\n") if not line.startswith("#"))
        if odd := next((line for line in lines if "  " in line), None):
            raise TreebankError(
                f"{self.place}: {odd[:LONGEST_QUOTE].rstrip()!r} has two spaces in a row, where "
                "the package conllu splits columns; take them out, or use `to_conllu`"
            )
        return conllu.parse(text)[0]

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
        if isinstance(words, str):
            raise TypeError(f"{words[:LONGEST_QUOTE]!r} is a text; use Sentence.from_text for it")
        none = ["_"] * len(words)
        misc = ["_" if space else NO_SPACE for space in space_after or [True] * len(words)]
        columns = [words, none, upos or none, xpos or none, feats or none, none, none, none, misc]
        if any(len(column) != len(words) for column in columns):
            raise ValueError(f"tags and spaces need {len(words)} values each, one for every word")
        comments = [f"# text = {' '.join(text.split())}"] if text.strip() else []
        rows = zip(map(str, range(1, len(words) + 1)), *columns, strict=True)
        return cls._from_lines([*comments, *("\t".join(row) for row in rows)])

    @classmethod
    def from_text(cls, text: str) -> Sentence:
        """A sentence of the words of a text, split by the rules of the tokenizer `plain`.

        Its `# text` is the text. All of it is one sentence: it is not split into several.
        """
        spans = word_spans(text)
        words = [text[start:end] for start, end in spans]
        spaces = [end == len(text) or text[end].isspace() for _, end in spans]
        return cls.from_words(words, text=text, space_after=spaces)

    @classmethod
    def from_token_list(cls, tokens: conllu.TokenList) -> Sentence:
        """A sentence from a TokenList of `conllu`; fields may be missing."""
        import conllu

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
            require_text(line)
            if line.startswith("#"):
                continue
            columns = sound_columns(line)
            if "-" not in columns[0] and "." not in columns[0]:
                word_lines.append(index)
                rows.append(columns)
        if not rows:
            raise TreebankError("a sentence without words; give at least one word")
        number = {str(word): word for word in range(len(rows) + 1)}
        if [number.get(row[0]) for row in rows] != list(range(1, len(rows) + 1)):
            found = ", ".join(row[0] for row in rows[:5])
            raise TreebankError(f"words need ids 1, 2, 3, ... in order; got {found}")
        return cls(
            form=[row[1] for row in rows],
            lemma=[row[2] for row in rows],
            upos=[row[3] for row in rows],
            xpos=[row[4] for row in rows],
            feats=[row[5] for row in rows],
            head=[number.get(row[HEAD], NONE) for row in rows],
            label=[row[DEPREL] for row in rows],
            lines=[*(line + "\n" for line in lines), "\n"],
            word_lines=word_lines,
            sent_id=sent_id,
        )


ATTRIBUTES = tuple(attribute.name for attribute in fields(Sentence))
all_attributes = attrgetter(*ATTRIBUTES)


class Token:
    """A word of a sentence: a view of its columns."""

    __slots__ = ("id", "sentence")

    def __init__(self, sentence: Sentence, id: int) -> None:
        self.sentence = sentence
        self.id = id  # 1..n, as heads count

    @property
    def form(self) -> str:
        """The word."""
        return self.sentence.form[self.id - 1]

    @property
    def lemma(self) -> str:
        """LEMMA; like all text columns "_" if there is none."""
        return self.sentence.lemma[self.id - 1]

    @property
    def upos(self) -> str:
        """UPOS, the universal part of speech."""
        return self.sentence.upos[self.id - 1]

    @property
    def xpos(self) -> str:
        """XPOS, the treebank's own part of speech."""
        return self.sentence.xpos[self.id - 1]

    @property
    def feats(self) -> str:
        """FEATS as in CoNLL-U: `Number=Sing|Person=3`."""
        return self.sentence.feats[self.id - 1]

    @property
    def head(self) -> int:
        """The id of its head; 0 for the root, -1 if it has none."""
        return self.sentence.head[self.id - 1]

    @property
    def label(self) -> str:
        """DEPREL, the label of the arc from its head."""
        return self.sentence.label[self.id - 1]

    @property
    def deps(self) -> str:
        """DEPS, the enhanced graph."""
        return self._cell("deps")

    @property
    def misc(self) -> str:
        """MISC."""
        return self._cell("misc")

    @property
    def head_confidence(self) -> float | None:
        """The probability that its head is right, from MISC; None if it was not asked for."""
        return probability(self.misc, HEAD_CONFIDENCE)

    @property
    def label_confidence(self) -> float | None:
        """The probability that its label is right, from MISC; None if it was not asked for."""
        return probability(self.misc, LABEL_CONFIDENCE)

    @property
    def space_after(self) -> bool:
        """Whether white space follows it in the text; not within a multiword token."""
        whole = self.multiword_token
        if whole and self.id < whole.last:
            return False
        return NO_SPACE not in (whole or self).misc.split("|")

    @property
    def start(self) -> int | None:
        """Where its token starts in the text; None if that is not known. Words of one have one."""
        return None if (span := self._span()) is None else span[0]

    @property
    def end(self) -> int | None:
        """Where its token ends in the text; None if that is not known."""
        return None if (span := self._span()) is None else span[1]

    def _span(self) -> tuple[int, int] | None:
        whole = None if (own := token_range(self.misc)) else self.multiword_token
        return token_range(whole.misc) if whole else own

    @property
    def multiword_token(self) -> MultiwordToken | None:
        """The multiword token that it is a word of; None if it is a token itself."""
        wholes = self.sentence.multiword_tokens
        return next((whole for whole in wholes if whole.first <= self.id <= whole.last), None)

    @property
    def subtree(self) -> list[Token]:
        """The tokens that it dominates, itself included, from left to right."""
        inside, grown = {self.id}, True
        while grown:
            size = len(inside)
            inside |= {w for w, head in enumerate(self.sentence.head, 1) if head in inside}
            grown = len(inside) > size
        return [Token(self.sentence, word) for word in sorted(inside)]

    @property
    def parent(self) -> Token | None:
        """The token that is its head; None for the root, or without a tree."""
        return Token(self.sentence, self.head) if self.head > 0 else None

    @property
    def children(self) -> list[Token]:
        """The tokens whose head it is, from left to right."""
        return [token for token in self.sentence if token.head == self.id]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Token):
            return NotImplemented
        return self.id == other.id and self.sentence is other.sentence

    def __hash__(self) -> int:
        return hash((id(self.sentence), self.id))

    def __str__(self) -> str:
        return self.form

    def __repr__(self) -> str:
        return f"<Token {self.id} {self.form!r} {self.upos} {self.label} of {self.head}>"

    def _cell(self, name: str) -> str:
        line = self.sentence.lines[self.sentence.word_lines[self.id - 1]]
        return line.rstrip("\r\n").split("\t")[FIELDS.index(name)]
