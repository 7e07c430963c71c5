"""Dropout: how much is dropped, where, and that nothing is when not training."""

import pytest
import torch

from dyparse.dropout import Dropout, VariationalDropout

STEP = 1 / 256  # probabilities are rounded to multiples of it


@pytest.mark.parametrize("probability", [0.05, 0.33, 0.5, 0.9])
@pytest.mark.parametrize("kind", [Dropout, VariationalDropout])
def test_the_share_dropped_is_the_probability_and_the_others_make_up_for_it(kind, probability):
    torch.manual_seed(1)
    x = torch.ones(1, 100, 1001)
    dropped = kind(probability).train()(x)
    share = (dropped == 0).float().mean().item()
    assert share == pytest.approx(probability, abs=STEP + 0.01)
    (kept,) = dropped[dropped != 0].unique()
    assert kept.item() == pytest.approx(1 / (1 - probability), rel=0.03)
    assert dropped.mean().item() == pytest.approx(1, abs=0.05)


def test_components_are_dropped_one_by_one_or_at_every_position_of_a_sentence_alike():
    torch.manual_seed(1)
    x = torch.ones(30, 4, 50)  # [N, B, D]
    one_by_one, alike = (kind(0.5).train()(x) == 0 for kind in (Dropout, VariationalDropout))
    assert (alike == alike[0]).all()
    assert (alike[:, 0] != alike[:, 1]).any()
    assert not (one_by_one == one_by_one[0]).all()
    assert one_by_one.any(0).all()


@pytest.mark.parametrize("kind", [Dropout, VariationalDropout])
def test_nothing_is_dropped_when_not_training_or_with_probability_0(kind):
    x = torch.randn(3, 4, 5)
    assert torch.equal(kind(0.5).eval()(x), x)
    assert torch.equal(kind(0.0).train()(x), x)


@pytest.mark.parametrize("kind", [Dropout, VariationalDropout])
def test_the_generator_decides_and_the_dtype_stays(kind):
    x = torch.ones(3, 4, 7, dtype=torch.float64)
    results = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        results.append(kind(0.5).train()(x))
    assert torch.equal(results[0], results[1])
    assert not torch.equal(results[0], results[2])
    assert results[0].dtype == torch.float64


def test_the_gradient_is_the_mask():
    x = torch.randn(2, 3, 9, requires_grad=True)
    torch.manual_seed(3)
    y = Dropout(0.4).train()(x)
    y.sum().backward()
    torch.testing.assert_close(x.grad * x, y)
    assert ((x.grad == 0) == (y == 0)).all()
