"""A document: the sentences of one text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import overload

from dyparse.data.columns.cells import LONGEST_QUOTE
from dyparse.data.sentence import Sentence, Token


@dataclass(frozen=True, slots=True, repr=False)
class Document:
    """The sentences of one text, in order.

        for sentence in document:
            for token in sentence:
                print(document.text[token.start : token.end], token.upos, token.head, token.label)

    A token's `start` and `end` count the characters of `text`.
    """

    text: str
    sentences: list[Sentence]

    def __len__(self) -> int:
        return len(self.sentences)

    def __iter__(self) -> Iterator[Sentence]:
        return iter(self.sentences)

    @overload
    def __getitem__(self, index: int) -> Sentence: ...

    @overload
    def __getitem__(self, index: slice) -> list[Sentence]: ...

    def __getitem__(self, index: int | slice) -> Sentence | list[Sentence]:
        return self.sentences[index]

    @property
    def tokens(self) -> Iterator[Token]:
        """The words of all sentences."""
        return (token for sentence in self.sentences for token in sentence)

    def __repr__(self) -> str:
        n, text = len(self), self.text
        shown = text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"
        return f"<Document of {n} sentence{'s' * (n != 1)}: {shown!r}>"

    def __str__(self) -> str:
        return self.to_conllu().rstrip("\r\n")

    def _repr_html_(self) -> str:
        """The trees as pictures, for notebooks."""
        return "\n".join(s._repr_svg_() or f"<pre>{escape(str(s))}</pre>" for s in self)

    def to_conllu(self) -> str:
        """The document in CoNLL-U."""
        return "".join(sentence.to_conllu() for sentence in self)

    def to_json(self) -> str:
        """The document as one line of JSON: its text, and its sentences as `Sentence.to_json`."""
        sentences = [json.loads(sentence.to_json()) for sentence in self]
        return json.dumps({"text": self.text, "sentences": sentences}, ensure_ascii=False)
