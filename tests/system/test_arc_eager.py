"""Arc-eager beyond what holds for every system: its static oracle, its moves, its errata."""

import numpy as np
import pytest
from helpers.random_trees import is_projective
from helpers.rollouts import roll_out
from helpers.system_variants import SIZES, search, variants_of

from dyparse import system as systems
from dyparse.evaluation.exhaustive import all_trees, root_children

ARC_EAGER = variants_of(["arc_eager"])


@ARC_EAGER
@SIZES
def test_arc_eager_static_is_algorithm_1_on_the_way_to_a_projective_tree(name, options, words):
    """Goldberg & Nivre (2012); trees with one root, which mean the same under all options."""
    system, trees = systems.load(name, **dict(options)), all_trees(words)
    for tree in trees[[is_projective(t) and root_children(t[None])[0] == 1 for t in trees]]:

        def canonical(states, _legal, tree=tree):
            expected = algorithm_1(states, tree)
            assert system.moves[system.static(states, tree[None])[0]] == expected
            return [system.moves.index(expected)]

        assert (roll_out(system, [words], canonical) == tree).all()


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
