"""CoNLL-U for scripts that run in other environments, where dyparse is not installed.

The files are those that the driver wrote: words only, no multiword tokens and no empty nodes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


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
    texts = []
    for rows, tree in zip(read_rows(source), trees, strict=True):
        for row, head, label in zip(rows, tree.head, tree.label, strict=True):
            row[6:8] = str(head), label
        texts.append("".join("\t".join(row) + "\n" for row in rows) + "\n")
    path.write_text("".join(texts), encoding="utf-8")
