"""Dropout: how much is dropped, where, and that it depends on keys alone."""

import numpy as np
import pytest
import torch

from dyparse.exploration import uniform
from dyparse.tensors.dropout import WORDS, Dropout, dropped_places, keys_below, mixed, signed

STEP = 1 / 256  # probabilities are rounded to multiples of it


def keys_of(*shape):
    return torch.randint(-(2**63), 2**63 - 1, shape, generator=torch.Generator().manual_seed(1))


def test_the_numbers_are_those_of_splitmix64():
    """Reference values by the generator's author for the seed 1234567."""
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    state, found = 1234567, []
    for _ in expected:
        state = signed(state + 0x9E3779B97F4A7C15)
        found.append(int(mixed(torch.tensor([state]))) % 2**64)
    assert found == expected


def test_torch_and_numpy_agree():
    keys = keys_of(50)
    for number in (0, 7, -2):
        of_torch = keys_below(keys, number)
        np.testing.assert_array_equal(of_torch.numpy(), keys_below(keys.numpy(), number))
    places = torch.arange(50)
    np.testing.assert_array_equal(
        keys_below(keys, places).numpy(), keys_below(keys.numpy(), places.numpy())
    )


@pytest.mark.parametrize("probability", [0.05, 0.33, 0.5, 0.9])
def test_components_are_dropped_with_the_probability_and_the_others_scaled_up(probability):
    x = torch.ones(100, 1001)
    dropped = Dropout(probability).train()(x, keys_of(100))
    rate = (dropped == 0).float().mean().item()
    assert rate == pytest.approx(probability, abs=STEP + 0.01)
    (kept,) = dropped[dropped != 0].unique()
    assert kept.item() == pytest.approx(1 / (1 - probability), rel=0.03)
    assert dropped.mean().item() == pytest.approx(1, abs=0.05)


def test_the_mask_of_a_key_does_not_depend_on_the_rest_of_the_batch():
    x, keys = torch.ones(30, 50), keys_of(30)
    dropout = Dropout(0.5).train()
    together, backwards = dropout(x, keys), dropout(x, keys.flip(0)).flip(0)
    alone = torch.cat([dropout(x[k : k + 1], keys[k : k + 1]) for k in range(30)])
    assert torch.equal(together, backwards)
    assert torch.equal(together, alone)
    assert len({tuple(row) for row in together.tolist()}) == 30


def test_keys_of_sentences_drop_the_same_components_at_every_position():
    x = torch.ones(30, 4, 50)  # [N, B, D]
    dropped = Dropout(0.5).train()(x, keys_of(4)) == 0
    assert (dropped == dropped[0]).all()
    assert (dropped[:, 0] != dropped[:, 1]).any()


def test_layers_words_and_states_have_keys_of_their_own():
    keys = keys_of(20)
    below = torch.stack([keys, *(keys_below(keys, number) for number in range(-2, 40))])
    assert len(set(below.flatten().tolist())) == below.numel()


def test_words_are_not_dropped_by_the_random_numbers_of_the_rollout():
    """A rollout draws from the sentence's key itself: uniform(random, i) of dyparse.exploration."""
    random = np.array([12345], dtype=np.uint64)
    drawn = [uniform(random, 0) < 0.4 for _ in range(200)]
    key = torch.tensor([12345])
    assert dropped_places(key, 200, 0.4)[0].tolist() == drawn
    assert dropped_places(keys_below(key, WORDS), 200, 0.4)[0].tolist() != drawn


@pytest.mark.parametrize("probability", [0.1, 0.33, 0.8])
def test_places_are_dropped_with_the_probability(probability):
    dropped = dropped_places(keys_of(200), 100, probability)
    assert dropped.shape == (200, 100)
    assert dropped.float().mean().item() == pytest.approx(probability, abs=0.01)
    assert torch.equal(dropped[:, :40], dropped_places(keys_of(200), 40, probability))


def test_nothing_is_dropped_when_not_training_or_with_probability_0():
    x = torch.randn(3, 5)
    for dropout in (Dropout(0.5).eval(), Dropout(0.0).train()):
        assert not dropout.is_active
        assert torch.equal(dropout(x, None), x)


def test_training_without_keys_is_refused():
    with pytest.raises(AssertionError, match="keys"):
        Dropout(0.5).train()(torch.ones(3, 5), None)


def test_the_gradient_is_the_mask_and_the_dtype_is_kept():
    x = torch.randn(6, 9, requires_grad=True, dtype=torch.float64)
    y = Dropout(0.4).train()(x, keys_of(6))
    assert y.dtype == torch.float64
    y.sum().backward()
    torch.testing.assert_close(x.grad * x, y)
    assert ((x.grad == 0) == (y == 0)).all()
