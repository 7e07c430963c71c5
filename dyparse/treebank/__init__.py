"""The choice of a treebank: where the sentences of train, dev and test come from.

To add a source of sentences: write `dyparse/treebank/<name>.py` with a frozen dataclass that has
`name`, `read` and `describe` as below; write `conf/treebank/<name>.yaml` with its `_target_` and
its fields; run `pytest tests/treebank/test_treebank.py`, which picks it up.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol

from dyparse.data.sentence import Sentence
from dyparse.errors import TreebankError

__all__ = ["Treebank", "TreebankError"]


class Treebank(Hashable, Protocol):
    """Sentences with trees in three splits."""

    @property
    def name(self) -> str:
        """What the treebank is called in names of run directories."""
        ...

    def read(self, split: str) -> list[Sentence]:
        """The sentences of "train", "dev" or "test"; TreebankError if there are none."""
        ...

    def describe(self) -> str:
        """One line: the files used, and what is held out of train if there is no dev."""
        ...
