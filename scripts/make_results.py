"""Fill in tables and figures of README.md and docs/: `make results`.

docs/results holds the result.json of every finished cell of the full grid, as `dyparse compare -o
docs/results` writes it, docs/results_readme those of the smaller one that README.md shows, and
docs/study those of scripts/study.sh, of which learning_tables.py makes tables. Tables go between
`<!-- name -->` and `<!-- /name -->` of the pages, figures to docs/figures. A second run writes the
same bytes. With --check nothing is written, and it is an error if a file would change.
"""

import argparse
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean

from learning_tables import GRIDS, learning_tables, listed_results

from dyparse.comparison.report.export import to_csv
from dyparse.comparison.report.figures import plots
from dyparse.comparison.report.table import Table, interval, p_value, signed, spread
from dyparse.comparison.report.tables import tables
from dyparse.comparison.statistics import Comparison, Pooled, comparison_of
from dyparse.errors import DyparseError
from dyparse.evaluation.provenance import training_sources
from dyparse.evaluation.run_result import Cell, RunResult, finished_results
from dyparse.runtime.atomic_files import write
from dyparse.runtime.entry import clear_errors

DOCS = Path(__file__).resolve().parent.parent / "docs"
README_TRAININGS = ("static", "explore", "dagger_replay")
REPLAY = DOCS / "explorations" / "dagger_replay.md"
DIFFERENCE = (
    "system",
    "compared with",
    "treebanks",
    "pairs of runs",
    "difference [95 %]",
    "p, seeds",
)
OF_MAKE_DOCS = ("options",)  # blocks of these pages that scripts/make_docs.py writes
FIGURE = DOCS / "figures" / "static_vs_dynamic.svg"  # of README.md
FIGURE_TEXT = "Gain in LAS over static training, mean over treebanks, with 95 % intervals"
NOT_MEASURED = "Not measured yet.\n"
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
        figures = (interval(effect.las), p_value(effect.p_seeds)) if effect else ("", "")
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
                        interval(pooled.effect.las),
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
            interval(line.effect.las) if line.effect else "",
            p_value(line.effect.p_sentences) if line.effect else "",
        )
        for line in comparison.lines
    ]
    header = ("system", "training", "seeds", "UAS", "LAS", "from static [95 %]", "p, sentences")
    return Table("large", f"{LARGE}", header, rows)


def readme_table(comparison: Comparison) -> Table:
    """LAS by treebank, and the gain from dynamic training: a row for each system and training."""
    treebanks = comparison.values("treebank")
    las = {line.key: line.test["las"] for line in comparison.lines}
    rows = []
    for row in sorted(comparison.pooled, key=_in_readme):
        by_treebank = [las.get(row.key._replace(treebank=treebank)) for treebank in treebanks]
        effect = row.effect
        gain = (interval(effect.las), p_value(effect.p_seeds)) if effect else ("", "")
        scores = [spread(found) if found else "" for found in by_treebank]
        rows.append((row.key.system, row.key.exploration, *scores, *gain))
    short = [treebank.removeprefix("UD_") for treebank in treebanks]
    header = ("system", "training", *short, "gain over static [95 %]", "p")
    return Table("readme", "LAS", header, rows)


def _in_readme(row: Pooled) -> tuple[str, int]:
    """Place of a row in the README: static first."""
    return row.key.system, README_TRAININGS.index(row.key.exploration)


def exploration_table(name: str, comparison: Comparison) -> Table:
    """The differences of an exploration from the baseline, a row for each system."""
    rows = [
        _difference(row.key.system, comparison.baseline, row)
        for row in comparison.pooled
        if row.key.exploration == name and row.effect
    ]
    return Table("measured", "Measured", DIFFERENCE, rows)


def way_table(exploration: str, loss: str, ways: Comparison) -> Table:
    """The difference of one exploration and loss from the default ones, with arc-eager."""
    baseline = LOSS if exploration == "explore" else "explore"
    rows = [
        _difference("arc_eager", baseline, row)
        for row in ways.pooled
        if row.key.exploration == f"{exploration}, {loss}" and row.effect
    ]
    return Table("measured", "Measured", DIFFERENCE, rows)


def _difference(system: str, baseline: str, row: Pooled) -> tuple[str, ...]:
    assert row.effect
    runs = (str(row.compared), str(row.effect.las.seed_pairs))
    return system, baseline, *runs, interval(row.effect.las), p_value(row.effect.p_seeds)


def origin(results: Results) -> str:
    """The code that some results were measured with, and whether it is still the same."""
    versions = sorted({result.versions["dyparse"] for result in results})
    commits = sorted({result.commit for result in results if result.commit})
    place = f"version {', '.join(versions)}, {plural(commits)}" if commits else "an earlier version"
    is_stale = any(r.sources != training_sources(r.cell, r.setting) for r in results)
    since = "; the code that decides training has changed since" if is_stale else ""
    return f"Results of {place}{since}.\n"


def learning_origins(study: Path) -> dict[str, str | None]:
    """For each table of a grid in docs/study the code that its results were measured with."""
    found = {name: listed_results(study, name) for name in GRIDS}
    return {f"{name}_origin": origin(cells) if cells else "" for name, cells in found.items()}


def plural(commits: Sequence[str]) -> str:
    """`commit a` or `commits a, b`."""
    return f"commit{'s' if len(commits) > 1 else ''} {', '.join(commits)}"


def filled(page: Path, made: Mapping[str, Table | str | None]) -> bytes:
    """The content of a page, with its tables and sentences filled in."""
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"<!-- /(\w+) -->", text):
        if name in OF_MAKE_DOCS:
            continue
        if name not in made:
            raise DyparseError(f"{page}: no table {name!r}; expected one of {', '.join(made)}")
        block = re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)", re.DOTALL)
        content = body(made[name])
        if name == "readme" and made[name]:
            content += f"\n![{FIGURE_TEXT}]({os.path.relpath(FIGURE, page.parent)})\n"
        text = block.sub(f"\n{content}\n".replace("\\", r"\\"), text)
    return text.encode()


def body(table: Table | str | None) -> str:
    """A sentence, or a table without its title, which is in the page already."""
    if isinstance(table, str):
        return table
    return table.to_markdown().partition("\n\n")[2] if table and table.rows else NOT_MEASURED


def full_contents(results: Results) -> dict[Path, bytes]:
    """The files made from the full grid."""
    since = origin(results)
    results = relabelled(results, named)
    main, detailed = (main_comparison(results, names) for names in (TRAININGS, DETAILED))
    ways = ways_comparison(results)
    made: dict[str, Table | str | None] = {
        "origin": since,
        **{table.name: table for table in tables(detailed)},
        **{table.name: table for table in tables(main) if table.name in ("pooled", "las")},
        "ways": ways_table(ways, results),
        "systems": systems_table(*(systems_comparison(results, e) for e in ("static", "explore"))),
        "large": large_table(large_comparison(results)),
        **learning_tables(DOCS / "study"),
        **learning_origins(DOCS / "study"),
    }
    files = {DOCS / "results.md": filled(DOCS / "results.md", made)}
    for page in sorted((DOCS / "explorations").glob("*.md")):
        if page != REPLAY:
            way = way_table(page.stem, LOSS, ways)
            table = exploration_table(page.stem, main) if page.stem in TRAININGS else way
            files[page] = filled(page, {"measured": table})
    for page in sorted((DOCS / "losses").glob("*.md")):
        files[page] = filled(page, {"measured": way_table("explore", page.stem, ways)})
    files[DOCS / "results.csv"] = to_csv(main).encode()
    differences = [plot for plot in plots(main) if plot.name.startswith("differences")]
    others = [plot for plot in plots(detailed) if not plot.name.startswith("differences")]
    for plot in (*differences, *others):
        files[DOCS / "figures" / f"{plot.name}.svg"] = plot.to_bytes("svg")
    return files


def readme_contents(results: Results) -> dict[Path, bytes]:
    """The files made from the grid of README.md."""
    comparison = comparison_of(results) if results else None
    table = readme_table(comparison) if comparison else None
    pages = (DOCS.parent / "README.md", DOCS / "index.md")
    made = {"readme": table, "origin": origin(results) if results else None}
    files = {page: filled(page, made) for page in pages}
    replay = exploration_table("dagger_replay", comparison) if comparison else None
    files[REPLAY] = filled(REPLAY, {"measured": replay})
    for plot in plots(comparison) if comparison else []:
        if plot.name == "differences":
            files[FIGURE] = plot.to_bytes("svg")
    return files


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--check", action="store_true", help="write nothing; fail if files differ")
    options.add_argument(
        "--readme", action="store_true", help="only what is made from docs/results_readme: seconds"
    )
    given = options.parse_args()
    with clear_errors():
        files = readme_contents(cells("results_readme"))
        if not given.readme:
            files |= full_contents(cells("results"))
        return update(files, check=given.check)


def cells(folder: str) -> list[RunResult]:
    """The finished cells in a folder of docs/."""
    return [result for _, result in finished_results([DOCS / folder])]


def update(files: dict[Path, bytes], *, check: bool) -> int:
    """Write the files that are out of date, or list them; the exit status."""
    status = 0
    for path, content in files.items():
        if path.exists() and path.read_bytes() == content:
            continue
        if check:
            sys.stderr.write(f"{path} is out of date: run make results\n")
            status = 1
        else:
            path.parent.mkdir(exist_ok=True)
            write(path, content)
    return status


if __name__ == "__main__":
    sys.exit(main())
