"""Lemmas by edits of forms: what is learned from pairs, and what is made of unseen forms."""

import pytest
from helpers.tiny import sample
from hypothesis import given
from hypothesis import strategies as st

from dyparse.data.sentence import Sentence
from dyparse.head._edits import Edit, edit_between
from dyparse.head._tag_head import LemmaHead
from dyparse.head.lemma import Lemma

WORDS = st.text(st.characters(exclude_categories=("Cs", "Cc", "Z")), min_size=1, max_size=8)


def lemma_of(form: str, edit: str) -> str:
    head = LemmaHead(2, (edit,), fed=0)
    return head.lemmas[form, 0]


@pytest.mark.parametrize(
    ("form", "lemma", "unseen", "expected"),
    [
        ("dogs", "dog", "cats", "cat"),
        ("Dogs", "dog", "CATS", "cat"),
        ("London", "London", "Paris", "Paris"),
        ("gemacht", "machen", "gelacht", "lachen"),
        ("US", "US", "UN", "UN"),
        ("paris", "Paris", "london", "London"),
        ("usa", "USA", "uno", "UNO"),
        ("went", "go", "was", "go"),  # nothing in common: a class of its own
        ("İstanbul'da", "İstanbul", "İzmir'de", "İzmir"),
    ],
)
def test_an_edit_learned_from_one_form_serves_others(form, lemma, unseen, expected):
    edit = edit_between(form, lemma)
    assert lemma_of(form, edit) == lemma
    assert lemma_of(unseen, edit) == expected


@given(WORDS, WORDS)
def test_the_edit_of_any_pair_gives_the_lemma_back(form, lemma):
    edit = edit_between(form, lemma)
    assert lemma_of(form, edit) == lemma
    if not edit.startswith("="):
        assert str(Edit.parse(edit)) == edit


def test_a_form_that_is_too_short_is_its_own_lemma():
    edit = str(Edit("lower", 2, 3))
    assert lemma_of("Word", edit) == "Word"
    assert lemma_of("Words", edit) == "Words"
    assert lemma_of("Wordss", edit) == "r"


@pytest.mark.parametrize("text", ["", "lower", "lower 1", "raise 0 0 0 ", f"keep {'9' * 5} 0 0 "])
def test_other_text_is_no_edit(text):
    with pytest.raises(ValueError, match="is no edit of a form"):
        LemmaHead(2, (text,), fed=0)


def test_rare_edits_are_not_learned_and_their_words_have_no_target():
    train = sample("train")[:50]
    often, all_of_them = Lemma(least=3).entries(train), Lemma(least=1).entries(train)
    assert set(often) < set(all_of_them)
    odd = Sentence.from_words(["qwertz", "dogs"]).with_columns({"lemma": ["zzz", "dog"]})
    head = Lemma().build(2, often, hidden=1, dropout=0.0)
    assert head.n_targets(odd) == 1
    assert [number >= 0 for number in head.targets([odd])[0]] == [False, False, True]
