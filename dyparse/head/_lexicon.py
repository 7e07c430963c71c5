"""Lemmas that were seen: training sentences as a dictionary beside the edits of forms."""

import re
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dyparse.data.sentence import Sentence
from dyparse.data.vocabulary import Entries, sorted_entries
from dyparse.head._edits import remembered_lemmas

TAG, LEMMA = "upos", "lemma"  # heads that it goes with
SEPARATOR = "\t"  # no column has one
ENTRY = re.compile(r"[^\t\r\n\0]*\t[^\t\r\n\0]*\t[^\t\r\n\0]+")
MARGIN = 4.0  # of scores, by which an edit to a known lemma may be worse than the best edit


def seen_lemmas(heads: Mapping[str, Entries], sentences: Sequence[Sentence]) -> Entries:
    """Every form with its UPOS and lemma; none unless there are heads for both."""
    if not {TAG, LEMMA} <= heads.keys():
        return ()
    words = (word for s in sentences for word in zip(s.form, s.upos, s.lemma, strict=True))
    return sorted_entries(map(SEPARATOR.join, words))


def require_lemmas(seen: Entries, heads: Mapping[str, Entries]) -> None:
    """ValueError if these are not forms with UPOS and lemma, or no heads go with them."""
    if seen and not {TAG, LEMMA} <= heads.keys():
        raise ValueError(f"lemmas: expected the heads {TAG} and {LEMMA}")
    for entry in seen:
        if not ENTRY.fullmatch(entry):
            raise ValueError(f"lemmas: {entry[:80]!a} is no form with its UPOS and lemma")


class Doubt(NamedTuple):
    """A word whose best lemma is not known."""

    sentence: int
    word: int
    form: str
    known: Set[str]  # lemmas that it may have
    is_seen: bool  # it has one of them


class Lexicon:
    """Lemmas of the training sentences, by word and by tag.

    A word that was seen with its tag has one of the lemmas that it had there. Any other word has
    the best one that was seen with the tag, if the edit to it is good enough; else the best of all.
    """

    def __init__(self, seen: Entries, edits: Entries) -> None:
        self.of_word: dict[tuple[str, str], set[str]] = {}
        self.of_tag: dict[str, set[str]] = {}
        for form, tag, lemma in (entry.split(SEPARATOR) for entry in seen):
            self.of_word.setdefault((form, tag), set()).add(lemma)
            self.of_tag.setdefault(tag, set()).add(lemma)
        self.edited = remembered_lemmas(edits)

    def correct(
        self,
        sentences: Sequence[Sentence],
        columns: Sequence[dict[str, Any]],
        scores_of: Callable[[Sequence[tuple[int, int]]], NDArray[np.float32]],
    ) -> None:
        """Replace lemmas that are not known in the columns that are predicted for sentences.

        `scores_of` returns the scores [R, edits] of some words, by sentence and word from 0.
        """
        doubts = self._doubts(sentences, columns) if self.of_word else []
        if not doubts:
            return
        for doubt, scores in zip(doubts, scores_of([doubt[:2] for doubt in doubts]), strict=True):
            if lemma := self._best_known(doubt, scores):
                columns[doubt.sentence][LEMMA][doubt.word] = lemma

    def _doubts(
        self, sentences: Sequence[Sentence], columns: Sequence[dict[str, Any]]
    ) -> list[Doubt]:
        doubts = []
        for number, (sentence, of_sentence) in enumerate(zip(sentences, columns, strict=True)):
            words = zip(sentence.form, of_sentence[TAG], of_sentence[LEMMA], strict=True)
            for k, (form, tag, lemma) in enumerate(words):
                seen = self.of_word.get((form, tag))
                known = seen or self.of_tag.get(tag)
                if known and lemma not in known:
                    doubts.append(Doubt(number, k, form, known, is_seen=seen is not None))
        return doubts

    def _best_known(self, doubt: Doubt, scores: NDArray[np.float32]) -> str:
        """The known lemma whose edit scores best; empty if none is good enough."""
        if doubt.is_seen and len(doubt.known) == 1:
            return next(iter(doubt.known))
        good = np.flatnonzero(doubt.is_seen | (scores > scores.max() - MARGIN))
        ranked = good[np.argsort(-scores[good], kind="stable")].tolist()
        found = (self.edited[doubt.form, number] for number in ranked)
        none = min(doubt.known) if doubt.is_seen else ""  # its edits may be rare ones
        return next((lemma for lemma in found if lemma in doubt.known), none)
