"""The rule-based tokenizer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dyparse.data.tokenizer import tokenize


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The dog barks.", "The dog barks ."),
        ("Don't worry, it's 40% off!", "Don't worry , it's 40% off !"),
        ("It costs 1,000.50 at 12:30.", "It costs 1,000.50 at 12:30 ."),
        ("My mother-in-law (from Łódź)...", "My mother-in-law ( from Łódź ) ..."),
        ('He said: "no" -- twice', 'He said : " no " -- twice'),
        ("«Да», сказал он…", "« Да » , сказал он …"),
        ("  spaces\taround \n", "spaces around"),
        ("don’t", "don’t"),
    ],
)
def test_words_numbers_and_punctuation_are_separated(text, words):
    assert tokenize(text)[0] == words.split()


def test_white_space_after_each_word_is_recorded():
    assert tokenize("Yes, (no) .") == (
        ["Yes", ",", "(", "no", ")", "."],
        [False, True, False, False, True, True],
    )


def test_blank_text_has_no_words():
    assert tokenize(" \t\n") == ([], [])


@given(st.text())
def test_only_white_space_is_lost_and_no_word_contains_any(text):
    words, spaces = tokenize(text)
    assert "".join(words) == "".join(text.split())
    assert len(spaces) == len(words)
    assert all(word and not any(c.isspace() for c in word) for word in words)
    glued = "".join(word + " " * space for word, space in zip(words, spaces, strict=True))
    assert glued.split() == text.split()


@pytest.mark.parametrize("word", ["3rd", "1990s", "4x4", "5km", "2nd-hand"])
def test_a_word_that_begins_with_a_digit_is_one_word(word):
    assert tokenize(f"a {word} b")[0] == ["a", word, "b"]
