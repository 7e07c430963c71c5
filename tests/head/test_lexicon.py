"""Lemmas of the training sentences, where the best edit of a form gives one that is not known."""

import json
import shutil

import numpy as np
import pytest
from helpers.saved_models import forge
from helpers.tiny import fresh_parser, sample

from dyparse.data.sentence import Sentence
from dyparse.errors import CheckpointError
from dyparse.head._edits import Edit
from dyparse.head._lexicon import MARGIN, Lexicon, require_lemmas, seen_lemmas
from dyparse.model.parser import Parser

EDITS = tuple(sorted(str(Edit("lower", 0, cut)) for cut in range(4)))  # by how much they cut
SEEN = ("Dogs\tNOUN\tdog", "barking\tNOUN\tbarking", "barks\tVERB\tbark", "left\tVERB\tleave")
HEADS = ("labels", "upos", "lemma")


def corrected(words, lemmas, scores, seen=SEEN):
    """The lemmas of (form, UPOS) pairs, predicted with these scores [words, EDITS]."""
    forms, tags = map(list, zip(*words, strict=True))
    columns = [{"upos": ["X"], "lemma": ["kept"]}, {"upos": tags, "lemma": list(lemmas)}]
    sentences = [Sentence.from_words(["other"]), Sentence.from_words(forms)]
    asked = []

    def scores_of(places):
        asked.extend(places)
        return np.array(scores, np.float32)[[word for _, word in places]]

    Lexicon(seen, EDITS).correct(sentences, columns, scores_of)
    assert columns[0]["lemma"] == ["kept"]
    return columns[1]["lemma"], asked


def test_a_word_that_was_seen_with_its_tag_has_its_lemma_though_no_edit_gives_it():
    words = [("left", "VERB"), ("left", "ADJ")]
    lemmas, _ = corrected(words, ["lef", "left"], [[0, 9, 0, 0], [9, 0, 0, 0]])
    assert lemmas == ["leave", "left"]


def test_of_several_lemmas_that_a_word_had_the_best_is_taken():
    seen = ("saws\tX\tsa", "saws\tX\tsaw")
    for scores, expected in (([9, 1, 2, 0], "sa"), ([9, 2, 1, 0], "saw")):
        assert corrected([("saws", "X")], ["saws"], [scores], seen)[0] == [expected]
    assert corrected([("saws", "X")], ["sa"], [[9, 2, 1, 0]], seen)[0] == ["sa"]  # as predicted


@pytest.mark.parametrize(("below", "expected"), [(0.9, "dog"), (1.1, "dogs")])
def test_a_known_lemma_wins_unless_its_edit_is_much_worse(below, expected):
    scores = [[0, -MARGIN * below, -9, -9]]
    assert corrected([("dogs", "NOUN")], ["dogs"], scores)[0] == [expected]


def test_a_lemma_is_known_with_its_tag_only():
    scores = [[0, -1, -9, -9]]
    assert corrected([("dogs", "VERB")], ["dogs"], scores)[0] == ["dogs"]
    assert corrected([("dogs", "PROPN")], ["dogs"], scores)[0] == ["dogs"]


def test_scores_are_asked_for_only_where_the_lemma_is_not_known():
    words = [("dog", "NOUN"), ("Dogs", "NOUN"), ("bark", "VERB"), ("barked", "VERB")]
    lemmas, asked = corrected(words, ["dog", "dog", "bark", "barke"], [[0, -2, -3, -9]] * 4)
    assert (lemmas, asked) == (["dog", "dog", "bark", "bark"], [(1, 3)])


def test_seen_are_forms_with_upos_and_lemma_if_there_are_heads_for_both():
    sentence = Sentence.from_words(["a", "b", "a"]).with_columns(
        {"upos": ["X", "Y", "X"], "lemma": ["l", "_", "l"]}
    )
    heads = dict.fromkeys(HEADS, ("x",))
    assert seen_lemmas(heads, [sentence]) == ("a\tX\tl", "b\tY\t_")
    for head in ("upos", "lemma"):
        assert seen_lemmas({h: heads[h] for h in heads if h != head}, [sentence]) == ()


@pytest.mark.parametrize("wrong", ["", "a\tX", "a\tX\t", "a\tX\tl\tm", "a\tX\tl\n", "a\tX\t\0"])
def test_other_entries_are_refused(wrong):
    require_lemmas(SEEN, dict.fromkeys(HEADS, ("x",)))
    with pytest.raises(ValueError, match="is no form with its UPOS and lemma"):
        require_lemmas((wrong,), dict.fromkeys(HEADS, ("x",)))


def test_lemmas_without_their_heads_are_refused():
    with pytest.raises(ValueError, match="lemmas: expected the heads upos and lemma"):
        require_lemmas(SEEN, {"labels": ("root",), "lemma": EDITS})


@pytest.fixture(scope="module")
def parser(tmp_path_factory):
    """A parser with random weights, saved; it knows the words of the sentences that it parses."""
    directory = tmp_path_factory.mktemp("model")
    fresh_parser(sample("test")[:20], heads=HEADS, layers=2).save(directory, {})
    return directory


@pytest.mark.parametrize("precision", ["float32", "auto"])
def test_words_of_the_training_sentences_get_a_lemma_that_they_had(parser, precision):
    test = sample("test")[:20]
    parsed = Parser.load(parser, precision=precision, keep=["upos"]).parse(test)
    had = set(Parser.load(parser).vocabulary.lemmas)
    words = (w for s in parsed for w in zip(s.form, s.upos, s.lemma, strict=True))
    assert {"\t".join(word) for word in words} <= had


@pytest.mark.parametrize("precision", ["float32", "auto"])
def test_scores_are_those_that_the_lemmas_were_predicted_from(parser, precision, monkeypatch):
    best, predicted = [], []

    def listening(lexicon, sentences, columns, scores_of):
        words = [(k, w) for k, s in enumerate(sentences) for w in range(len(s))]
        forms = (sentences[k].form[w] for k, w in words)
        scores = scores_of(words)
        assert scores.shape[1] == len(loaded.vocabulary.heads["lemma"])
        numbers = scores.argmax(-1).tolist()
        best.extend(lexicon.edited[word] for word in zip(forms, numbers, strict=True))
        predicted.extend(columns[k]["lemma"][w] for k, w in words)

    monkeypatch.setattr(Lexicon, "correct", listening)
    loaded = Parser.load(parser, precision=precision)
    loaded.parse_batch(sample("test")[:20])
    assert best == predicted
    assert len(best) > 100


@pytest.mark.parametrize("precision", ["float32", "auto"])
def test_a_lexicon_that_would_spoil_lines_is_refused(parser, tmp_path, precision):
    saved = shutil.copytree(parser, tmp_path / "model")
    vocabulary = json.loads((saved / "vocabulary.json").read_text())
    vocabulary["lemmas"][-1] += "\n"
    (saved / "vocabulary.json").write_text(json.dumps(vocabulary))
    forge(saved)
    with pytest.raises(CheckpointError, match="is no form with its UPOS and lemma"):
        Parser.load(saved, precision=precision)


def test_lemmas_that_are_kept_stay_though_they_are_not_known(parser):
    (sentence,) = sample("test")[:1]
    given = sentence.with_columns({"lemma": ["unheard-of", *["_"] * (len(sentence) - 1)]})
    parsed = Parser.load(parser, keep=["lemma"]).parse([given])[0]
    assert parsed.lemma[0] == "unheard-of"
    assert "_" not in parsed.lemma[1:]
