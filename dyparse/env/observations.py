"""Observations of a state: words and tags in the feature slots by number, legal moves."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dyparse.data.sentence import NONE, Sentence
from dyparse.data.vocabulary import (
    PADDING,
    RESERVED,
    ROOT,
    UNKNOWN,
    Entries,
    numbered,
    sorted_entries,
)
from dyparse.system import System

COLUMNS = ("form", "upos", "xpos", "feats", "lemma")


@dataclass(frozen=True)
class Observations:
    """The columns of words that are seen, and the values in them that have a number of their own.

    An observation is F·C + M numbers: of each of F feature slots, the numbers of its token in C
    columns; then 1 or 0 for each of M moves, legal or not. In a column 0 is an empty slot, 1 a
    value that has no number, 2 the root, and 3 the first entry.
    """

    entries: Mapping[str, Entries]  # by column, sorted

    def __post_init__(self) -> None:
        if wrong := [name for name in self.entries if name not in COLUMNS]:
            raise ValueError(f"columns have {wrong[0]!r}, expected some of {', '.join(COLUMNS)}")

    @cached_property
    def _numbering(self) -> dict[str, dict[str, int]]:
        return {name: numbered(entries) for name, entries in self.entries.items()}

    @classmethod
    def of(
        cls,
        sentences: Iterable[Sentence],
        columns: Sequence[str] = ("form", "upos"),
        min_count: int = 2,
    ) -> "Observations":
        """Those that tell all values apart which these sentences have this often."""
        counts: dict[str, Counter[str]] = {name: Counter() for name in columns}
        for sentence in sentences:
            for name, counter in counts.items():
                counter.update(getattr(sentence, name, ()))
        return cls(
            {
                name: sorted_entries(v for v, n in counter.items() if n >= min_count)
                for name, counter in counts.items()
            }
        )

    def sizes(self, system: System) -> list[int]:
        """How many values each number of an observation can have."""
        of_slot = [RESERVED + len(entries) for entries in self.entries.values()]
        return of_slot * len(system.slots) + [2] * len(system.moves)

    def numbers(self, sentence: Sentence) -> NDArray[np.int64]:
        """[N + 1, C]: the numbers of every token; the last row is that of an empty slot."""
        rows = np.full((len(sentence) + 2, len(self.entries)), PADDING, dtype=np.int64)
        rows[0] = ROOT
        for column, (name, number) in enumerate(self._numbering.items()):
            rows[1:-1, column] = [number.get(v, UNKNOWN) for v in getattr(sentence, name)]
        return rows


def observed(
    numbers: NDArray[np.int64], slots: NDArray[np.int32], is_legal: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """The observation of a state with these tokens in its feature slots."""
    assert NONE == -1  # the last row of the numbers
    return np.concatenate([numbers[slots].ravel(), is_legal])
