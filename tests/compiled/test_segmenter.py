"""The compiled network of the learned tokenizer against torch's."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dyparse.compiled.segmenter import CompiledSegmenter
from dyparse.tokenizer._characters import N_RULES, PADDING
from dyparse.tokenizer._segmenter import Segmenter, SegmenterSizes

CHARACTERS, WORDS = 20, 30


def segmenter(embedding: int, hidden: int, convolution: int) -> Segmenter:
    """A network with random weights."""
    torch.manual_seed(1)
    model = Segmenter(SegmenterSizes(CHARACTERS, WORDS, embedding, hidden, convolution)).eval()
    for table in (model.word, model.rule, model.character):
        torch.nn.init.normal_(table.weight)
        torch.nn.init.zeros_(table.weight[PADDING])
    return model


def compiled(model: Segmenter) -> CompiledSegmenter:
    return CompiledSegmenter({name: w.numpy() for name, w in model.state_dict().items()})


def windows(lengths, seed=1):
    """Features of windows; at most characters no word begins."""
    random = np.random.default_rng(seed)
    found = []
    for length in lengths:
        sizes = (CHARACTERS, WORDS, N_RULES)
        features = np.stack([random.integers(1, size, length) for size in sizes])
        features[1, random.random(length) < 0.7] = PADDING
        found.append(features)
    return found


@pytest.mark.parametrize(
    ("embedding", "hidden", "convolution"),
    [(32, 64, 9), (8, 6, 5), (5, 17, 3), (1, 1, 1), (40, 33, 63)],
)
def test_scores_are_close_to_those_of_torch(embedding, hidden, convolution):
    model = segmenter(embedding, hidden, convolution)
    given_windows = windows([120, 120, 97, 40, 33, 7, 2, 1])
    expected = model.window_scores(given_windows)
    found = compiled(model).window_scores(given_windows)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def test_the_scores_of_a_window_do_not_depend_on_the_others():
    network = compiled(segmenter(8, 20, 5))

    @settings(max_examples=25, deadline=None)
    @given(st.lists(st.integers(1, 50), min_size=1, max_size=15), st.integers(0, 99))
    def check(lengths, seed):
        together = windows(sorted(lengths, reverse=True), seed)
        for window, found in zip(together, network.window_scores(together), strict=True):
            (alone,) = network.window_scores([window])
            assert (found == alone).all()

    check()
