"""Scheduled sampling: from the oracle's moves to the model's, epoch by epoch."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dyparse.exploration import (
    Exploration,
    drawn,
    highest_scoring,
    highest_scoring_best,
    uniform,
)
from dyparse.runtime.kernels import njit

SCHEDULES = ("linear", "exponential", "inverse_sigmoid")
LINEAR, EXPONENTIAL, INVERSE_SIGMOID = range(len(SCHEDULES))


class ScheduledSamplingPolicy(NamedTuple):
    """Options as numbers, for the compiled kernel."""

    schedule: int
    k: float
    c: float
    least: float
    temperature: float


@dataclass(frozen=True)
class ScheduledSampling(Exploration):
    """In epoch e the oracle chooses with probability ε, which falls with i = e − 1, else the model:

        linear           ε = max(least, k − c · i)
        exponential      ε = k^i
        inverse_sigmoid  ε = k / (k + exp(i / k))

    Bengio, Vinyals, Jaitly & Shazeer (2015), section 2.4, where i counts batches. The model's move
    is its favourite; or, with a temperature, drawn from its softmax as in `sample`. The oracle's is
    the favourite among those of least cost. Theirs is the next word of the reference, which stays
    the target after a mistake, where it may be wrong; a dynamic oracle is right there too.
    """

    schedule: str = "exponential"
    k: float = 0.8
    c: float = 0.2
    least: float = 0.0
    temperature: float = 0.0

    def __post_init__(self) -> None:
        if self.schedule not in SCHEDULES:
            raise ValueError(
                f"exploration.schedule is {self.schedule!r}, expected one of {', '.join(SCHEDULES)}"
            )
        fits, expected = {
            "linear": (0 <= self.k <= 1, "0..1"),
            "exponential": (0 <= self.k < 1, "0 <= k < 1"),
            "inverse_sigmoid": (1 <= self.k < math.inf, "1 or more"),
        }[self.schedule]
        if not fits:
            raise ValueError(
                f"exploration.k is {self.k}, expected {expected} for the schedule {self.schedule}"
            )
        if not 0 <= self.least <= 1:
            raise ValueError(f"exploration.least is {self.least}, expected 0..1")
        for name in ("c", "temperature"):
            value = getattr(self, name)
            if not 0 <= value < math.inf:
                raise ValueError(f"exploration.{name} is {value}, expected 0 or more")

    @property
    def policy(self) -> ScheduledSamplingPolicy:
        return ScheduledSamplingPolicy(
            SCHEDULES.index(self.schedule), self.k, self.c, self.least, self.temperature
        )


@njit
def follow(policy, epoch, choice, random, i):
    """The oracle's move with the probability of the epoch, else the model's."""
    if uniform(random, i) < oracle_probability(policy, epoch):
        return highest_scoring_best(choice)
    if policy.temperature > 0:
        return drawn(choice, policy.temperature, random, i)
    return highest_scoring(choice)


@njit
def oracle_probability(policy, epoch):
    """ε of an epoch."""
    i = epoch - 1
    if policy.schedule == LINEAR:
        return max(policy.least, policy.k - policy.c * i)
    if policy.schedule == EXPONENTIAL:
        return policy.k**i
    return policy.k / (policy.k + np.exp(i / policy.k))
