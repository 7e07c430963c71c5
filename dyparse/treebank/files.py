"""Any CoNLL-U files as a treebank."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from dyparse.data.malformed import require_on_error
from dyparse.data.sentence import Sentence
from dyparse.errors import NoSplitError
from dyparse.treebank._split_files import (
    SPLITS,
    SplitFiles,
    describe_files,
    read_split,
    require_held_out,
)


@dataclass(frozen=True)
class Files:
    """Files for train, dev and test; without dev, a share of train is held out."""

    train: str | None = None
    dev: str | None = None
    test: str | None = None
    held_out: float = 0.1
    on_error: str = "stop"  # or "skip", for malformed sentences

    def __post_init__(self) -> None:
        require_held_out(self.held_out)
        require_on_error(self.on_error, "treebank.on_error")

    @property
    def name(self) -> str:
        """The stem of the first file, without characters that do not suit a directory name."""
        first = self.train or self.dev or self.test or "files"
        return re.sub(r"[^\w.-]+", "_", Path(first).stem).strip(".") or "files"

    def read(self, split: str) -> list[Sentence]:
        sentences = read_split(self._files(), split, self.held_out, self.on_error)
        if sentences is None:
            raise NoSplitError(
                f"no file is named for {split}; set treebank.{split}=FILE to a CoNLL-U file"
            )
        return sentences

    def describe(self) -> str:
        files = self._files()
        if not files:
            return "no files; set treebank.train=FILE, treebank.dev=FILE, treebank.test=FILE"
        return describe_files(files, self.held_out)

    def _files(self) -> SplitFiles:
        named = {"train": self.train, "dev": self.dev, "test": self.test}
        return {split: [path] for split in SPLITS if (path := named[split])}
