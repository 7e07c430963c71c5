"""Every transition system on random trees and random rollouts, through its public methods.

test_system.py checks everything in sentences of up to five words, and the costs of longer ones;
here hypothesis looks for longer ones in which something else breaks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from helpers.fuzz_cases import cases
from helpers.random_conllu import trees
from helpers.random_trees import is_projective, random_tree
from helpers.rollouts import GREED
from helpers.system_variants import NAMES, allowed_trees, variants
from hypothesis import given
from hypothesis import strategies as st

from dyparse import system as systems
from dyparse.evaluation.exhaustive import are_trees

LONGEST = 12
LABELS = 3  # 0 is that of the root's dependents, which the system takes to be right

each_system = pytest.mark.parametrize("name", NAMES)


class Rollout(NamedTuple):
    """The heads at the end of a rollout, and its losses: of arcs, and of arcs with labels."""

    heads: np.ndarray  # [N]
    wrong: int  # heads at the end
    paid: int  # the costs of its moves
    wrong_labelled: int  # the same where labels count too
    paid_labelled: int


@st.composite
def gold_trees(draw: st.DrawFn) -> np.ndarray:
    """[N]: heads of any shape, or nearly projective, as in treebanks; one root or several."""
    kind = draw(st.sampled_from(["any", "projective", "displaced"]))
    if kind == "any":
        head = np.array([0, *draw(trees(max_words=LONGEST))])
        head[draw(st.lists(st.integers(1, len(head) - 1), max_size=2))] = 0
        return head
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return random_tree(rng, draw(st.integers(1, LONGEST)), kind, one_root=draw(st.booleans()))


def option_values(name: str) -> st.SearchStrategy[tuple]:
    """Every combination of options of a system."""
    return st.sampled_from([variant.values[1] for variant in variants(name)])


def check_state(system: Any, states: Any, prepared: Any, legal: np.ndarray) -> np.ndarray:
    """Check one state before the end; returns the costs of its moves."""
    assert legal.any()
    cost, target = system.cost(states, prepared)[0], system.target(states, prepared)[0]
    assert (cost[legal] >= 0).all()
    assert cost[legal].min() == 0
    assert (target[legal] >= cost[legal]).all()
    static = system.static(states, prepared)[0]
    assert legal[static]
    assert target[static] == target[legal].min() == 0
    return np.asarray(cost)


def roll_out(system: Any, gold: np.ndarray, label: np.ndarray, choose: Any) -> Rollout:
    """To the end by moves and labels of choose(states, legal, cost), a label where there is one."""
    states, prepared = system.start([len(gold) - 1]), system.prepare(gold[None])
    given, paid, paid_labelled = np.zeros_like(gold), 0, 0
    for _ in range(system.most_moves(len(gold) - 1)):
        if system.finished(states)[0]:
            break
        legal, before = system.legal(states)[0], states.head[0].copy()
        cost = check_state(system, states, prepared, legal)
        labelled = system.labelled_cost(states, gold[None], label[None], given[None], LABELS)[0]
        move, its_label = choose(states, legal, cost)
        system.step(states, [move])
        new = states.head[0] != before
        given[new] = np.where(states.head[0] == 0, 0, its_label)[new]
        paid += cost[move]
        paid_labelled += labelled[move, given[new][0] if new.any() else 0]
    assert system.finished(states)[0], "it takes more moves than it may"
    assert not system.legal(states).any()
    heads = system.heads(states)[0]
    wrong = heads != gold
    wrong[0] = False
    return Rollout(heads, wrong.sum(), paid, (wrong | (given != label)).sum(), paid_labelled)


def labels_for(rng: np.random.Generator, gold: np.ndarray) -> np.ndarray:
    """[N]: random labels, the root's own for its dependents, and for the root."""
    return np.where(gold == 0, 0, rng.integers(LABELS, size=len(gold)))


@each_system
@cases(few=30, many=1_000)
def test_any_rollout_ends_in_time_with_a_tree_and_has_paid_what_it_lost(fuzz, name):
    @given(option_values(name), gold_trees(), st.integers(0, 2**32), st.sampled_from(GREED))
    def check(options, gold, seed, greed):
        system, rng = systems.load(name, **dict(options)), np.random.default_rng(seed)
        label = labels_for(rng, gold)

        def wander(_states, legal, cost):
            may = legal & (cost == 0) if rng.random() < greed else legal
            return rng.choice(np.flatnonzero(may)), rng.integers(LABELS)

        end = roll_out(system, gold, label, wander)
        assert are_trees(end.heads[None])[0]
        assert allowed_trees(options, end.heads[None])[0]
        if system.is_exact(len(gold) - 1):
            least = least_loss(system, gold)
            assert end.wrong - end.paid == least
            assert end.wrong_labelled - end.paid_labelled == least

    fuzz(check)


def least_loss(system: Any, gold: np.ndarray) -> int:
    """Wrong heads after best moves only."""

    def first_best(_states, legal, cost):
        return (legal & (cost == 0)).argmax(), 0

    best = roll_out(system, gold, np.zeros_like(gold), first_best)
    assert best.paid == 0
    return best.wrong


@each_system
@cases(few=30, many=1_000)
def test_canonical_moves_lose_as_little_as_any_and_nothing_of_a_tree_that_can_be_built(fuzz, name):
    @given(option_values(name), gold_trees())
    def check(options, gold):
        system = systems.load(name, **dict(options))
        prepared = system.prepare(gold[None])

        def canonical(states, _legal, _cost):
            return system.static(states, prepared)[0], 0

        end = roll_out(system, gold, np.zeros_like(gold), canonical)
        can_build = is_projective(gold) or name == "swap"
        if can_build and allowed_trees(options, gold[None])[0]:
            assert end.wrong == 0
        if system.is_exact(len(gold) - 1):
            assert end.wrong == least_loss(system, gold)

    fuzz(check)
