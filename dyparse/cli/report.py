"""`dyparse report`: compare finished trainings."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from dyparse.cli.arguments import Commands, add_baseline, chosen_baseline
from dyparse.config.extras import require_training
from dyparse.errors import ConfigError
from dyparse.runtime.console import shows_colours, standard_output

if TYPE_CHECKING:  # it imports numpy, which is slow
    from dyparse.comparison.summary import Summary


def register(commands: Commands) -> None:
    """The arguments of the command."""
    command = commands.add_parser(
        "report",
        help="compare finished trainings",
        description="Report on all finished runs in and below some directories, as\n"
        "`dyparse compare` does at its end. Runs of different settings are listed by what\n"
        "differs, best LAS on dev first, and compared where the baseline and another\n"
        "exploration share all other options.",
        epilog="example:\n"
        "  dyparse train -m experiment=static_vs_dynamic\n"
        "  dyparse report outputs -o outputs/report",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("files", metavar="DIR", nargs="+", help="directories with runs")
    command.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="DIR",
        help="directory of the report (default: the first DIR)",
    )
    add_baseline(command)
    command.add_argument("--title", help="title of the page")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the report; print its main table, and where it is."""
    require_training("dyparse report", "matplotlib", "jinja2")
    from dyparse.comparison.summary import TITLE, missing_note, report_on
    from dyparse.evaluation.run_result import RESULT, finished_results, unfinished_runs

    baseline = chosen_baseline(options.baseline)
    directories = [Path(name) for name in options.files]
    for directory in directories:
        if not directory.is_dir():
            raise ConfigError(f"{directory}: no such directory; expected one with trainings")
    runs, unfinished = finished_results(directories), unfinished_runs(directories)
    if not runs:
        raise ConfigError(
            f"no {RESULT} below {', '.join(map(str, directories))}; a training writes one "
            "when it is finished"
        )
    names = [run.name for run in unfinished]  # the page may be handed on: no paths
    notes = missing_note(names, len(runs) + len(names), "left out, not finished")
    output = options.output or directories[0]
    print_summary(
        report_on(runs, output, title=options.title or TITLE, baseline=baseline, notes=notes)
    )
    return 0


def print_summary(summary: "Summary") -> None:
    """Print a summary, with bold figures if this is a terminal."""
    with standard_output() as out:
        out.write(summary.to_text(bold=shows_colours()))
