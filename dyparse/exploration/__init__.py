"""Explorations: which move the walk takes next while the parser learns.

To add one: write `dyparse/exploration/<name>.py` with a frozen dataclass derived from `Exploration`
whose `policy` is a NamedTuple of numbers (named after it), and the kernel `follow` below; write
`conf/exploration/<name>.yaml`. Training and the tests find it by its name.
"""

from typing import ClassVar, NamedTuple

import numpy as np

from dyparse.data.sentence import NONE
from dyparse.runtime.kernels import kernel, njit


class Exploration:
    """Where the walk goes."""

    keeps_states: ClassVar[bool] = False  # whether later epochs learn from the states visited now
    replayed_rollouts: int | None = (
        None  # from how many of the walks kept an epoch learns; None: all
    )

    @property
    def policy(self) -> NamedTuple:
        """What the kernel is told; its class finds it."""
        raise NotImplementedError

    def rolls_out_in(self, epoch: int) -> bool:  # noqa: ARG002 - most walk in every epoch
        """Whether new states are visited in this epoch, or only those that were kept are learnt."""
        return True


@kernel
def follow(policy, epoch, choice, random, i):
    """The move to take. A policy may rewrite `choice.cost`, which is what the loss will see.

    choice  the situation, a `Choice`
    epoch   counted from 1
    random  state of the row's random numbers, for `uniform(random, i)`
    """


class Choice(NamedTuple):
    """One state as an exploration sees it."""

    scores: np.ndarray  # float32 [M]
    legal: np.ndarray  # bool [M]
    cost: np.ndarray  # int32 [M]
    canonical: int  # the static oracle's move


@njit
def highest_scoring(choice):
    """The legal move that the model likes most."""
    best = NONE
    for move in range(choice.scores.shape[0]):
        if choice.legal[move] and (best == NONE or choice.scores[move] > choice.scores[best]):
            best = move
    return best


@njit
def highest_scoring_best(choice):
    """The move that the model likes most among those of least cost."""
    best = NONE
    for move in range(choice.scores.shape[0]):
        if choice.legal[move] and (
            best == NONE
            or choice.cost[move] < choice.cost[best]
            or (
                choice.cost[move] == choice.cost[best] and choice.scores[move] > choice.scores[best]
            )
        ):
            best = move
    return best


@njit
def drawn(choice, temperature, random, i):
    """A legal move drawn from the softmax of scores / temperature."""
    favourite = highest_scoring(choice)
    total = 0.0
    for move in range(choice.scores.shape[0]):
        if choice.legal[move]:
            total += np.exp((choice.scores[move] - choice.scores[favourite]) / temperature)
    left = total * uniform(random, i)
    for move in range(choice.scores.shape[0]):
        if choice.legal[move]:
            left -= np.exp((choice.scores[move] - choice.scores[favourite]) / temperature)
            if left < 0:
                return move
    return favourite  # rounding left a rest


@njit
def uniform(random, i):
    """A number in [0, 1) from row i's own generator (splitmix64, Steele, Lea & Flood 2014).

    One generator per row: the walk is the same however its rows are shared out among threads.
    """
    random[i] += np.uint64(0x9E3779B97F4A7C15)
    z = random[i]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) / 9007199254740992.0  # 2**53
