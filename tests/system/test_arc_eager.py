"""Arc-eager beyond what holds for every system: its trees, its static oracle, its errata."""

import numpy as np
import pytest
from helpers.exhaustive import is_projective, most_gold_arcs, root_children, walk
from test_system import SIZES, allowed_trees, check_promises, random_trees, search, variants_of

from dyparse import system as systems

ARC_EAGER = variants_of(["arc_eager"])


@ARC_EAGER
@SIZES
def test_arc_eager_builds_exactly_the_projective_trees(name, options, words):
    _, _, trees, least = search(name, options, words)
    projective = np.array([is_projective(tree) for tree in trees])
    np.testing.assert_array_equal(least[0][0] == 0, projective & allowed_trees(options, trees))


@ARC_EAGER
@SIZES
def test_arc_eager_static_is_algorithm_1_on_the_way_to_a_projective_tree(name, options, words):
    """Goldberg & Nivre (2012); trees with one root, which mean the same under all options."""
    system, _, trees, _ = search(name, options, words)
    for tree in trees[[is_projective(t) and root_children(t[None])[0] == 1 for t in trees]]:

        def canonical(states, _legal, tree=tree):
            expected = algorithm_1(states, tree)
            assert system.moves[system.static(states, tree[None])[0]] == expected
            return [system.moves.index(expected)]

        assert (walk(system, [words], canonical) == tree).all()


def algorithm_1(states, gold):
    """The static oracle as printed; with the root in front, REDUCE what has a head."""
    stack = states.stack[0, : states.stack_size[0]].tolist()
    top, front = stack[-1] if stack else -1, int(states.buffer[0, states.front[0]])
    if top > 0 and gold[top] == front and states.head[0, top] < 0:
        return "LEFT"
    if top >= 0 and front > 0 and gold[front] == top:
        return "RIGHT"
    linked = any(gold[front] == k or (k > 0 and gold[k] == front) for k in stack[:-1])
    return "REDUCE" if linked or front == 0 else "SHIFT"


@ARC_EAGER
@SIZES
def test_arc_eager_takes_as_many_moves_as_its_root_position_says(name, options, words):
    _, layers, _, _ = search(name, options, words)
    lengths = {depth for depth, layer in enumerate(layers) if layer.finished.any()}
    root_first = range(words, 2 * words)
    assert lengths == ({2 * words} if dict(options)["root"] == "last" else set(root_first))


@ARC_EAGER
def test_arc_eager_promises_the_nearest_projective_tree(name, options):
    trees = random_trees(seed=3, count=30, longest=30)
    promised = check_promises(name, options, trees)
    one_root = dict(options)["single_root"]
    nearest = [len(tree) - 1 - most_gold_arcs(tree, one_root=one_root) for tree in trees]
    np.testing.assert_array_equal(promised, nearest)


@pytest.mark.parametrize(
    ("root", "taken", "gold", "move", "cost"),
    [
        # LEFT loses the arc from the top of the stack to the front of the buffer
        ("first", ["SHIFT"], [0, 1], "LEFT", 2),
        ("last", ["SHIFT", "SHIFT"], [0, 1, 2], "LEFT", 1),
        # RIGHT loses the arc from the front of the buffer to the top of the stack
        ("first", ["SHIFT"], [2, 0], "RIGHT", 2),
        ("last", ["SHIFT"], [2, 0], "RIGHT", 2),
        # a word that has a head cannot lose its gold head once more
        ("first", ["RIGHT"], [2, 0], "SHIFT", 0),
        ("last", ["SHIFT", "RIGHT"], [0, 3, 1], "SHIFT", 1),
        # a word left without a head gets the root, so shifting does not lose it and LEFT does
        ("first", [], [0], "SHIFT", 0),
        ("first", ["SHIFT"], [0, 0], "LEFT", 1),
    ],
)
def test_arc_eager_does_not_repeat_the_errors_of_the_published_costs(root, taken, gold, move, cost):
    """Goldberg & Nivre (2012), figure 4 and footnote 4; the losses counted by hand."""
    system = systems.load("arc_eager", root=root, single_root=False)
    states = system.start([len(gold)])
    for name in taken:
        system.step(states, [system.moves.index(name)])
    assert system.legal(states)[0, system.moves.index(move)]
    assert system.cost(states, np.array([[0, *gold]]))[0, system.moves.index(move)] == cost
