"""Fill in tables and figures of docs/results.md and README.md: `python scripts/make_results.py`.

docs/results holds the result.json of every finished cell, as `dyparse compare -o docs/results`
writes it. Tables go between `<!-- name -->` and `<!-- /name -->` of these pages, figures to
docs/figures. A second run writes the same bytes. With --check nothing is written, and it is an
error if a file would change.
"""

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean

from dyparse.compare.report.export import to_csv
from dyparse.compare.report.figures import plots
from dyparse.compare.report.table import Table, interval, p_value, percent, signed, spread
from dyparse.compare.report.tables import tables
from dyparse.compare.run_grid import finished_results
from dyparse.compare.statistics import Comparison, comparison_of
from dyparse.errors import DyparseError
from dyparse.evaluation.run_result import Cell, RunResult
from dyparse.runtime.atomic_files import write
from dyparse.runtime.entry import clear_errors

DOCS = Path(__file__).resolve().parent.parent / "docs"
BUFFER = ("left_buffer", "right_buffer", "left_nonprojective", "right_nonprojective")
NAMES = {  # names in the tables for variants that papers compare
    "nonmonotonic": "nonmonotonic, L+D",
    "nonmonotonic:reduce=false": "nonmonotonic, L",
    "nonmonotonic:left_arc=false": "nonmonotonic, D",
    "buffer": "buffer, all four",
    **{
        f"buffer:{','.join(f'{o}=false' for o in BUFFER if o != move)}": f"buffer, {move}"
        for move in BUFFER
    },
}
LARGE = "UD_English-EWT"  # for the best few only
TRAININGS = ("static", "ambiguity", "explore", "dagger")
DETAILED = ("static", "explore")  # for the error analysis: these have the most runs
LOSS = "set_nll"

Results = Sequence[RunResult]


def select(results: Results, keep: Callable[[Cell], bool]) -> list[RunResult]:
    """The results of some cells."""
    return [result for result in results if keep(result.cell)]


def relabelled(results: Results, change: Callable[[Cell], Cell]) -> list[RunResult]:
    """The results with renamed cells: a comparison groups cells by their names."""
    return [replace(result, cell=change(result.cell)) for result in results]


def named(cell: Cell) -> Cell:
    """A cell with the name that its system has in the tables."""
    return replace(cell, system=NAMES.get(cell.system, cell.system))


def main_comparison(results: Results, trainings: Sequence[str]) -> Comparison:
    """Some trainings of every system, on all treebanks but the large one."""
    chosen = select(
        results, lambda c: c.treebank != LARGE and c.loss == LOSS and c.exploration in trainings
    )
    return comparison_of(chosen)


def large_comparison(results: Results) -> Comparison:
    """The same on the large treebank."""
    return comparison_of(select(results, lambda c: c.treebank == LARGE))


def ways_comparison(results: Results) -> Comparison:
    """Every exploration and loss with arc-eager, against the default."""

    def one_name(cell: Cell) -> Cell:
        return replace(cell, exploration=f"{cell.exploration}, {cell.loss}", loss=LOSS)

    chosen = select(results, lambda c: c.treebank != LARGE and c.system == "arc_eager")
    return comparison_of(relabelled(chosen, one_name), baseline=f"explore, {LOSS}")


def systems_comparison(results: Results, exploration: str) -> Comparison:
    """Every system with one exploration, against arc-eager."""

    def by_system(cell: Cell) -> Cell:
        return replace(cell, system=cell.exploration, exploration=cell.system)

    chosen = select(
        results,
        lambda c: c.treebank != LARGE and c.loss == LOSS and c.exploration == exploration,
    )
    return comparison_of(relabelled(chosen, by_system), baseline="arc_eager")


def ways_table(comparison: Comparison, results: Results) -> Table:
    """Explorations and losses, the best on dev first, in the cells that the default has too."""
    dev = {result.cell: result.dev["las"] for result in results}

    def gain(exploration: str, loss: str) -> tuple[float, int]:
        pairs = [
            las - dev[replace(cell, exploration="explore", loss=LOSS)]
            for cell, las in dev.items()
            if (cell.system, cell.exploration, cell.loss) == ("arc_eager", exploration, loss)
            and cell.treebank != LARGE
            and replace(cell, exploration="explore", loss=LOSS) in dev
        ]
        return mean(pairs), len(pairs)

    rows = []
    for row in comparison.pooled:
        exploration, loss = row.key.exploration.split(", ")
        dev_gain, cells = gain(exploration, loss)
        effect = row.effect
        figures = (interval(effect), p_value(effect.p_seeds)) if effect else ("", "")
        rows.append((dev_gain, (exploration, loss, str(cells), signed(dev_gain), *figures)))
    rows.sort(key=lambda row: -row[0])
    header = ("exploration", "loss", "cells", "dev", "test [95 %]", "p, seeds")
    return Table("ways", "Ways", header, [cells for _, cells in rows])


def shown(value: float | None) -> str:
    """A difference, or nothing if there is none."""
    return "" if value is None else signed(value)


def systems_table(static: Comparison, explore: Comparison) -> Table:
    """Every system against arc-eager, by treebank, with each training."""
    treebanks = static.values("treebank")
    rows = []
    for name, comparison in (("static", static), ("explore", explore)):
        for pooled in comparison.pooled:
            by_treebank = {
                line.key.treebank: line.effect.las.mean if line.effect else None
                for line in comparison.lines
                if line.key.exploration == pooled.key.exploration
            }
            if pooled.effect:
                rows.append(
                    (
                        pooled.key.exploration,
                        name,
                        *(shown(by_treebank.get(treebank)) for treebank in treebanks),
                        interval(pooled.effect),
                        p_value(pooled.effect.p_seeds),
                    )
                )
    short = [treebank.removeprefix("UD_").partition("-")[0] for treebank in treebanks]
    header = ("system", "training", *short, "mean [95 %]", "p, seeds")
    return Table("systems", "LAS minus that of arc_eager", header, rows)


def large_table(comparison: Comparison) -> Table:
    """The large treebank, a row for each system and training."""
    rows = [
        (
            line.key.system,
            line.key.exploration,
            str(len(line.seeds)),
            spread(line.test["uas"]),
            spread(line.test["las"]),
            interval(line.effect) if line.effect else "",
            p_value(line.effect.p_sentences) if line.effect else "",
        )
        for line in comparison.lines
    ]
    header = ("system", "training", "seeds", "UAS", "LAS", "to static [95 %]", "p, sentences")
    return Table("large", f"{LARGE}", header, rows)


def short_table(comparison: Comparison) -> Table:
    """The gain from dynamic training, a row for each system."""
    effects = {
        (row.key.system, row.key.exploration): row.effect for row in comparison.pooled if row.effect
    }
    rows = []
    for system in comparison.values("system"):
        static = next(line for line in comparison.pooled if line.key.system == system)
        cells = [system, percent(static.test["las"])]
        for exploration in ("explore", "dagger"):
            effect = effects.get((system, exploration))
            cells += [interval(effect), p_value(effect.p_seeds)] if effect else ["", ""]
        rows.append(tuple(cells))
    header = (
        "system",
        "LAS, static",
        "explore − static [95 %]",
        "p",
        "dagger − static [95 %]",
        "p",
    )
    return Table("short", "Short", header, rows, text_columns=1)


def filled(page: Path, made: dict[str, Table]) -> bytes:
    """The content of a page, with its tables filled in."""
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"<!-- /(\w+) -->", text):
        if name not in made:
            raise DyparseError(f"{page}: no table {name!r}; expected one of {', '.join(made)}")
        block = re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)", re.DOTALL)
        text = block.sub(f"\n{body(made[name])}\n".replace("\\", r"\\"), text)
    return text.encode()


def body(table: Table) -> str:
    """A table without its title, which is in the page already."""
    return table.to_markdown().partition("\n\n")[2]


def contents(results: Results) -> dict[Path, bytes]:
    """The content of every generated file."""
    results = relabelled(results, named)
    main, detailed = (main_comparison(results, names) for names in (TRAININGS, DETAILED))
    made = {
        **{table.name: table for table in tables(detailed)},
        **{table.name: table for table in tables(main) if table.name in ("pooled", "las")},
        "ways": ways_table(ways_comparison(results), results),
        "systems": systems_table(*(systems_comparison(results, e) for e in ("static", "explore"))),
        "large": large_table(large_comparison(results)),
        "short": short_table(main),
    }
    files = {
        **{page: filled(page, made) for page in (DOCS / "results.md", DOCS.parent / "README.md")},
        DOCS / "results.csv": to_csv(main).encode(),
    }
    differences = [plot for plot in plots(main) if plot.name.startswith("differences")]
    others = [plot for plot in plots(detailed) if not plot.name.startswith("differences")]
    for plot in (*differences, *others):
        files[DOCS / "figures" / f"{plot.name}.svg"] = plot.to_bytes("svg")
    return files


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--check", action="store_true", help="write nothing; fail if files differ")
    check = options.parse_args().check
    with clear_errors():
        return update(check=check)


def update(*, check: bool) -> int:
    """Write the files that are out of date, or list them; the exit status."""
    status = 0
    for path, content in contents([r for _, r in finished_results([DOCS / "results"])]).items():
        if path.exists() and path.read_bytes() == content:
            continue
        if check:
            sys.stderr.write(f"{path} is out of date: run scripts/make_results.py\n")
            status = 1
        else:
            path.parent.mkdir(exist_ok=True)
            write(path, content)
    return status


if __name__ == "__main__":
    sys.exit(main())
