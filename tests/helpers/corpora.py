"""Directories of files to parse."""

from __future__ import annotations

import gzip
from pathlib import Path


def make_corpus(directory: Path, text: str) -> Path:
    """A new directory of three files to parse: one in a directory below it, one packed."""
    (directory / "sub").mkdir(parents=True)
    (directory / "a.conllu").write_text(text)
    (directory / "sub" / "b.conllu").write_text(text[: text.index("\n\n") + 2])
    (directory / "sub" / "c.conllu.gz").write_bytes(gzip.compress(text.encode()))
    (directory / "README.md").write_text("not to be parsed")
    return directory
