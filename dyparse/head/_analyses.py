"""Analyses: combinations of tags, of which only those seen in training are predicted."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dyparse.data.sentence import Sentence
from dyparse.data.vocabulary import Entries, sorted_entries

COLUMNS = ("upos", "xpos", "feats")
SEPARATOR = "\t"  # no tag has one


def seen_analyses(heads: Sequence[str], sentences: Sequence[Sentence]) -> Entries:
    """Every combination of the tags that these heads predict; none if they predict one column."""
    columns = [column for column in COLUMNS if column in heads]
    if len(columns) < 2:
        return ()
    rows = (zip(*(getattr(s, column) for column in columns), strict=True) for s in sentences)
    return sorted_entries(SEPARATOR.join(tags) for words in rows for tags in words)


class Analyses:
    """The combinations of UPOS, XPOS and FEATS that the training sentences have.

    Every column is scored by itself. Where the best tags of a word were never seen together, it
    gets the combination that was and has the highest probability, as if columns were independent:

        argmax_{a ∈ seen} Σ_c score_c(a_c)
    """

    def __init__(self, seen: Entries, heads: Mapping[str, Entries]) -> None:
        self.columns = [column for column in COLUMNS if column in heads] if seen else []
        self.sizes = [len(heads[column]) for column in self.columns]
        numbers = [{e: k for k, e in enumerate(heads[column])} for column in self.columns]
        try:
            rows = [
                [of_column[tag] for of_column, tag in zip(numbers, tags, strict=True)]
                for tags in (analysis.split(SEPARATOR) for analysis in seen)
            ]
        except (KeyError, ValueError) as error:
            raise ValueError(
                f"analyses: expected tags of the heads {', '.join(self.columns)}"
            ) from error
        self.seen = np.array(rows, dtype=np.int64).reshape(len(seen), len(self.columns))  # [K, C]
        self.codes = self._codes(self.seen)

    def choose(
        self,
        predicted: NDArray[np.int64],
        scores_of: Callable[[NDArray[np.int64]], Sequence[NDArray[np.float32]]],
    ) -> NDArray[np.int64]:
        """The tags of T words by column, corrected where they were never seen together.

        `scores_of` returns the scores [R, entries] of some words, by column: few are asked for.

        [T, C] → [T, C]
        """
        (unseen,) = np.nonzero(~np.isin(self._codes(predicted), self.codes))
        if not len(unseen):
            return predicted
        pairs = zip(scores_of(unseen), self.seen.T, strict=True)
        total = np.sum([scores[:, numbers] for scores, numbers in pairs], axis=0)  # [R, K]
        corrected: NDArray[np.int64] = predicted.copy()
        corrected[unseen] = self.seen[total.argmax(-1)]
        return corrected

    def _codes(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """A number for every combination.  [T, C] → [T]"""
        code = np.zeros(len(rows), dtype=np.int64)
        for numbers, size in zip(rows.T, self.sizes, strict=True):
            code = code * size + numbers
        return code
