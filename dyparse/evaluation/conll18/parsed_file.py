"""A parsed file beside the gold file, word by word: which heads, labels and tags are right.

A head is right only if it and its word are aligned with a gold word and its head (see
`word_alignment`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dyparse.data.sentence import NONE, Sentence
from dyparse.errors import TreebankError
from dyparse.evaluation.attachment_scores import is_punctuation
from dyparse.evaluation.conll18.word_alignment import (
    UNALIGNED,
    TokenizedText,
    align_words_of_files,
)

ROOT, NO_HEAD = -2, -3  # instead of the row of a head; apart from UNALIGNED
# The features that count, those of the official scorer (conll18_ud_eval.py).
# fmt: off
UNIVERSAL_FEATURES = frozenset((
    "PronType", "NumType", "Poss", "Reflex", "Foreign", "Abbr", "Gender", "Animacy", "Number",
    "Case", "Definite", "Degree", "VerbForm", "Mood", "Tense", "Aspect", "Voice", "Evident",
    "Polarity", "Person", "Polite",
))
# fmt: on
Flags = NDArray[np.bool_]
Numbers = NDArray[np.int64]
Texts = NDArray[np.object_]  # of str; fixed-width strings would be as wide as the longest


@dataclass(frozen=True)
class Words:
    """The words of all sentences of a file in one row; W words in all."""

    number: Numbers  # [W] 1, 2, … within the sentence
    head: Numbers  # [W] 0 is the root, NONE if there is none
    label: Texts  # [W]
    universal: Texts  # [W] labels up to their colon
    lemma: Texts  # [W]
    upos: Texts  # [W]
    xpos: Texts  # [W]
    ufeats: Texts  # [W] universal features only, in alphabetical order
    punctuation: Flags  # [W]

    @classmethod
    def of(cls, sentences: Sequence[Sentence]) -> Words:
        """The words of these sentences."""
        for sentence in sentences:
            _require_heads(sentence)
        labels = _row(s.label for s in sentences)
        return cls(
            number=np.concatenate([np.arange(1, len(s) + 1) for s in sentences]),
            head=np.concatenate([np.array(s.head, dtype=np.int64) for s in sentences]),
            label=labels,
            universal=_row([[label.split(":")[0] for label in labels]]),
            lemma=_row(s.lemma for s in sentences),
            upos=_row(s.upos for s in sentences),
            xpos=_row(s.xpos for s in sentences),
            ufeats=_row(map(universal_features, s.feats) for s in sentences),
            punctuation=np.concatenate([is_punctuation(s) for s in sentences]),
        )

    @cached_property
    def head_row(self) -> Numbers:
        """[W]: the row of the head, ROOT or NO_HEAD."""
        row = np.arange(len(self.head)) + self.head - self.number
        return np.where(self.head > 0, row, np.where(self.head == 0, ROOT, NO_HEAD))

    def has_label(self, universal_labels: frozenset[str]) -> Flags:
        """[W]: whether the label up to its colon is one of these."""
        return np.array([label in universal_labels for label in self.universal], dtype=np.bool_)


@dataclass(frozen=True)
class ParsedFile:
    """A parsed file beside the gold file; all flags are about the W words of the parsed one."""

    gold: Words
    parsed: Words
    gold_word: Numbers  # [W] aligned with each parsed word, or UNALIGNED
    gold_sentence: Numbers  # [gold W] sentence of each gold word
    parsed_sentence: Numbers  # [W] gold sentence that each parsed word lies in
    gold_text: TokenizedText
    parsed_text: TokenizedText

    @property
    def is_aligned(self) -> Flags:
        """[W]: whether the word is a gold word."""
        return np.not_equal(self.gold_word, UNALIGNED)

    @cached_property
    def head_right(self) -> Flags:
        """[W]: whether word and head are aligned with a gold word and its head."""
        row = self.parsed.head_row
        head = np.where(row >= 0, self.gold_word[np.maximum(row, 0)], row)
        gold_head = self.gold.head_row[self.gold_word]  # of unaligned words: not used
        return np.asarray(self.is_aligned & (head == gold_head) & (head != NO_HEAD))

    def same(self, column: str) -> Flags:
        """[W]: whether the word is aligned, and is in this column as the gold word is."""
        gold, parsed = getattr(self.gold, column), getattr(self.parsed, column)
        return np.asarray(self.is_aligned & (gold[self.gold_word] == parsed))

    def counted_words(self, *, punctuation: bool) -> tuple[Flags, Flags]:
        """[gold W], [W]: the words that count, all of them or all but punctuation.

        An aligned word is punctuation if the gold word is.
        """
        aligned_with = self.gold.punctuation[self.gold_word]
        own = np.where(self.is_aligned, aligned_with, self.parsed.punctuation)
        return ~self.gold.punctuation | punctuation, ~own | punctuation


def parsed_file(gold: Sequence[Sentence], system: Sequence[Sentence]) -> ParsedFile:
    """Align a parsed file with the gold file; TreebankError if its text is another one."""
    alignment = align_words_of_files(gold, system)
    gold_sentence = np.repeat(np.arange(len(gold)), [len(s) for s in gold])
    starts = np.array([word.start for word in alignment.system.words])
    place = np.searchsorted(alignment.gold.ends, starts, side="right")
    place = np.minimum(place, len(gold) - 1)  # a word of spaces starts at the end of the text
    gold_word = alignment.gold_word
    place = np.where(gold_word == UNALIGNED, place, gold_sentence[gold_word])
    words = Words.of(gold), Words.of(system)
    return ParsedFile(*words, gold_word, gold_sentence, place, alignment.gold, alignment.system)


def universal_features(feats: str) -> str:
    """The universal features of a column FEATS, in alphabetical order."""
    found = (pair for pair in feats.split("|") if pair.split("=", 1)[0] in UNIVERSAL_FEATURES)
    return "|".join(sorted(found))


def _row(columns: Any) -> Texts:
    return np.array(list(chain.from_iterable(columns)), dtype=np.object_)


def _require_heads(sentence: Sentence) -> None:
    """TreebankError if a head is not in the sentence."""
    for word, head in enumerate(sentence.head, 1):
        if not NONE <= head <= len(sentence):
            raise TreebankError(
                f"{sentence.place}: head of word {word} is {head}, expected 0..{len(sentence)}"
            )
