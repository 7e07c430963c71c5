"""Batches: sentences as arrays, groups of similar length, windows over a stream."""

from dataclasses import fields
from itertools import pairwise

import numpy as np
import pytest
import torch
from helpers.tiny import sample
from hypothesis import given
from hypothesis import strategies as st

from dyparse.data.batch import FEATURES, Bags, Collator, group_by_length, windows
from dyparse.data.sentence import NONE, Sentence
from dyparse.data.vocabulary import PADDING, ROOT, UNKNOWN, Vocabulary, shortened, subwords

BUCKETS = 300
TRAIN = sample("train")[:60]
STRANGE = Sentence.from_words(
    ["Zzyzx", "的", "x" * 90],
    upos=["NEW", "NOUN", "_"],
    xpos=["??", "_", "_"],
    feats=["New=Yes", "Number=Sing|New=Yes", "_"],
).with_tree([2, 0, 2], ["new:label", "root", "obj"])
SENTENCES = [*TRAIN[:3], STRANGE, TRAIN[3]]


@pytest.fixture(scope="module")
def collator():
    return Collator(Vocabulary.from_sentences(TRAIN), frozenset(FEATURES), BUCKETS)


def expected_grid(column, number):
    """[B, N] numbers of one column, written down slowly."""
    N = max(map(len, SENTENCES)) + 1
    grid = np.full((len(SENTENCES), N), PADDING)
    for b, sentence in enumerate(SENTENCES):
        grid[b, 0] = ROOT
        for w, value in enumerate(column(sentence), 1):
            grid[b, w] = number.get(value, UNKNOWN)
    return grid


def numbers_in(bags: Bags, b, token):
    """The numbers of one token's bag."""
    offsets = [*bags.offsets.tolist(), len(bags.numbers)]
    entry = int(bags.entry[b, token])
    return bags.numbers[offsets[entry] : offsets[entry + 1]].tolist()


def test_words_and_tags_are_numbers_with_the_root_first_and_padding_last(collator):
    batch, v = collator.batch(SENTENCES), collator.vocabulary
    lower = expected_grid(lambda s: [form.lower() for form in s.form], v.word_number)
    np.testing.assert_array_equal(batch.word, lower)
    np.testing.assert_array_equal(batch.upos, expected_grid(lambda s: s.upos, v.upos_number))
    np.testing.assert_array_equal(batch.xpos, expected_grid(lambda s: s.xpos, v.xpos_number))
    assert (lower == UNKNOWN).any()
    assert (lower == PADDING).any()


def test_lengths_count_the_root_for_the_network_and_not_for_the_walk(collator):
    batch = collator.batch(SENTENCES)
    assert batch.words.tolist() == [len(s) for s in SENTENCES]
    assert batch.words.dtype == np.int32
    assert batch.length.tolist() == [len(s) + 1 for s in SENTENCES]
    assert batch.shape == tuple(batch.word.shape)


def test_every_token_has_the_bag_of_its_own_subwords(collator):
    bags = collator.batch(SENTENCES).subword
    for b, sentence in enumerate(SENTENCES):
        assert numbers_in(bags, b, 0) == [BUCKETS]  # the root's own
        for w, form in enumerate(sentence.form, 1):
            assert sorted(numbers_in(bags, b, w)) == subwords(form, BUCKETS)


def test_every_token_has_the_bag_of_its_own_features(collator):
    bags, number = collator.batch(SENTENCES).feats, collator.vocabulary.feature_number
    for b, sentence in enumerate(SENTENCES):
        assert numbers_in(bags, b, 0) == [ROOT]
        for w, column in enumerate(sentence.feats, 1):
            wanted = [number.get(feature, UNKNOWN) for feature in column.split("|")]
            assert numbers_in(bags, b, w) == wanted


def test_every_token_has_the_characters_of_its_own_form(collator):
    batch, number = collator.batch(SENTENCES), collator.vocabulary.character_number
    for b, sentence in enumerate(SENTENCES):
        for w, form in enumerate(sentence.form, 1):
            row = batch.character[batch.form[b, w]].tolist()
            wanted = [number.get(character, UNKNOWN) for character in shortened(form)]
            assert row == wanted + [PADDING] * (len(row) - len(wanted))
        assert batch.character[batch.form[b, 0]].tolist()[:2] == [ROOT, PADDING]


@pytest.mark.parametrize("feature", FEATURES)
def test_features_that_are_not_used_are_absent(collator, feature):
    batch = Collator(collator.vocabulary, frozenset([feature]), BUCKETS).batch(SENTENCES)
    present = {name for name in FEATURES if getattr(batch, name) is not None}
    assert present == {feature}
    assert (batch.form is not None) == (feature == "character")


def test_a_second_batch_is_not_changed_by_the_first(collator):
    fresh = Collator(collator.vocabulary, frozenset(FEATURES), BUCKETS)
    fresh.batch(TRAIN)
    for one, other in zip(
        tensors_of(fresh.batch(SENTENCES)), tensors_of(collator.batch(SENTENCES)), strict=True
    ):
        torch.testing.assert_close(one, other)


def tensors_of(batch):
    """All tensors of a batch, in the order of its fields."""
    found = []
    for value in (getattr(batch, field.name) for field in fields(batch)):
        found += [value] if isinstance(value, torch.Tensor) else []
        found += list(value) if isinstance(value, Bags) else []
    return found


def test_a_batch_moves_to_a_device_as_a_whole(collator):
    batch = collator.batch(SENTENCES)
    moved = batch.to(torch.device("meta"))
    assert len(tensors_of(moved)) == len(tensors_of(batch)) >= 12
    assert {tensor.device.type for tensor in tensors_of(moved)} == {"meta"}
    assert moved.words is batch.words
    assert moved.shape == batch.shape


def test_gold_trees_are_arrays_and_an_unseen_relation_is_no_label(collator):
    gold = collator.gold(SENTENCES)
    labels = collator.vocabulary.labels
    for b, sentence in enumerate(SENTENCES):
        n = len(sentence)
        assert gold.head[b, 1 : n + 1].tolist() == sentence.head
        known = [r if r in labels else None for r in sentence.label]
        numbers = gold.label[b, 1 : n + 1].tolist()
        assert [labels[k] if k != NONE else None for k in numbers] == known
        assert (gold.label[b, n + 1 :] == NONE).all()
        assert gold.label[b, 0] == NONE
    assert gold.label[3, 1] == NONE
    assert gold.head.dtype == np.int32
    assert gold.label.dtype == np.int64
    assert gold.head.shape == gold.label.shape == collator.batch(SENTENCES).shape


LENGTHS = st.lists(st.integers(1, 60), min_size=1, max_size=80)


@given(LENGTHS, st.integers(1, 200), st.one_of(st.none(), st.integers(0, 5)))
def test_groups_hold_every_sentence_once_within_the_budget(lengths, most, seed):
    generator = None if seed is None else np.random.default_rng(seed)
    groups = group_by_length(lengths, most, generator)
    assert sorted(k for group in groups for k in group) == list(range(len(lengths)))
    for group in groups:
        tokens = (max(lengths[k] for k in group) + 1) * len(group)
        assert tokens <= most or len(group) == 1


@given(LENGTHS, st.integers(1, 200))
def test_groups_without_a_generator_are_sorted_by_length_and_full(lengths, most):
    groups = group_by_length(lengths, most)
    order = [lengths[k] for group in groups for k in group]
    assert order == sorted(lengths)
    for group, following in pairwise(groups):
        assert (lengths[following[0]] + 1) * (len(group) + 1) > most


def test_groups_for_training_vary_with_the_generator_and_only_with_it():
    lengths = [len(s) for s in sample("train")[:300]]
    first, again = (group_by_length(lengths, 200, np.random.default_rng(7)) for _ in range(2))
    generator = np.random.default_rng(7)
    group_by_length(lengths, 200, generator)
    later = group_by_length(lengths, 200, generator)
    assert first == again != later
    longest = [max(lengths[k] for k in group) for group in first]
    assert longest != sorted(longest)
    padding = 1 - sum(map(sum, ([lengths[k] + 1 for k in g] for g in first))) / sum(
        (max(lengths[k] for k in g) + 1) * len(g) for g in first
    )
    assert padding < 0.15


@given(st.lists(st.integers(1, 30), max_size=50), st.integers(1, 60))
def test_windows_keep_the_order_and_stay_within_their_size(sizes, most):
    items = list(enumerate(sizes))
    lists = list(windows(iter(items), lambda item: item[1], most))
    assert [item for window in lists for item in window] == items
    assert all(sum(n for _, n in window) <= most or len(window) == 1 for window in lists)
    for window, following in pairwise(lists):
        assert sum(n for _, n in window) + following[0][1] > most


def test_windows_read_a_stream_no_further_than_they_must():
    read = []
    stream = windows((read.append(k) or k for k in range(100)), lambda _: 1, 10)
    assert next(stream) == list(range(10))
    assert len(read) == 11
