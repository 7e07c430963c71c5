"""Tags of a word are chosen among the combinations that the training sentences have."""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pytest
from helpers.tiny import fresh_parser, model_config, sample
from hypothesis import given
from hypothesis import strategies as st

from dyparse.data.sentence import Sentence
from dyparse.head import _analyses
from dyparse.head._analyses import Analyses, seen_analyses
from dyparse.head.feats import Feats
from dyparse.model.parser import Parser

HEADS = {"labels": ("root",), "upos": ("A", "B"), "xpos": ("x", "y", "z"), "feats": ("_", "F=1")}
ALL = sorted("\t".join(tags) for tags in product(*list(HEADS.values())[1:]))


@given(
    st.sets(st.sampled_from(ALL), min_size=1).map(sorted).map(tuple),
    st.integers(0, 2**32 - 1),
)
def test_the_most_probable_combination_that_was_seen_is_chosen(seen, seed):
    analyses = Analyses(seen, HEADS)
    random = np.random.default_rng(seed)
    scores = [random.normal(size=(20, n)).astype(np.float32) for n in (2, 3, 2)]
    best = np.stack([s.argmax(-1) for s in scores], axis=-1)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_analyses, "SCORES_AT_ONCE", 3 * len(seen))
        chosen = analyses.choose(best, lambda rows: [s[rows] for s in scores])
    by_probability = [np.exp(s) / np.exp(s).sum(-1, keepdims=True) for s in scores]
    numbers = [
        [HEADS[c].index(t) for c, t in zip(analyses.columns, a.split("\t"), strict=True)]
        for a in seen
    ]
    for word, tags in enumerate(chosen):
        odds = [
            np.prod([p[word, k] for p, k in zip(by_probability, n, strict=True)]) for n in numbers
        ]
        assert tags.tolist() == numbers[int(np.argmax(odds))]


def test_scores_are_asked_for_only_where_tags_were_never_seen_together():
    analyses, asked = Analyses(("A\tx\t_", "B\ty\t_"), HEADS), []

    def scores_of(rows):
        asked.extend(rows.tolist())
        return [np.zeros((len(rows), n), np.float32) for n in (2, 3, 2)]

    analyses.choose(np.array([[0, 0, 0], [0, 1, 0], [1, 1, 0]]), scores_of)
    assert asked == [1]


def test_one_column_of_tags_has_no_combinations():
    heads = dict.fromkeys(("labels", "upos", "lemma"), HEADS["upos"])
    assert seen_analyses(heads, sample("train")) == ()
    assert Analyses((), HEADS).columns == []


def test_combinations_are_those_of_the_words():
    sentence = Sentence.from_words(["a", "b"]).with_columns(
        {"upos": ["A", "B"], "feats": ["_", "F"]}
    )
    heads = {"feats": ("F", "_"), "upos": ("A", "B")}
    assert seen_analyses(heads, [sentence]) == ("A\t_", "B\tF")
    assert seen_analyses(heads | {"feats": ("_",)}, [sentence]) == ("A\t_",)


@dataclass(frozen=True)
class FrequentFeats(Feats):
    """Somebody's own head, which leaves out rare FEATS."""

    def entries(self, sentences):
        values = [value for s in sentences for value in s.feats]
        return tuple(sorted({value for value in values if values.count(value) > 20}))


def test_a_head_may_leave_out_rare_tags():
    train, config = sample("train")[:60], model_config(heads=("labels", "upos"), features=["word"])
    config = replace(config, heads=[*config.heads, FrequentFeats()])
    parser = Parser.untrained(config, train)
    assert 0 < len(parser.vocabulary.analyses) < len({t for s in train for t in pairs_of(s)})
    parsed = parser.parse(sample("test")[:9])
    assert {"\t".join(t) for s in parsed for t in pairs_of(s)} <= set(parser.vocabulary.analyses)


def pairs_of(sentence):
    return zip(sentence.upos, sentence.feats, strict=True)


def test_no_more_combinations_are_listed_or_read_than_can_be_chosen_from(monkeypatch):
    monkeypatch.setattr(_analyses, "MOST_ANALYSES", 3)
    with pytest.raises(ValueError, match="analyses: 4 of them, expected at most 3"):
        Analyses(tuple(ALL[:4]), HEADS)
    assert len(Analyses(tuple(ALL[:3]), HEADS).seen) == 3
    columns = {"upos": ["A", "A", "B", "B"], "xpos": ["x", "y", "x", "y"]}
    sentence = Sentence.from_words(["w"] * 4).with_columns(columns)
    heads = {"upos": HEADS["upos"], "xpos": HEADS["xpos"]}
    assert seen_analyses(heads, [sentence]) == ()


def test_few_scores_are_held_at_once(monkeypatch):
    monkeypatch.setattr(_analyses, "SCORES_AT_ONCE", 100)
    asked = []

    def scores_of(rows):
        asked.append(len(rows))
        return [np.zeros((len(rows), n), np.float32) for n in (2, 3, 2)]

    predicted = np.tile([0, 1, 0], (50, 1))
    assert (Analyses(("A\tx\t_", "B\ty\t_"), HEADS).choose(predicted, scores_of) == 0).all()
    assert max(asked) * 2 <= 100
    assert sum(asked) == 50


@pytest.mark.parametrize("wrong", ["A\tx", "A\tx\tF=2", "A\tx\t_\t_", ""])
def test_combinations_that_no_head_can_predict_are_refused(wrong):
    with pytest.raises(ValueError, match="analyses: expected tags of the heads upos, xpos, feats"):
        Analyses((wrong,), HEADS)


def test_a_parser_predicts_only_what_was_seen():
    train, test = sample("train")[:60], sample("test")[:20]
    parser = fresh_parser(train, heads=("labels", "upos", "xpos", "feats"), features=["word"])
    seen = set(parser.vocabulary.analyses)
    parsed = parser.parse(test)  # untrained: tags that are predicted one by one seldom fit
    words = [tags for s in parsed for tags in zip(s.upos, s.xpos, s.feats, strict=True)]
    assert {"\t".join(tags) for tags in words} <= seen


def test_analyses_are_chosen_for_words_only(monkeypatch):
    parser = fresh_parser(sample("train")[:60], heads=("labels", "upos", "xpos"), features=["word"])
    test, asked, choose = sample("test")[:5], [], Analyses.choose

    def counting(analyses, predicted, scores_of):
        asked.append(len(predicted))
        return choose(analyses, predicted, scores_of)

    monkeypatch.setattr(Analyses, "choose", counting)
    parser.parse_batch(test)
    assert asked == [sum(map(len, test))]  # neither roots nor padding
