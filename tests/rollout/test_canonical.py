"""Compiled canonical derivations against the static oracle called state by state.

tests/evaluation/test_coverage.py compares those of every system with exhaustive search.
"""

import numpy as np
import pytest
from helpers.random_trees import padded, random_trees
from helpers.rollouts import roll_out

from dyparse import system as systems
from dyparse.rollout.canonical import canonical_heads


@pytest.mark.parametrize("name", ["arc_eager", "swap"])
def test_canonical_heads_are_those_of_the_static_oracle(name):
    system = systems.load(name)
    gold, lengths = padded(random_trees(seed=1, count=30, longest=20))
    prepared = system.prepare(gold)
    heads = roll_out(system, lengths, lambda states, _: system.static(states, prepared))
    np.testing.assert_array_equal(canonical_heads(system, lengths, gold), heads)
