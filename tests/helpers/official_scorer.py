"""The official scorer of CoNLL 2018, as the package udtools has it."""

from __future__ import annotations

import io

import pytest
from udtools import udeval

from dyparse.data.conllu import read_sentences
from dyparse.data.sentence import Sentence
from dyparse.evaluation.conll18.scores import TITLES, conll18_scores

FIGURES = ("precision", "recall", "f1", "aligned_accuracy")


def read(text: str) -> list[Sentence]:
    """The sentences of CoNLL-U text."""
    return list(read_sentences(io.StringIO(text), trees=True))


def official_scores(gold: str, system: str) -> dict[str, dict[str, float | None]]:
    """All figures of CoNLL-U texts, in percent, by the names of our table."""
    loaded = [udeval.load_conllu(io.StringIO(text), "", {}) for text in (gold, system)]
    found = udeval.evaluate(*loaded)
    return {
        name: {figure: _percent(getattr(found[title], figure)) for figure in FIGURES}
        for name, title in TITLES.items()
    }


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value


def assert_scores_are_official(gold: str, system: str) -> dict[str, float]:
    """Compare every figure of every metric; the F1 of our table."""
    ours = conll18_scores(read(gold), read(system))
    for name, theirs in official_scores(gold, system).items():
        figures = {figure: ours.to_dict()[name][figure] for figure in FIGURES}
        assert figures == pytest.approx(theirs, abs=1e-9), name
    return ours.f1()
