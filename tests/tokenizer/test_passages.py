"""Texts in pieces: the pieces do not matter, and memory is bounded."""

from __future__ import annotations

import random
import tracemalloc

import pytest
from helpers.random_text import TEXTS
from helpers.tiny import sample
from hypothesis import given, settings
from hypothesis import strategies as st

from dyparse.tokenizer import Token, Tokenizer, restored_text, tokenize
from dyparse.tokenizer import _passages as passages
from dyparse.tokenizer.plain import Plain


@pytest.fixture
def short_passages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long texts in small: everything that is cut at some length is cut soon."""
    monkeypatch.setattr(passages, "LONGEST", 60)
    monkeypatch.setattr(passages, "NEAR", 20)
    monkeypatch.setattr(passages, "PER_BATCH", 100)


def lines_of(tokenizer: Tokenizer, text: str | list[str]) -> list[list[str]]:
    return [sentence.lines for sentence in tokenize(tokenizer, text)]


def cut_at_random(text: str, seed: int) -> list[str]:
    places = sorted(random.Random(seed).choices(range(len(text) + 1), k=len(text) // 7))
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


@pytest.mark.usefixtures("short_passages")
def test_sentences_do_not_depend_on_the_pieces_of_a_text(tokenizer: Tokenizer) -> None:
    text = restored_text(sample("dev")[:40])
    whole = lines_of(tokenizer, text)
    assert lines_of(tokenizer, list(text)) == whole
    for seed in range(3):
        assert lines_of(tokenizer, cut_at_random(text, seed)) == whole


@pytest.mark.usefixtures("short_passages")
def test_random_texts_do_not_depend_on_pieces_and_are_restored() -> None:
    @settings(max_examples=100, deadline=None)
    @given(st.lists(TEXTS, max_size=8).map("".join), st.integers(0, 99))
    def check(text: str, seed: int) -> None:
        whole = list(tokenize(Plain(), text))
        assert restored_text(whole) == (text if text.strip() else "")
        assert lines_of(Plain(), cut_at_random(text, seed)) == [s.lines for s in whole]

    check()


def test_a_long_paragraph_has_the_sentences_of_short_ones() -> None:
    sentence = "The dog, which was old, barked at Mr. Smith. "
    found = list(tokenize(Plain(), sentence * 2000))
    assert {tuple(s.form) for s in found} == {tuple(s.form) for s in tokenize(Plain(), sentence)}
    assert sum("# newpar\n" in s.lines for s in found) == 1


@pytest.mark.parametrize("unit", ["word ", "a", "e\u0301", " ", "\n", "yes.\n\n", "x" * 99 + "\t"])
def test_texts_without_sentences_are_cut_and_restored(tokenizer: Tokenizer, unit: str) -> None:
    text = "a" + unit * (40_000 // len(unit))
    assert restored_text(tokenize(tokenizer, text)) == text


def test_a_stream_is_read_in_constant_memory(
    tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passages, "LONGEST", 2000)
    monkeypatch.setattr(passages, "PER_BATCH", 4000)

    def peak(count: int) -> int:
        paragraph = "One sentence of some words. Another one, quite like it!\n" * 10 + "\n"
        tracemalloc.start()
        n_sentences = sum(1 for _ in tokenize(tokenizer, (paragraph for _ in range(count))))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert n_sentences == 20 * count
        return most

    peak(10)  # compiles the rules and kernels
    assert peak(100) < 1.2 * peak(30)


def test_spans_cover_all_that_is_visible(tokenizer: Tokenizer) -> None:
    text = restored_text(sample("dev")[:20])
    (sentences,) = tokenizer.sentences([text])
    tokens = [token for tokens in sentences for token in tokens]
    assert all(isinstance(token, Token) and token.start < token.end for token in tokens)
    gaps = zip([0, *(t.end for t in tokens)], [*(t.start for t in tokens), len(text)], strict=True)
    assert all(start <= end and not text[start:end].strip() for start, end in gaps)
