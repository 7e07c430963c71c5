"""Device, threads and seeds of a run."""

import random

import numpy as np
import pytest
import torch

from dyparse.errors import ConfigError, DyparseError
from dyparse.runtime.device import find_device, prepare_device


def test_the_seed_sets_every_generator():
    def drawn(seed):
        prepare_device("cpu", None, seed)
        return random.random(), np.random.random(), torch.rand(()).item()

    first, other = drawn(1), drawn(2)
    assert drawn(1) == first
    assert all(a != b for a, b in zip(first, other, strict=True))


@pytest.mark.parametrize(
    ("threads", "seed", "message"),
    [
        (0, 1, "threads is 0, expected 1 to"),
        (10**6, 1, "threads is 1000000, expected 1 to"),
        (None, -1, "seed is -1, expected 0 to"),
        (None, 2**32, "seed is 4294967296, expected 0 to"),
    ],
)
def test_wrong_numbers_are_refused(threads, seed, message):
    with pytest.raises(ConfigError, match=message):
        prepare_device("cpu", threads, seed)


@pytest.mark.parametrize("name", ["meta", "nonsense", "cuda:99"])
def test_a_device_that_cannot_be_used_is_one_message(name, monkeypatch):
    expected = rf"device is '{name}', which cannot be used here \(.*\); try device=cpu"
    with pytest.raises(ConfigError, match=expected):
        find_device(name)
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(DyparseError, match=expected) as raised:  # every rank prints its own
        find_device(name)
    assert not isinstance(raised.value, ConfigError)
