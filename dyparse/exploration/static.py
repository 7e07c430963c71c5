"""Static training: follow the canonical derivation, and call every other move wrong."""

from dataclasses import dataclass
from typing import NamedTuple

from dyparse.exploration import Exploration
from dyparse.runtime.kernels import njit


class StaticPolicy(NamedTuple):
    """Static training has no options."""

    unused: int = 0  # numba has no empty tuples with a class of their own


@dataclass(frozen=True)
class Static(Exploration):
    """Follow the canonical derivation; its moves are the only targets (Goldberg & Nivre 2012,
    Algorithm 1).
    """

    @property
    def policy(self) -> StaticPolicy:
        return StaticPolicy()


@njit
def follow(policy, epoch, choice, random, i):
    """The canonical move, with cost 1 beside every other."""
    for move in range(choice.cost.shape[0]):
        choice.cost[move] = move != choice.canonical
    return choice.canonical
