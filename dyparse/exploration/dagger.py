"""DAgger: rounds over the treebank that follow the model more and more; all are learned from."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from dyparse.exploration import Exploration, highest_scoring, highest_scoring_best, uniform
from dyparse.runtime.kernels import njit


class DaggerPolicy(NamedTuple):
    """Options as numbers, for the compiled kernel."""

    round_epochs: int
    decay: float


@dataclass(frozen=True)
class Dagger(Exploration):
    """In round r the oracle chooses with probability β_r = decay^(r−1), else the model; every epoch
    learns from the states of all rounds so far.

    Ross, Gordon & Bagnell (2011), Algorithm 3.1, with β_r = p^(r−1) as in their section 3; the
    oracle's move is the model's favourite among those of least cost. decay = 0 is their
    parameter-free version: the oracle chooses in the first round only.
    """

    round_epochs: int = 1
    decay: float = 0.5

    keeps_states: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 <= self.decay <= 1:
            raise ValueError(f"exploration.decay is {self.decay}, expected 0..1")
        if self.round_epochs < 1:
            raise ValueError(f"exploration.round_epochs is {self.round_epochs}, expected 1 or more")

    @property
    def policy(self) -> DaggerPolicy:
        return DaggerPolicy(self.round_epochs, self.decay)

    def rolls_out_in(self, epoch: int) -> bool:
        return (epoch - 1) % self.round_epochs == 0


@njit
def follow(policy, epoch, choice, random, i):
    """The oracle's move with the probability of the round, else the model's."""
    earlier_rounds = (epoch - 1) // policy.round_epochs
    if uniform(random, i) < policy.decay**earlier_rounds:
        return highest_scoring_best(choice)
    return highest_scoring(choice)
