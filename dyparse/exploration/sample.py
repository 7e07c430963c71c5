"""Sampling: follow the model, but draw each move from its probabilities."""

from dataclasses import dataclass
from typing import NamedTuple

from dyparse.exploration import Exploration, drawn, highest_scoring_best
from dyparse.runtime.kernels import njit


class SamplePolicy(NamedTuple):
    """Options as numbers, for the compiled kernel."""

    first_epochs: int
    temperature: float


@dataclass(frozen=True)
class Sample(Exploration):
    """After `first_epochs` draw the move from the model's softmax over the legal moves:
    P(m) ∝ exp(score(m) / temperature).

    Ballesteros, Goldberg, Dyer & Smith (2016). Exploration does not dry up when the model has
    learned the training set: a model that is not sure of a right move still strays.
    """

    first_epochs: int = 1
    temperature: float = 1.0

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise ValueError(f"exploration.temperature is {self.temperature}, expected more than 0")
        if self.first_epochs < 0:
            raise ValueError(f"exploration.first_epochs is {self.first_epochs}, expected 0 or more")

    @property
    def policy(self) -> SamplePolicy:
        return SamplePolicy(self.first_epochs, self.temperature)


@njit
def follow(policy, epoch, choice, random, i):
    """A move drawn from the model; in the first epochs the best move with the highest score."""
    if epoch > policy.first_epochs:
        return drawn(choice, policy.temperature, random, i)
    return highest_scoring_best(choice)
