"""Costs by the model's own completions, against slow ones through the public methods of systems."""

import numpy as np
import pytest
from helpers.random_trees import random_tree
from helpers.rollouts import random_scorer
from helpers.tiny import yamls

from dyparse import system as systems
from dyparse.exploration.curriculum import Curriculum
from dyparse.exploration.explore import Explore
from dyparse.exploration.lols import LOLS
from dyparse.rollout import completions
from dyparse.rollout.move_scores import move_scores
from dyparse.rollout.rollout import rollout
from dyparse.rollout.scorer import Scorer
from dyparse.system._labelled import Labelled

NAMES = [path.stem for path in yamls("system")]
WORDS = np.array([1, 6, 2, 9, 4, 1, 7], dtype=np.int32)
N = int(WORDS.max()) + 1
ALL, MODEL = 1000, 0.0  # states of a sentence; probability of the reference
GREEDY = Explore(first_epochs=0, probability=1.0)

QUICK = ("arc_eager", "covington")  # each takes some seconds to compile

each_system = pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in NAMES]
)


def gold_trees(seed=0):
    """[B, N]: random trees with one root."""
    rng = np.random.default_rng(seed)
    gold = np.zeros((len(WORDS), N), dtype=np.int32)
    for b, n in enumerate(WORDS.tolist()):
        gold[b, : n + 1] = random_tree(rng, n, "any", one_root=True)
    return gold


def of_sentence(scorer, b):
    """The scorer of sentence b alone."""
    rows = np.r_[b * N : b * N + WORDS[b] + 1, len(scorer.table) - 1]
    return scorer._replace(table=np.ascontiguousarray(scorer.table[rows]))


def wrong_after(system, states, move, scorer, tree):
    """Wrong heads of the tree that the model completes after a move."""
    ends = states.copy()
    system.step(ends, [move])
    while not system.finished(ends)[0]:
        scores = move_scores(system, scorer, ends)
        system.step(ends, np.where(system.legal(ends), scores, -np.inf).argmax(-1))
    wrong = system.heads(ends)[0, 1:] != tree[1 : states.length[0]]
    return int(wrong.reshape(len(wrong), -1).any(-1).sum())


def rolled_out(system, exploration, gold, **options):
    scorer = random_scorer(system, WORDS)
    options = {"epoch": 2, "seed": 3} | options
    return scorer, rollout(system, exploration, scorer, WORDS, gold, **options)


@each_system
def test_costs_are_the_wrong_heads_of_the_models_own_completions(name):
    system, gold = systems.load(name), gold_trees()
    scorer, visited = rolled_out(system, LOLS(0, MODEL, ALL), gold)
    for b, n in enumerate(WORDS.tolist()):
        states, own = system.start([n]), of_sentence(scorer, b)
        for t in np.flatnonzero(visited.sentence == b):
            for move in np.flatnonzero(visited.legal[t]):
                assert visited.cost[t, move] == wrong_after(system, states, move, own, gold[b])
            system.step(states, visited.move[t : t + 1])


@pytest.mark.parametrize("name", ["arc_eager", "nonmonotonic", "covington_nonmonotonic"])
def test_wrong_labels_count_where_moves_carry_them(name):
    system = Labelled(systems.load(name, single_root=False), ("root", "a", "b"))
    heads = gold_trees()
    labels = np.where(heads == 0, 0, np.random.default_rng(1).integers(1, 3, size=heads.shape))
    gold = np.stack([heads, labels], axis=-1).astype(np.int32)
    scorer, visited = rolled_out(system, LOLS(0, MODEL, ALL), gold)
    for b, n in enumerate(WORDS.tolist()):
        states, own = system.start([n]), of_sentence(scorer, b)
        for t in np.flatnonzero(visited.sentence == b):
            for move in np.flatnonzero(visited.legal[t]):
                assert visited.cost[t, move] == wrong_after(system, states, move, own, gold[b])
            system.step(states, visited.move[t : t + 1])


@each_system
def test_the_move_taken_costs_the_same_all_along_the_models_own_derivation(name):
    """The model goes the way of its completions, so all of them end in the rollout's tree."""
    system, gold = systems.load(name), gold_trees()
    _, visited = rolled_out(system, LOLS(0, MODEL, ALL), gold)
    taken = visited.cost[np.arange(len(visited.move)), visited.move]
    for b in range(len(WORDS)):
        assert len(set(taken[visited.sentence == b].tolist())) == 1


@pytest.mark.parametrize(
    ("exploration", "like", "epoch"),
    [
        (LOLS(0, 1.0, ALL), GREEDY, 1),
        (LOLS(2, MODEL, ALL), Explore(first_epochs=2), 2),
        (Curriculum("lols", "lols:first_epochs=3", 1), Explore(first_epochs=3), 2),
        (Curriculum("static", "lols:first_epochs=0", 1), LOLS(0), 2),
    ],
    ids=repr,
)
def test_the_reference_completes_with_probability_one_and_in_first_epochs_and_a_stage_does_as_alone(
    exploration, like, epoch
):
    system, gold = systems.load("arc_eager"), gold_trees()
    found, expected = (rolled_out(system, e, gold, epoch=epoch)[1] for e in (exploration, like))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_so_many_states_of_each_sentence_are_followed_and_all_are_drawn_alike(count):
    system, gold = systems.load("arc_eager"), gold_trees()
    _, before = rolled_out(system, GREEDY, gold)
    _, everywhere = rolled_out(system, LOLS(0, MODEL, ALL), gold)
    rng, followed, rounds = np.random.default_rng(5), np.zeros(len(before.move)), 400
    for _ in range(rounds):
        seeds = rng.integers(2**64, size=len(WORDS), dtype=np.uint64)
        _, visited = rolled_out(system, LOLS(0, MODEL, count), gold, seed=seeds)
        is_model = (visited.cost == everywhere.cost).all(-1)
        is_oracle = (visited.cost == before.cost).all(-1)
        assert (is_model | is_oracle).all()
        followed += is_model & ~is_oracle
    tells = (everywhere.cost != before.cost).any(-1)  # states where it can be seen
    T = np.bincount(before.sentence)[before.sentence]
    expected = np.minimum(count / T, 1)
    deviation = np.sqrt(expected * (1 - expected) / rounds)
    assert tells.sum() > 20
    assert (abs(followed / rounds - expected)[tells] <= 5 * deviation[tells]).all()
    assert set(followed[~tells]) == {0}


def test_half_of_the_states_are_followed_with_probability_one_half():
    system, gold = systems.load("arc_eager"), gold_trees()
    runs = [rolled_out(system, e, gold)[1].cost for e in (GREEDY, LOLS(0, MODEL, ALL))]
    tells, followed = (runs[0] != runs[1]).any(-1), []
    for seed in range(40):
        _, visited = rolled_out(system, LOLS(0, 0.5, ALL), gold, seed=seed)
        followed.append((visited.cost != runs[0]).any(-1)[tells].mean())
    deviation = 0.5 / np.sqrt(40 * tells.sum())
    assert abs(np.mean(followed) - 0.5) < 4 * deviation


@pytest.mark.parametrize("threads", [2, 3, 20])
def test_the_number_of_threads_changes_nothing(threads):
    system, gold = systems.load("arc_eager"), gold_trees()
    (_, alone), (_, together) = (
        rolled_out(system, LOLS(0, 0.5, 2), gold, threads=n) for n in (1, threads)
    )
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)


def test_costs_under_a_model_that_always_shifts_are_known():
    """The words are left to the root, which is wrong for the first and the last one."""
    system = systems.load("arc_eager:root=first,single_root=false")
    F, M = len(system.slots), len(system.moves)
    order = np.array([3, 2, 1, 0], dtype=np.float32)  # SHIFT, RIGHT, LEFT, REDUCE
    zeros = [np.zeros(shape, dtype=np.float32) for shape in ((5, F, 2), (2,), (M, 2))]
    words, gold = np.array([3], dtype=np.int32), np.array([[0, 2, 0, 2]], dtype=np.int32)

    def costs(exploration):
        visited = rollout(system, exploration, Scorer(*zeros, order), words, gold, epoch=1, seed=1)
        assert visited.move.tolist() == [0, 0, 0]
        return [
            {system.moves[m]: int(row[m]) for m in np.flatnonzero(legal)}
            for row, legal in zip(visited.cost, visited.legal, strict=True)
        ]

    assert costs(LOLS(0, 1.0)) == [
        {"SHIFT": 0, "RIGHT": 1},
        {"SHIFT": 1, "RIGHT": 2, "LEFT": 0},
        {"SHIFT": 1, "RIGHT": 0, "LEFT": 2},
    ]
    assert costs(LOLS(0, MODEL, ALL)) == [
        {"SHIFT": 2, "RIGHT": 2},  # what RIGHT loses the model would lose too
        {"SHIFT": 2, "RIGHT": 3, "LEFT": 1},
        {"SHIFT": 2, "RIGHT": 1, "LEFT": 3},
    ]


def test_other_explorations_compile_nothing_of_it():
    system, gold = systems.load("arc_eager"), gold_trees()
    before = set(completions._complete._dispatchers)
    rolled_out(system, Explore(), gold)
    assert set(completions._complete._dispatchers) == before
    assert Explore().completions(5) is None
