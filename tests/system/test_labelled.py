"""Moves with labels, as training uses them: costs of every system against exhaustive search."""

import numpy as np
import pytest
from helpers.labelled_search import OneNumber, assert_exact
from helpers.system_variants import ALL, EXACT

from dyparse import system as systems
from dyparse.data.sentence import NONE
from dyparse.evaluation.exhaustive import all_trees, reachable_states
from dyparse.system import nonmonotonic
from dyparse.system._labelled import Labelled, without_labels

ROOT_AND_TWO = ("a", "b", "root")
SIZES = pytest.mark.parametrize("words", [1, 2, 3, pytest.param(4, marks=pytest.mark.slow)])
ROOTS = pytest.mark.parametrize(
    ("labels", "root_on_top"), [(ROOT_AND_TWO, True), (("a", "root"), False)], ids=["top", "any"]
)


@EXACT
@ROOTS
@SIZES
def test_costs_are_differences_of_least_labelled_losses(name, options, labels, root_on_top, words):
    system = OneNumber(systems.load(name, **dict(options)), labels, root_on_top)
    assert_exact(system, words)


@pytest.mark.parametrize("name", ["arc_eager", "covington"])  # the others are slow
def test_costs_are_those_differences_with_four_words_too(name):
    assert_exact(OneNumber(systems.load(name), ("a", "root"), root_on_top=False), 4)


def test_a_system_that_replaces_arcs_needs_the_kernel_forget(monkeypatch):
    system = OneNumber(systems.load("nonmonotonic"), ROOT_AND_TWO)
    monkeypatch.delattr(nonmonotonic, "forget")
    with pytest.raises(AssertionError):
        assert_exact(system, 3)


@ALL
def test_moves_without_labels_are_those_that_add_no_arc(name, options):
    system = systems.load(name, **dict(options))
    labelled = Labelled(system, ROOT_AND_TWO)
    for layer in reachable_states(labelled, 3):
        for row, move in zip(*layer.legal.nonzero(), strict=True):
            before, after = layer.states.take([row]), layer.states.take([row])
            labelled.step(after, [move])
            is_new = (after.head[0] != before.head[0]) & (after.head[0] != NONE)  # not removed
            dependent = np.flatnonzero(is_new)
            name = labelled.moves[move]
            assert len(dependent) == ("-" in name)
            if len(dependent):
                label = name.partition("-")[2]
                assert labelled.labels[after.label[0, dependent[0]]] == label
                assert (label == "root") == (after.head[0, dependent[0]] == 0)


@ALL
def test_without_labels_states_and_costs_are_those_of_the_system(name, options):
    system = systems.load(name, **dict(options))
    labelled, trees = Labelled(system, ROOT_AND_TWO), all_trees(3)
    plain, gold = system.start([3] * len(trees)), trees
    states, rng = labelled.start([3] * len(trees)), np.random.default_rng(1)
    prepared, prepared_too = system.prepare(gold), labelled.prepare(gold)
    while not system.finished(plain).all():
        legal, legal_too = system.legal(plain), labelled.legal(states)
        np.testing.assert_array_equal(labelled.summed(legal_too * 1.0) > 0, legal)
        cost, cost_too = system.cost(plain, prepared), labelled.cost(states, prepared_too)
        moves = np.array(
            [rng.choice(np.flatnonzero(row)) if row.any() else NONE for row in legal_too]
        )
        same = np.where(moves == NONE, NONE, without_labels(labelled, moves))
        running = np.flatnonzero(moves != NONE)
        np.testing.assert_array_equal(
            cost_too[running, moves[running]], cost[running, same[running]]
        )
        np.testing.assert_array_equal(labelled.finished(states), system.finished(plain))
        labelled.step(states, moves)
        system.step(plain, same)
    np.testing.assert_array_equal(labelled.heads(states)[..., 0], system.heads(plain))


@ALL
def test_canonical_moves_give_gold_labels_also_to_words_with_another_head(name, options):
    labelled = Labelled(systems.load(name, **dict(options)), ROOT_AND_TWO)
    heads = all_trees(4)
    label = np.where(heads == 0, 2, np.random.default_rng(1).integers(2, size=heads.shape))
    states, gold = labelled.start([4] * len(heads)), np.stack([heads, label], axis=-1)
    prepared = labelled.prepare(gold)
    while not labelled.finished(states).all():
        labelled.step(states, labelled.static(states, prepared))
    found = labelled.heads(states)[:, 1:]
    assert (found[..., 0] == heads[:, 1:]).any()
    can_have_it = (found[..., 0] == 0) == (heads[:, 1:] == 0)
    np.testing.assert_array_equal(found[..., 1][can_have_it], label[:, 1:][can_have_it])


def test_a_label_that_the_gold_arc_cannot_get_is_not_asked_for():
    labelled = Labelled(systems.load("arc_eager"), ROOT_AND_TWO)
    states = labelled.start([2])
    labelled.step(states, [labelled.moves.index("SHIFT")])
    left = [labelled.moves.index(f"LEFT-{label}") for label in ("a", "b")]
    for label, costs in ((0, [0, 1]), (2, [0, 0]), (NONE, [0, 0])):
        gold = np.array([[[0, 0], [2, label], [0, 2]]])
        np.testing.assert_array_equal(labelled.cost(states, gold)[0, left], costs)


def test_moves_are_named_after_their_labels():
    labelled = Labelled(systems.load("arc_hybrid"), ("det", "root"))
    assert labelled.moves == (
        *("SHIFT", "LEFT", "RIGHT"),
        *("LEFT-det", "LEFT-root", "RIGHT-det", "RIGHT-root"),
    )
