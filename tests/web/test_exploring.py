"""States as plain data: everything is what the system itself says."""

import numpy as np
import pytest
from helpers.random_trees import random_tree
from helpers.tiny import sample, yamls

from dyparse import system as systems
from dyparse.errors import ConfigError
from dyparse.web.exploring import describe_derivation
from dyparse.web.playing import Derivation, Player
from dyparse.web.sentences import treebanks

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


def test_two_treebanks_of_one_name_are_refused(tmp_path):
    for folder in "ab":
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "dev.conllu").write_text(sample("dev")[0].to_conllu(), "utf-8")
    with pytest.raises(ConfigError, match="two treebanks are called 'dev'"):
        treebanks([str(tmp_path / folder / "dev.conllu") for folder in "ab"])
