"""Groups of similar length, windows over a stream."""

from itertools import pairwise

import numpy as np
from helpers.tiny import sample
from hypothesis import given
from hypothesis import strategies as st

from dyparse.data.sampler import group_by_length, windows

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
