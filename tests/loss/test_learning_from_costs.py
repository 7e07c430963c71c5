"""Problems with a known answer, in which it matters how much a wrong move costs."""

import pytest
import torch

from dyparse.loss.binary import Binary
from dyparse.loss.cost_regression import CostRegression
from dyparse.loss.expected_cost import ExpectedCost
from dyparse.loss.set_nll import SetNLL
from dyparse.loss.softmax_margin import SoftmaxMargin

# Five states that look alike: a move that is best in none of them is the best answer to all.
COST = torch.tensor([[0, 1, 6]] * 3 + [[6, 1, 0]] * 2, dtype=torch.int32)
MEAN_COST = [2.4, 1.0, 3.6]
LEGAL = torch.ones_like(COST, dtype=torch.bool)


def learned(loss, steps=1000):
    """[M]: the scores, the same in all states, that minimize a loss."""
    scores = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([scores], lr=0.03)
    for _ in range(steps):
        optimizer.zero_grad()
        loss(scores.expand(len(COST), -1), LEGAL, COST).mean().backward()
        optimizer.step()
    return scores.detach()


def test_cost_regression_learns_the_mean_costs():
    assert learned(CostRegression()).tolist() == pytest.approx([-c for c in MEAN_COST], abs=1e-6)


@pytest.mark.parametrize("loss", [CostRegression(), ExpectedCost()], ids=repr)
def test_cost_sensitive_losses_learn_the_move_that_loses_fewest_arcs_on_average(loss):
    assert learned(loss).argmax() == 1


@pytest.mark.parametrize(
    "loss",
    [
        SetNLL(),
        Binary(),
        SoftmaxMargin(),  # uses the size of costs, but pushes the best moves up all the same
        CostRegression(most_cost=1),
        ExpectedCost(most_cost=1),
    ],
    ids=repr,
)
def test_other_losses_learn_the_move_that_is_best_most_often(loss):
    assert learned(loss).argmax() == 0


def policy_gradient(scores, cost, baseline=0.0):
    """E_{m ~ p} (cost(m) − baseline) ∂ log p(m) / ∂ scores, of one state: [M]."""
    found = torch.zeros_like(scores)
    for m in range(len(scores)):
        log_p = scores.log_softmax(-1)[m]
        (gradient,) = torch.autograd.grad(log_p, scores)
        found += log_p.exp().detach() * (cost[m] - baseline) * gradient
    return found


@pytest.mark.parametrize("baseline", [0.0, 1.5, 7.0])
def test_the_gradient_of_expected_cost_is_the_expected_policy_gradient(baseline):
    scores = torch.tensor([0.3, -1.0, 0.8, 0.1], dtype=torch.float64, requires_grad=True)
    cost = torch.tensor([2, 3, 9, 2], dtype=torch.int32)
    loss = ExpectedCost()(scores[None], torch.ones(1, 4, dtype=torch.bool), cost[None])
    (gradient,) = torch.autograd.grad(loss, scores)
    torch.testing.assert_close(policy_gradient(scores, cost, baseline), gradient)
    assert gradient.abs().max() > 0.5
