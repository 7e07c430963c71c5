"""The choice of a treebank: where the sentences of train, dev and test come from.

`Treebank` below is what each alternative provides. To add one, write `dyparse/treebank/<name>.py`
with a frozen dataclass that has `name`, `read` and `describe`, and `conf/treebank/<name>.yaml` with
its `_target_` and its fields; `pytest tests/treebank/test_treebank.py` picks it up. What they have
in common, such as reading files and holding out dev, is in `_split_files.py`.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol

from dyparse.data.sentence import Sentence


class Treebank(Hashable, Protocol):
    """A source of sentences with trees, in three splits."""

    @property
    def name(self) -> str:
        """Short name, used in the names of run directories."""
        ...

    def read(self, split: str) -> list[Sentence]:
        """The sentences of "train", "dev" or "test"; TreebankError if there are none."""
        ...

    def describe(self) -> str:
        """One line: where sentences come from, and what is held out of train if there is no dev."""
        ...
