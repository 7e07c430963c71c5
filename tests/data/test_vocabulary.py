"""Vocabularies on disk: what is written is read again, and nothing else is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyparse.data.vocabulary import (
    PADDING,
    RESERVED,
    ROOT,
    UNKNOWN,
    Vocabulary,
    numbered,
    sorted_entries,
)

ENTRIES = st.lists(st.text(min_size=1)).map(sorted_entries)


def text_of(features, heads, analyses=(), lemmas=()):
    parts = {"features": features, "heads": heads, "analyses": analyses, "lemmas": lemmas}
    return json.dumps(parts)


def test_numbers_begin_after_the_reserved_ones():
    assert sorted({PADDING, UNKNOWN, ROOT}) == list(range(RESERVED))
    assert numbered(("a", "b")) == {"a": RESERVED, "b": RESERVED + 1}


@given(
    st.dictionaries(st.text(), ENTRIES, max_size=3),
    st.dictionaries(st.text(), ENTRIES),
    ENTRIES,
    ENTRIES,
)
def test_json_gives_the_same_vocabulary_back(features, heads, analyses, lemmas):
    vocabulary = Vocabulary(features, heads, analyses, lemmas)
    try:
        text = vocabulary.to_json()
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate cannot be written at all
        return
    assert Vocabulary.from_json(text) == vocabulary


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        json.dumps({"features": {}}),
        json.dumps({"features": {}, "heads": {}}),
        json.dumps({"features": {}, "heads": {}, "analyses": []}),
        json.dumps({"features": {}, "heads": {}, "analyses": [], "lemmas": [], "more": {}}),
        text_of({}, {}, {}),
        text_of({}, {}, ["b", "a"]),
        text_of({}, {}, (), ["b", "a"]),
        text_of({}, {}, (), "a"),
        text_of({}, {}, [1]),
        text_of([], {}),
        text_of({}, "abc"),
        text_of({"word": "abc"}, {}),
        text_of({}, {"labels": ["a", 1]}),
        text_of({"upos": None}, {}),
        text_of({"upos": ["b", "a"]}, {}),
        text_of({}, {"labels": ["a", "a"]}),
        text_of({"word": ["a", "\ud800"]}, {}),
    ],
)
def test_other_json_is_refused(text):
    with pytest.raises(ValueError, match=r"expected|Expecting|must be|surrogates not allowed"):
        Vocabulary.from_json(text)
