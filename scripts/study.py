"""The comparisons of docs/protocol.md: families of hypotheses, computed from docs/study/A to E.

A comparison whose cells are not all there has no outcome, but counts in the correction of its
family, which has been planned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, product
from pathlib import Path

from dyparse.comparison.power import detectable, error_of_seeds
from dyparse.comparison.significance import (
    Counts,
    Difference,
    Pair,
    holm,
    in_common,
    pooled_difference,
)
from dyparse.evaluation.run_result import RunResult, finished_results

STUDY = Path(__file__).resolve().parent.parent / "docs" / "study"
SIX = (
    "UD_Afrikaans-AfriBooms",
    "UD_English-LinES",
    "UD_Gothic-PROIEL",
    "UD_Greek-GDT",
    "UD_Hungarian-Szeged",
    "UD_Turkish-IMST",
)
LINES, HUNGARIAN, TURKISH = SIX[1], SIX[4], SIX[5]
EWT = "UD_English-EWT"
SYSTEMS = ("arc_eager", "nonmonotonic", "buffer", "attardi", "covington")
BUFFER = ("left_buffer", "right_buffer", "left_nonprojective", "right_nonprojective")
NAMES = {  # of variants: what the papers compare
    "nonmonotonic": "nonmonotonic, L+D",
    "nonmonotonic:reduce=false": "nonmonotonic, L",
    "nonmonotonic:left_arc=false": "nonmonotonic, D",
    "buffer": "buffer, all four",
    **{
        f"buffer:{','.join(f'{o}=false' for o in BUFFER if o != move)}": f"buffer, {move}"
        for move in BUFFER
    },
}
PARTS = tuple(system for system in NAMES if ":" in system)
STATIC, EXPLORE, AMBIGUITY, REPLAY = "static", "explore", "ambiguity", "dagger_replay"
THREE, FIVE = (1, 2, 3), (1, 2, 3, 4, 5)
NEGLIGIBLE = 0.3  # LAS: an interval within it shows that there is no difference that matters
DIGITS = 2  # of an interval as it is printed, and judged: more would be noise of the resampling
COUNTS = {  # of each sentence: twice what is right, gold and predicted
    "las": ("labelled", "words", "words"),
    "uas": ("heads", "words", "words"),
    "clas": ("content_right", "content", "predicted_content"),
}

Training = tuple[str, str]  # system and exploration


@dataclass(frozen=True)
class Planned:
    """A comparison of two trainings of a grid."""

    grid: str  # the folder of its cells
    new: Training
    base: Training
    treebanks: tuple[str, ...] = SIX
    seeds: tuple[int, ...] = THREE
    metric: str = "las"


@dataclass(frozen=True)
class Outcome:
    """What came of it; the p-values are corrected within its family."""

    planned: Planned
    difference: Difference | None  # None if a cell is missing
    by_treebank: dict[str, float]
    p_runs: float | None = None
    p_sentences: float | None = None
    could_find: float | None = None  # LAS; see the function of this name

    @property
    def is_of_one_treebank(self) -> bool:
        """Whether there are too few pairs of runs for a small p over runs."""
        return len(self.planned.treebanks) == 1

    @property
    def verdict(self) -> str:
        """`better`, `worse` or empty, by p over runs; of one treebank by p over sentences."""
        p = self.p_sentences if self.is_of_one_treebank else self.p_runs
        return self.difference.verdict(p) if self.difference else ""

    @property
    def answer(self) -> str:
        """What counts as an answer, by the protocol."""
        if not self.difference:
            return "incomplete"
        if self.is_of_one_treebank:
            return "see the interval"
        if self.verdict:
            return self.verdict
        ends = (round(end, DIGITS) for end in (self.difference.low, self.difference.high))
        return "no difference" if all(abs(end) <= NEGLIGIBLE for end in ends) else "not known"

    @property
    def up(self) -> int:
        """The number of treebanks on which the mean is higher."""
        return sum(difference > 0 for difference in self.by_treebank.values())


@cache
def results(grid: str) -> dict[tuple[Training, str, int], RunResult]:
    """The finished runs of a grid by system, exploration, treebank and seed."""
    cells = [(result.cell, result) for _, result in finished_results([STUDY / grid])]
    return {((c.system, c.exploration), c.treebank, c.seed): result for c, result in cells}


def runs(
    grid: str, training: Training, treebanks: Sequence[str], seeds: Sequence[int]
) -> list[RunResult | None]:
    """The runs of a training on these treebanks, None for one that is missing."""
    found = results(grid)
    return [found.get((training, *place)) for place in product(treebanks, seeds)]


def counts(found: Sequence[RunResult], metric: str) -> Counts:
    """Right and total counts of each sentence."""
    right, gold, predicted = COUNTS[metric]
    return Counts(
        [[2 * n for n in run.sentences[right]] for run in found],
        [
            [a + b for a, b in zip(run.sentences[gold], run.sentences[predicted], strict=True)]
            for run in found
        ],
        tuple(run.cell.seed for run in found),
    )


@cache
def pairs_of(planned: Planned) -> dict[str, Pair]:
    """The counts of both sides by treebank; empty if a cell is missing."""
    found = {}
    for treebank in planned.treebanks:
        base, new = (
            runs(planned.grid, side, [treebank], planned.seeds)
            for side in (planned.base, planned.new)
        )
        if None in base or None in new:
            return {}
        sides = ([run for run in side if run] for side in (base, new))
        old_counts, new_counts = (counts(side, planned.metric) for side in sides)
        found[treebank] = old_counts, new_counts
    return found


def differences(planned: Planned) -> dict[str, float]:
    """The mean difference on each treebank; empty if a cell is missing."""
    return {name: new.mean - base.mean for name, (base, new) in pairs_of(planned).items()}


@cache
def difference(planned: Planned) -> Difference | None:
    """The difference over treebanks; None if a cell is missing."""
    pairs = pairs_of(planned)
    return pooled_difference(pairs) if pairs else None


def could_find(planned: Planned, comparisons: int) -> float | None:
    """What one of so many comparisons could have found with a probability of 80 %."""
    pairs = pairs_of(planned)
    error = error_of_seeds([new.scores - base.scores for base, new in in_common(pairs)])
    n_pairs = len(pairs) * len(planned.seeds)
    return detectable(*error, n_pairs, comparisons) if error else None


@cache
def family(plans: tuple[Planned, ...]) -> list[Outcome]:
    """The outcomes of a family, corrected after Holm for all that is planned in it.

    What is missing is taken to have no effect.
    """
    found = [difference(planned) for planned in plans]
    p_runs = holm([d.p_seeds if d else 1.0 for d in found])
    p_sentences = holm([d.p_sentences if d else 1.0 for d in found])
    return [
        Outcome(planned, d, differences(planned), p, q, could_find(planned, len(plans)))
        if d
        else Outcome(planned, None, {})
        for planned, d, p, q in zip(plans, found, p_runs, p_sentences, strict=True)
    ]


def against_static(
    grid: str, system: str, exploration: str, treebanks: tuple[str, ...], seeds: tuple[int, ...]
) -> Planned:
    """A training against static training of the same system."""
    return Planned(grid, (system, exploration), (system, STATIC), treebanks, seeds)


PRIMARY = tuple(against_static("A", system, REPLAY, SIX, FIVE) for system in SYSTEMS)
OTHER_TRAININGS = tuple(
    against_static("A", system, exploration, SIX, seeds)
    for system in SYSTEMS
    for exploration, seeds in ((EXPLORE, FIVE), (AMBIGUITY, THREE))
)
BY_TREEBANK = tuple(
    replace(planned, treebanks=(treebank,)) for planned in PRIMARY for treebank in SIX
)
OTHER_SCORES = tuple(
    replace(planned, metric=metric) for planned in PRIMARY for metric in ("uas", "clas")
)
OF_PARTS = (
    *(against_static("A", system, REPLAY, SIX, THREE) for system in PARTS),
    *(Planned("A", (system, REPLAY), ("arc_eager", REPLAY)) for system in PARTS),
)
ELSEWHERE = (
    *(
        against_static("B", system, exploration, SIX, THREE)
        for system in ("arc_eager", "attardi")
        for exploration in (REPLAY, EXPLORE)
    ),
    against_static("C", "arc_eager", REPLAY, (EWT,), THREE),
    *(
        against_static("D", "arc_eager", exploration, (LINES, HUNGARIAN, TURKISH), THREE)
        for exploration in (REPLAY, EXPLORE)
    ),
    against_static("E", "arc_eager", REPLAY, (LINES,), THREE),
)


FAMILIES = (PRIMARY, OTHER_TRAININGS, BY_TREEBANK, OTHER_SCORES, OF_PARTS, ELSEWHERE)


def planned_cells(grid: str) -> set[tuple[Training, str, int]]:
    """The cells of a grid that some comparison needs: system and exploration, treebank, seed."""
    return {
        (side, treebank, seed)
        for planned in chain(*FAMILIES)
        if planned.grid == grid
        for side in (planned.new, planned.base)
        for treebank, seed in product(planned.treebanks, planned.seeds)
    }


def name(system: str) -> str:
    """The name of a system in tables."""
    return NAMES.get(system, system)


def short(treebank: str) -> str:
    """The language of a treebank."""
    return treebank.removeprefix("UD_").partition("-")[0]
