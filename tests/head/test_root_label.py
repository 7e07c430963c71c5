"""The label `root`: where the training sentences have it only on top, so do predictions."""

import numpy as np
import pytest
import torch
from helpers.tiny import fresh_parser, sample
from hypothesis import given, settings
from hypothesis import strategies as st

from dyparse.data.columns.core_arguments import heads_with_several
from dyparse.data.sentence import Sentence
from dyparse.head import load_heads
from dyparse.head.labels import Labels, has_root_on_top
from dyparse.model.parser import Parser

ENTRIES = ("det", "nsubj", "obj", "root")
N, L = 6, len(ENTRIES)
FREE = Labels(root="anywhere").build(4, ENTRIES, hidden=3, dropout=0.0)
TOP = Labels(root="top").build(4, ENTRIES, hidden=3, dropout=0.0)
BOTH = Labels(root="top", unique="subject+object").build(4, ENTRIES, hidden=3, dropout=0.0)

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


@settings(max_examples=200, deadline=None)
@given(scores, trees)
def test_words_without_a_head_and_no_others_are_roots_and_nothing_else_changes(found, tree):
    free, top = parsed(FREE, found, tree), parsed(TOP, found, tree)
    assert has_root_on_top(top)
    for word, (before, after) in enumerate(zip(free.label, top.label, strict=True), 1):
        if top.head[word - 1] > 0:
            best = max(range(L - 1), key=lambda k, row=found[0, word]: float(row[k]))
            assert after == (ENTRIES[best] if before == "root" else before)


@settings(max_examples=200, deadline=None)
@given(scores, trees)
def test_it_goes_together_with_unique_subjects_and_objects(found, tree):
    both = parsed(BOTH, found, tree)
    assert has_root_on_top(both)
    assert heads_with_several([both]) == {"subject": 0, "object": 0}


@pytest.mark.parametrize("entries", [("root",), ("nsubj", "root"), ("det",)])
def test_what_leaves_no_label_is_left_alone(entries):
    options = Labels(root="top", unique="subject")
    head = options.build(4, entries, hidden=3, dropout=0.0)
    tree = np.array([[0, 0, 1, 1]], np.int32)
    (labels,) = head.predict(torch.zeros(1, 4, len(entries)), tree)
    assert [entries[k] for k in labels[2:]] == [entries[0]] * 2
    assert entries[labels[1]] == entries[-1]


def test_where_the_root_may_be_is_learned_from_train():
    plain = sentence([0, 1], ["root", "det"])
    assert Labels().fitted([plain]).root == "top"
    assert Labels(root="anywhere").fitted([plain]).root == "anywhere"
    for other in (sentence([0, 1], ["obj", "det"]), sentence([0, 1], ["root", "root"])):
        assert Labels().fitted([plain, other]).root == "anywhere"
        assert Labels(root="top").fitted([other]).root == "top"


def test_a_wrong_value_is_refused():
    with pytest.raises(ValueError, match="root of labels is 'bottom', expected one of anywhere"):
        load_heads(["labels:root=bottom"])


def test_a_saved_parser_keeps_roots_on_top(tmp_path):
    parser = fresh_parser(sample("train")[:50])
    labels = parser.model.heads["labels"]
    with torch.no_grad():
        labels.output.bias[labels.number["root"]] += 9
    parser.save(tmp_path / "model", {})
    found = Parser.load(tmp_path / "model").parse(sample("dev")[:10])
    assert all(map(has_root_on_top, found))
    assert found == parser.parse(sample("dev")[:10])
