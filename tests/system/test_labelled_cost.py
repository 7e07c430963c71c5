"""Labelled costs of every system against exhaustive search over moves with labels."""

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest
from helpers.system_variants import EXACT

from dyparse import system as systems
from dyparse.evaluation.exhaustive import all_trees, least_losses, reachable_states
from dyparse.system import States

LABELS = 2  # 0 is the root's: all its dependents have it


class LabelledStates(NamedTuple):
    """States, and the label of each word's arc; 0 where there is none."""

    states: States
    label: np.ndarray

    def take(self, rows: np.ndarray) -> "LabelledStates":
        return LabelledStates(self.states.take(rows), self.label[rows])

    def __iter__(self) -> Any:
        return itertools.chain(self.states, [self.label])


class Labelled:
    """A system whose moves are moves with labels: number move · LABELS + label."""

    def __init__(self, system: systems.System) -> None:
        self.system = system
        self.moves = [f"{m}-{label}" for m in system.moves for label in range(LABELS)]

    def start(self, lengths: np.ndarray) -> LabelledStates:
        states = self.system.start(lengths)
        return LabelledStates(states, np.zeros_like(states.head))

    def finished(self, states: LabelledStates) -> np.ndarray:
        return self.system.finished(states.states)

    def legal(self, states: LabelledStates) -> np.ndarray:
        """Moves that add no arc come with label 0 only, and so do arcs from the root."""
        legal = np.repeat(self.system.legal(states.states), LABELS, axis=1)
        for number in range(len(self.moves)):
            rows = np.flatnonzero(legal[:, number])
            if number % LABELS and len(rows):
                after = states.states.take(rows)
                self.system.step(after, np.full(len(rows), number // LABELS))
                is_new = after.head != states.states.head[rows]
                legal[rows, number] = (is_new & (after.head > 0)).any(-1)
        return legal

    def step(self, states: LabelledStates, moves: np.ndarray) -> None:
        before = states.states.head.copy()
        self.system.step(states.states, np.asarray(moves) // LABELS)
        is_new = states.states.head != before
        states.label[is_new] = np.broadcast_to((moves % LABELS)[:, None], before.shape)[is_new]

    def heads(self, states: LabelledStates) -> np.ndarray:
        """Head and label as one number, for comparison."""
        return self.system.heads(states.states) * LABELS + states.label


@EXACT
@pytest.mark.parametrize("words", [1, 2, 3])
def test_labelled_cost_is_the_difference_of_least_labelled_losses(name, options, words):
    labelled = Labelled(systems.load(name, **dict(options)))
    heads, rng = all_trees(words), np.random.default_rng(words)
    labels = np.where(heads == 0, 0, rng.integers(LABELS, size=heads.shape))
    layers = reachable_states(labelled, words)
    least = least_losses(labelled, layers, heads * LABELS + labels)
    for layer, here, below in zip(layers, least, [*least[1:], least[-1]], strict=True):
        for row in np.flatnonzero(~layer.finished):
            states = layer.states.take(np.full(len(heads), row))
            cost = labelled.system.labelled_cost(
                states.states, heads, labels, states.label, LABELS
            ).reshape(len(heads), -1)
            legal = layer.legal[row]
            true = below[layer.following[row, legal]].T - here[row][:, None]
            np.testing.assert_array_equal(cost[:, legal], true, err_msg=str(layer.paths[row]))


def test_a_wrong_label_on_the_gold_arc_costs_one_and_on_another_arc_nothing_more():
    system = systems.load("arc_eager")
    states, gold, label = system.start([2]), [[0, 2, 0]], np.array([[0, 1, 0]])
    system.step(states, [system.moves.index("SHIFT")])
    cost = system.labelled_cost(states, gold, label, np.zeros_like(label), LABELS)[0]
    np.testing.assert_array_equal(cost[system.moves.index("LEFT")], [1, 0])
    np.testing.assert_array_equal(cost[system.moves.index("RIGHT")], [2, 2])


def test_replacing_a_gold_arc_with_a_wrong_label_loses_nothing():
    system = systems.load("nonmonotonic", single_root=False)
    states, gold, label = system.start([3]), [[0, 0, 1, 0]], np.array([[0, 0, 1, 0]])
    for move in ("SHIFT", "RIGHT"):
        system.step(states, [system.moves.index(move)])
    left = system.moves.index("LEFT")
    for given, cost in ((1, 1), (0, 0)):
        so_far = np.array([[0, 0, given, 0]])
        assert system.labelled_cost(states, gold, label, so_far, LABELS)[0, left, 0] == cost


def test_labels_count_too_where_all_arcs_that_cross_have_a_wrong_one():
    """1 → 3 crosses 4 → 2 and 2 → 6. Without it no two arcs cross, but of 4 → 2, 4 → 5 and 2 → 6
    only two can be had. So one is lost in any case, and every move costs nothing.
    """
    others = ("left_buffer", "right_buffer", "left_nonprojective", "single_root")
    system = systems.load("buffer", **dict.fromkeys(others, False))
    states, gold = system.start([6]), np.array([[0, 0, 4, 1, 3, 4, 2]])
    for move in ("SHIFT", "RIGHT_NONPROJECTIVE", "SHIFT"):
        system.step(states, [system.moves.index(move)])
    label, given = np.zeros_like(gold), np.where(states.head == 1, 1, 0)
    cost = system.labelled_cost(states, gold, label, given, LABELS)[0, :, 0]
    assert cost[system.legal(states)[0]].tolist() == [0, 0, 0, 0]
