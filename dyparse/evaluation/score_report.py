"""The full report on predicted trees: core scores, and scores by class of arcs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from dyparse.data.columns.core_arguments import KINDS, heads_with_several
from dyparse.data.sentence import Sentence
from dyparse.evaluation.attachment_scores import AlignedWords, Scores, align_words, scores_of
from dyparse.evaluation.reliability import Reliability, reliability_of

LENGTHS = {"root": 0, "1": 1, "2": 2, "3-6": 3, "7+": 7}  # name: least distance from head to word
CORE = {
    "UAS": "uas",
    "LAS": "las",
    "LAS, universal labels (CoNLL 2018)": "las_universal",
    "CLAS, universal labels (CoNLL 2018)": "clas",
    "label accuracy": "label_accuracy",
    "exact match, heads": "exact_unlabelled",
    "exact match, heads and labels": "exact_labelled",
}


@dataclass(frozen=True)
class ArcScores:
    """One class of arcs: recall over the gold arcs, precision over the predicted ones."""

    gold: int
    predicted: int
    recall: float | None  # None: no such gold arc
    precision: float | None  # None: no such arc was predicted
    f1: float | None  # None: neither


@dataclass(frozen=True)
class Several:
    """Words that have two dependents of a kind or more, in the gold and in the predicted trees."""

    gold: int
    predicted: int


@dataclass(frozen=True, repr=False)
class ScoreReport:
    """All figures in percent; an arc is right if its head is, in `by_label` if its label is too."""

    all_words: Scores
    without_punctuation: Scores | None  # None: every word is punctuation
    nonprojective: ArcScores
    by_length: dict[str, ArcScores]  # words from head to dependent; `root` is a class of its own
    by_label: dict[str, ArcScores]  # full labels, most frequent gold label first
    several: dict[str, Several]  # words with two subjects or more, and with two objects or more
    confidence: dict[str, Reliability] | None = None  # of heads and labels; None: there is none
    # Of what is predicted beside the trees: `upos_accuracy`, …
    tags: dict[str, float] = dataclasses.field(default_factory=dict)

    def to_dict(self) -> dict[str, object]:
        """The same as dictionaries and numbers, for JSON."""
        return dataclasses.asdict(self)

    def __repr__(self) -> str:
        scores = self.all_words
        return (
            f"<ScoreReport: UAS {scores.uas:.2f}, LAS {scores.las:.2f}; print it for all figures>"
        )

    def _repr_html_(self) -> str:
        """All figures, for a notebook."""
        return f"<pre>{escape(str(self))}</pre>"

    def __str__(self) -> str:
        first = [*_core_table(self), *_tag_table(self), *_confidence_table(self)]
        return "\n".join([*first, *_several_table(self), *_arc_tables(self)])


def score_report(gold: Sequence[Sentence], predicted: Sequence[Sentence]) -> ScoreReport:
    """The report on predicted trees."""
    words = align_words(gold, predicted)
    without = ~words.punctuation
    return ScoreReport(
        all_words=scores_of(words, np.ones_like(without)),
        without_punctuation=scores_of(words, without) if without.any() else None,
        nonprojective=arc_scores(
            nonprojective_arcs(words.sentence, words.number, words.head),
            nonprojective_arcs(words.sentence, words.number, words.predicted_head),
            words.head_right,
        ),
        by_length=_by_length(words),
        by_label=_by_label(words),
        several=_several(gold, predicted),
        confidence=reliability_of(predicted, words),
    )


def nonprojective_arcs(
    sentence: NDArray[np.int64], number: NDArray[np.int64], head: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """[W]: whether some word between the word and its head does not descend from that head.

    Never true of arcs from the root: every word descends from it.
    """
    W = len(head)
    up = np.where(head > 0, np.arange(W) + head - number, -1)  # row of the head
    low, high = np.minimum(up, np.arange(W)), np.maximum(up, np.arange(W))
    between = np.where(up >= 0, high - low - 1, 0)  # [W] number of words between
    arc = np.repeat(np.arange(W), between)  # [pairs] the arc that a word is under
    ancestor = low[arc] + 1 + np.arange(len(arc)) - (np.cumsum(between) - between)[arc]
    open_pairs = np.arange(len(arc))
    for _ in range(int(np.bincount(sentence).max())):  # bounded, in case there is a cycle
        ancestor[open_pairs] = up[ancestor[open_pairs]]
        here = ancestor[open_pairs]
        open_pairs = open_pairs[(here >= 0) & (here != up[arc[open_pairs]])]
    result = np.zeros(W, dtype=np.bool_)
    result[arc[ancestor != up[arc]]] = True
    return result


def arc_scores(
    gold: NDArray[np.bool_],
    predicted: NDArray[np.bool_],
    right: NDArray[np.bool_],
    predicted_right: NDArray[np.bool_] | None = None,
) -> ArcScores:
    """Scores of the arcs that are of some class in the gold trees, or in the predicted ones.

    `right` is about the gold words; the predicted ones are the same words, unless there are flags
    for them too.
    """
    right_of_predicted = right if predicted_right is None else predicted_right
    recall = float(100 * right[gold].mean()) if gold.any() else None
    precision = float(100 * right_of_predicted[predicted].mean()) if predicted.any() else None
    return ArcScores(
        int(gold.sum()), int(predicted.sum()), recall, precision, f1_of(precision, recall)
    )


def f1_of(precision: float | None, recall: float | None) -> float | None:
    """F1; 0 where precision or recall is 0 or undefined, None where both are undefined."""
    if precision is None and recall is None:
        return None
    if not precision or not recall:
        return 0.0
    return 2 * precision * recall / (precision + recall)


def length_classes(words: AlignedWords) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """[W] each: the length class of the gold arc and of the predicted one, counted in LENGTHS."""
    gold, predicted = (
        length_class(head, words.number) for head in (words.head, words.predicted_head)
    )
    return gold, predicted


def length_class(head: NDArray[np.int64], number: NDArray[np.int64]) -> NDArray[np.intp]:
    """[W]: the length class of arcs, counted in LENGTHS."""
    distance = np.where(head == 0, 0, abs(head - number))
    return np.searchsorted(list(LENGTHS.values()), distance, side="right") - 1


def _by_length(words: AlignedWords) -> dict[str, ArcScores]:
    gold, predicted = length_classes(words)
    return {
        name: arc_scores(gold == k, predicted == k, words.head_right)
        for k, name in enumerate(LENGTHS)
    }


def _by_label(words: AlignedWords) -> dict[str, ArcScores]:
    right = words.head_right & words.label_right
    scores = {
        name: arc_scores(words.label == k, words.predicted_label == k, right)
        for k, name in enumerate(words.labels)
    }
    return dict(sorted(scores.items(), key=lambda item: (-item[1].gold, item[0])))


def _several(gold: Sequence[Sentence], predicted: Sequence[Sentence]) -> dict[str, Several]:
    found, expected = heads_with_several(predicted), heads_with_several(gold)
    return {kind: Several(expected[kind], found[kind]) for kind in KINDS}


def _core_table(report: ScoreReport) -> Iterator[str]:
    columns = {"all words": report.all_words, "no punctuation": report.without_punctuation}
    width = max(map(len, CORE))
    yield f"{'':{width}}" + "".join(f"{name:>16}" for name in columns)
    for name, field in {"sentences": "sentences", "words": "words", **CORE}.items():
        figures = [getattr(scores, field) if scores else None for scores in columns.values()]
        yield f"{name:{width}}" + "".join(f"{_shown(figure):>16}" for figure in figures)


def _tag_table(report: ScoreReport) -> Iterator[str]:
    if not report.tags:
        return
    width = max(map(len, CORE))
    yield ""
    yield "predicted beside the trees"
    for name, figure in report.tags.items():
        yield f"{name.replace('_', ' '):{width}}{figure:>16.2f}"


def _confidence_table(report: ScoreReport) -> Iterator[str]:
    if report.confidence is None:
        return
    width = max(map(len, CORE))
    titles = ("mean", "right", "calibration error")
    yield ""
    yield f"{'confidence':{width}}" + "".join(f"{title:>19}" for title in titles)
    for name, found in report.confidence.items():
        figures = dataclasses.astuple(found)
        yield f"{name:{width}}" + "".join(f"{figure:>19.2f}" for figure in figures)


def _several_table(report: ScoreReport) -> Iterator[str]:
    names = {kind: f"heads with two {kind}s or more" for kind in report.several}
    width = max(map(len, (*CORE, *names.values())))
    yield ""
    yield f"{'':{width}}{'gold':>16}{'predicted':>16}"
    for kind, several in report.several.items():
        yield f"{names[kind]:{width}}{several.gold:>16,}{several.predicted:>16,}"


def _arc_tables(report: ScoreReport) -> Iterator[str]:
    tables = {
        "non-projective (heads)": {"arcs": report.nonprojective},
        "arc length (heads)": report.by_length,
        "label (heads and labels)": report.by_label,
    }
    width = max(len(name) for title, rows in tables.items() for name in (title, *rows))
    fields = [field.name for field in dataclasses.fields(ArcScores)]
    for title, rows in tables.items():
        yield ""
        yield f"{title:{width}}" + "".join(f"{field:>11}" for field in fields)
        for name, scores in rows.items():
            figures = dataclasses.astuple(scores)
            yield f"{name:{width}}" + "".join(f"{_shown(figure):>11}" for figure in figures)


def _shown(figure: float | None) -> str:
    """A count as it is, a percentage with two decimals, a dash for None."""
    if figure is None:
        return "-"
    return f"{figure:,}" if isinstance(figure, int) else f"{figure:.2f}"
