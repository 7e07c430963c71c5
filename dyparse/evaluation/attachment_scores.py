"""Attachment scores of predicted trees, in percent.

LAS has two usual definitions, so each has a name:

* `las`: head and full label right, subtypes included (`nsubj:pass` is not `nsubj`);
* `las_universal`: head and universal label right, subtypes ignored. This is the LAS of the CoNLL
  2018 shared task; `uas` and `clas` are its UAS and CLAS (Zeman et al. 2018).

A word is punctuation if its gold tag is `PUNCT`, so that this does not depend on the tree; an
untagged word is, if its gold label is `punct`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dyparse.data.sentence import Sentence
from dyparse.errors import TreebankError

# The content labels of the official scorer (conll18_ud_eval.py).
# fmt: off
CONTENT_LABELS = frozenset((
    "nsubj", "obj", "iobj", "csubj", "ccomp", "xcomp", "obl", "vocative", "expl", "dislocated",
    "advcl", "advmod", "discourse", "nmod", "appos", "nummod", "acl", "amod", "conj", "fixed",
    "flat", "compound", "list", "parataxis", "orphan", "goeswith", "reparandum", "root", "dep",
))
# fmt: on


@dataclass(frozen=True)
class Scores:
    """The core scores over some words."""

    sentences: int
    words: int
    uas: float  # head right
    las: float  # head and full label right
    las_universal: float  # head and universal label right: LAS of CoNLL 2018
    clas: float  # F1 of las_universal over words with a content label: CLAS of CoNLL 2018
    label_accuracy: float  # full label right, whatever the head
    exact_unlabelled: float  # sentences with all heads right
    exact_labelled: float  # sentences with all heads and full labels right


@dataclass(frozen=True)
class AlignedWords:
    """The words of all sentences in one row, gold beside predicted; W words in all."""

    sentence: NDArray[np.int64]  # [W] position of its sentence
    number: NDArray[np.int64]  # [W] 1, 2, ... within the sentence
    head: NDArray[np.int64]  # [W]
    predicted_head: NDArray[np.int64]  # [W]
    label: NDArray[np.int64]  # [W] position in labels
    predicted_label: NDArray[np.int64]  # [W]
    labels: tuple[str, ...]
    punctuation: NDArray[np.bool_]  # [W]

    @property
    def head_right(self) -> NDArray[np.bool_]:
        """[W]: whether the predicted head is the gold head."""
        return np.equal(self.head, self.predicted_head)

    @property
    def label_right(self) -> NDArray[np.bool_]:
        """[W]: whether the predicted label is the gold label, subtype included."""
        return np.equal(self.label, self.predicted_label)


def attachment_scores(
    gold: Sequence[Sentence], predicted: Sequence[Sentence], *, punctuation: bool = True
) -> Scores:
    """The core scores of predicted trees over all words, or over all but punctuation."""
    words = align_words(gold, predicted)
    keep = ~words.punctuation | punctuation
    if not keep.any():
        raise TreebankError("every word is punctuation: nothing to score without punctuation")
    return scores_of(words, keep)


def scores_of(words: AlignedWords, keep: NDArray[np.bool_]) -> Scores:
    """The core scores over the words to keep, of which there is at least one."""
    labels = universal_labels(words)
    labelled = words.head_right & words.label_right
    universal = words.head_right & labels.right
    content, predicted_content = keep & labels.content, keep & labels.predicted_content
    return Scores(
        sentences=len(np.unique(words.sentence[keep])),
        words=int(keep.sum()),
        uas=_percent(words.head_right[keep]),
        las=_percent(labelled[keep]),
        las_universal=_percent(universal[keep]),
        clas=float(
            200 * (universal & content).sum() / max(content.sum() + predicted_content.sum(), 1)
        ),
        label_accuracy=_percent(words.label_right[keep]),
        exact_unlabelled=_percent(_all_right(words.head_right[keep], words.sentence[keep])),
        exact_labelled=_percent(_all_right(labelled[keep], words.sentence[keep])),
    )


class UniversalLabels(NamedTuple):
    """Labels up to their colon: `nmod` for `nmod:poss`."""

    right: NDArray[np.bool_]  # [W] gold and predicted one are the same
    content: NDArray[np.bool_]  # [W] the gold one is a content label
    predicted_content: NDArray[np.bool_]  # [W] the predicted one is


def universal_labels(words: AlignedWords) -> UniversalLabels:
    """Compare the universal labels of the words."""
    names = [label.split(":")[0] for label in words.labels]
    number = np.unique(names, return_inverse=True)[1]  # [labels]
    is_content = np.array([name in CONTENT_LABELS for name in names])
    right = number[words.label] == number[words.predicted_label]
    return UniversalLabels(right, is_content[words.label], is_content[words.predicted_label])


def align_words(gold: Sequence[Sentence], predicted: Sequence[Sentence]) -> AlignedWords:
    """Gold and predicted trees of the same words, checked, in one row."""
    _require_same_words(gold, predicted)
    lengths = np.array([len(sentence) for sentence in gold], dtype=np.int64)
    first = np.repeat(np.cumsum(lengths) - lengths, lengths)
    numbers: dict[str, int] = {}
    words = AlignedWords(
        sentence=np.repeat(np.arange(len(gold)), lengths),
        number=np.arange(1, len(first) + 1) - first,
        head=_row(s.head for s in gold),
        predicted_head=_row(s.head for s in predicted),
        label=_row(_numbered(s.label, numbers) for s in gold),
        predicted_label=_row(_numbered(s.label, numbers) for s in predicted),
        labels=tuple(numbers),
        punctuation=np.concatenate([is_punctuation(s) for s in gold]),
    )
    for name, head in (("gold", words.head), ("predicted", words.predicted_head)):
        _require_heads(name, head, lengths, gold)
    return words


def _row(columns: Iterable[Iterable[int]]) -> NDArray[np.int64]:
    return np.fromiter(chain.from_iterable(columns), dtype=np.int64)


def _numbered(labels: list[str], numbers: dict[str, int]) -> list[int]:
    """The number of each label; a new label gets the next number."""
    return [numbers.setdefault(label, len(numbers)) for label in labels]


def is_punctuation(sentence: Sentence) -> NDArray[np.bool_]:
    """[words]: by their tags, or labels if untagged."""
    flags = [
        tag == "PUNCT" or (tag == "_" and label.split(":")[0] == "punct")
        for tag, label in zip(sentence.upos, sentence.label, strict=True)
    ]
    return np.array(flags, dtype=np.bool_)


def _percent(right: NDArray[np.bool_]) -> float:
    return float(100 * right.mean())


def _all_right(right: NDArray[np.bool_], sentence: NDArray[np.int64]) -> NDArray[np.bool_]:
    """[sentences that have words]: whether all words are right; words come sentence by sentence."""
    _, first = np.unique(sentence, return_index=True)
    return np.logical_and.reduceat(right, first)


def _require_same_words(gold: Sequence[Sentence], predicted: Sequence[Sentence]) -> None:
    if len(gold) != len(predicted):
        raise TreebankError(
            f"{len(gold)} gold sentences but {len(predicted)} predicted ones; "
            "scores need one predicted tree per gold tree"
        )
    if not any(map(len, gold)):
        raise TreebankError("no words to score; is the treebank's split empty?")
    for gold_tree, tree in zip(gold, predicted, strict=True):
        if gold_tree.form != tree.form:
            raise TreebankError(
                f"{gold_tree.place}: gold words are {' '.join(gold_tree.form)!r}, predicted "
                f"{' '.join(tree.form)!r}; scores need trees over the same words in the same order"
            )


def _require_heads(
    name: str, head: NDArray[np.int64], lengths: NDArray[np.int64], gold: Sequence[Sentence]
) -> None:
    """TreebankError unless every word has a head within its sentence."""
    longest = np.repeat(lengths, lengths)
    wrong = np.flatnonzero((head < 0) | (head > longest))
    if wrong.size:
        index = int(wrong[0])
        sentence = int(np.searchsorted(np.cumsum(lengths), index, side="right"))
        number = index - int(lengths[:sentence].sum()) + 1
        raise TreebankError(
            f"{gold[sentence].place}: {name} head of word {number} is {head[index]}, expected "
            f"0..{longest[index]}; scores need complete trees"
        )
