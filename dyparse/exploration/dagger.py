"""DAgger: rounds over the treebank, led more by the model each time, learning from all of them."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from dyparse.compiled import njit
from dyparse.exploration import Exploration, highest_scoring, highest_scoring_best, uniform


class DaggerPolicy(NamedTuple):
    """What the kernel is told."""

    round_epochs: int
    decay: float


@dataclass(frozen=True)
class Dagger(Exploration):
    """In round r the oracle leads with probability β_r = decay^(r−1), else the model; every epoch
    learns from the states of all rounds so far, or of the last and of some drawn from the others.

    Ross, Gordon & Bagnell (2011), Algorithm 3.1, with β_r = p^(r−1) as in their section 3; the
    oracle's move is the model's favourite among those of least cost. decay = 0 is their
    parameter-free version: the oracle leads in the first round only.

    Learning from all of them gets dearer with every round. `walks_learnt` bounds it: from each
    sentence the walk of the last round and so many others less one, drawn anew in every epoch.
    """

    round_epochs: int = 1
    decay: float = 0.5
    walks_learnt: int | None = None

    keeps_states: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 <= self.decay <= 1:
            raise ValueError(f"exploration.decay is {self.decay}, expected 0..1")
        if self.round_epochs < 1:
            raise ValueError(f"exploration.round_epochs is {self.round_epochs}, expected 1 or more")

        if self.walks_learnt is not None and self.walks_learnt < 1:
            raise ValueError(
                f"exploration.walks_learnt is {self.walks_learnt}, expected 1 or more, or null"
            )

    @property
    def policy(self) -> DaggerPolicy:
        return DaggerPolicy(self.round_epochs, self.decay)

    def walks_in(self, epoch: int) -> bool:
        return (epoch - 1) % self.round_epochs == 0


@njit
def follow(policy, epoch, choice, random, i):
    """The oracle's move or the model's, as the round's mixture has it."""
    earlier_rounds = (epoch - 1) // policy.round_epochs
    if uniform(random, i) < policy.decay**earlier_rounds:
        return highest_scoring_best(choice)
    return highest_scoring(choice)
