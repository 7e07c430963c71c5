"""Decodings by name: every one finds trees that the system allows, on any number of threads."""

import numpy as np
import pytest
from helpers.rollouts import random_scorer

from dyparse import decoding, system
from dyparse.decoding.greedy import Greedy
from dyparse.evaluation.exhaustive import are_trees, root_children
from dyparse.rollout.rollout import decode_greedily

N_WORDS = np.array([1, 7, 2, 12, 5], dtype=np.int32)
ARC_EAGER = system.load("arc_eager")
each_decoding = pytest.mark.parametrize("name", decoding.names())


@each_decoding
def test_a_decoding_finds_a_tree_with_one_root_for_every_sentence(name):
    heads = decoding.load(name).decode(ARC_EAGER, random_scorer(ARC_EAGER, N_WORDS), N_WORDS)
    assert heads.shape == (len(N_WORDS), N_WORDS.max() + 1)
    for row, n in zip(heads, N_WORDS, strict=True):
        assert are_trees(row[None, : n + 1]).all()
        assert root_children(row[None, : n + 1]) == 1


@each_decoding
def test_the_number_of_threads_changes_nothing(name):
    scorer = random_scorer(ARC_EAGER, N_WORDS)
    one, three = (
        decoding.load(name).decode(ARC_EAGER, scorer, N_WORDS, n_threads=n) for n in (1, 3)
    )
    np.testing.assert_array_equal(one, three)


def test_greedy_is_the_compiled_greedy_decoding():
    scorer = random_scorer(ARC_EAGER, N_WORDS)
    np.testing.assert_array_equal(
        decoding.load("greedy").decode(ARC_EAGER, scorer, N_WORDS),
        decode_greedily(ARC_EAGER, scorer, N_WORDS),
    )
    assert decoding.load("greedy") == Greedy()


def test_an_unknown_decoding_is_refused_with_the_names_there_are():
    with pytest.raises(ValueError, match=r"no decoding 'greedi'; there are .*mean 'greedy'"):
        decoding.load("greedi")
