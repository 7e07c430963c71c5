"""Features: vocabularies from sentences, and columns as arrays."""

import zlib

import numpy as np
import pytest
from helpers.tiny import sample
from hypothesis import given
from hypothesis import strategies as st

from dyparse.config import choices
from dyparse.data.batch import Collator, n_words
from dyparse.data.sentence import Sentence
from dyparse.data.vocabulary import PADDING, ROOT, UNKNOWN, numbered
from dyparse.feature import LONGEST_FORM, load_features, missing_columns, shortened
from dyparse.feature.subword import shape, subwords

NAMES = choices.names("feature")
BUCKETS = 300
TRAIN = sample("train")[:60]
STRANGE = Sentence.from_words(
    ["Zzyzx", "的", "x" * 90],
    upos=["NEW", "NOUN", "_"],
    xpos=["??", "_", "_"],
    feats=["New=Yes", "Number=Sing|New=Yes", "_"],
)
SENTENCES = [*TRAIN[:3], STRANGE, TRAIN[3]]
WORDS = Sentence.from_words(
    ["The", "the", "dog", "Žák"],
    upos=["DET", "DET", "NOUN", "PROPN"],
    xpos=["DT", "DT", "NN", "NNP"],
    feats=["_", "Definite=Def|PronType=Art", "Number=Sing", "Case=Nom|Number=Sing"],
)


def choice_of(text):
    return choices.load("feature", text)


def built(text):
    """The feature with the vocabulary of TRAIN, its arrays of SENTENCES, and its entries."""
    choice = choice_of(text)
    entries = choice.entries(TRAIN)
    feature = choice.build(entries)
    return feature, feature.arrays(SENTENCES, n_words(SENTENCES)), numbered(entries)


def numbers_in(bags, b, token):
    """The numbers of one token's bag."""
    offsets = [*bags.offsets.tolist(), len(bags.numbers)]
    entry = int(bags.entry[b, token])
    return bags.numbers[offsets[entry] : offsets[entry + 1]].tolist()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("word", ("the",)),  # the only one seen twice, whatever its case
        ("word:min_frequency=1", ("dog", "the", "žák")),
        ("word:min_frequency=3", ()),
        ("subword", ()),
        ("character", tuple(sorted(set("ThethedogŽák")))),
        ("upos", ("DET", "NOUN", "PROPN")),
        ("xpos", ("DT", "NN", "NNP")),
        ("feats", ("Case=Nom", "Definite=Def", "Number=Sing", "PronType=Art", "_")),
    ],
)
def test_entries_are_what_the_sentences_hold(name, expected):
    assert choice_of(name).entries([WORDS]) == expected


@pytest.mark.parametrize("name", NAMES)
def test_entries_do_not_depend_on_the_order_and_numbers_stay_below_the_size(name):
    choice = choice_of(name)
    assert choice.entries(TRAIN) == choice.entries(TRAIN[::-1])
    feature, arrays, _ = built(name)
    numbers = arrays if isinstance(arrays, np.ndarray) else arrays.numbers
    assert 0 <= numbers.min() <= numbers.max() < feature.size
    assert feature.name == name


@pytest.mark.parametrize("name", ["word", "upos", "xpos"])
def test_words_and_tags_are_numbers_with_the_root_first_and_padding_last(name):
    feature, arrays, numbers = built(name)
    for b, sentence in enumerate(SENTENCES):
        column = getattr(sentence, feature.column)
        values = [value.lower() for value in column] if name == "word" else column
        expected = [ROOT, *(numbers.get(value, UNKNOWN) for value in values)]
        padding = [PADDING] * (arrays.shape[1] - len(expected))
        assert arrays[b].tolist() == expected + padding
    assert (arrays == UNKNOWN).any()
    assert (arrays == PADDING).any()


def test_every_token_has_the_bag_of_its_own_subwords():
    _, bags, _ = built(f"subword:buckets={BUCKETS}")
    for b, sentence in enumerate(SENTENCES):
        assert numbers_in(bags, b, 0) == [BUCKETS]  # the root's own
        for w, form in enumerate(sentence.form, 1):
            assert sorted(numbers_in(bags, b, w)) == subwords(form, BUCKETS)


def test_every_token_has_the_bag_of_its_own_morphological_features():
    _, bags, numbers = built("feats")
    for b, sentence in enumerate(SENTENCES):
        assert numbers_in(bags, b, 0) == [ROOT]
        for w, value in enumerate(sentence.feats, 1):
            assert numbers_in(bags, b, w) == [numbers.get(f, UNKNOWN) for f in value.split("|")]


def test_every_token_has_the_characters_of_its_own_form():
    _, sequences, numbers = built("character")
    for b, sentence in enumerate(SENTENCES):
        for w, form in enumerate(sentence.form, 1):
            row = sequences.numbers[sequences.entry[b, w]].tolist()
            expected = [numbers.get(character, UNKNOWN) for character in shortened(form)]
            assert row == expected + [PADDING] * (len(row) - len(expected))
        assert sequences.numbers[sequences.entry[b, 0]].tolist()[:2] == [ROOT, PADDING]


def test_a_second_batch_is_not_changed_by_the_first():
    features = [choice.build(choice.entries(TRAIN)) for choice in load_features(NAMES, "x")]
    again, fresh = (
        Collator(features),
        [c.build(c.entries(TRAIN)) for c in load_features(NAMES, "x")],
    )
    again.batch(TRAIN)
    for one, other in zip(
        again.batch(SENTENCES).features.values(),
        Collator(fresh).batch(SENTENCES).features.values(),
        strict=True,
    ):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["word", "word"], "each once"),
        (["subword", "subword:buckets=5"], "each once"),
        (["word", "tag"], "no feature 'tag'"),
        (["subword:buckets=0"], "buckets is 0"),
        (["word:size=3"], "has no option 'size'"),
    ],
)
def test_wrong_features_are_refused_by_the_name_of_the_option(texts, message):
    with pytest.raises(ValueError, match=rf"encoder\.features.*{message}"):
        load_features(texts, "encoder.features")


def test_columns_that_all_sentences_lack_are_missing():
    features = [choice.build(()) for choice in load_features(["word", "upos", "xpos"], "x")]
    bare = Sentence.from_words(["a", "b"])
    tagged = Sentence.from_words(["a", "b"], upos=["_", "X"])
    assert missing_columns(features, [bare, bare]) == ["UPOS", "XPOS"]
    assert missing_columns(features, [bare, tagged]) == ["XPOS"]
    assert missing_columns(features[:1], [bare]) == []


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
