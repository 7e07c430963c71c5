"""Fill in tables and figures of README.md and docs/: `make results`.

docs/study holds the result.json of every finished cell of the grids of scripts/study.sh: study.py
compares those of docs/protocol.md, A to E; learning_tables.py the others. docs/study/peers has the
results of other parsers, for peer_tables.py. Tables go between `<!-- name -->` and `<!-- /name -->`
of the pages, figures to docs/figures. A second run writes the same bytes. With --check nothing is
written, and it is an error if a file would change.
"""

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import study
from elsewhere_tables import elsewhere_tables
from findings import with_figures
from learning_tables import GRIDS, learning_tables, listed_results, measured_table
from peer_tables import peer_tables
from study_figure import TITLE, figure, rows
from study_tables import (
    ERRORS,
    MOVES,
    error_tables,
    gains_over_static,
    grid_a,
    lost_table,
    study_tables,
)

from dyparse.comparison.report.figures import plots
from dyparse.comparison.report.table import Table
from dyparse.errors import DyparseError
from dyparse.evaluation.provenance import training_sources
from dyparse.evaluation.run_result import Cell, RunResult
from dyparse.runtime.atomic_files import write
from dyparse.runtime.entry import clear_errors

DOCS = Path(__file__).resolve().parent.parent / "docs"
OF_MAKE_DOCS = ("options",)  # blocks of these pages that scripts/make_docs.py writes
FIGURE = DOCS / "figures" / "static_vs_dynamic.svg"  # of README.md
PAGES = ("index", "results", "pretrained", "peers")  # of docs/, filled in as a whole, as README.md
FIGURES = ("learning_curves", "propagation")
NOT_MEASURED = "Not measured yet.\n"

HASHES: dict[tuple[Cell, str], str] = {}  # of `sources_now`

Made = Mapping[str, Table | str | None]


def origin(results: Sequence[RunResult]) -> str:
    """The code that some results were measured with, and whether it is still the same."""
    versions = sorted({result.versions["dyparse"] for result in results})
    commits = plural(sorted({result.commit for result in results}))
    is_stale = any(result.sources != sources_now(result) for result in results)
    since = "; the code that decides training has changed since" if is_stale else ""
    return f"Results of version {', '.join(versions)}, {commits}{since}.\n"


def sources_now(result: RunResult) -> str:
    """Today's hash of the sources of a training; the same for all treebanks and seeds."""
    choices = (replace(result.cell, treebank="", seed=0), result.setting_name)
    if choices not in HASHES:
        HASHES[choices] = training_sources(result.cell, result.setting)
    return HASHES[choices]


def origins() -> dict[str, str | None]:
    """The code of the results of grids A and D, of tables of several grids, and of F to I."""
    found = {f"origin_{grid}": list(study.results(grid).values()) for grid in "AD"}
    for name, grids in (("elsewhere", "BCDE"), ("encoders", "BDEJK")):
        found[f"{name}_origin"] = [run for grid in grids for run in study.results(grid).values()]
    found |= {f"{name}_origin": listed_results(study.STUDY, name) for name in GRIDS}
    return {name: origin(cells) if cells else None for name, cells in found.items()}


def plural(commits: Sequence[str]) -> str:
    """`commit a` or `commits a, b`."""
    return f"commit{'s' if len(commits) > 1 else ''} {', '.join(commits)}"


def filled(page: Path, made: Made) -> bytes:
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
            content += f"\n![{TITLE}]({os.path.relpath(FIGURE, page.parent)})\n"
        text = block.sub(f"\n{content}\n".replace("\\", r"\\"), text)
    return text.encode()


def body(table: Table | str | None) -> str:
    """A sentence, or a table without its title, which is in the page already."""
    if isinstance(table, str):
        return table
    return table.to_markdown().partition("\n\n")[2] if table and table.rows else NOT_MEASURED


def contents() -> dict[Path, bytes]:
    """All files made from results."""
    of_systems = grid_a(study.SYSTEMS, study.FIVE)
    of_moves = grid_a((*study.SYSTEMS, *study.PARTS), study.THREE)
    made: Made = {
        **study_tables(),
        **elsewhere_tables(),
        **error_tables(of_systems, ERRORS),
        **error_tables(of_moves, MOVES),
        "lost": lost_table(of_systems),
        **learning_tables(study.STUDY),
        **peer_tables(),
        **origins(),
    }
    pages = [DOCS.parent / "README.md", *(DOCS / f"{name}.md" for name in PAGES)]
    files = {page: filled(page, made) for page in pages}
    papers = DOCS / "papers.md"
    files[papers] = with_figures(papers.read_text(encoding="utf-8")).encode()
    for page in sorted((DOCS / "explorations").glob("*.md")):
        table = gains_over_static(page.stem) or measured_table(study.STUDY, f"{page.stem}, set_nll")
        files[page] = filled(page, {"measured": table})
    for page in sorted((DOCS / "losses").glob("*.md")):
        table = measured_table(study.STUDY, f"dagger_replay, {page.stem}")
        files[page] = filled(page, {"measured": table})
    found = rows()
    if found:
        files[FIGURE] = figure(found).to_bytes("svg")
    for plot in plots(of_systems) if of_systems else []:
        if plot.name in FIGURES:
            files[DOCS / "figures" / f"{plot.name}.svg"] = plot.to_bytes("svg")
    return files


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--check", action="store_true", help="write nothing; fail if files differ")
    given = options.parse_args()
    with clear_errors():
        return update(contents(), check=given.check)


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
