"""How multiword tokens are split."""

from __future__ import annotations

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
]
RULES = learn_rules(TRAIN)


@pytest.mark.parametrize(
    ("form", "cuts", "is_multiword", "words"),
    [
        ("du", [], False, "de le"),  # always one
        ("Du", [], False, "De le"),
        ("DU", [1], True, "DE LE"),
        ("des", [], False, ""),  # the network decides
        ("des", [], True, "de les"),
        ("Cannot", [], False, "Can not"),
        ("CANNOT", [], False, "CAN NOT"),
        ("can't", [2], True, "ca n't"),
        ("can't", [2], False, ""),
        ("haber", [], True, ""),  # nothing known
        ("Mandarlo", [], True, "Mandar lo"),
        ("mandárselo", [], True, "mandar se lo"),
        ("İstanbul'lo", [], True, ""),  # longer in lower case
        ("a b", [1], True, ""),
    ],
)
def test_tokens_are_split_as_seen_as_cut_or_by_suffix(form, cuts, is_multiword, words) -> None:
    assert RULES.split(form, cuts, is_multiword=is_multiword) == tuple(words.split())


def test_words_that_are_a_cut_keep_the_letters_of_the_token() -> None:
    assert as_written("CanNot", ("can", "not")) == ("Can", "Not")


def test_rules_come_back_from_plain_data() -> None:
    assert MultiwordRules.from_json(RULES.as_json()) == RULES


@pytest.mark.parametrize(
    "damaged",
    [
        None,
        {},
        {"always": {}, "sometimes": {}, "suffixes": []},
        {"always": {"a": ["b"]}, "sometimes": {}, "suffixes": {}},
        {"always": {"a": ["b", ""]}, "sometimes": {}, "suffixes": {}},
        {"always": {"a": ["b", "c\td"]}, "sometimes": {}, "suffixes": {}},
        {"always": {"a": ["b", "c\nd"]}, "sometimes": {}, "suffixes": {}},
        {"always": {"a": ["b", "c\0"]}, "sometimes": {}, "suffixes": {}},
        {"always": {"a": ["b", 1]}, "sometimes": {}, "suffixes": {}},
        {"always": {}, "sometimes": {"a": "bc"}, "suffixes": {}},
        {"always": {}, "sometimes": {}, "suffixes": {"a": ["", ""]}},
        {"always": {"a": ["b"] * 40}, "sometimes": {}, "suffixes": {}},
    ],
)
def test_damaged_rules_are_refused(damaged) -> None:
    with pytest.raises(ValueError, match="multiword"):
        MultiwordRules.from_json(damaged)
