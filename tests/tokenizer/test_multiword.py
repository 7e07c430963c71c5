"""How multiword tokens are split."""

from __future__ import annotations

import numpy as np
import pytest

from dyparse.tokenizer._multiword import MultiwordRules, as_written, learn_rules

TRAIN = [
    ("du", ("de", "le")),
    ("du", ("de", "le")),
    ("des", ("de", "les")),
    ("des", ()),
    ("cannot", ("can", "not")),
    ("verlo", ("ver", "lo")),
    ("darlo", ("dar", "lo")),
    ("dárselo", ("dar", "se", "lo")),
    ("comprárselo", ("comprar", "se", "lo")),
    ("can", ()),
    ("gonna", ("gon", "na")),
    ("gonna", ()),
]
RULES = learn_rules(TRAIN)


def split(form: str, cuts: dict[int, float], multiword: float) -> tuple[str, ...]:
    """The words of a token where a word may end after so many characters, with these scores."""
    word_ends = np.full(len(form), -3.0, np.float32)
    for cut, score in cuts.items():
        word_ends[cut - 1] = score
    return RULES.split(form, multiword, word_ends)


@pytest.mark.parametrize(
    ("form", "cuts", "multiword", "words"),
    [
        ("du", {}, -9, "de le"),  # always one
        ("Du", {}, -9, "De le"),
        ("DU", {1: 9}, 1, "DE LE"),
        ("des", {1: 9}, -1, ""),  # both were seen: the network decides
        ("des", {1: -9}, 1, "de les"),
        ("cannot", {}, -9, "can not"),
        ("Cannot", {}, -9, "Can not"),
        ("CANNOT", {}, -9, "CAN NOT"),
        ("can", {1: 9}, 9, ""),  # never split
        ("Can", {1: 9}, 9, ""),
        ("Gonna", {3: -9}, 1, "Gon na"),
        ("gonna", {3: 9}, -1, ""),
        ("can't", {2: 2}, 1, "ca n't"),  # not seen: two opinions
        ("can't", {2: 2}, -1, "ca n't"),
        ("can't", {2: 2}, -3, ""),
        ("can't", {5: 9}, -1, ""),  # the end of the token is no end inside it
        ("can't", {2: 1, 3: 2}, -1, "ca n 't"),
        ("haber", {}, 9, ""),  # nothing known
        ("Mandarlo", {6: -1}, 2, "Mandar lo"),  # the suffix is a cut
        ("Mandarlo", {6: -2}, 1, ""),
        ("mandárselo", {}, 1, "mandar se lo"),
        ("İstanbul'lo", {}, 9, ""),  # longer in lower case
        ("a b", {1: 9}, 9, ""),
        ("x", {1: 9}, 9, ""),
    ],
)
def test_tokens_are_split_as_seen_as_cut_or_by_suffix(form, cuts, multiword, words) -> None:
    assert split(form, cuts, multiword) == tuple(words.split())


def test_without_multiword_tokens_there_is_nothing_to_keep() -> None:
    assert learn_rules([("a", ()), ("b", ())]) == MultiwordRules()


def test_words_that_are_a_cut_keep_the_letters_of_the_token() -> None:
    assert as_written("CanNot", ("can", "not")) == ("Can", "Not")


def test_rules_come_back_from_plain_data() -> None:
    assert MultiwordRules.from_json(RULES.as_json()) == RULES


@pytest.mark.parametrize(
    "damaged",
    [
        None,
        {},
        {"always": {}, "sometimes": {}, "suffixes": {}},
        {"always": {}, "sometimes": {}, "suffixes": [], "whole": []},
        {"always": {}, "sometimes": {}, "suffixes": {}, "whole": "ab"},
        {"always": {}, "sometimes": {}, "suffixes": {}, "whole": {"a": 1}},
        {"always": {}, "sometimes": {}, "suffixes": {}, "whole": ["a", 1]},
        {"always": {"a": ["b"]}, "sometimes": {}, "suffixes": {}, "whole": []},
        {"always": {"a": ["b", ""]}, "sometimes": {}, "suffixes": {}, "whole": []},
        {"always": {"a": ["b", "c\td"]}, "sometimes": {}, "suffixes": {}, "whole": []},
        {"always": {"a": ["b", "c\nd"]}, "sometimes": {}, "suffixes": {}, "whole": []},
        {"always": {"a": ["b", "c\0"]}, "sometimes": {}, "suffixes": {}, "whole": []},
        {"always": {"a": ["b", 1]}, "sometimes": {}, "suffixes": {}, "whole": []},
        {"always": {}, "sometimes": {"a": "bc"}, "suffixes": {}, "whole": []},
        {"always": {}, "sometimes": {}, "suffixes": {"a": ["", ""]}, "whole": []},
        {"always": {"a": ["b"] * 40}, "sometimes": {}, "suffixes": {}, "whole": []},
    ],
)
def test_damaged_rules_are_refused(damaged) -> None:
    with pytest.raises(ValueError, match="multiword"):
        MultiwordRules.from_json(damaged)
