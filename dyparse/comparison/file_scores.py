"""Scores of parsed files, of any parser, and whether their differences are significant.

All scores are F1, as in the CoNLL 2018 shared task: 100 · 2 · right / (gold words + parsed words).
For a file with the words of the gold file that is the percentage of words that are right, as in
`attachment_scores`. A word is right only if it and its head are aligned with a gold word and its
head (see `word_alignment`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dyparse.comparison.report.table import Table, interval, p_value, percent
from dyparse.comparison.significance import (
    RESAMPLES,
    Counts,
    Difference,
    holm,
    pooled_difference,
)
from dyparse.data.sentence import Sentence
from dyparse.errors import TreebankError
from dyparse.evaluation.attachment_scores import CONTENT_LABELS, is_punctuation
from dyparse.evaluation.score_report import LENGTHS, ArcScores, arc_scores, length_class
from dyparse.evaluation.word_alignment import UNALIGNED, align_words_of_files

METRICS = ("words", "uas", "las", "las_universal", "clas", "label_accuracy")
Flags = NDArray[np.bool_]
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Tree:
    """The words of all sentences of a file in one row; W words in all."""

    number: Numbers  # [W] 1, 2, … within the sentence
    head: Numbers  # [W] 0 is the root
    label: NDArray[np.str_]  # [W]
    punctuation: Flags  # [W]

    @classmethod
    def of(cls, sentences: Sequence[Sentence]) -> Tree:
        """The words of these sentences."""
        return cls(
            np.concatenate([np.arange(1, len(s) + 1) for s in sentences]),
            np.concatenate([np.array(s.head, dtype=np.int64) for s in sentences]),
            np.array([label for s in sentences for label in s.label]),
            np.concatenate([is_punctuation(s) for s in sentences]),
        )

    @property
    def head_row(self) -> Numbers:
        """[W]: the row of the head, −1 for the root."""
        return np.where(self.head > 0, np.arange(len(self.head)) + self.head - self.number, -1)

    @property
    def universal(self) -> NDArray[np.str_]:
        """[W]: labels up to their colon."""
        return np.array([label.split(":")[0] for label in self.label])


@dataclass(frozen=True)
class ParsedFile:
    """A parsed file beside the gold file: which of its words are right."""

    gold: Tree
    parsed: Tree
    gold_word: Numbers  # [W] aligned with each parsed word, or UNALIGNED
    gold_sentence: Numbers  # [gold W] sentence of each gold word
    parsed_sentence: Numbers  # [W] gold sentence that each parsed word lies in
    sentences_right: int  # sentences with the same words or the same span of text in both
    sentences_parsed: int

    @property
    def head_right(self) -> Flags:
        """[W]: whether word and head are aligned with a gold word and its head."""
        gold_head = self.gold.head_row[self.gold_word]  # of unaligned words: not used
        row = self.parsed.head_row
        head = np.where(row >= 0, self.gold_word[row], -1)
        lost = (row >= 0) & (head == UNALIGNED)  # the head is no gold word, nor is it the root
        return np.asarray((self.gold_word != UNALIGNED) & (head == gold_head) & ~lost)

    def label_right(self, *, universal: bool = False) -> Flags:
        """[W]: whether the word is aligned and its label is that of the gold word."""
        gold, parsed = (
            (tree.universal if universal else tree.label) for tree in (self.gold, self.parsed)
        )
        return np.asarray((self.gold_word != UNALIGNED) & (gold[self.gold_word] == parsed))

    def counted_words(self, *, punctuation: bool) -> tuple[Flags, Flags]:
        """[gold W], [W]: the words that count, all of them or all but punctuation.

        An aligned word is punctuation if the gold word is.
        """
        is_aligned = self.gold_word != UNALIGNED
        own = np.where(is_aligned, self.gold.punctuation[self.gold_word], self.parsed.punctuation)
        return ~self.gold.punctuation | punctuation, ~own | punctuation


def parsed_file(gold: Sequence[Sentence], system: Sequence[Sentence]) -> ParsedFile:
    """Align a parsed file with the gold file; TreebankError if its text is another one."""
    alignment = align_words_of_files(gold, system)
    gold_word, texts = alignment.gold_word, alignment.texts
    gold_sentence = np.repeat(np.arange(len(gold)), [len(s) for s in gold])
    if texts is None:
        place, right = gold_sentence, len(gold)
    else:
        starts = np.array([word.start for word in texts[1].words])
        place = np.searchsorted(texts[0].ends, starts, side="right")
        place = np.minimum(place, len(gold) - 1)  # a word of spaces starts at the end of the text
        place = np.where(gold_word == UNALIGNED, place, gold_sentence[gold_word])
        ends = [text.ends.tolist() for text in texts]
        spans = [set(zip([0, *each], each, strict=False)) for each in ends]
        right = len(spans[0] & spans[1])
    trees = Tree.of(gold), Tree.of(system)
    return ParsedFile(*trees, gold_word, gold_sentence, place, right, len(system))


@dataclass(frozen=True)
class FileScores:
    """The scores of a parsed file; for every metric twice the right words, and gold plus parsed
    words, in each of K gold sentences.
    """

    sentences: float  # F1 of sentences: 100 if the parser found all boundaries
    counts: dict[str, tuple[Numbers, Numbers]]  # by metric; [K] each
    exact_unlabelled: float  # gold sentences with all words and heads right
    exact_labelled: float  # and all labels

    def score(self, metric: str) -> float:
        """A score in percent."""
        right, total = self.counts[metric]
        return float(100 * right.sum() / max(total.sum(), 1))

    def to_dict(self) -> dict[str, float]:
        """All scores by name."""
        scores = {metric: self.score(metric) for metric in METRICS}
        exact = {name: getattr(self, name) for name in ("exact_unlabelled", "exact_labelled")}
        return {"sentences": self.sentences, **scores, **exact}


def scores_of_file(file: ParsedFile, *, punctuation: bool = True) -> FileScores:
    """The scores of a parsed file over all words, or over all but punctuation."""
    K = int(file.gold_sentence[-1]) + 1
    keep_gold, keep = file.counted_words(punctuation=punctuation)
    head_right, universal = file.head_right, file.label_right(universal=True)
    is_content, gold_content = (
        np.isin(tree.universal, list(CONTENT_LABELS)) for tree in (file.parsed, file.gold)
    )

    def counted(right: Flags, within: Flags | None = None, gold: Flags | None = None) -> Any:
        parsed = keep if within is None else keep & within
        of_gold = keep_gold if gold is None else keep_gold & gold
        right_here = np.bincount(file.parsed_sentence[parsed & right], minlength=K)
        total = np.bincount(file.parsed_sentence[parsed], minlength=K)
        return 2 * right_here, total + np.bincount(file.gold_sentence[of_gold], minlength=K)

    labelled = head_right & file.label_right()
    counts = {
        "words": counted(file.gold_word != UNALIGNED),
        "uas": counted(head_right),
        "las": counted(labelled),
        "las_universal": counted(head_right & universal),
        "clas": counted(head_right & universal, is_content, gold_content),
        "label_accuracy": counted(file.label_right()),
    }
    exact = [
        float(100 * (right == total)[total > 0].mean()) if total.any() else 0.0
        for right, total in (counts["uas"], counts["las"])
    ]
    return FileScores(
        sentences=200 * file.sentences_right / (K + file.sentences_parsed),
        counts=counts,
        exact_unlabelled=exact[0],
        exact_labelled=exact[1],
    )


def arcs_by(file: ParsedFile, kind: str, *, punctuation: bool = True) -> dict[str, ArcScores]:
    """Recall, precision and F1 by `label` (heads and labels right) or by `length` (heads right)."""
    right = file.head_right & file.label_right() if kind == "label" else file.head_right
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
        """All figures by name, for JSON and CSV."""
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


def score_table(scored: Sequence[Scored]) -> Table:
    """A row per file; the scores of words and sentences only if they are not all the same."""
    shown = {"sentences": "sentences", "words": "words"}
    if all(row.scores.score("words") == row.scores.sentences == 100 for row in scored):
        shown = {}
    shown |= {"uas": "UAS", "las": "LAS", "las_universal": "LAS 2018", "clas": "CLAS 2018"}
    several = len(scored) > 1
    rows = []
    for row in scored:
        figures, found = row.scores.to_dict(), row.difference
        cells = [row.file, *(percent(figures[name]) for name in shown)]
        if several:
            cells.append(interval(found) if found else "")
            cells.append(p_value(row.p))
        rows.append(tuple(cells))
    compared = ("difference [95 %]", "p") if several else ()
    note = "2018: universal labels, as in the CoNLL 2018 shared task."
    if several:
        note += (
            f" Differences in LAS from {scored[0].baseline}; p: paired permutation test over "
            "sentences, Holm-corrected."
        )
    return Table(
        "scores",
        "Scores",
        ("file", *shown.values(), *compared),
        rows,
        note,
        text_columns=1,
        verdicts=[row.verdict for row in scored],
        key_column=-2,
    )


def arc_table(files: Mapping[str, ParsedFile], kind: str, *, punctuation: bool = True) -> Table:
    """F1 of every file by `label` or `length`; with recall and precision if there is one file."""
    arcs = {name: arcs_by(file, kind, punctuation=punctuation) for name, file in files.items()}
    first = next(iter(arcs.values()))
    names = dict.fromkeys(name for of_file in arcs.values() for name in of_file)
    several = len(files) > 1
    header = (*files,) if several else ("parsed", "recall", "precision", "F1")
    rows = []
    for name in names:
        found = [of_file.get(name) for of_file in arcs.values()]
        gold = str(first[name].gold if name in first else 0)
        if several or not found[0]:
            figures = [percent(scores.f1 if scores else None) for scores in found]
        else:
            one = found[0]
            figures = [str(one.predicted), *map(percent, (one.recall, one.precision, one.f1))]
        rows.append((name, gold, *figures))
    right = "head and label" if kind == "label" else "head"
    note = f"F1 of arcs{'' if punctuation else ' without punctuation'}; right: {right}."
    return Table(f"by_{kind}", "Arcs", (kind, "gold", *header), rows, note, text_columns=1)
