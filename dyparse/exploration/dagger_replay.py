"""DAgger at a constant cost: of the walks that were kept, an epoch learns from a few."""

from dataclasses import dataclass

from dyparse.exploration.dagger import Dagger


@dataclass(frozen=True)
class DaggerReplay(Dagger):
    """The walks of `dagger`; every epoch learns from the last walk through a sentence and from
    others drawn from all before it, `walks_learnt` together.

    The data set of Ross, Gordon & Bagnell (2011) grows with every round, and an epoch over all of
    it gets dearer. Drawing from it, as Lin (1992) replays experience, estimates the same loss.
    """

    walks_learnt: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.walks_learnt < 1:
            raise ValueError(f"exploration.walks_learnt is {self.walks_learnt}, expected 1 or more")
