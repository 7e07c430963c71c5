"""States as plain data: everything is what the system itself says."""

import numpy as np
import pytest
from helpers.random_trees import random_tree
from helpers.tiny import yamls

from dyparse import system as systems
from dyparse.errors import ConfigError
from dyparse.web.exploring import describe_derivation
from dyparse.web.playing import Derivation, Player

each_system = pytest.mark.parametrize("name", [path.stem for path in yamls("system")])


@each_system
def test_the_canonical_moves_of_a_projective_tree_cost_nothing(name):
    heads = random_tree(np.random.default_rng(1), 8, "projective", one_root=True)[1:].tolist()
    derivation = Derivation(systems.load(name), 8, heads)
    Player("static").play(derivation)
    state = describe_derivation(derivation, heads, {})
    assert (state["final"], state["heads"], state["cost_so_far"]) == (True, heads, 0)
    assert (state["legal"], state["illegal"], state["lost"]) == ([], [], [])


def test_a_move_that_is_not_legal_is_named():
    derivation = Derivation(systems.load("arc_eager"), 2, [2, 0])
    with pytest.raises(ConfigError, match="move 2, REDUCE, is not legal"):
        derivation.replay(["SHIFT", "REDUCE"])
