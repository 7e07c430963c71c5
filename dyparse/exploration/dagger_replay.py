"""DAgger at a constant cost: an epoch learns from a few of the rollouts that were kept."""

from dataclasses import dataclass

from dyparse.exploration.dagger import Dagger


@dataclass(frozen=True)
class DaggerReplay(Dagger):
    """The rollouts of `dagger`; every epoch learns from the last rollout of a sentence and from
    others drawn from all before it, `replayed_rollouts` together.

    The data set of Ross, Gordon & Bagnell (2011) grows with every round, and so does the time of
    an epoch over all of it. Drawing from it, as Lin (1992) replays experience, estimates the same
    loss.
    """

    replayed_rollouts: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.replayed_rollouts < 1:
            raise ValueError(
                f"exploration.replayed_rollouts is {self.replayed_rollouts}, expected 1 or more"
            )
