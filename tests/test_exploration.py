"""Every exploration of conf/exploration: what it takes, and what it leaves to the loss."""

import numpy as np
import pytest
from omegaconf import OmegaConf
from tiny import yamls

from dyparse.config import build
from dyparse.exploration import Choice, follow, uniform
from dyparse.exploration.ambiguity import Ambiguity
from dyparse.exploration.explore import Explore
from dyparse.exploration.static import Static

explorations = pytest.mark.parametrize("path", yamls("exploration"), ids=lambda path: path.stem)
M = 4


def exploration_of(path):
    return build(OmegaConf.to_container(OmegaConf.load(path)), "exploration")


def choices(count, seed=0):
    """Random situations: some moves legal, ties among costs, the canonical move one of the best."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        legal = rng.random(M) < 0.6
        legal[rng.integers(M)] = True
        cost = rng.integers(0, 3, M).astype(np.int32)
        scores = rng.normal(size=M).astype(np.float32)
        best = np.flatnonzero(legal & (cost == cost[legal].min()))
        yield Choice(scores, legal, cost, int(rng.choice(best)))


def copied(choice):
    return Choice(choice.scores.copy(), choice.legal.copy(), choice.cost.copy(), choice.canonical)


def taken(exploration, choice, epoch=5, random=None):
    """The move that an exploration takes; its choice is left alone."""
    random = np.zeros(1, dtype=np.uint64) if random is None else random
    return follow(exploration.policy, epoch, copied(choice), random, 0)


def favourite(choice, allowed):
    """The highest-scoring of the allowed moves."""
    return int(np.where(allowed, choice.scores, -np.inf).argmax())


def best(choice):
    """bool [M]: legal and of least cost."""
    return choice.legal & (choice.cost == choice.cost[choice.legal].min())


@explorations
@pytest.mark.parametrize("epoch", [1, 2, 50])
def test_the_move_taken_is_legal(path, epoch):
    exploration = exploration_of(path)
    random = np.random.default_rng(1).integers(2**63, size=1, dtype=np.uint64)
    for choice in choices(200):
        assert choice.legal[taken(exploration, choice, epoch, random)]


@explorations
def test_the_loss_sees_scores_and_legal_moves_as_they_are_and_no_new_best_move(path):
    exploration = exploration_of(path)
    for choice in choices(200):
        seen = copied(choice)
        follow(exploration.policy, 5, seen, np.zeros(1, dtype=np.uint64), 0)
        np.testing.assert_array_equal(seen.scores, choice.scores)
        np.testing.assert_array_equal(seen.legal, choice.legal)
        assert not (best(seen) & ~best(choice)).any()


@explorations
def test_the_same_random_numbers_lead_to_the_same_moves(path):
    exploration = exploration_of(path)
    runs = []
    for _ in range(2):
        random = np.array([7], dtype=np.uint64)
        runs.append([taken(exploration, choice, 5, random) for choice in choices(100)])
    assert runs[0] == runs[1]


@explorations
def test_a_row_uses_its_own_random_numbers_only(path):
    exploration = exploration_of(path)
    alone, together = np.array([3], dtype=np.uint64), np.array([1, 3, 9], dtype=np.uint64)
    for choice in choices(100):
        move = follow(exploration.policy, 5, copied(choice), alone, 0)
        assert follow(exploration.policy, 5, copied(choice), together, 1) == move
    assert together[1] == alone[0]
    assert together[[0, 2]].tolist() == [1, 9]


def test_static_takes_the_canonical_move_and_calls_all_others_wrong():
    for choice in choices(200):
        seen = copied(choice)
        move = follow(Static().policy, 3, seen, np.zeros(1, dtype=np.uint64), 0)
        assert move == choice.canonical
        assert seen.cost.tolist() == [int(m != choice.canonical) for m in range(M)]


def test_ambiguity_takes_the_favourite_of_the_best_moves_and_leaves_the_costs():
    for choice in choices(300):
        seen = copied(choice)
        move = follow(Ambiguity().policy, 9, seen, np.zeros(1, dtype=np.uint64), 0)
        assert move == favourite(choice, best(choice))
        np.testing.assert_array_equal(seen.cost, choice.cost)


@pytest.mark.parametrize(
    ("options", "epoch", "follows_the_model"),
    [
        ({"first_epochs": 0, "probability": 1.0}, 1, True),
        ({"first_epochs": 2, "probability": 1.0}, 3, True),
        ({"first_epochs": 2, "probability": 1.0}, 2, False),
        ({"first_epochs": 0, "probability": 0.0}, 9, False),
    ],
)
def test_explore_follows_the_model_after_its_first_epochs(options, epoch, follows_the_model):
    random = np.array([5], dtype=np.uint64)
    differ = 0
    for choice in choices(300):
        seen = copied(choice)
        move = follow(Explore(**options).policy, epoch, seen, random, 0)
        of_model, of_best = favourite(choice, choice.legal), favourite(choice, best(choice))
        assert move == (of_model if follows_the_model else of_best)
        np.testing.assert_array_equal(seen.cost, choice.cost)
        differ += of_model != of_best
    assert differ > 50


@pytest.mark.parametrize("probability", [0.1, 0.5, 0.9])
def test_explore_follows_the_model_as_often_as_it_is_told(probability):
    policy = Explore(first_epochs=0, probability=probability).policy
    choice = Choice(
        np.array([2.0, 1.0, 0.0, 0.0], dtype=np.float32),
        np.array([True, True, False, False]),
        np.array([1, 0, 0, 0], dtype=np.int32),
        1,
    )
    random = np.array([123456789], dtype=np.uint64)
    count = 4000
    wrong = sum(follow(policy, 1, choice, random, 0) == 0 for _ in range(count))
    deviation = (probability * (1 - probability) / count) ** 0.5
    assert abs(wrong / count - probability) < 4 * deviation


def test_uniform_numbers_are_those_of_splitmix64():
    """Reference values of the generator's author for the seed 1234567, shifted to 53 bits."""
    random = np.array([0, 1234567], dtype=np.uint64)
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [uniform(random, 1) for _ in published] == [(z >> 11) / 2**53 for z in published]
    assert random[0] == 0


def test_uniform_numbers_fill_the_interval_evenly():
    random = np.array([42], dtype=np.uint64)
    numbers = np.array([uniform(random, 0) for _ in range(10_000)])
    assert numbers.min() >= 0
    assert numbers.max() < 1
    counts, _ = np.histogram(numbers, bins=10, range=(0, 1))
    assert abs(counts - 1000).max() < 150  # 5 standard deviations
    assert abs(np.corrcoef(numbers[:-1], numbers[1:])[0, 1]) < 0.05


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"probability": 1.5}, "exploration.probability is 1.5"),
        ({"probability": -0.1}, "exploration.probability is -0.1"),
        ({"probability": float("nan")}, "exploration.probability is nan"),
        ({"first_epochs": -1}, "exploration.first_epochs is -1"),
    ],
)
def test_an_option_out_of_range_is_refused_by_name(options, name):
    with pytest.raises(ValueError, match=name):
        Explore(**options)
