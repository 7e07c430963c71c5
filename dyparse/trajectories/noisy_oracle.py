"""The oracle as a policy that needs no model: it may choose at random, and make mistakes."""

from dataclasses import dataclass
from typing import NamedTuple

from dyparse.data.sentence import NONE
from dyparse.exploration import Exploration, uniform
from dyparse.runtime.kernels import njit

MOST_COST = 2**31 - 1
CANONICAL, BEST = FOLLOW = ("canonical", "best")


class NoisyOraclePolicy(NamedTuple):
    """Options as numbers, for the compiled kernel."""

    draws: bool
    mistakes: float


@dataclass(frozen=True)
class NoisyOracle(Exploration):
    """The canonical move, or any of the best moves; with probability `mistakes` one that costs.

    As in `dyparse oracle`, a mistake is a random legal move that has a cost, and any legal move
    where none has.
    """

    follow: str = CANONICAL
    mistakes: float = 0.0

    def __post_init__(self) -> None:
        if self.follow not in FOLLOW:
            raise ValueError(f"follow is {self.follow!r}, expected {' or '.join(FOLLOW)}")
        if not 0 <= self.mistakes <= 1:
            raise ValueError(f"mistakes is {self.mistakes}, expected a probability 0..1")

    @property
    def policy(self) -> NoisyOraclePolicy:
        return NoisyOraclePolicy(self.follow == BEST, self.mistakes)


@njit
def follow(policy, epoch, choice, random, i):  # noqa: ARG001 - parameters of all explorations
    """The move of the oracle, or a mistake."""
    if policy.mistakes > 0 and uniform(random, i) < policy.mistakes:
        costly = drawn_from(choice, 1, MOST_COST, random, i)
        return costly if costly != NONE else drawn_from(choice, 0, MOST_COST, random, i)
    if policy.draws:
        least = choice.cost[choice.canonical]
        return drawn_from(choice, least, least, random, i)
    return choice.canonical


@njit
def drawn_from(choice, least, most, random, i):
    """A random legal move whose cost is between least and most; NONE if there is none."""
    found, n = NONE, 0
    for move in range(choice.cost.shape[0]):
        if choice.legal[move] and least <= choice.cost[move] <= most:
            n += 1
            if uniform(random, i) * n < 1:  # each of n moves with the same probability
                found = move
    return found
