"""Training with exploration: follow the model, also into its mistakes."""

from dataclasses import dataclass
from typing import NamedTuple

from dyparse.exploration import Exploration, highest_scoring, highest_scoring_best, uniform
from dyparse.runtime.kernels import njit


class ExplorePolicy(NamedTuple):
    """Options as numbers, for the compiled kernel."""

    first_epochs: int
    probability: float


@dataclass(frozen=True)
class Explore(Exploration):
    """After `first_epochs` take the model's move with `probability`, else its favourite among
    those of least cost.

    Goldberg & Nivre (2012), Algorithm 3, with k = first_epochs and p = probability.
    """

    first_epochs: int = 1
    probability: float = 0.9

    def __post_init__(self) -> None:
        if not 0 <= self.probability <= 1:
            raise ValueError(f"exploration.probability is {self.probability}, expected 0..1")
        if self.first_epochs < 0:
            raise ValueError(f"exploration.first_epochs is {self.first_epochs}, expected 0 or more")

    @property
    def policy(self) -> ExplorePolicy:
        return ExplorePolicy(self.first_epochs, self.probability)


@njit
def follow(policy, epoch, choice, random, i):
    """The model's move, right or wrong; or the best move with the highest score."""
    if epoch > policy.first_epochs and uniform(random, i) < policy.probability:
        return highest_scoring(choice)
    return highest_scoring_best(choice)
