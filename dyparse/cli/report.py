"""`dyparse report`: compare runs of train.py that are finished."""

import argparse
import sys
from pathlib import Path

from dyparse.cli.arguments import Commands, add_baseline, chosen_baseline
from dyparse.errors import ConfigError

TITLE = "Static against dynamic oracles"


def register(commands: Commands) -> None:
    """The arguments of the command."""
    command = commands.add_parser(
        "report",
        help="compare finished runs of train.py",
        description="Report on all finished runs in and below some directories, as\n"
        "`dyparse compare` does at its end.",
        epilog="example:\n"
        "  python train.py -m experiment=static_vs_dynamic\n"
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
    command.add_argument("--title", default=TITLE, help="title of the page (default: %(default)s)")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the report, and print where it is."""
    baseline = chosen_baseline(options.baseline)
    directories = [Path(name) for name in options.files]
    for directory in directories:
        if not directory.is_dir():
            raise ConfigError(f"{directory}: no such directory; expected one with runs of train.py")
    page = report_on(directories, options.output or directories[0], options.title, baseline)
    sys.stdout.write(f"{page}\n")
    return 0


def report_on(directories: list[Path], output: Path, title: str, baseline: str) -> Path:
    """Write the report on all finished runs in these directories; the path of its page."""
    from dyparse.compare.report.page import write_report
    from dyparse.compare.run_grid import finished_results
    from dyparse.evaluation.run_result import RESULT

    results = finished_results(directories)
    if not results:
        raise ConfigError(
            f"no {RESULT} below {', '.join(map(str, directories))}; a run of train.py writes one "
            "when it is finished"
        )
    return write_report(results, output, title=title, baseline=baseline)
