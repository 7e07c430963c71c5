"""Tags of a word are chosen among the combinations that the training sentences have."""

from itertools import product

import numpy as np
import pytest
from helpers.tiny import fresh_parser, sample
from hypothesis import given
from hypothesis import strategies as st

from dyparse.data.sentence import Sentence
from dyparse.head._analyses import Analyses, seen_analyses

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
    assert seen_analyses(["labels", "upos", "lemma"], sample("train")) == ()
    assert Analyses((), HEADS).columns == []


def test_combinations_are_those_of_the_words():
    sentence = Sentence.from_words(["a", "b"]).with_columns(
        {"upos": ["A", "B"], "feats": ["_", "F"]}
    )
    assert seen_analyses(["feats", "upos"], [sentence]) == ("A\t_", "B\tF")


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
