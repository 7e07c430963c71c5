"""Explorations: which move a training rollout takes next, and so which states the parser meets.

A rollout goes through a sentence from state to state; in each of them the model has scored the
moves and the oracle has given their costs, and the exploration chooses. static.py stays on one
derivation of the gold tree; explore.py also follows the model into its mistakes, which is what
dynamic oracles are for; start with these two.

To add one: write `dyparse/exploration/<name>.py` with a frozen dataclass derived from `Exploration`
whose `policy` is a NamedTuple of numbers, and the kernel `follow` declared below; write
`conf/exploration/<name>.yaml`. Training and the tests then find it by its name. Outside the
package: put the same into `my_module.py`, with `exploration._target_=my_module.MyExploration`.
"""

from typing import ClassVar, NamedTuple

import numpy as np

from dyparse.data.sentence import NONE
from dyparse.runtime.kernels import kernel, njit


class Completions(NamedTuple):
    """Which costs of a rollout become those of the model's own completions, see rollout."""

    states: int  # of a sentence, drawn at random: the most of them
    probability: float  # of each of these to be followed to the end


class Exploration:
    """How training rollouts choose their moves."""

    keeps_states: ClassVar[bool] = False  # whether later epochs learn from the states visited now
    replayed_rollouts: int | None = None  # of those kept, how many an epoch learns from; None: all

    @property
    def policy(self) -> NamedTuple:
        """Options as numbers, for the compiled kernel, which is found by its class."""
        raise NotImplementedError

    def rolls_out_in(self, epoch: int) -> bool:  # noqa: ARG002 - most do in every epoch
        """Whether this epoch makes new rollouts; if not, it learns from states that were kept."""
        return True

    def completions(self, epoch: int) -> Completions | None:  # noqa: ARG002 - most have none
        """The states of this epoch whose costs the model's completions decide; None: the oracle
        decides all of them.
        """
        return None


@kernel
def follow(policy, epoch, choice, random, i):
    """The move to take. A policy may rewrite `choice.cost`, which is passed on to the loss.

    choice  the state, as a `Choice`
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
    """The legal move with the highest score."""
    best = NONE
    for move in range(choice.scores.shape[0]):
        if choice.legal[move] and (best == NONE or choice.scores[move] > choice.scores[best]):
            best = move
    return best


@njit
def highest_scoring_best(choice):
    """The legal move with the highest score among those of least cost."""
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
    return favourite  # rounding left a remainder


@njit
def uniform(random, i):
    """A number in [0, 1) from row i's own generator (splitmix64, Steele, Lea & Flood 2014).

    One generator per row: a rollout is the same on any number of threads.
    """
    random[i] += np.uint64(0x9E3779B97F4A7C15)
    z = random[i]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) / 9007199254740992.0  # 2**53
