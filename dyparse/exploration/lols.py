"""LOLS: what a move costs is also found out by following the model to the end of the sentence."""

from dataclasses import dataclass
from typing import NamedTuple

from dyparse.exploration import Completions, Exploration, highest_scoring, highest_scoring_best
from dyparse.runtime.kernels import njit


class LOLSPolicy(NamedTuple):
    """Options as numbers, for the compiled kernel."""

    first_epochs: int


@dataclass(frozen=True)
class LOLS(Exploration):
    """After `first_epochs` take the model's move (roll-in); what a move costs depends on who takes
    the moves after it (roll-out), with probability β = `reference_probability` the reference:

        cost(m) = gold arcs that m makes unreachable            by the reference
                  wrong heads of the model's greedy tree after m   by the model

    Chang, Krishnamurthy, Agarwal, Daumé & Langford (2015), Algorithm 1. The reference is the
    oracle, whose costs are there without a roll-out. The model's are computed in `followed_states`
    states of a sentence, drawn at random; all others keep the reference's. With as many as a
    sentence has states this is the algorithm as printed, but that who rolls out is drawn for a
    state, not for each move: so the costs of a state can be compared, and they are the same on
    average.
    """

    first_epochs: int = 1
    reference_probability: float = 0.5
    followed_states: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.reference_probability <= 1:
            raise ValueError(
                f"exploration.reference_probability is {self.reference_probability}, expected 0..1"
            )
        if self.first_epochs < 0:
            raise ValueError(f"exploration.first_epochs is {self.first_epochs}, expected 0 or more")
        if self.followed_states < 1:
            raise ValueError(
                f"exploration.followed_states is {self.followed_states}, expected 1 or more"
            )

    @property
    def policy(self) -> LOLSPolicy:
        return LOLSPolicy(self.first_epochs)

    def completions(self, epoch: int) -> Completions | None:
        if epoch <= self.first_epochs:
            return None
        return Completions(self.followed_states, 1 - self.reference_probability)


@njit
def follow(policy, epoch, choice, random, i):
    """The model's move; in the first epochs the best move with the highest score."""
    if epoch > policy.first_epochs:
        return highest_scoring(choice)
    return highest_scoring_best(choice)
