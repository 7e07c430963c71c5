"""Moves with labels, as training uses them, beside exhaustive search."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dyparse.evaluation.exhaustive import all_trees, least_losses, pairs, reachable_states
from dyparse.system import States
from dyparse.system._labelled import Labelled


class OneNumber(Labelled):
    """Heads and labels as one number, as the search compares them."""

    def heads(self, states: States) -> np.ndarray:
        trees = super().heads(states)
        return trees[..., 0] * len(self.labels) + trees[..., 1]

    def prepare(self, gold: Any) -> Any:
        return super().prepare(np.stack(np.divmod(gold, len(self.labels)), axis=-1))


def labelled_trees(system: Labelled, words: int) -> np.ndarray:
    """All trees, each with random labels; the root's dependents have its own."""
    heads, rng, L = all_trees(words), np.random.default_rng(words), len(system.labels)
    others = rng.integers(L - 1 if system.root_on_top else L, size=heads.shape)
    return heads * L + np.where(heads == 0, L - 1, others)


def each_state(
    system: Labelled, words: int
) -> Iterator[tuple[States, Any, np.ndarray, np.ndarray]]:
    """(states, gold, legal moves, true costs) of all states with all trees."""
    layers, trees = reachable_states(system, words), labelled_trees(system, words)
    least = least_losses(system, layers, trees)
    for layer, here, after in zip(layers, least, [*least[1:], least[-1]], strict=True):
        for rows, states, gold in pairs(layer.states, np.flatnonzero(~layer.finished), trees):
            losses = after[layer.following[rows]].transpose(0, 2, 1) - here[rows][:, :, None]
            legal = np.repeat(layer.legal[rows], len(trees), axis=0)
            yield states, system.prepare(gold), legal, losses.reshape(legal.shape)


def assert_exact(system: Labelled, words: int) -> None:
    """Costs are differences of least losses, and best moves, canonical ones too, lose nothing."""
    for states, gold, legal, true_cost in each_state(system, words):
        cost, target = system.cost(states, gold), system.target(states, gold)
        np.testing.assert_array_equal(cost[legal], true_cost[legal])
        assert (target[legal] >= cost[legal]).all()
        static = system.static(states, gold)[:, None]
        assert np.take_along_axis(legal, static, 1).all()
        assert not np.take_along_axis(target, static, 1).any()
        assert not np.where(legal, target, 1).min(-1).any()
