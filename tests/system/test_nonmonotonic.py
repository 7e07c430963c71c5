"""Non-monotonic arc-eager: errors of the published costs, repairs, the targets of training."""

import itertools

import numpy as np
import pytest
from helpers.random_trees import is_projective

from dyparse import system as systems
from dyparse.evaluation.exhaustive import all_trees, reachable_states, state_bytes

KINDS = {  # name in Honnibal, Goldberg & Johnson (2013)
    "monotonic": {"left_arc": False, "reduce": False},
    "NM-L": {"left_arc": True, "reduce": False},
    "NM-D": {"left_arc": False, "reduce": True},
    "NM-L+D": {"left_arc": True, "reduce": True},
}
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


def after(system, words, taken):
    """The state of one sentence after some moves."""
    states = system.start([words])
    for move in taken:
        system.step(states, [system.moves.index(move)])
    return states


def cost_of(kind, taken, gold, move):
    """What a move costs, without the single-root rule."""
    system = systems.load("nonmonotonic", **KINDS[kind], single_root=False)
    states = after(system, len(gold), taken)
    assert system.legal(states)[0, system.moves.index(move)]
    return int(system.cost(states, np.array([[0, *gold]]))[0, system.moves.index(move)])


def test_reducing_a_word_without_head_loses_a_gold_head_in_the_buffer():
    """The paper's difference for REDUCE in NM-D is 0 here; only NM-L+D happens to count the arc."""
    assert cost_of("NM-D", ["SHIFT", "SHIFT"], [0, 0], "REDUCE") == 1
    assert cost_of("NM-L+D", ["SHIFT", "SHIFT"], [0, 0], "REDUCE") == 1


def test_replacing_a_wrong_head_loses_a_gold_head_in_the_buffer_once():
    """The paper's cost of LEFT and its difference both count the arc 0 → 2."""
    assert cost_of("NM-L", ["SHIFT", "RIGHT"], [0, 0, 0], "LEFT") == 1


def test_replacing_a_gold_head_costs_it():
    assert cost_of("NM-L", ["SHIFT", "RIGHT"], [0, 1, 0], "LEFT") == 1
    assert cost_of("NM-L", ["SHIFT", "RIGHT"], [3, 3, 0], "LEFT") == 0


def test_shifting_a_word_whose_head_is_the_top_costs_nothing_if_reduce_can_repair_it():
    assert cost_of("monotonic", ["SHIFT"], [0, 1], "SHIFT") == 1
    assert cost_of("NM-D", ["SHIFT"], [0, 1], "SHIFT") == 0


def test_the_bottom_word_cannot_be_reduced_without_head():
    system = systems.load("nonmonotonic")
    assert not system.legal(after(system, 2, ["SHIFT"]))[0, system.moves.index("REDUCE")]


@EVERY_KIND
def test_a_repair_changes_the_tree_and_the_dependents(kind):
    system = systems.load("nonmonotonic", **KINDS[kind])
    if KINDS[kind]["left_arc"]:
        states = after(system, 4, ["SHIFT", "RIGHT", "REDUCE", "RIGHT", "LEFT"])
        assert states.head[0].tolist() == [-1, -1, 1, 4, -1]
        assert (states.right[0, 1], states.left[0, 4]) == (2, 3)
    if KINDS[kind]["reduce"]:
        states = after(system, 3, ["SHIFT", "SHIFT", "REDUCE"])
        assert states.head[0].tolist() == [-1, -1, 1, -1]
        assert states.right[0, 1] == 2


@EVERY_KIND
@pytest.mark.parametrize("words", [1, 2, 3, 4])
def test_repairs_reach_no_new_states(kind, words):
    visited = {}
    for name in ("monotonic", kind):
        system = systems.load("nonmonotonic", **KINDS[name], single_root=False)
        layers = reachable_states(system, words)
        visited[name] = {key.tobytes() for layer in layers for key in state_bytes(layer.states)}
    assert visited[kind] == visited["monotonic"]


@EVERY_KIND
@pytest.mark.parametrize("single_root", [False, True])
def test_training_aims_at_zero_cost_moves_that_monotonic_arc_eager_shares(kind, single_root):
    """Honnibal, Goldberg & Johnson (2013), section 6: Z ∩ Zm if it is not empty, else Z."""
    system = systems.load("nonmonotonic", **KINDS[kind], single_root=single_root)
    arc_eager = systems.load("arc_eager", single_root=single_root)
    counts = np.zeros(3, dtype=int)
    for words in (1, 2, 3, 4):
        trees = all_trees(words)
        for layer in reachable_states(system, words):
            going = layer.states.take(np.flatnonzero(~layer.finished))
            hopeful = [not single_root or has_end(arc_eager, going.take([k])) for k in count(going)]
            states = going.take(np.repeat(count(going), len(trees)))
            gold = np.tile(trees, (len(hopeful), 1))
            zero = system.legal(states) & (system.cost(states, gold) == 0)
            likes = arc_eager.legal(states) & (arc_eager.cost(states, gold) == 0)
            shared = zero & likes & np.repeat(hopeful, len(trees)).astype(bool)[:, None]
            expected = np.where(shared.any(-1, keepdims=True), shared, zero)
            target = system.legal(states) & (system.target(states, gold) == 0)
            np.testing.assert_array_equal(target, expected)
            smaller = shared.any(-1) & (shared != zero).any(-1)
            counts += [len(gold), (~shared.any(-1)).sum(), smaller.sum()]
    assert (counts[1:] > 0).all() == (kind != "monotonic")
    assert counts[0] > 1000


def count(states):
    """The rows of some states."""
    return range(len(states.length))


def has_end(system, state):
    """Whether some end can be reached from a state."""
    if system.finished(state)[0]:
        return True
    for move in np.flatnonzero(system.legal(state)[0]):
        following = state.copy()
        system.step(following, [move])
        if has_end(system, following):
            return True
    return False


def test_monotonic_options_are_arc_eager():
    for words, single_root in itertools.product((1, 2, 3), (False, True)):
        ours = systems.load("nonmonotonic", **KINDS["monotonic"], single_root=single_root)
        theirs = systems.load("arc_eager", single_root=single_root)
        for one, other in zip(
            reachable_states(ours, words), reachable_states(theirs, words), strict=True
        ):
            np.testing.assert_array_equal(one.legal, other.legal)
            np.testing.assert_array_equal(state_bytes(one.states), state_bytes(other.states))


@EVERY_KIND
@pytest.mark.parametrize("single_root", [False, True])
def test_the_canonical_derivation_of_a_projective_tree_is_that_of_arc_eager(kind, single_root):
    ours = systems.load("nonmonotonic", **KINDS[kind], single_root=single_root)
    theirs = systems.load("arc_eager", single_root=single_root)
    trees = np.array([t for t in all_trees(4) if is_projective(t) and (t[1:] == 0).sum() == 1])
    states, gold = ours.start(np.full(len(trees), 4)), ours.prepare(trees)
    while not ours.finished(states).all():
        moves = ours.static(states, gold)
        np.testing.assert_array_equal(moves, theirs.static(states, trees))
        ours.step(states, moves)
    np.testing.assert_array_equal(ours.heads(states), trees)
