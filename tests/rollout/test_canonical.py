"""Compiled canonical derivations against the static oracle called state by state."""

import numpy as np
import pytest
from helpers.random_trees import padded, random_trees
from helpers.rollouts import roll_out
from helpers.system_variants import NAMES

from dyparse import system as systems
from dyparse.rollout.canonical import canonical_heads


@pytest.mark.parametrize("name", NAMES)
def test_canonical_heads_are_those_of_the_static_oracle(name):
    system = systems.load(name)
    gold, lengths = padded(random_trees(seed=1, count=30, longest=20))
    prepared = system.prepare(gold)
    heads = roll_out(system, lengths, lambda states, _: system.static(states, prepared))
    np.testing.assert_array_equal(canonical_heads(system, lengths, gold), heads)
