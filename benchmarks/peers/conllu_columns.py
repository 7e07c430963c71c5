"""CoNLL-U for scripts that run in other environments, where dyparse is not installed.

The files are those that the driver wrote: words only, no multiword tokens and no empty nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from measurement import Job


class Tree(Protocol):
    """Heads, counted from 1, and labels of a sentence."""

    @property
    def head(self) -> list[int]: ...

    @property
    def label(self) -> list[str]: ...


@dataclass(frozen=True)
class Columns:
    """A sentence."""

    form: list[str]
    upos: list[str]
    head: list[int]
    label: list[str]


def read_columns(path: Path) -> list[Columns]:
    """The sentences of a file."""
    return [
        Columns(
            [row[1] for row in rows],
            [row[3] for row in rows],
            [int(row[6]) for row in rows],
            [row[7] for row in rows],
        )
        for rows in read_rows(path)
    ]


def read_rows(path: Path) -> list[list[list[str]]]:
    """The ten columns of every word of every sentence."""
    blocks = path.read_text(encoding="utf-8").strip("\n").split("\n\n")
    return [
        [line.split("\t") for line in block.split("\n") if not line.startswith("#")]
        for block in blocks
    ]


def write_trees(source: Path, path: Path, trees: Iterable[Tree]) -> None:
    """Write the sentences of a file with other trees."""
    sentences = read_rows(source)
    for rows, tree in zip(sentences, trees, strict=True):
        for row, head, label in zip(rows, tree.head, tree.label, strict=True):
            row[6:8] = str(head), label
    write_rows(path, sentences)


def write_rows(path: Path, sentences: list[list[list[str]]]) -> None:
    """Write the columns of every word of every sentence."""
    texts = ("".join("\t".join(row) + "\n" for row in rows) + "\n" for rows in sentences)
    path.write_text("".join(texts), encoding="utf-8")


def without_tags(job: Job, upos: Callable[[str], str] = lambda _: "_") -> Job:
    """The job with files that have no lemmas, tags and features; UPOS may be made of the form."""

    def untagged(source: str) -> str:
        path = Path(job.directory) / f"{Path(source).stem}-no-tags.conllu"
        sentences = read_rows(Path(source))
        for row in (row for rows in sentences for row in rows):
            row[2:6] = "_", upos(row[1]), "_", "_"
        write_rows(path, sentences)
        return str(path)

    return replace(job, train=untagged(job.train), dev=untagged(job.dev), test=untagged(job.test))
