"""Scores of parsed files, of any parser, and whether their differences are significant.

Beside the scores of the CoNLL 2018 shared task there are those with full labels. All are F1:
100 · 2 · right / (gold words + parsed words). For a file with the words of the gold file that is
the percentage of words that are right, as in `attachment_scores`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dyparse.comparison.significance import (
    RESAMPLES,
    Counts,
    Difference,
    holm,
    pooled_difference,
)
from dyparse.errors import TreebankError
from dyparse.evaluation.conll18.parsed_file import Flags, Numbers, ParsedFile
from dyparse.evaluation.conll18.scores import Conll18Scores, scores_of_parsed_file
from dyparse.evaluation.score_report import LENGTHS, ArcScores, arc_scores, length_class

METRICS = ("uas", "las", "label_accuracy")


@dataclass(frozen=True)
class FileScores:
    """The scores of a parsed file; for every metric twice the right words, and gold plus parsed
    words, in each of K gold sentences.
    """

    counts: dict[str, tuple[Numbers, Numbers]]  # by metric; [K] each; labels in full
    exact_unlabelled: float  # gold sentences with all words and heads right
    exact_labelled: float  # and all labels
    conll18: Conll18Scores  # over all words, punctuation too

    def score(self, metric: str) -> float:
        """A score in percent."""
        right, total = self.counts[metric]
        return float(100 * right.sum() / max(total.sum(), 1))

    def to_dict(self) -> dict[str, float]:
        """All scores by name, but for those of CoNLL 2018."""
        scores = {metric: self.score(metric) for metric in METRICS}
        exact = {name: getattr(self, name) for name in ("exact_unlabelled", "exact_labelled")}
        return scores | exact


def scores_of_file(file: ParsedFile, *, punctuation: bool = True) -> FileScores:
    """The scores of a parsed file; with full labels over all words, or over all but punctuation."""
    K = int(file.gold_sentence[-1]) + 1
    keep_gold, keep = file.counted_words(punctuation=punctuation)
    total = np.bincount(file.parsed_sentence[keep], minlength=K)
    total += np.bincount(file.gold_sentence[keep_gold], minlength=K)

    def twice(right: Flags) -> Numbers:
        return np.asarray(2 * np.bincount(file.parsed_sentence[keep & right], minlength=K))

    label_right = file.same("label")
    flags = {
        "uas": file.head_right,
        "las": file.head_right & label_right,
        "label_accuracy": label_right,
    }
    counts = {metric: (twice(right), total) for metric, right in flags.items()}
    exact = [
        float(100 * (counts[metric][0] == total)[total > 0].mean()) if total.any() else 0.0
        for metric in ("uas", "las")
    ]
    return FileScores(counts, exact[0], exact[1], scores_of_parsed_file(file))


def arcs_by(file: ParsedFile, kind: str, *, punctuation: bool = True) -> dict[str, ArcScores]:
    """Recall, precision and F1 by `label` (heads and labels right) or by `length` (heads right)."""
    right = file.head_right & file.same("label") if kind == "label" else file.head_right
    gold_right = np.zeros(len(file.gold.head), dtype=np.bool_)
    gold_right[file.gold_word[right]] = True
    keep_gold, keep = file.counted_words(punctuation=punctuation)
    if kind == "label":
        names, frequency = np.unique(file.gold.label[keep_gold], return_counts=True)
        frequent = names[np.argsort(-frequency, kind="stable")].tolist()
        others = sorted(set(file.parsed.label[keep].tolist()) - set(frequent))
        gold, parsed, classes = file.gold.label, file.parsed.label, [*frequent, *others]
    else:
        gold, parsed = (
            np.array(list(LENGTHS))[length_class(tree.head, tree.number)]
            for tree in (file.gold, file.parsed)
        )
        classes = list(LENGTHS)
    return {
        name: arc_scores(keep_gold & (gold == name), keep & (parsed == name), gold_right, right)
        for name in classes
    }


@dataclass(frozen=True)
class Scored:
    """A file with its scores and its difference in LAS from the baseline."""

    file: str
    scores: FileScores
    baseline: str
    difference: Difference | None  # None for the baseline
    p: float | None  # over sentences, corrected after Holm for all files

    @property
    def verdict(self) -> str:
        """`better` or `worse` if the difference is significant, or empty."""
        return self.difference.verdict(self.p) if self.difference else ""

    def to_dict(self) -> dict[str, Any]:
        """All figures by name, for JSON."""
        return self._own_figures() | {"conll18": self.scores.conll18.to_dict()}

    def to_row(self) -> dict[str, Any]:
        """The figures by name, for CSV; of those of CoNLL 2018 F1 only."""
        official = self.scores.conll18.f1()
        return self._own_figures() | {f"conll18_{name}": f1 for name, f1 in official.items()}

    def _own_figures(self) -> dict[str, Any]:
        row: dict[str, Any] = {"file": self.file, **self.scores.to_dict()}
        if self.difference:
            found = self.difference
            row |= {"difference_las": found.mean, "low": found.low, "high": found.high}
            row |= {"p": found.p_sentences, "p_corrected": self.p}
        return row


def score_files(
    files: Mapping[str, ParsedFile],
    *,
    baseline: str,
    punctuation: bool = True,
    resamples: int = RESAMPLES,
) -> list[Scored]:
    """The scores of files by name; each but the baseline is compared with it by LAS."""
    scores = {name: scores_of_file(f, punctuation=punctuation) for name, f in files.items()}
    base = _las(scores[baseline])
    found = {
        name: pooled_difference({"": (base, _las(of_file))}, resamples=resamples)
        for name, of_file in scores.items()
        if name != baseline
    }
    corrected = dict(zip(found, holm([f.p_sentences for f in found.values()]), strict=True))
    return [
        Scored(name, of_file, baseline, found.get(name), corrected.get(name))
        for name, of_file in scores.items()
    ]


def _las(scores: FileScores) -> Counts:
    right, total = scores.counts["las"]
    if not total.any():
        raise TreebankError("every word is punctuation: nothing to score without punctuation")
    return Counts(right[None], total[None], (0,))
