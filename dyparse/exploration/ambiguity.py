"""Non-deterministic training.

Stay on the gold path, but let the model choose among the best moves.
"""

from dataclasses import dataclass
from typing import NamedTuple

from dyparse.exploration import Exploration, highest_scoring_best
from dyparse.runtime.kernels import njit


class AmbiguityPolicy(NamedTuple):
    """Ambiguity has no options."""

    unused: int = 0  # numba has no empty tuples with a class of their own


@dataclass(frozen=True)
class Ambiguity(Exploration):
    """Take the model's favourite among the moves of least cost (Goldberg & Nivre 2012, section 4,
    without exploration).
    """

    @property
    def policy(self) -> AmbiguityPolicy:
        return AmbiguityPolicy()


@njit
def follow(policy, epoch, choice, random, i):
    """The best move with the highest score."""
    return highest_scoring_best(choice)
