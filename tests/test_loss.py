"""Every loss of conf/loss: gradients, limits, and a slow reference where one is written."""

import math

import pytest
import torch
from omegaconf import OmegaConf
from tiny import yamls

from dyparse.config import build
from dyparse.loss import best_moves

losses = pytest.mark.parametrize("path", yamls("loss"), ids=lambda path: path.stem)
T, M = 40, 5


def loss_of(path):
    return build(OmegaConf.to_container(OmegaConf.load(path)), "loss")


@pytest.fixture
def states():
    """Random scores, legality with at least one legal move, and costs with ties."""
    generator = torch.Generator().manual_seed(11)
    scores = torch.randn(T, M, generator=generator, dtype=torch.float64)
    legal = torch.rand(T, M, generator=generator) < 0.6
    legal[torch.arange(T), torch.randint(M, (T,), generator=generator)] = True
    cost = torch.randint(0, 3, (T, M), generator=generator, dtype=torch.int32)
    return scores, legal, cost


def is_best(legal, cost, t, m):
    """Move m is legal and of least cost in state t."""
    of_legal = [c for c, is_legal in zip(cost[t], legal[t], strict=True) if is_legal]
    return legal[t][m] and cost[t][m] == min(of_legal)


def slow_set_nll(scores, legal, cost):
    """−log of the best moves' share of the probability of the legal moves, state by state."""
    total = 0.0
    for t, row in enumerate(scores):
        weight = [math.exp(score) if legal[t][m] else 0.0 for m, score in enumerate(row)]
        best = sum(w for m, w in enumerate(weight) if is_best(legal, cost, t, m))
        total -= math.log(best / sum(weight))
    return total / len(scores)


REFERENCES = {"set_nll": slow_set_nll}


@pytest.mark.parametrize("name", REFERENCES)
def test_the_loss_equals_its_formula_written_slowly(name, states):
    path = next(path for path in yamls("loss") if path.stem == name)
    slow = REFERENCES[name](*(tensor.tolist() for tensor in states))
    assert loss_of(path)(*states).item() == pytest.approx(slow, rel=1e-12)
    assert slow > 0.1


def test_best_moves_are_legal_and_of_least_cost(states):
    _, legal, cost = states
    best = best_moves(legal, cost)
    for t in range(T):
        for m in range(M):
            assert best[t, m] == is_best(legal.tolist(), cost.tolist(), t, m)


@losses
def test_the_gradient_is_that_of_the_loss(path, states):
    scores, legal, cost = states
    loss = loss_of(path)
    assert torch.autograd.gradcheck(
        lambda s: loss(s, legal, cost), scores.clone().requires_grad_(requires_grad=True)
    )


@losses
def test_the_loss_vanishes_as_the_scores_become_perfect(path, states):
    scores, legal, cost = states
    loss = loss_of(path)
    best = best_moves(legal, cost)
    values = [loss(scores + scale * best, legal, cost).item() for scale in (0, 3, 10, 1000)]
    assert values == sorted(values, reverse=True)
    assert values[0] > 0.1
    assert 0 <= values[-1] < 1e-9


@losses
def test_the_loss_grows_as_the_scores_become_wrong(path, states):
    scores, legal, cost = states
    loss = loss_of(path)
    wrong = legal & ~best_moves(legal, cost)
    assert loss(scores + 10 * wrong, legal, cost) > loss(scores, legal, cost) + 1


@losses
def test_a_constant_added_to_the_scores_of_a_state_changes_nothing(path, states):
    scores, legal, cost = states
    loss = loss_of(path)
    shift = torch.linspace(-50, 50, T, dtype=torch.float64).unsqueeze(1)
    torch.testing.assert_close(loss(scores + shift, legal, cost), loss(scores, legal, cost))


@losses
def test_a_constant_added_to_the_costs_of_a_state_changes_nothing(path, states):
    scores, legal, cost = states
    loss = loss_of(path)
    shift = torch.arange(T, dtype=torch.int32).unsqueeze(1)
    torch.testing.assert_close(loss(scores, legal, cost + shift), loss(scores, legal, cost))


@losses
def test_illegal_moves_do_not_matter(path, states):
    scores, legal, cost = states
    loss = loss_of(path)
    wild = torch.where(legal, scores, 1e6).requires_grad_(requires_grad=True)
    rubbish = torch.where(legal, cost, -1000)
    value = loss(wild, legal, rubbish)
    torch.testing.assert_close(value, loss(scores, legal, cost))
    value.backward()
    assert (wild.grad[~legal] == 0).all()


@losses
def test_the_loss_is_a_mean_over_states(path, states):
    loss = loss_of(path)
    single = [loss(*(tensor[t : t + 1] for tensor in states)) for t in range(T)]
    torch.testing.assert_close(loss(*states), torch.stack(single).mean())


@losses
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_loss_is_finite_with_one_legal_move_and_with_none_but_best_ones(path, dtype):
    scores = torch.tensor([[5.0, -80.0, 80.0], [0.0, 1.0, 300.0]], dtype=dtype)
    legal = torch.tensor([[False, True, False], [True, True, False]])
    cost = torch.tensor([[0, 3, 0], [2, 2, 0]], dtype=torch.int32)
    scores.requires_grad_(requires_grad=True)
    value = loss_of(path)(scores, legal, cost)
    value.backward()
    assert 0 <= value < 1e-6
    assert scores.grad.isfinite().all()
    assert scores.grad.abs().max() < 1e-6


@losses
def test_large_scores_do_not_overflow(path):
    scores = torch.tensor([[3e4, -3e4, 0.0]], requires_grad=True)
    value = loss_of(path)(
        scores, torch.ones(1, 3, dtype=torch.bool), torch.tensor([[1, 0, 1]], dtype=torch.int32)
    )
    value.backward()
    assert value.isfinite()
    assert scores.grad.isfinite().all()
