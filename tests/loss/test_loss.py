"""Every loss of conf/loss: gradients, limits, and a slow reference where there is one."""

import math

import pytest
import torch
from helpers.tiny import yamls
from omegaconf import OmegaConf

from dyparse.config.build import build
from dyparse.errors import ConfigError
from dyparse.loss import best_moves, cost_above_least
from dyparse.loss.binary import Binary
from dyparse.loss.cost_regression import CostRegression
from dyparse.loss.expected_cost import ExpectedCost
from dyparse.loss.hinge import Hinge
from dyparse.loss.set_nll import SetNLL
from dyparse.loss.softmax_margin import SoftmaxMargin

T, M = 40, 5
AGAINST_ZERO = {"binary", "cost_regression"}  # look at each score alone, not at their differences
REGRESSIONS = {"cost_regression"}  # perfect scores are certain numbers, not ever larger ones


def over(paths):
    """Run a test with each of these losses."""
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.stem)


losses = over(yamls("loss"))
comparing_losses = over([path for path in yamls("loss") if path.stem not in AGAINST_ZERO])
pushing_losses = over([path for path in yamls("loss") if path.stem not in REGRESSIONS])


def loss_of(path, **options):
    return build(OmegaConf.to_container(OmegaConf.load(path)) | options, "loss")


def one_state(scores, cost):
    """A state in which all moves are legal, its scores ready to be differentiated."""
    scores = torch.tensor([scores], dtype=torch.float64, requires_grad=True)
    return scores, torch.ones_like(scores, dtype=torch.bool), torch.tensor([cost]).int()


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


def above_least(legal, cost, t, m, most=None):
    """Cost of the legal move m of state t beyond the least, at most `most`."""
    least = min(c for c, is_legal in zip(cost[t], legal[t], strict=True) if is_legal)
    return min(cost[t][m] - least, math.inf if most is None else most)


def slow_set_nll(scores, legal, cost):
    """−log of the total probability of the best moves, state by state."""
    losses = []
    for t, row in enumerate(scores):
        weight = [math.exp(score) if legal[t][m] else 0.0 for m, score in enumerate(row)]
        best = sum(w for m, w in enumerate(weight) if is_best(legal, cost, t, m))
        losses.append(-math.log(best / sum(weight)))
    return losses


def slow_hinge(scores, legal, cost, margin=1.0):
    """The largest amount by which a wrong move violates the margin below the highest best move."""
    losses = []
    for t, row in enumerate(scores):
        highest = max(score for m, score in enumerate(row) if is_best(legal, cost, t, m))
        lacks = 0.0
        for m, score in enumerate(row):
            if legal[t][m] and not is_best(legal, cost, t, m):
                lacks = max(lacks, margin - (highest - score))
        losses.append(lacks)
    return losses


def slow_binary(scores, legal, cost):
    """−log of the probability of the right answer, for every legal move of every state."""
    losses = []
    for t, row in enumerate(scores):
        losses.append(0.0)
        for m, score in enumerate(row):
            if legal[t][m]:
                yes = 1 / (1 + math.exp(-score))
                losses[t] -= math.log(yes if is_best(legal, cost, t, m) else 1 - yes)
    return losses


def slow_expected_cost(scores, legal, cost, most_cost=None):
    """Costs of the moves beyond the least, weighted with their probabilities."""
    losses = []
    for t, row in enumerate(scores):
        legal_moves = [m for m in range(len(row)) if legal[t][m]]
        weights = {m: math.exp(row[m]) for m in legal_moves}
        costs = (weights[m] * above_least(legal, cost, t, m, most_cost) for m in legal_moves)
        losses.append(sum(costs) / sum(weights.values()))
    return losses


def slow_softmax_margin(scores, legal, cost, scale=1.0, most_cost=None):
    """−log of the probability of the best moves, where costly moves get a bonus."""
    losses = []
    for t, row in enumerate(scores):
        best = weights = 0.0
        for m, score in enumerate(row):
            if legal[t][m]:
                weights += math.exp(score + scale * above_least(legal, cost, t, m, most_cost))
            if is_best(legal, cost, t, m):
                best += math.exp(score)
        losses.append(-math.log(best / weights))
    return losses


def slow_cost_regression(scores, legal, cost, most_cost=None):
    """Squares of the distances between scores and minus costs beyond the least."""
    losses = []
    for t, row in enumerate(scores):
        legal_moves = [m for m in range(len(row)) if legal[t][m]]
        off = (row[m] - -above_least(legal, cost, t, m, most_cost) for m in legal_moves)
        losses.append(sum(distance**2 for distance in off))
    return losses


REFERENCES = {
    "set_nll": slow_set_nll,
    "hinge": slow_hinge,
    "binary": slow_binary,
    "expected_cost": slow_expected_cost,
    "softmax_margin": slow_softmax_margin,
    "cost_regression": slow_cost_regression,
}
OPTIONS = [
    *((name, {}) for name in REFERENCES),
    ("hinge", {"margin": 0.0}),
    ("hinge", {"margin": 2.5}),
    ("expected_cost", {"most_cost": 1}),
    ("expected_cost", {"most_cost": 2}),
    ("softmax_margin", {"scale": 0.1}),
    ("softmax_margin", {"scale": 2.0, "most_cost": 1}),
    ("softmax_margin", {"most_cost": 2}),
    ("cost_regression", {"most_cost": 1}),
    ("cost_regression", {"most_cost": 2}),
]


@pytest.mark.parametrize(("name", "options"), OPTIONS)
@pytest.mark.parametrize("factor", [1, 3])
def test_the_loss_equals_its_formula_written_slowly(name, options, factor, states):
    path = next(path for path in yamls("loss") if path.stem == name)
    scores, legal, cost = states
    states = scores, legal, cost * factor + 1
    slow = REFERENCES[name](*(tensor.tolist() for tensor in states), **options)
    assert loss_of(path, **options)(*states).tolist() == pytest.approx(slow, rel=1e-12)
    assert sum(slow) / T > 0.1


def test_best_moves_are_legal_and_of_least_cost(states):
    _, legal, cost = states
    best = best_moves(legal, cost)
    for t in range(T):
        for m in range(M):
            assert best[t, m] == is_best(legal.tolist(), cost.tolist(), t, m)


@pytest.mark.parametrize("most", [None, 1, 2])
def test_cost_above_least_is_bounded_and_nothing_for_best_and_illegal_moves(most, states):
    _, legal, cost = states
    above = cost_above_least(legal, cost * 2 + 1, most)
    assert above.dtype == cost.dtype
    for t in range(T):
        for m in range(M):
            expected = above_least(legal, cost * 2 + 1, t, m, most) if legal[t, m] else 0
            assert above[t, m] == expected
    assert above.max() == (most or 4)


@losses
def test_the_gradient_is_that_of_the_loss(path, states):
    scores, legal, cost = states
    loss = loss_of(path)
    assert torch.autograd.gradcheck(
        lambda s: loss(s, legal, cost), scores.clone().requires_grad_(requires_grad=True)
    )


@pushing_losses
def test_the_loss_vanishes_as_the_scores_become_perfect(path, states):
    scores, legal, cost = states
    loss = loss_of(path)
    sign = torch.where(best_moves(legal, cost), 1, -1)
    values = [loss(scores + scale * sign, legal, cost).mean().item() for scale in (0, 3, 10, 1000)]
    assert values == sorted(values, reverse=True)
    assert values[0] > 0.1
    assert 0 <= values[-1] < 1e-9


@pytest.mark.parametrize("most_cost", [None, 1])
def test_a_regression_vanishes_where_scores_are_costs_and_nowhere_else(most_cost, states):
    scores, legal, cost = states
    perfect = -cost_above_least(legal, cost * 3 + 1, most_cost).double()
    loss = CostRegression(most_cost)
    for distance in (2.0, 1e-3, 0.0):
        off = loss(perfect + distance * torch.sign(scores), legal, cost * 3 + 1)
        torch.testing.assert_close(off, distance**2 * legal.sum(-1).double())


@losses
def test_the_loss_grows_as_the_scores_become_wrong(path, states):
    scores, legal, cost = states
    loss = loss_of(path)
    wrong = legal & ~best_moves(legal, cost)
    worse = loss(scores + 10 * wrong, legal, cost).sum()
    assert worse > 1.3 * loss(scores, legal, cost).sum()


@comparing_losses
def test_a_constant_added_to_the_scores_of_a_state_changes_nothing(path, states):
    scores, legal, cost = states
    loss = loss_of(path)
    shift = torch.linspace(-50, 80, T, dtype=torch.float64).unsqueeze(1)  # of mean not 0
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
    value.sum().backward()
    assert (wild.grad[~legal] == 0).all()


@losses
def test_the_loss_of_a_state_does_not_depend_on_the_states_beside_it(path, states):
    loss = loss_of(path)
    alone = [loss(*(tensor[t : t + 1] for tensor in states)) for t in range(T)]
    torch.testing.assert_close(loss(*states), torch.cat(alone))


@over([path for path in yamls("loss") if path.stem in AGAINST_ZERO])
def test_a_loss_that_compares_with_zero_depends_on_the_constant(path, states):
    scores, legal, cost = states
    loss = loss_of(path)
    assert loss(scores + 50, legal, cost).mean() > loss(scores, legal, cost).mean() + 10


@losses
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_loss_is_finite_with_one_legal_move_and_with_best_ones_only(path, dtype):
    scores = torch.tensor([[5.0, -80.0, 80.0], [0.0, 1.0, 300.0]], dtype=dtype)
    legal = torch.tensor([[False, True, False], [True, True, False]])
    cost = torch.tensor([[0, 3, 0], [2, 2, 0]], dtype=torch.int32)
    scores.requires_grad_(requires_grad=True)
    value = loss_of(path)(scores, legal, cost)
    value.sum().backward()
    assert ((value >= 0) & (value < math.inf)).all()
    assert scores.grad.isfinite().all()
    if path.stem not in AGAINST_ZERO:  # there is nothing to compare
        assert value.max() < 1e-6
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


@losses
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_the_loss_never_looks_at_numbers_and_keeps_device_and_type(path, dtype, states):
    """Tensors on the device `meta` have none; reading one, as `.item()` does, is an error."""
    scores, legal, cost = (tensor.to("meta") for tensor in states)
    scores = scores.to(dtype).requires_grad_(requires_grad=True)
    value = loss_of(path)(scores, legal, cost)
    value.sum().backward()
    assert (value.device.type, value.dtype, value.shape) == ("meta", dtype, (T,))
    assert scores.grad.dtype == dtype


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        (SetNLL(), math.log(3 / 2)),
        (Hinge(), 1.0),
        (Hinge(margin=0.0), 0.0),
        (Binary(), 3 * math.log(2)),
        (ExpectedCost(), 4 / 3),
        (ExpectedCost(most_cost=3), 1.0),
        (SoftmaxMargin(), math.log((2 + math.exp(4)) / 2)),
        (SoftmaxMargin(scale=0.5, most_cost=2), math.log((2 + math.exp(1)) / 2)),
        (CostRegression(), 16.0),
        (CostRegression(most_cost=3), 9.0),
    ],
    ids=repr,
)
def test_the_loss_of_equal_scores_is_known(loss, expected):
    assert loss(*one_state([0.0, 0.0, 0.0], [1, 1, 5])).item() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("loss", "gradient"),
    [
        (SetNLL(), [0.5, -0.5]),
        (Hinge(), [1.0, -1.0]),
        (Binary(), [0.5, -0.5]),
        (ExpectedCost(), [0.5, -0.5]),
        (SoftmaxMargin(scale=math.log(3) / 2), [0.75, -0.75]),
        (CostRegression(), [4.0, 0.0]),
    ],
    ids=repr,
)
def test_the_gradient_of_equal_scores_is_known(loss, gradient):
    scores, legal, cost = one_state([0.0, 0.0], [2, 0])
    loss(scores, legal, cost).backward()
    torch.testing.assert_close(scores.grad, torch.tensor([gradient], dtype=torch.float64))


def test_hinge_moves_only_the_two_moves_that_it_compares():
    scores, legal, cost = one_state([1.0, 2.0, 2.5, 0.0], [0, 0, 1, 3])
    Hinge()(scores, legal, cost).backward()
    assert scores.grad.tolist() == [[0.0, -1.0, 1.0, 0.0]]


def test_hinge_without_margin_costs_nothing_where_the_favourite_is_a_best_move(states):
    scores, legal, cost = states
    favourite = scores.masked_fill(~legal, -torch.inf).argmax(-1, keepdim=True)
    is_right = best_moves(legal, cost).gather(-1, favourite).squeeze(-1)
    assert ((Hinge(margin=0.0)(*states) == 0) == is_right).all()
    assert 0 < is_right.sum() < T


def test_binary_answers_do_not_depend_on_the_moves_beside_them():
    scores, legal, cost = one_state([0.3, -1.2, 2.0], [0, 1, 1])
    alone = legal.clone()
    alone[0, 2] = False
    (of_all,) = torch.autograd.grad(Binary()(scores, legal, cost), scores)
    (of_two,) = torch.autograd.grad(Binary()(scores, alone, cost), scores)
    assert of_all[0, :2].tolist() == of_two[0, :2].tolist()


def test_binary_is_never_less_than_set_nll(states):
    """Π(1 + exp −best) Π(1 + exp wrong) contains every term of the odds against a best move."""
    assert (Binary()(*states) >= SetNLL()(*states)).all()


def test_expected_cost_lies_between_0_and_the_largest_cost_above_the_least(states):
    _, legal, cost = states
    expected = ExpectedCost()(*states)
    largest = cost_above_least(legal, cost).amax(-1)
    assert (expected >= 0).all()
    assert (expected <= largest).all()
    assert (expected[largest > 0] > 0).all()


@pytest.mark.parametrize("is_static", [False, True])
def test_expected_cost_of_at_most_one_is_the_probability_of_a_wrong_move(is_static, states):
    scores, legal, cost = states
    canonical = best_moves(legal, cost).int().argmax(-1, keepdim=True)
    if is_static:
        cost = (torch.arange(M) != canonical).int()
    loss = ExpectedCost(most_cost=None if is_static else 1)
    right = (-SetNLL()(scores, legal, cost)).exp()
    torch.testing.assert_close(loss(scores, legal, cost), 1 - right)


@pytest.mark.parametrize(
    ("loss", "has_gradient"),
    [
        (SetNLL(), True),
        (Hinge(), True),
        (Binary(), True),
        (ExpectedCost(), False),
        (SoftmaxMargin(), True),
        (CostRegression(), True),
    ],
    ids=repr,
)
def test_a_sure_mistake_has_no_gradient_under_expected_cost_alone(loss, has_gradient):
    scores, legal, cost = one_state([30.0, -30.0], [4, 0])
    loss(scores, legal, cost).backward()
    assert (scores.grad.abs().amax() > 0.9) == has_gradient
    assert (scores.grad.abs().amax() < 1e-20) != has_gradient


def test_softmax_margin_of_scale_zero_is_set_nll(states):
    assert torch.equal(SoftmaxMargin(scale=0.0)(*states), SetNLL()(*states))


def test_softmax_margin_grows_with_its_scale_at_first_by_the_expected_cost(states):
    scale = 1e-7
    growth = SoftmaxMargin(scale)(*states) - SetNLL()(*states)
    expected = ExpectedCost()(*states)
    torch.testing.assert_close(growth / scale, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("most_cost", [None, 1])
@pytest.mark.parametrize("scale", [0.3, 1.0, 2.0])
def test_softmax_margin_bounds_set_nll_and_expected_cost_together(scale, most_cost, states):
    together = SetNLL()(*states) + scale * ExpectedCost(most_cost)(*states)
    bound = SoftmaxMargin(scale, most_cost)(*states)
    assert (bound >= together - 1e-12).all()
    assert (bound > together + 1e-3).any()


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("hinge", {"margin": -0.5}, "loss.margin is -0.5, expected 0 or more"),
        ("hinge", {"margin": math.nan}, "loss.margin is nan"),
        ("hinge", {"margin": math.inf}, "loss.margin is inf"),
        ("expected_cost", {"most_cost": 0}, "loss.most_cost is 0, expected 1 or more, or null"),
        ("softmax_margin", {"most_cost": -1}, "loss.most_cost is -1"),
        ("softmax_margin", {"scale": -1.0}, "loss.scale is -1.0, expected 0 or more"),
        ("softmax_margin", {"scale": math.nan}, "loss.scale is nan"),
        ("softmax_margin", {"scale": math.inf}, "loss.scale is inf"),
        ("softmax_margin", {"most_cost": 1.5}, "loss.most_cost"),
        ("hinge", {"margin": "big"}, "loss.margin"),
        ("cost_regression", {"most_cost": 0}, "loss.most_cost is 0, expected 1 or more, or null"),
        *(
            (path.stem, {"weight": 0.0}, "loss.weight is 0.0, expected more than 0")
            for path in yamls("loss")
        ),
        ("set_nll", {"weight": math.inf}, "loss.weight is inf"),
    ],
)
def test_an_option_out_of_range_is_refused_by_name(name, options, message):
    path = next(path for path in yamls("loss") if path.stem == name)
    with pytest.raises((ValueError, ConfigError), match=message):
        loss_of(path, **options)
