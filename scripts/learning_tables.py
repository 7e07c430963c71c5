"""Tables of the grids on learners, labels, projectivity and Covington, for docs/results.md.

docs/study/F to I hold their results, as scripts/study.sh makes them. What differs between the cells
of such a grid is not always an axis of `Cell`: a variant is named by exploration and loss, and by
the options of the setting that differ.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from study import short

from dyparse.comparison.groups import ALL
from dyparse.comparison.report.table import Table, interval, p_value, signed, spread
from dyparse.comparison.statistics import Comparison, comparison_of
from dyparse.evaluation.run_result import Cell, RunResult, finished_results

BASELINE = "dagger_replay, set_nll"
FINE_TUNED = "policy gradient"
MEASURED = ("system", "compared with", "pairs of runs", "difference [95 %]", "p, runs")
CELLS = 12  # of a variant: four treebanks, three seeds
Variant = Callable[[RunResult], Cell]


def learner(result: RunResult) -> Cell:
    """Explorations and losses with arc-eager."""
    cell = result.cell
    name = FINE_TUNED if "start" in result.setting else f"{cell.exploration}, {cell.loss}"
    return replace(cell, exploration=name, loss="")


def labels(result: RunResult) -> Cell:
    """Moves with labels against a labeller beside them, for each system."""
    has_joint = any("joint" in head for head in result.setting.get("heads", ()))
    name = "labels on moves" if has_joint else "separate labels"
    return replace(result.cell, exploration=name, loss="")


def projectivity(result: RunResult) -> Cell:
    """Pseudo-projective arc-eager against systems that build crossing arcs."""
    encoding = result.setting.get("projectivity")
    name = result.cell.system + (f", {encoding}" if encoding else "")
    return replace(result.cell, system="", exploration=name, loss="")


def of_system(result: RunResult) -> Cell:
    """Covington, and the same with SHIFT preferred, by training."""
    name = "SHIFT only" if "ShiftOnly" in result.cell.system else result.cell.system
    return replace(result.cell, system=result.cell.exploration, exploration=name)


GRIDS: dict[str, tuple[str, Variant, str]] = {  # table: folder, variants, baseline
    "learners": ("F", learner, BASELINE),
    "joint": ("G", labels, "separate labels"),
    "pseudo": ("H", projectivity, "arc_eager"),
    "covington": ("I", of_system, "covington"),
}


def learning_tables(study: Path) -> dict[str, Table | None]:
    """The tables by name; None where no cell is finished."""
    return {name: variants_table(name, listed_results(study, name)) for name in GRIDS}


def results_of(folder: Path) -> list[RunResult]:
    """The finished cells in a folder."""
    return [result for _, result in finished_results([folder])]


def listed_results(study: Path, name: str) -> list[RunResult]:
    """The results in a table of a grid."""
    return listed(name, results_of(study / GRIDS[name][0]))


def listed(name: str, results: Sequence[RunResult]) -> list[RunResult]:
    """Those of variants that have all treebanks and seeds; none if only the baseline has."""
    _, variant, baseline = GRIDS[name]
    names = [name_of(variant(result)) for result in results]
    whole = {name for name, count in Counter(names).items() if count == CELLS}
    if all(exploration == baseline for _, exploration in whole):
        return []
    return [result for result, name in zip(results, names, strict=True) if name in whole]


def name_of(variant: Cell) -> tuple[str, str]:
    """What tells variants apart."""
    return variant.system, variant.exploration


def crossing_arcs(comparison: Comparison) -> dict[tuple[str, str], tuple[str, str]]:
    """Shares of non-projective arcs, by variant: of gold ones found, of predicted ones right."""
    found = {}
    for analysis in comparison.analyses_of(ALL):
        rates = analysis.rates["by_projectivity"]["nonprojective"]
        shares = share(rates["head_recall"]), share(rates["head_precision"])
        found[analysis.key.system, analysis.key.exploration] = shares
    return found


def share(value: float | None) -> str:
    """A whole percentage, or nothing if there is nothing."""
    return "" if value is None else f"{value:.0f} %"


def compared(name: str, results: Sequence[RunResult]) -> Comparison:
    """The comparison of results under the names of their variants."""
    _, variant, baseline = GRIDS[name]
    named = [replace(result, cell=variant(result), setting={}) for result in results]
    return comparison_of(named, baseline=baseline)


@cache
def learners(study: Path) -> Comparison | None:
    """The comparison of explorations and losses."""
    results = listed_results(study, "learners")
    return compared("learners", results) if results else None


def measured_table(study: Path, variant: str) -> Table | None:
    """The difference of one exploration and loss from the default ones, with arc-eager."""
    comparison = learners(study)
    rows = [
        ("arc_eager", "dagger_replay with set_nll", str(row.effect.las.seed_pairs),
         interval(row.effect.las), p_value(row.effect.p_seeds))
        for row in (comparison.pooled if comparison else [])
        if row.key.exploration == variant and row.effect
    ]  # fmt: skip
    return Table("measured", "Measured", MEASURED, rows) if rows else None


def variants_table(name: str, results: Sequence[RunResult]) -> Table | None:
    """A row for each variant: LAS by treebank, difference from the baseline."""
    if not results:
        return None
    comparison = compared(name, results)
    crossing = crossing_arcs(comparison)
    treebanks = comparison.values("treebank")
    las = {line.key: line.test["las"] for line in comparison.lines}
    several = len(comparison.values("system")) > 1
    rows = []
    for row in comparison.pooled:
        effect = row.effect
        found = [las.get(row.key._replace(treebank=treebank)) for treebank in treebanks]
        rows.append(
            (
                *([row.key.system] if several else []),
                row.key.exploration,
                *(spread(scores) if scores else "" for scores in found),
                f"{row.dev_las:.2f}",
                f"{row.test['las']:.2f}",
                interval(effect.las) if effect else "",
                signed(effect.uas) if effect else "",
                p_value(effect.p_seeds) if effect else "",
                *crossing[row.key.system, row.key.exploration],
            )
        )
    what = ["training" if name == "covington" else "system"] if several else []
    means = ("dev", "test", "difference [95 %]", "UAS", "p", "crossing found", "right")
    header = (*what, "variant", *map(short, treebanks), *means)
    return Table(name, name, header, rows, text_columns=len(what) + 1)
