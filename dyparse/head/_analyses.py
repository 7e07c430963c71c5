"""Analyses: combinations of tags, of which only those seen in training are predicted."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dyparse.data.sentence import Sentence
from dyparse.data.vocabulary import Entries, sorted_entries

COLUMNS = ("upos", "xpos", "feats")
SEPARATOR = "\t"  # no tag has one
MOST_ANALYSES = 100_000  # large treebanks have some thousands
SCORES_AT_ONCE = 1 << 22  # of words and analyses


def seen_analyses(heads: Mapping[str, Entries], sentences: Sequence[Sentence]) -> Entries:
    """Every combination of the tags that these heads can predict.

    None if they predict one column, or if there are too many to choose from.
    """
    columns = [column for column in COLUMNS if column in heads]
    if len(columns) < 2:
        return ()
    known = [frozenset(heads[column]) for column in columns]
    rows = (zip(*(getattr(s, column) for column in columns), strict=True) for s in sentences)
    found = sorted_entries(
        SEPARATOR.join(tags)
        for words in rows
        for tags in words
        if all(tag in of_column for tag, of_column in zip(tags, known, strict=True))
    )
    return found if len(found) <= MOST_ANALYSES else ()


class Analyses:
    """The combinations of UPOS, XPOS and FEATS that the training sentences have.

    Every column is scored by itself. Where the best tags of a word were never seen together, it
    gets the combination that was and has the highest probability, as if columns were independent:

        argmax_{a ∈ seen} Σ_c score_c(a_c)
    """

    def __init__(self, seen: Entries, heads: Mapping[str, Entries]) -> None:
        if len(seen) > MOST_ANALYSES:
            raise ValueError(f"analyses: {len(seen)} of them, expected at most {MOST_ANALYSES}")
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
        self.codes = np.sort(self._codes(self.seen))

    def choose(
        self,
        predicted: NDArray[np.int64],
        scores_of: Callable[[NDArray[np.int64]], Sequence[NDArray[np.float32]]],
    ) -> NDArray[np.int64]:
        """The tags of T words by column, corrected where they were never seen together.

        `scores_of` returns the scores [R, entries] of some words, by column: few are asked for.

        [T, C] → [T, C]
        """
        codes = self._codes(predicted)
        places = np.searchsorted(self.codes[:-1], codes)  # at most that of the last one
        (unseen,) = np.nonzero(self.codes[places] != codes)
        if not len(unseen):
            return predicted
        corrected: NDArray[np.int64] = predicted.copy()
        step = max(SCORES_AT_ONCE // len(self.seen), 1)
        for rows in (unseen[start : start + step] for start in range(0, len(unseen), step)):
            total = np.zeros((len(rows), len(self.seen)), dtype=np.float32)  # [R, K]
            for scores, numbers in zip(scores_of(rows), self.seen.T, strict=True):
                total += scores[:, numbers]
            corrected[rows] = self.seen[total.argmax(-1)]
        return corrected

    def _codes(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """A number for every combination.  [T, C] → [T]"""
        code = np.zeros(len(rows), dtype=np.int64)
        for numbers, size in zip(rows.T, self.sizes, strict=True):
            code = code * size + numbers
        return code
