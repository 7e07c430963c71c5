"""The scores of the CoNLL 2018 shared task (Zeman et al. 2018), from tokens to trees.

Tokens and Sentences are right if their span of the text is that of a gold one, Words if they are
aligned with a gold word. A column of an aligned word is right if it is that of the gold word:

* UPOS, XPOS, Lemmas; UFeats: the universal features; AllTags: UPOS, XPOS and UFeats together;
* UAS: the head; LAS: head and label up to its colon;
* CLAS: LAS over words with a content label;
* MLAS: CLAS with UPOS, UFeats, and the same function words (head, label, UPOS and UFeats right);
* BLEX: CLAS with lemmas.

Every lemma is right where the gold file has none (`_`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from html import escape

import numpy as np

from dyparse.data.sentence import Sentence
from dyparse.evaluation.attachment_scores import CONTENT_LABELS
from dyparse.evaluation.conll18.parsed_file import Flags, Numbers, ParsedFile, Words, parsed_file
from dyparse.evaluation.conll18.word_alignment import Span

# The labels of function words of the official scorer (conll18_ud_eval.py).
FUNCTION_LABELS = frozenset(("aux", "cop", "mark", "det", "clf", "case", "cc"))
TITLES = {
    title.lower(): title
    for title in (
        *("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "AllTags", "Lemmas"),
        *("UAS", "LAS", "CLAS", "MLAS", "BLEX"),
    )
}


@dataclass(frozen=True)
class Metric:
    """Counts of one metric, and its figures in percent."""

    right: int
    gold: int
    parsed: int
    aligned: int | None = None  # gold words that count and are aligned; None if not about words

    @property
    def precision(self) -> float:
        """Right ones among those of the parsed file."""
        return 100 * self.right / self.parsed if self.parsed else 0.0

    @property
    def recall(self) -> float:
        """Right ones among those of the gold file."""
        return 100 * self.right / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        both = self.gold + self.parsed
        return 200 * self.right / both if both else 0.0

    @property
    def aligned_accuracy(self) -> float | None:
        """Right ones among the aligned ones; None for tokens, sentences and words."""
        if self.aligned is None:
            return None
        return 100 * self.right / self.aligned if self.aligned else 0.0

    def to_dict(self) -> dict[str, float | None]:
        """Counts and figures by name."""
        names = ("precision", "recall", "f1", "aligned_accuracy")
        return asdict(self) | {name: getattr(self, name) for name in names}


@dataclass(frozen=True, repr=False)
class Conll18Scores:
    """The table of the shared task; `print` it for all figures."""

    tokens: Metric
    sentences: Metric
    words: Metric
    upos: Metric
    xpos: Metric
    ufeats: Metric
    alltags: Metric
    lemmas: Metric
    uas: Metric
    las: Metric
    clas: Metric
    mlas: Metric
    blex: Metric

    def metrics(self) -> dict[str, Metric]:
        """All metrics by the names of their fields, in the order of the table."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def f1(self) -> dict[str, float]:
        """F1 by the names of the fields."""
        return {name: metric.f1 for name, metric in self.metrics().items()}

    def to_dict(self) -> dict[str, dict[str, float | None]]:
        """All counts and figures, for JSON."""
        return {name: metric.to_dict() for name, metric in self.metrics().items()}

    def __repr__(self) -> str:
        shown = ", ".join(f"{TITLES[name]} {self.f1()[name]:.2f}" for name in ("words", "las"))
        return f"<Conll18Scores: {shown}; print it for all figures>"

    def _repr_html_(self) -> str:
        """All figures, for a notebook."""
        return f"<pre>{escape(str(self))}</pre>"

    def __str__(self) -> str:
        lines = [f"{'CoNLL 2018':10}{'precision':>11}{'recall':>9}{'F1':>9}{'aligned':>9}"]
        for name, metric in self.metrics().items():
            accuracy = metric.aligned_accuracy
            shown = "" if accuracy is None else f"{accuracy:.2f}"
            figures = f"{metric.precision:>11.2f}{metric.recall:>9.2f}{metric.f1:>9.2f}{shown:>9}"
            lines.append(f"{TITLES[name]:10}{figures}".rstrip())
        return "\n".join(lines)


def conll18_scores(gold: Sequence[Sentence], system: Sequence[Sentence]) -> Conll18Scores:
    """The scores of sentences with any words over the text of the gold ones.

    TreebankError if the text is another one. Words without a head have no right head.
    """
    return scores_of_parsed_file(parsed_file(gold, system))


def scores_of_parsed_file(file: ParsedFile) -> Conll18Scores:
    """The scores of a file that is aligned already."""
    upos, xpos, ufeats = (file.same(column) for column in ("upos", "xpos", "ufeats"))
    lemma = file.same("lemma") | (file.is_aligned & (file.gold.lemma[file.gold_word] == "_"))
    labelled = file.head_right & file.same("universal")
    tagged = upos & ufeats
    function_words = _same_function_words(file, labelled & tagged)
    gold, parsed = file.gold_text, file.parsed_text
    every = Counted.all_words(file)
    content = Counted.content_words(file)
    return Conll18Scores(
        tokens=_spans(gold.tokens, parsed.tokens),
        sentences=_spans(gold.sentences, parsed.sentences),
        words=Metric(int(file.is_aligned.sum()), len(gold.words), len(parsed.words)),
        upos=every.metric(upos),
        xpos=every.metric(xpos),
        ufeats=every.metric(ufeats),
        alltags=every.metric(tagged & xpos),
        lemmas=every.metric(lemma),
        uas=every.metric(file.head_right),
        las=every.metric(labelled),
        clas=content.metric(labelled),
        mlas=content.metric(labelled & tagged & function_words),
        blex=content.metric(labelled & lemma),
    )


@dataclass(frozen=True)
class Counted:
    """The words that a metric counts."""

    gold: int
    parsed: int
    aligned: Flags  # [W] parsed words whose gold word counts

    @classmethod
    def all_words(cls, file: ParsedFile) -> Counted:
        """Every word."""
        return cls(len(file.gold.head), len(file.parsed.head), file.is_aligned)

    @classmethod
    def content_words(cls, file: ParsedFile) -> Counted:
        """The words with a content label, each file by its own labels."""
        gold, parsed = (words.has_label(CONTENT_LABELS) for words in (file.gold, file.parsed))
        return cls(int(gold.sum()), int(parsed.sum()), file.is_aligned & gold[file.gold_word])

    def metric(self, right: Flags) -> Metric:
        """The metric by which these words are right."""
        counts = int((right & self.aligned).sum()), self.gold, self.parsed
        return Metric(*counts, int(self.aligned.sum()))


def _same_function_words(file: ParsedFile, right: Flags) -> Flags:
    """[W]: whether the word has the gold word's function words, all of them right, and no others.

    Those that are right depend on the gold word too, so numbers of them are enough.
    """
    is_function = file.parsed.has_label(FUNCTION_LABELS)
    own = _dependents(file.parsed, is_function)
    gold = _dependents(file.gold, file.gold.has_label(FUNCTION_LABELS))[file.gold_word]
    return np.asarray((own == gold) & (own == _dependents(file.parsed, is_function & right)))


def _dependents(words: Words, counted: Flags) -> Numbers:
    """[W]: how many of the counted words depend on the word."""
    heads = words.head_row[counted]
    return np.bincount(heads[heads >= 0], minlength=len(words.head))


def _spans(gold: Sequence[Span], parsed: Sequence[Span]) -> Metric:
    return Metric(len(set(gold) & set(parsed)), len(gold), len(parsed))
