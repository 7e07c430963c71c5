"""Covington whose training aims at SHIFT alone where NO_ARC costs as little, for scripts/study.sh.

    PYTHONPATH=scripts dyparse train system._target_=covington_shift_only.CovingtonShiftOnly

Both lead to the same trees wherever both cost nothing; this takes the shorter way.
docs/systems/covington.md says what comes of it.
"""

from dataclasses import dataclass
from typing import NamedTuple

from dyparse.runtime.kernels import njit
from dyparse.system._hopes import NO_ARC, SHIFT
from dyparse.system.covington import (
    Covington,
    arc,
    begin,
    cost,
    features,
    is_finished,
    legal,
    static,
    step,
)

__all__ = ["CovingtonShiftOnly", "arc", "begin", "cost", "features", "is_finished", "legal"]
__all__ += ["static", "step"]  # as in Covington


class ShiftOnlyOptions(NamedTuple):
    """Options as numbers, for the compiled kernels."""

    single_root: bool


@dataclass(frozen=True)
class CovingtonShiftOnly(Covington):
    """Covington, trained on the shortest of the best derivations."""

    @property
    def options(self) -> ShiftOnlyOptions:  # type: ignore[override]  # kernels are found by its class
        return ShiftOnlyOptions(self.single_root)


@njit
def prefer(options, states, i, gold, is_legal, costs):  # type: ignore[no-untyped-def]  # noqa: ARG001 - a kernel
    """NO_ARC is no target where SHIFT costs no more."""
    if is_legal[SHIFT] and is_legal[NO_ARC] and costs[SHIFT] <= costs[NO_ARC]:
        costs[NO_ARC] += 1
