"""One subject and one object under a head: learned from train, kept by predictions, counted."""

import itertools

import numpy as np
import pytest
import torch
from helpers.saved_models import assert_refused, rewrite_config
from helpers.tiny import UD, fresh_parser, sample
from hypothesis import given, settings
from hypothesis import strategies as st

from dyparse.data.columns.core_arguments import core_argument, heads_with_several
from dyparse.data.conllu import read_sentences
from dyparse.data.sentence import Sentence
from dyparse.head import load_heads
from dyparse.head.labels import Labels
from dyparse.model.parser import Parser

ENTRIES = ("csubj", "det", "nsubj", "nsubj:outer", "obj", "root")
N, L = 6, len(ENTRIES)
FREE = Labels().build(4, ENTRIES, hidden=3, dropout=0.0)
BOTH = Labels(unique="subject+object").build(4, ENTRIES, hidden=3, dropout=0.0)
ONE = Labels(unique="subject").build(4, ENTRIES, hidden=3, dropout=0.0)

scores = st.lists(st.integers(-3, 3), min_size=N * L, max_size=N * L).map(
    lambda values: torch.tensor(values, dtype=torch.float32).view(1, N, L)
)
trees = st.lists(st.integers(0, N - 1), min_size=N - 1, max_size=N - 1).map(
    lambda heads: np.array([[0, *heads]], dtype=np.int32)
)


def sentence(heads, labels):
    return Sentence.from_words(["w"] * len(heads)).with_tree(heads, labels)


def parsed(head, found, tree):
    """Words 1.. of a predicted tree; token 0 is the root."""
    labels = [ENTRIES[k] for k in head.predict(found, tree)[0]]
    return sentence(tree[0, 1:], labels[1:])


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("nsubj", "subject"),
        ("nsubj:pass", "subject"),
        ("csubj", "subject"),
        ("nsubj:outer", ""),
        ("csubj:outer", ""),
        ("obj", "object"),
        ("obj:lvc", "object"),
        ("iobj", ""),
        ("obl", ""),
        ("expl:subj", ""),
    ],
)
def test_subjects_and_objects_have_these_labels(label, kind):
    assert core_argument(label) == kind


def test_heads_are_counted_once_however_many_they_have_and_the_root_is_no_head():
    three = sentence([0, 1, 1, 1, 3, 3], ["root", "nsubj", "csubj", "nsubj:pass", "obj", "obj"])
    assert heads_with_several([three, three]) == {"subject": 2, "object": 2}
    none = sentence([0, 0, 1, 1], ["nsubj", "nsubj", "nsubj", "nsubj:outer"])
    assert heads_with_several([none]) == {"subject": 0, "object": 0}


@settings(max_examples=200, deadline=None)
@given(scores, trees)
def test_no_head_gets_a_second_one_and_nothing_else_changes(found, tree):
    assert heads_with_several([parsed(BOTH, found, tree)]) == {"subject": 0, "object": 0}
    free, one = parsed(FREE, found, tree), parsed(ONE, found, tree)
    assert heads_with_several([one])["subject"] == 0
    for word, (before, after) in enumerate(zip(free.label, one.label, strict=True), 1):
        if before != after:
            assert core_argument(before) == "subject"
            kinds = [core_argument(label) for label in free.label]
            assert [*zip(free.head, kinds, strict=True)].count((free.head[word - 1], "subject")) > 1


@settings(max_examples=50, deadline=None)
@given(scores, trees)
def test_labels_have_the_highest_sum_of_scores_that_the_rule_allows(found, tree):
    tree[0, 3:] = 0  # two dependents, if any, of the same head
    labels = ONE.predict(found, tree)[0]
    best = max(
        float(found[0, [1, 2], list(pair)].sum())
        for pair in itertools.product(range(L), repeat=2)
        if not (
            tree[0, 1] == tree[0, 2] > 0
            and all(core_argument(ENTRIES[k]) == "subject" for k in pair)
        )
    )
    assert float(found[0, [1, 2], labels[1:3]].sum()) == best


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(scores, trees), min_size=2, max_size=4))
def test_predictions_do_not_depend_on_the_batch(pairs):
    alone = [BOTH.predict(found, tree)[0] for found, tree in pairs]
    together = torch.cat([found for found, _ in pairs]), np.concatenate([t for _, t in pairs])
    assert BOTH.predict(*together) == alone


def test_of_equals_the_left_one_keeps_its_label():
    equal = torch.zeros(1, N, L)
    equal[..., ENTRIES.index("nsubj")] = 1
    found = parsed(ONE, equal, np.array([[0, 0, 1, 1, 1, 2]], dtype=np.int32))
    assert found.label == ["nsubj", "nsubj", "det", "det", "nsubj"]


def test_scores_that_are_not_finite_end_too():
    broken = torch.full((1, N, L), -torch.inf)
    broken[..., ENTRIES.index("nsubj")] = torch.inf
    tree = np.array([[0, 0, 1, 1, 1, 1]], dtype=np.int32)
    for found in (broken, broken * 0):
        assert heads_with_several([parsed(BOTH, found, tree)]) == {"subject": 0, "object": 0}


def test_a_treebank_of_nothing_else_is_left_alone():
    head = Labels(unique="subject").build(4, ("csubj", "nsubj"), hidden=3, dropout=0.0)
    assert head.predict(torch.zeros(1, 4, 2), np.array([[0, 0, 1, 1]], np.int32)) == [[0, 0, 0, 0]]


def test_what_is_unique_is_learned_from_train():
    one = sentence([0, 1, 1, 1], ["root", "nsubj", "obj", "nsubj:outer"])
    two = sentence([0, 1, 1, 1], ["root", "obj", "obj", "nsubj"])
    chosen = Labels(unique="train")
    assert chosen.fitted([one]).unique == "subject+object"
    assert chosen.fitted([one, two]).unique == "subject"
    assert Labels().fitted([one]).unique == "none"
    both = sentence([0, 1, 1], ["root", "csubj", "nsubj"])
    assert chosen.fitted([one, two, both]).unique == "none"


def test_a_wrong_value_is_refused():
    with pytest.raises(ValueError, match="unique of labels is 'subjects', expected one of none"):
        load_heads(["labels:unique=subjects"])


def test_a_saved_model_knows_what_it_learned(tmp_path):
    parser = fresh_parser(sample("train"), heads=["labels:unique=train"])
    expected = "+".join(k for k, n in heads_with_several(sample("train")).items() if not n)
    assert parser.parts.config.heads[0].unique == (expected or "none")
    parser.save(tmp_path / "model", {})
    loaded = Parser.load(tmp_path / "model")
    assert loaded.parts.config.heads == parser.parts.config.heads
    dev = sample("dev")[:10]
    assert loaded.parse(dev) == parser.parse(dev)


@pytest.mark.parametrize("unique", ["none", "subject+object"])
def test_a_parser_that_sees_subjects_everywhere_repeats_them_unless_told_not_to(unique):
    parser = fresh_parser(sample("train")[:50], heads=[f"labels:unique={unique}"])
    labels = parser.model.heads["labels"]
    with torch.no_grad():
        labels.output.bias[labels.number["nsubj"]] += 9
    several = heads_with_several(parser.parse(sample("dev")[:10]))
    assert (several["subject"] > 0) == (unique == "none"), several


@pytest.mark.parametrize(
    ("name", "unique"), [("UD_English-LinES", "subject+object"), ("UD_Turkish-IMST", "subject")]
)
def test_treebanks_have_one_subject_and_some_have_two_objects(name, unique):
    files = sorted((UD / name).glob("*-ud-train.conllu"))
    if not files:
        pytest.skip(f"no {name} in {UD}; set DYPARSE_UD to an unpacked UD release")
    train = list(read_sentences(str(files[0]), trees=True))
    assert Labels(unique="train").fitted(train).unique == unique


def test_options_in_a_model_are_checked(tmp_path):
    fresh_parser(sample("train")[:5]).save(tmp_path / "model", {})
    path = rewrite_config(
        tmp_path / "model", lambda config: config["heads"][0].update(unique="everything")
    )
    assert_refused(tmp_path / "model", path, "unique of labels is 'everything'")
