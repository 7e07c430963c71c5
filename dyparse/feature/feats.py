"""Morphological features of the column FEATS."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from dyparse.data.sentence import Sentence
from dyparse.data.token_arrays import ROOT_VALUE
from dyparse.data.vocabulary import ROOT, UNKNOWN, Entries, numbered, sorted_entries
from dyparse.feature import BagPerToken


@dataclass(frozen=True)
class Feats(BagPerToken):
    """Single features such as `Case=Nom`."""

    name: ClassVar[str] = "feats"
    column: ClassVar[str] = "feats"

    def entries(self, sentences: Sequence[Sentence]) -> Entries:
        return sorted_entries(
            part for s in sentences for value in s.feats for part in value.split("|")
        )

    def numbering(self, entries: Entries) -> Callable[[str], list[int]]:
        numbers = numbered(entries)
        return lambda value: (
            [ROOT]
            if value == ROOT_VALUE
            else [numbers.get(part, UNKNOWN) for part in value.split("|")]
        )
