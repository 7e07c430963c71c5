"""The column that a head predicts: its entries, and how they are read, written and scored."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from dyparse.data.batch import n_words
from dyparse.data.sentence import NONE, Sentence
from dyparse.data.token_arrays import padded
from dyparse.data.vocabulary import Entries


class HeadColumn:
    """Entries for a column of every word, without the network that scores them."""

    column: str  # of a sentence

    def __init__(self, entries: Entries, column: str | None = None) -> None:
        self.entries = entries
        self.number = {entry: number for number, entry in enumerate(entries)}
        if column is not None:
            self.column = column

    def values(self, sentence: Sentence) -> Sequence[str]:
        """The entry of every word: its column, unless a head says otherwise."""
        column: list[str] = getattr(sentence, self.column)
        return column

    def targets(self, sentences: Sequence[Sentence]) -> NDArray[np.int64]:
        """[B, N]: the number of every word's entry; NONE where it is not among the entries."""
        values = chain.from_iterable(map(self.values, sentences))
        flat = np.fromiter((self.number.get(value, NONE) for value in values), np.int64)
        return padded(n_words(sentences), flat, root=NONE, padding=NONE)

    def given(self, sentences: Sequence[Sentence]) -> NDArray[np.int64]:
        """[B, N]: the number of every word's entry; NONE if it has no value, or an unknown one."""
        values = chain.from_iterable(getattr(s, self.column) for s in sentences)
        flat = np.fromiter((value != "_" for value in values), np.bool_)
        has_value = padded(n_words(sentences), flat, root=0, padding=0)
        return np.where(has_value, self.targets(sentences), NONE)

    def n_targets(self, sentence: Sentence) -> int:
        """How many words of a sentence have a target: the loss of a batch is a mean over them."""
        return sum(value in self.number for value in self.values(sentence))

    def columns(self, sentence: Sentence, predicted: Sequence[int]) -> dict[str, list[str]]:  # noqa: ARG002 - some heads need it
        """Columns of a sentence, from the predictions for its words."""
        return {self.column: [self.entries[k] for k in predicted]}

    def score(self, gold: Sequence[Sentence], parsed: Sequence[Sentence]) -> dict[str, float]:
        """Figures for dev, by name, in percent; none where the gold column is empty."""
        columns = [[getattr(s, self.column) for s in trees] for trees in (gold, parsed)]
        expected, found = (list(chain.from_iterable(column)) for column in columns)
        if set(expected) <= {"_"}:
            return {}
        right = sum(a == b for a, b in zip(expected, found, strict=True))
        return {f"{self.column}_accuracy": 100 * right / len(expected)}
