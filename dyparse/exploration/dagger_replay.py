"""DAgger at a constant cost: of the walks that were kept, an epoch learns from a few."""

from dataclasses import dataclass

from dyparse.exploration.dagger import Dagger


@dataclass(frozen=True)
class DaggerReplay(Dagger):
    """The walks of `dagger`; every epoch learns from the last walk through a sentence and from
    others drawn from all before it, `replayed_rollouts` together.

    The data set of Ross, Gordon & Bagnell (2011) grows with every round, and an epoch over all of
    it gets dearer. Drawing from it, as Lin (1992) replays experience, estimates the same loss.
    """

    replayed_rollouts: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.replayed_rollouts < 1:
            raise ValueError(
                f"exploration.replayed_rollouts is {self.replayed_rollouts}, expected 1 or more"
            )
