"""Batches: features by name, moved to a device as a whole; gold trees as arrays."""

from typing import NamedTuple

import numpy as np
import pytest
import torch
from helpers.tiny import sample
from torch import Tensor

from dyparse.data.batch import Collator, gold_heads

SENTENCES = sample("train")[:5]


class Pair(NamedTuple):
    first: Tensor
    second: Tensor


class Twice:
    """A feature of two arrays: the lengths, twice."""

    name, column = "twice", "form"

    def arrays(self, sentences, words):
        lengths = torch.tensor([len(s) for s in sentences])
        assert lengths.tolist() == words.tolist()
        return Pair(lengths, 2 * lengths)


class Once(Twice):
    name = "once"

    def arrays(self, sentences, words):
        return super().arrays(sentences, words).first


@pytest.fixture
def batch():
    keys = np.arange(5, dtype=np.uint64) + 2**63
    return Collator([Twice(), Once()]).batch(SENTENCES, keys)


def test_features_are_held_by_name(batch):
    assert list(batch.features) == ["twice", "once"]
    assert batch.features["twice"].second.tolist() == [2 * len(s) for s in SENTENCES]


def test_lengths_count_the_root_for_the_network_and_not_for_the_rollout(batch):
    assert batch.words.tolist() == [len(s) for s in SENTENCES]
    assert batch.words.dtype == np.int32
    assert batch.length.tolist() == [len(s) + 1 for s in SENTENCES]
    assert batch.shape == (5, max(map(len, SENTENCES)) + 1)


def test_a_batch_moves_to_a_device_as_a_whole(batch):
    moved = batch.to(torch.device("meta"))
    assert isinstance(moved.features["twice"], Pair)
    tensors = [moved.length, moved.keys, moved.features["once"], *moved.features["twice"]]
    assert {tensor.device.type for tensor in tensors} == {"meta"}
    assert moved.features["twice"].second.shape == (5,)
    assert moved.words is batch.words
    assert moved.shape == batch.shape
    assert Collator([Once()]).batch(SENTENCES).to(torch.device("meta")).keys is None


def test_on_a_cpu_nothing_changes(batch):
    moved = batch.to(torch.device("cpu"))
    assert torch.equal(moved.features["twice"].first, batch.features["twice"].first)
    assert torch.equal(moved.keys, batch.keys)


def test_gold_trees_are_padded_arrays():
    heads = gold_heads(SENTENCES)
    assert heads.dtype == np.int32
    for row, sentence in zip(heads, SENTENCES, strict=True):
        assert row[0] == 0
        assert row[1 : len(sentence) + 1].tolist() == sentence.head
        assert (row[len(sentence) + 1 :] == 0).all()
