"""Sentences for the explorer: those of treebanks, and those that someone types or pastes."""

import io
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from dyparse.data.columns.cells import FIELDS
from dyparse.data.conllu import Block, read_blocks, read_sentences, to_sentence
from dyparse.data.sentence import Sentence
from dyparse.errors import ConfigError
from dyparse.treebank._names import SAMPLE, files_of

HEAD = FIELDS.index("head")


class Treebank:
    """The sentences of one treebank, read when they are first asked for."""

    def __init__(self, name: str, read: Callable[[], list[Sentence]]) -> None:
        self.name, self._read = name, read
        self._sentences: list[Sentence] | None = None
        self._lock = threading.Lock()

    @classmethod
    def named(cls, name: str) -> "Treebank":
        """The treebank of this name, directory or file; DyparseError if there is none."""
        short, paths = files_of(name)
        return cls(
            Path(short).stem, lambda: [s for p in paths for s in read_sentences(p, trees=True)]
        )

    @property
    def sentences(self) -> list[Sentence]:
        """All sentences; DyparseError if a file is malformed."""
        with self._lock:
            if self._sentences is None:
                self._sentences = self._read()
            return self._sentences

    def page(self, offset: int, limit: int, search: str) -> dict[str, Any]:
        """Some of the sentences whose text or sent_id contains what is searched for."""
        wanted = search.casefold()
        found = [
            (number, sentence)
            for number, sentence in enumerate(self.sentences)
            if not wanted or wanted in f"{sentence.sent_id}\n{sentence.text}".casefold()
        ]
        shown = [described(number, s) for number, s in found[offset : offset + limit]]
        return {"total": len(found), "sentences": shown}


def treebanks(named: Sequence[str]) -> dict[str, Treebank]:
    """The sample treebank and those named, by their short names; DyparseError if one is damaged, or
    two are called alike.
    """
    found: dict[str, Treebank] = {}
    for name in (*named, SAMPLE):
        treebank = Treebank.named(name)
        if treebank.name in found:
            raise ConfigError(f"two treebanks are called {treebank.name!r}; rename one of them")
        found[treebank.name] = treebank
        assert treebank.sentences is not None  # reads them
    return found


def pasted(text: str, *, trees: bool = True) -> list[Sentence]:
    """The sentences of CoNLL-U that someone pasted, with their trees where they have any; without
    `trees` heads are not looked at. TreebankError at the first fault, with its line.
    """
    return list(_read(text, trees=trees))


def _read(text: str, *, trees: bool) -> Iterator[Sentence]:
    source = io.BytesIO(text.encode("utf-8", "surrogatepass"))
    source.name = "input"
    for block in read_blocks(source):
        yield to_sentence(block, trees=trees and _has_tree(block))


def _has_tree(block: Block) -> bool:
    """Whether some word of a block has a head, or has no such column at all."""
    rows = [line.split(b"\t") for line in block.lines if line[:1].isdigit()]
    return any(len(row) <= HEAD or row[HEAD] != b"_" for row in rows if row[0].isdigit())


def described(number: int, sentence: Sentence) -> dict[str, Any]:
    """A sentence as plain data; heads and labels are null without a tree."""
    has_tree = all(head >= 0 for head in sentence.head)
    return {
        "index": number,
        "sent_id": sentence.sent_id or None,
        "text": sentence.text,
        "words": sentence.form,
        "tags": sentence.upos,
        "heads": sentence.head if has_tree else None,
        "labels": sentence.label if has_tree else None,
        "projective": sentence.is_projective() if has_tree else None,
    }
