"""Tokenizers for the tests."""

from __future__ import annotations

import pytest
import torch
from helpers.tiny import sample

from dyparse.tokenizer import Tokenizer
from dyparse.tokenizer.learned import Learned, LearnedTokenizer
from dyparse.tokenizer.plain import Plain

SMALL = Learned(embedding=12, hidden=12, convolution=3, epochs=3, learning_rate=0.01)


@pytest.fixture(scope="session")
def learned() -> LearnedTokenizer:
    """A small tokenizer, trained on some sentences of the sample treebank for a moment."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    tokenizer = SMALL.train(sample("train")[:300], sample("dev")[:40], seed=1)
    torch.set_num_threads(threads)
    return tokenizer


@pytest.fixture(params=["plain", "learned"])
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    """Each of them."""
    return Plain() if request.param == "plain" else request.getfixturevalue("learned")
