"""Every exploration of conf/exploration: the moves it takes, and the costs that it leaves."""

import numpy as np
import pytest
from helpers.tiny import yamls
from omegaconf import OmegaConf

from dyparse.config.build import build
from dyparse.config.choices import load
from dyparse.exploration import Choice, follow, uniform
from dyparse.exploration.ambiguity import Ambiguity
from dyparse.exploration.curriculum import Curriculum
from dyparse.exploration.dagger import Dagger
from dyparse.exploration.dagger_replay import DaggerReplay
from dyparse.exploration.explore import Explore
from dyparse.exploration.lols import LOLS
from dyparse.exploration.sample import Sample
from dyparse.exploration.scheduled_sampling import (
    ScheduledSampling,
    oracle_probability,
)
from dyparse.exploration.static import Static

explorations = pytest.mark.parametrize("path", yamls("exploration"), ids=lambda path: path.stem)
M = 4


def exploration_of(path):
    return build(OmegaConf.to_container(OmegaConf.load(path)), "exploration")


def choices(count, seed=0):
    """Random states: some moves legal, ties among costs, the canonical move one of the best."""
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
    """The move that an exploration takes; the choice is not changed."""
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
def test_explore_follows_the_model_with_its_probability(probability):
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


# --- sample --------------------------------------------------------------------------------------

SCORES = np.array([1.0, -0.5, 9.0, 2.0, 1.5], dtype=np.float32)
LEGAL = np.array([True, True, False, True, True])


def fixed_choice(scores=SCORES, legal=LEGAL):
    """One state, for many draws; the first move is the best."""
    cost = np.arange(len(scores), dtype=np.int32)
    return Choice(np.asarray(scores, dtype=np.float32), legal, cost, 0)


def frequencies(exploration, choice, epoch, count=4000):
    """[M]: how often each move is taken."""
    random = np.array([2024], dtype=np.uint64)
    moves = [follow(exploration.policy, epoch, choice, random, 0) for _ in range(count)]
    return np.bincount(moves, minlength=len(choice.scores)) / count


def assert_drawn_from(found, expected, count=4000):
    """Within four standard deviations of the probabilities, and never what has none."""
    deviation = np.sqrt(expected * (1 - expected) / count)
    assert (abs(found - expected) <= 4 * deviation).all(), (found, expected)


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.0, 1e6])
def test_sample_draws_legal_moves_from_the_softmax_at_its_temperature(temperature):
    weights = np.where(LEGAL, np.exp(SCORES.astype(float) / temperature), 0)
    found = frequencies(Sample(first_epochs=0, temperature=temperature), fixed_choice(), 1)
    assert_drawn_from(found, weights / weights.sum())
    assert found[2] == 0


@pytest.mark.parametrize("temperature", [1e-3, 1e-30])
def test_sample_without_temperature_takes_the_favourite(temperature):
    exploration = Sample(first_epochs=0, temperature=temperature)
    random = np.array([5], dtype=np.uint64)
    for choice in choices(200):
        order = np.sort(choice.scores[choice.legal])
        if len(order) == 1 or order[-1] - order[-2] > 0.05:
            assert taken(exploration, choice, 1, random) == favourite(choice, choice.legal)


@pytest.mark.parametrize("level", [1e4, -1e4, 3e37, -3e37])
def test_large_scores_do_not_overflow(level):
    choice = fixed_choice([level, level, 2e38, level, level])
    found = frequencies(Sample(first_epochs=0), choice, 1, count=2000)
    assert_drawn_from(found, np.where(LEGAL, 0.25, 0), 2000)
    apart = fixed_choice([level, level + abs(level) / 2, 2e38, level, level])
    assert frequencies(Sample(first_epochs=0), apart, 1, count=50)[1] == 1


def test_scores_that_are_not_numbers_are_drawn_from_too():
    choice = fixed_choice(np.full(5, np.nan))
    assert frequencies(Sample(first_epochs=0), choice, 1, count=20)[LEGAL].sum() == 1


def test_sample_stays_on_the_gold_path_in_its_first_epochs_and_leaves_the_costs():
    random = np.array([5], dtype=np.uint64)
    strays = 0
    for choice in choices(300):
        for epoch in (1, 2, 3):
            seen = copied(choice)
            move = follow(Sample(first_epochs=2).policy, epoch, seen, random, 0)
            assert epoch == 3 or move == favourite(choice, best(choice))
            np.testing.assert_array_equal(seen.cost, choice.cost)
            strays += not best(choice)[move]
    assert strays > 30


# --- dagger --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "epoch", "of_oracle"),
    [
        ({}, 1, 1.0),
        ({}, 2, 0.5),
        ({}, 4, 0.125),
        ({"decay": 0.9}, 3, 0.81),
        ({"decay": 0.0}, 1, 1.0),
        ({"decay": 0.0}, 2, 0.0),
        ({"decay": 1.0}, 1, 1.0),
        ({"decay": 1.0}, 30, 1.0),
        ({"round_epochs": 3}, 3, 1.0),
        ({"round_epochs": 3}, 4, 0.5),
        ({"round_epochs": 3}, 7, 0.25),
    ],
)
def test_in_round_r_of_dagger_the_oracle_chooses_with_the_decayed_probability(
    options, epoch, of_oracle
):
    """Here the model's move is 3, the oracle's 0."""
    found = frequencies(Dagger(**options), fixed_choice(), epoch)
    assert_drawn_from(found, np.array([of_oracle, 0, 0, 1 - of_oracle, 0]))


@pytest.mark.parametrize(("epoch", "follows_the_model"), [(1, False), (2, True)])
def test_dagger_takes_the_favourite_of_all_moves_or_of_the_best_and_leaves_the_costs(
    epoch, follows_the_model
):
    random = np.array([5], dtype=np.uint64)
    for choice in choices(200):
        seen = copied(choice)
        move = follow(Dagger(decay=0.0).policy, epoch, seen, random, 0)
        assert move == favourite(choice, choice.legal if follows_the_model else best(choice))
        np.testing.assert_array_equal(seen.cost, choice.cost)


def test_dagger_makes_rollouts_in_the_first_epoch_of_each_round():
    epochs = {n: [e for e in range(1, 9) if Dagger(n).rolls_out_in(e)] for n in (1, 2, 3, 20)}
    assert epochs == {1: [1, 2, 3, 4, 5, 6, 7, 8], 2: [1, 3, 5, 7], 3: [1, 4, 7], 20: [1]}


@explorations
def test_dagger_keeps_states_and_all_others_make_rollouts_in_every_epoch(path):
    exploration = exploration_of(path)
    assert exploration.keeps_states == path.stem.startswith("dagger")
    assert exploration.rolls_out_in(1)
    assert exploration.keeps_states or all(map(exploration.rolls_out_in, range(1, 50)))


# --- scheduled_sampling --------------------------------------------------------------------------

NAMED = {name: {"schedule": name} for name in ("linear", "exponential", "inverse_sigmoid")}


@pytest.mark.parametrize(
    ("options", "of_oracle"),
    [
        (NAMED["linear"] | {"k": 1.0, "c": 0.25}, [1, 0.75, 0.5, 0.25, 0, 0]),
        (NAMED["linear"] | {"k": 0.9, "c": 0.3, "least": 0.2}, [0.9, 0.6, 0.3, 0.2, 0.2, 0.2]),
        ({}, [1, 0.8, 0.64]),
        (NAMED["exponential"] | {"k": 0.5}, [1, 0.5, 0.25, 0.125, 0.0625]),
        (NAMED["exponential"] | {"k": 0.0}, [1, 0, 0]),
        (NAMED["inverse_sigmoid"] | {"k": 1.0}, [0.5, 1 / (1 + np.e), 1 / (1 + np.e**2)]),
        (NAMED["inverse_sigmoid"] | {"k": 4.0}, [0.8, 4 / (4 + np.e**0.25), 4 / (4 + np.e**0.5)]),
    ],
)
def test_scheduled_sampling_follows_the_oracle_with_the_probability_of_its_schedule(
    options, of_oracle
):
    """Here the model's move is 3, the oracle's 0."""
    exploration = ScheduledSampling(**options)
    for epoch, expected in enumerate(of_oracle, 1):
        assert oracle_probability(exploration.policy, epoch) == pytest.approx(expected)
        found = frequencies(exploration, fixed_choice(), epoch)
        assert_drawn_from(found, np.array([expected, 0, 0, 1 - expected, 0]))


@pytest.mark.parametrize("schedule", NAMED)
def test_the_oracle_is_followed_less_and_less_and_never_in_the_end(schedule):
    k = {"exponential": 0.9, "inverse_sigmoid": 10.0}.get(schedule, 1.0)
    policy = ScheduledSampling(schedule, k, c=0.01).policy
    falling = [oracle_probability(policy, epoch) for epoch in range(1, 400)]
    assert falling == sorted(falling, reverse=True)
    assert 0.9 < falling[0] <= 1
    assert 0 <= falling[-1] < 1e-9


def test_with_a_temperature_the_models_moves_are_drawn():
    exploration = ScheduledSampling("linear", k=0.4, temperature=2.0)
    weights = np.where(LEGAL, np.exp(SCORES.astype(float) / 2), 0)
    of_model = weights / weights.sum()
    found = frequencies(exploration, fixed_choice(), 1)
    assert_drawn_from(found, 0.4 * np.eye(5)[0] + 0.6 * of_model)


# --- curriculum ----------------------------------------------------------------------------------

STAGES = ["static", "ambiguity", "explore:first_epochs=0+probability=0.5", "sample:temperature=2.0"]


@pytest.mark.parametrize("first", STAGES)
@pytest.mark.parametrize("then", STAGES)
def test_a_curriculum_does_what_its_stages_do_moves_and_costs_alike(first, then):
    curriculum = Curriculum(first, then, first_epochs=2).policy
    for epoch, stage in ((1, first), (2, first), (3, then), (9, then)):
        alone, within = np.array([11], dtype=np.uint64), np.array([11], dtype=np.uint64)
        policy = load("exploration", stage.replace("+", ",")).policy
        for choice in choices(60):
            expected, seen = copied(choice), copied(choice)
            move = follow(policy, epoch, expected, alone, 0)
            assert follow(curriculum, epoch, seen, within, 0) == move
            np.testing.assert_array_equal(seen.cost, expected.cost)
        assert alone == within


def test_a_curriculum_whose_first_stage_has_no_epochs_starts_with_the_second():
    exploration = Curriculum(first="static", then="ambiguity", first_epochs=0)
    for choice in choices(50):
        assert taken(exploration, choice, epoch=1) == favourite(choice, best(choice))


def test_a_stage_counts_epochs_from_the_start_of_training():
    """In epoch 3 `explore` is past its own first two epochs, though it has only just started."""
    exploration = Curriculum(then="explore:first_epochs=2+probability=1.0", first_epochs=2)
    for choice in choices(50):
        assert taken(exploration, choice, epoch=3) == favourite(choice, choice.legal)


@pytest.mark.parametrize("stage", ["first", "then"])
@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("statik", "no exploration 'statik'.* did you mean 'static'"),
        ("explore:probabilty=1", "'explore' has no option 'probabilty'; it takes first_epochs"),
        ("explore:probability", "'probability' is not an option"),
        ("explore:probability=3", "exploration.probability is 3.0"),
        ("dagger", "'dagger', which cannot be a stage.* keeps no states"),
        ("dagger:decay=0.1", "'dagger:decay=0.1', which cannot be a stage"),
        ("curriculum", "'curriculum', which cannot be a stage"),
    ],
)
def test_a_stage_that_cannot_be_one_is_refused_by_the_option_it_was_named_in(stage, text, finding):
    with pytest.raises(ValueError, match=rf"exploration\.{stage}\b.*{finding}"):
        Curriculum(**{stage: text})


# --- options -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exploration", "options", "name"),
    [
        (Explore, {"probability": 1.5}, "exploration.probability is 1.5"),
        (Explore, {"probability": -0.1}, "exploration.probability is -0.1"),
        (Explore, {"probability": float("nan")}, "exploration.probability is nan"),
        (Explore, {"first_epochs": -1}, "exploration.first_epochs is -1"),
        (Sample, {"temperature": 0.0}, "exploration.temperature is 0.0"),
        (Sample, {"temperature": -1.0}, "exploration.temperature is -1.0"),
        (Sample, {"temperature": float("nan")}, "exploration.temperature is nan"),
        (Sample, {"first_epochs": -1}, "exploration.first_epochs is -1"),
        (Dagger, {"decay": 1.1}, "exploration.decay is 1.1"),
        (Dagger, {"decay": -0.1}, "exploration.decay is -0.1"),
        (Dagger, {"decay": float("nan")}, "exploration.decay is nan"),
        (Dagger, {"round_epochs": 0}, "exploration.round_epochs is 0"),
        (DaggerReplay, {"replayed_rollouts": 0}, "exploration.replayed_rollouts is 0"),
        (Curriculum, {"first_epochs": -1}, "exploration.first_epochs is -1"),
        (ScheduledSampling, {"schedule": "cosine"}, "exploration.schedule is 'cosine'"),
        (ScheduledSampling, NAMED["linear"] | {"k": 1.1}, "exploration.k is 1.1"),
        (ScheduledSampling, {"k": 1.0}, "exploration.k is 1.0"),
        (ScheduledSampling, NAMED["inverse_sigmoid"], "exploration.k is 0.8"),
        (ScheduledSampling, {"least": -0.1}, "exploration.least is -0.1"),
        (ScheduledSampling, {"c": float("nan")}, "exploration.c is nan"),
        (ScheduledSampling, {"temperature": -1.0}, "exploration.temperature is -1.0"),
        (LOLS, {"reference_probability": 1.1}, "exploration.reference_probability is 1.1"),
        (LOLS, {"first_epochs": -1}, "exploration.first_epochs is -1"),
        (LOLS, {"followed_states": 0}, "exploration.followed_states is 0"),
    ],
)
def test_an_option_out_of_range_is_refused_by_name(exploration, options, name):
    with pytest.raises(ValueError, match=f"{name}, expected"):
        exploration(**options)
