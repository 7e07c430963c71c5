"""Vocabularies: what is known, what is not, and the parts of words."""

import json
import zlib
from dataclasses import asdict

import pytest
from helpers.tiny import sample
from hypothesis import given
from hypothesis import strategies as st

from dyparse.data.sentence import Sentence
from dyparse.data.vocabulary import (
    LONGEST_FORM,
    PADDING,
    RESERVED,
    ROOT,
    UNKNOWN,
    Vocabulary,
    shape,
    shortened,
    subwords,
)

WORDS = Sentence.from_words(
    ["The", "the", "dog", "Žák"],
    upos=["DET", "DET", "NOUN", "PROPN"],
    xpos=["DT", "DT", "NN", "NNP"],
    feats=["_", "Definite=Def|PronType=Art", "Number=Sing", "Case=Nom|Number=Sing"],
).with_tree([3, 3, 0, 3], ["det", "det", "root", "flat"])
NAMES = sorted(asdict(Vocabulary.from_sentences([WORDS])))


def test_entries_are_what_the_sentences_hold():
    vocabulary = Vocabulary.from_sentences([WORDS])
    assert vocabulary.words == ("the",)  # the only one seen twice, whatever its case
    assert vocabulary.characters == tuple(sorted(set("ThethedogŽák")))
    assert vocabulary.upos == ("DET", "NOUN", "PROPN")
    assert vocabulary.xpos == ("DT", "NN", "NNP")
    assert vocabulary.feats == (
        "Case=Nom",
        "Definite=Def",
        "Number=Sing",
        "PronType=Art",
        "_",
    )
    assert vocabulary.labels == ("det", "flat", "root")


def test_words_seen_less_than_min_frequency_are_unknown():
    once = Vocabulary.from_sentences([WORDS], min_frequency=1)
    assert once.words == ("dog", "the", "žák")
    assert Vocabulary.from_sentences([WORDS], min_frequency=3).words == ()


def test_numbers_begin_after_the_reserved_ones_and_labels_at_zero():
    vocabulary = Vocabulary.from_sentences([WORDS], min_frequency=1)
    assert len({PADDING, UNKNOWN, ROOT}) == RESERVED
    assert max(PADDING, UNKNOWN, ROOT) < RESERVED
    for numbers in (
        vocabulary.word_number,
        vocabulary.character_number,
        vocabulary.upos_number,
        vocabulary.xpos_number,
        vocabulary.feature_number,
    ):
        assert sorted(numbers.values()) == list(range(RESERVED, RESERVED + len(numbers)))
    assert vocabulary.label_number == {"det": 0, "flat": 1, "root": 2}


def test_the_order_of_the_sentences_does_not_matter():
    sentences = sample("train")[:200]
    assert Vocabulary.from_sentences(sentences) == Vocabulary.from_sentences(sentences[::-1])


def test_json_gives_the_same_vocabulary_back():
    vocabulary = Vocabulary.from_sentences(sample("train"))
    assert Vocabulary.from_json(vocabulary.to_json()) == vocabulary


@given(st.lists(st.text(min_size=1), min_size=5, max_size=5))
def test_json_keeps_every_character(entries):
    vocabulary = Vocabulary(*((entry,) for entry in entries), labels=("dep", "ä:\u2028"))
    assert Vocabulary.from_json(vocabulary.to_json()) == vocabulary


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        json.dumps({name: [] for name in NAMES[1:]}),
        json.dumps({name: [] for name in NAMES} | {"more": []}),
        json.dumps({name: [] for name in NAMES} | {"words": "abc"}),
        json.dumps({name: [] for name in NAMES} | {"labels": ["a", 1]}),
        json.dumps({name: [] for name in NAMES} | {"upos": None}),
    ],
)
def test_other_json_is_refused(text):
    with pytest.raises(ValueError, match=r"expected|Expecting|must be"):
        Vocabulary.from_json(text)


SOUND = {name: ["a", "b"] for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("entries", [["b", "a"], ["a", "a"], ["a", "\ud800"]])
def test_entries_out_of_order_given_twice_or_no_unicode_are_refused(name, entries):
    assert Vocabulary.from_json(json.dumps(SOUND))
    with pytest.raises(ValueError, match=r"must be sorted|surrogates not allowed"):
        Vocabulary.from_json(json.dumps(SOUND | {name: entries}))


@pytest.mark.parametrize("label", ["", "_", "a\tb", "a\n", "\r", "a\0b"])
def test_labels_that_would_break_a_line_of_conllu_are_refused(label):
    with pytest.raises(ValueError, match="cannot be written"):
        Vocabulary.from_json(json.dumps(SOUND | {"labels": [label]}))
    with pytest.raises(ValueError, match="must not be empty"):
        Vocabulary.from_json(json.dumps(SOUND | {"labels": []}))


def slow_subwords(form, buckets):
    """The parts of a short word as the docstring lists them, hashed with CRC-32."""
    lower = form.lower()
    parts = ["w" + lower, "s" + shape(form)]
    parts += ["p" + lower[:k] for k in (1, 2, 3, 4) if k <= len(lower)]
    parts += ["e" + lower[-k:] for k in (1, 2, 3, 4) if k <= len(lower)]
    padded = "<" + lower + ">"
    parts += [padded[i:j] for i in range(len(padded)) for j in (i + 3, i + 4) if j <= len(padded)]
    return sorted(zlib.crc32(part.encode()) % buckets for part in set(parts))


@pytest.mark.parametrize("form", ["a", "ab", "Dogs", "don't", "1,000", "Straße", "日本"])
def test_subwords_are_affixes_ngrams_the_word_and_its_shape(form):
    assert subwords(form, 10_000) == slow_subwords(form, 10_000)
    assert all(0 <= number < 7 for number in subwords(form, 7))


def test_words_that_look_alike_share_subwords_and_case_only_changes_the_shape():
    forms = ("walking", "talking", "Walking", "bet")
    parts = {form: set(subwords(form, 10**9)) for form in forms}
    assert len(parts["walking"] & parts["talking"]) >= 8
    assert parts["walking"] & parts["bet"] == {zlib.crc32(b"sx") % 10**9}  # the shape
    assert len(parts["walking"] ^ parts["Walking"]) == 2


@given(st.text(st.characters(), min_size=1, max_size=200))
def test_any_word_has_a_bounded_number_of_subwords(form):
    numbers = subwords(form, 50)
    assert 0 < len(numbers) < 5 * LONGEST_FORM
    assert all(0 <= number < 50 for number in numbers)


def test_a_very_long_word_keeps_its_beginning_and_its_end():
    form = "a" * 20 + "middle" + "b" * 20
    assert shortened(form) == "a" * 20 + "b" * 20
    assert shortened("c" * LONGEST_FORM) == "c" * LONGEST_FORM
    assert subwords(form, 1000) == subwords("a" * 20 + "other" * 30 + "b" * 20, 1000)


@pytest.mark.parametrize(
    ("form", "expected"),
    [("McDonald's-7", "XxXx'x-d"), ("USA", "X"), ("1.5", "d.d"), ("a", "x"), ("...", ".")],
)
def test_shape_is_the_kinds_of_characters_without_repetitions(form, expected):
    assert shape(form) == expected
