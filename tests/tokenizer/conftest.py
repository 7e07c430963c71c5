"""Tokenizers for the tests."""

from __future__ import annotations

import pytest
import torch
from helpers.small_tokenizer import SMALL
from helpers.tiny import sample

from dyparse.model.compiled_model import compiled_tokenizer
from dyparse.tokenizer import Tokenizer
from dyparse.tokenizer._learned_tokenizer import LearnedTokenizer
from dyparse.tokenizer.plain import Plain


@pytest.fixture(scope="session")
def learned() -> LearnedTokenizer:
    """A small tokenizer, trained on some sentences of the sample treebank for a moment."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    tokenizer = SMALL.train(sample("train")[:200], sample("dev")[:40], seed=1)
    torch.set_num_threads(threads)
    return tokenizer


@pytest.fixture(scope="session")
def compiled(learned: LearnedTokenizer) -> Tokenizer:
    """The same tokenizer as a model without torch has it: read from its files, with kernels."""
    return compiled_tokenizer(SMALL.build(learned.files()))


@pytest.fixture(params=["plain", "learned", "compiled"])
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    """Each of them."""
    return Plain() if request.param == "plain" else request.getfixturevalue(request.param)
