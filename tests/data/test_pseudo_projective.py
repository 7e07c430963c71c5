"""Pseudo-projective trees: lifting, marks in labels, and the way back."""

import itertools
from collections import Counter

import numpy as np
import pytest
from helpers.random_trees import is_projective
from helpers.tiny import UD
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from dyparse.data.columns.core_arguments import core_argument
from dyparse.data.columns.pseudo_projective import (
    LIFTED,
    PASSED,
    PROJECTIVITIES,
    decoded,
    decoded_tree,
    encoded,
    encoded_tree,
    lift,
    lifted,
)
from dyparse.data.conllu import read_sentences
from dyparse.data.sentence import Sentence
from dyparse.errors import TreebankError

ENCODINGS = PROJECTIVITIES[1:]
EACH = pytest.mark.parametrize("encoding", ENCODINGS)
# Nivre & Nilsson (2005), figures 1 and 2: Z nich je jen jedna na kvalitu .
CZECH = [5, 1, 0, 5, 3, 3, 6, 0]
CZECH_LABELS = ["AuxP", "Atr", "Pred", "AuxZ", "Sb", "AuxP", "Adv", "AuxK"]
LABELS = ("nsubj", "obj", "acl")
MARKED = [
    f"{label}{up}{down}"
    for label in LABELS
    for up in ("", LIFTED, *(LIFTED + above for above in LABELS))
    for down in ("", PASSED)
]


@st.composite
def trees(draw, longest=9):
    """Heads of words 1.. of any tree, with one root or several."""
    order = draw(st.permutations(range(1, draw(st.integers(1, longest)) + 1)))
    one_root = draw(st.booleans())
    heads = [0] * len(order)
    for place, word in enumerate(order):
        above = order[:place] if one_root and place else [0, *order[:place]]
        heads[word - 1] = draw(st.sampled_from(above))
    return heads


def with_labels(values):
    """A tree with a label for every word."""
    return trees().flatmap(
        lambda heads: st.tuples(
            st.just(heads), st.lists(st.sampled_from(values), min_size=len(heads), max_size=9)
        ).map(lambda pair: (pair[0], pair[1][: len(heads)]))
    )


def sentence(heads, labels):
    return Sentence.from_words(["w"] * len(heads)).with_tree(heads, labels)


def ancestors(heads, word):
    while word:
        word = heads[word - 1]
        yield word


def is_tree(heads):
    return all(0 in itertools.islice(ancestors(heads, w), len(heads)) for w in range(1, len(heads)))


def lifted_word_by_word(heads):
    """PROJECTIVIZE of the paper, from its definitions."""
    heads = list(heads)

    def crosses(word):
        head = heads[word - 1]
        between = range(min(word, head) + 1, max(word, head))
        return any(head not in ancestors(heads, other) for other in between)

    while wrong := [word for word in range(1, len(heads) + 1) if crosses(word)]:
        word = min(wrong, key=lambda word: (abs(word - heads[word - 1]), word))
        heads[word - 1] = heads[heads[word - 1] - 1]
    return heads


# --- lifting -------------------------------------------------------------------------------------


@settings(max_examples=300, deadline=None)
@given(trees())
def test_lifting_gives_the_projective_tree_of_the_paper(heads):
    found = lift(heads).head
    assert is_projective(np.array([0, *found]))
    assert is_tree(found)
    assert found == lifted_word_by_word(heads)
    if heads.count(0) == 1:
        assert found.index(0) == heads.index(0)
        assert found.count(0) == 1


@EACH
@settings(max_examples=100, deadline=None)
@given(trees())
def test_a_projective_tree_stays_as_it_is(encoding, heads):
    heads = lift(heads).head
    labels = [LABELS[word % 3] for word in range(len(heads))]
    assert lift(heads).head == heads
    assert encoded_tree(heads, labels, encoding) == (heads, labels)


def test_of_arcs_of_the_same_length_that_of_the_leftmost_dependent_is_lifted_first():
    heads = [3, 4, 0, 3]  # 3 → 1 and 4 → 2 cross: both of length 2
    assert lift(heads).head == [3, 3, 0, 3]  # 3 dominates 2, but 4 does not dominate 3
    heads = [4, 5, 0, 3, 3]  # 4 → 1 spans 3, and so does 5 → 2: both of length 3
    found = lift(heads)
    assert found.head == [3, 3, 0, 3, 3]
    assert found.passed == {4, 5}


# --- labels --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encoding", "changed"),
    [
        ("head", {1: "AuxP↑Sb"}),
        ("path", {1: "AuxP↑", 5: "Sb↓"}),
        ("head+path", {1: "AuxP↑Sb", 5: "Sb↓"}),
    ],
)
def test_the_example_of_the_paper(encoding, changed):
    heads, labels = encoded_tree(CZECH, CZECH_LABELS, encoding)
    assert heads == [3, *CZECH[1:]]
    assert labels == [changed.get(word, old) for word, old in enumerate(CZECH_LABELS, 1)]
    assert decoded_tree(heads, labels, encoding) == (CZECH, CZECH_LABELS)


@pytest.mark.parametrize("encoding", ["head", "head+path"])
@settings(max_examples=300, deadline=None)
@given(trees())
def test_labels_that_tell_the_heads_apart_bring_every_tree_back(encoding, heads):
    labels = [f"label{word}" for word in range(len(heads))]
    assert decoded_tree(*encoded_tree(heads, labels, encoding), encoding) == (heads, labels)


@st.composite
def displaced(draw):
    """A projective tree but for a word that hangs further down, and labels."""
    heads, labels = draw(with_labels(LABELS))
    heads = lift(heads).head
    word = draw(st.integers(1, len(heads)))
    below = [w for w in range(1, len(heads) + 1) if heads[word - 1] in ancestors(heads, w)]
    outside = [w for w in below if w != word and word not in ancestors(heads, w)]
    if outside:
        heads[word - 1] = draw(st.sampled_from(outside))
    return heads, labels


@settings(max_examples=300, deadline=None)
@given(displaced())
def test_paths_bring_a_single_lifted_word_back_whatever_the_labels(tree):
    heads, labels = tree
    assume(sum(a != b for a, b in zip(heads, lift(heads).head, strict=True)) <= 1)
    assert decoded_tree(*encoded_tree(heads, labels, "path"), "path") == (heads, labels)


@EACH
@settings(max_examples=500, deadline=None)
@given(with_labels(MARKED))
@example(([2, 0], ["acl↑acl", "acl↑acl"]))
def test_any_marks_are_taken_off_and_leave_a_tree(encoding, tree):
    heads, labels = tree
    found, plain = decoded_tree(heads, labels, encoding)
    assert is_tree(found)
    assert plain == [label.rstrip(PASSED).split(LIFTED)[0] for label in labels]
    for old, new, label in zip(heads, found, labels, strict=True):
        assert old == new or LIFTED in label
    if heads.count(0) == 1:
        assert [head == 0 for head in found] == [head == 0 for head in heads]


def test_a_head_is_searched_breadth_first_from_left_to_right():
    heads, labels = [0, 1, 2, 1, 1, 1], ["root", "obl", "acl", "acl", "acl", "nmod↑acl"]
    assert decoded_tree(heads, labels, "head")[0] == [0, 1, 2, 1, 1, 4]
    labels[2] = "acl↓"
    assert decoded_tree(heads, labels, "head+path")[0] == [0, 1, 2, 1, 1, 4]  # 2 has no mark
    labels[1] = "obl↓"
    assert decoded_tree(heads, labels, "head+path")[0] == [0, 1, 2, 1, 1, 3]
    labels[5] = "nmod↑"
    assert decoded_tree(heads, labels, "path")[0] == [0, 1, 2, 1, 1, 3]
    labels[1] = "obl"
    assert decoded_tree(heads, labels, "path")[0] == heads  # no path starts at 1
    heads, labels = [0, 1, 1, 3, 2, 1], ["root", "a", "b", "acl", "acl", "nmod↑acl"]
    assert decoded_tree(heads, labels, "head")[0] == [0, 1, 1, 3, 2, 5]  # 2 stands before 3


def test_words_that_were_put_back_are_found_where_they_stand():
    heads, labels = [0, 1, 1, 3, 1], ["root", "acl↑obl", "obl", "acl", "nmod↑acl"]
    assert decoded_tree(heads, labels, "head")[0] == [0, 3, 1, 3, 2]  # 2 stands before 4


def test_a_word_whose_head_was_lifted_too_comes_after_it():
    heads, labels = [0, 5, 6, 1, 4, 1], ["root", "a", "b", "c", "d", "e"]
    for encoding in ("head", "head+path"):
        new = encoded_tree(heads, labels, encoding)
        assert new[0] != heads
        assert decoded_tree(*new, encoding) == (heads, labels)


# --- sentences -----------------------------------------------------------------------------------


@EACH
def test_sentences_are_encoded_and_decoded(encoding):
    crossing, plain = sentence(CZECH, CZECH_LABELS), sentence([2, 0], ["nsubj", "root"])
    new = encoded([crossing, plain], encoding)
    assert new[0].is_projective()
    assert new[1] is plain
    assert decoded(new, encoding) == [crossing, plain]
    (aim,) = lifted([crossing], encoding)
    assert (aim.head, aim.label) == (new[0].head, CZECH_LABELS)


def test_without_projectivity_nothing_changes():
    crossing = sentence(CZECH, [*CZECH_LABELS[:-1], "odd↑label"])
    for function in (encoded, decoded, lifted):
        assert function([crossing], "none")[0] is crossing


@pytest.mark.parametrize("label", ["obl↑acl", "acl↓"])
def test_a_label_that_has_an_arrow_already_is_a_message(label):
    with pytest.raises(TreebankError) as caught:
        encoded([sentence([2, 0], [label, "root"])], "path")
    assert str(caught.value) == (
        f"sentence has the label '{label}', but projectivity=path marks labels with ↑ and ↓; "
        "rename it, or train with projectivity=none"
    )


@pytest.mark.parametrize(
    ("label", "kind"), [("nsubj:pass↓", "subject"), ("obj↓", "object"), ("nsubj:pass↑acl", "")]
)
def test_a_lifted_word_is_no_subject_of_the_head_that_it_was_lifted_to(label, kind):
    assert core_argument(label) == kind


@pytest.mark.skipif(not UD.exists(), reason="no UD treebanks; see CONTRIBUTING.md")
@pytest.mark.parametrize(
    ("treebank", "least"),
    [
        ("hu_szeged", {"head": 76, "path": 99, "head+path": 98}),
        ("el_gdt", {"head": 98, "path": 100, "head+path": 100}),
    ],
)
def test_most_lifted_words_of_a_treebank_come_back(treebank, least):
    (path,) = UD.glob(f"*/{treebank}-ud-train.conllu")
    gold = list(read_sentences(path, trees=True))
    for encoding in ENCODINGS:
        built = encoded(gold, encoding)
        assert all(s.is_projective() for s in built)
        back, counts = decoded(built, encoding), Counter()
        for old, low, new in zip(gold, built, back, strict=True):
            assert new.label == old.label
            counts["lifted"] += sum(a != b for a, b in zip(old.head, low.head, strict=True))
            counts["wrong"] += sum(a != b for a, b in zip(old.head, new.head, strict=True))
        assert 100 * (1 - counts["wrong"] / counts["lifted"]) >= least[encoding]
