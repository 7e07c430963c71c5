"""The moving average of a model's weights."""

import pytest
import torch

from dyparse.tensors.moving_average import UPDATES_PER_AVERAGE, MovingAverage


def constant_model(value):
    layer = torch.nn.Linear(2, 2)
    for parameter in layer.parameters():
        torch.nn.init.constant_(parameter, value)
    return layer


def test_the_average_is_a_copy_that_ends_near_the_model():
    model = constant_model(0.0)
    average = MovingAverage(model, 0.9)
    for parameter in model.parameters():
        torch.nn.init.constant_(parameter, 1.0)
    assert not average.model.weight.any()
    distances = []
    for _ in range(300):
        average.follow(model)
        distances.append(1 - average.model.weight[0, 0].item())
    assert distances == sorted(distances, reverse=True)
    assert distances[0] == pytest.approx(1 / 11)  # 1 / (10 + 1) of the old weights
    assert distances[-1] < 1e-6
    assert (model.weight == 1).all()


def test_without_decay_the_average_is_the_model():
    average = MovingAverage(constant_model(0.0), 0.0)
    for value in range(1, 200):
        average.follow(constant_model(float(value)))
        assert (average.model.weight == value).all()


def test_averaging_every_few_updates_forgets_as_fast_as_every_update():
    average = MovingAverage(constant_model(0.0), 0.95)
    for _ in range(400):
        average.follow(constant_model(0.0))
    for _ in range(10 * UPDATES_PER_AVERAGE):
        average.follow(constant_model(1.0))
    expected = 1 - 0.95 ** (10 * UPDATES_PER_AVERAGE)
    assert average.model.bias[0].item() == pytest.approx(expected, rel=1e-4)


def test_frozen_weights_are_shared_and_stay_as_they_are():
    model = constant_model(1.0)
    model.weight.requires_grad = False
    average = MovingAverage(model, 0.9)
    assert average.model.weight is model.weight
    assert average.model.bias is not model.bias
    with torch.no_grad():
        model.bias.fill_(3.0)
    average.follow(model)
    assert (model.weight == 1.0).all()
    assert (average.model.bias > 1.0).all()
