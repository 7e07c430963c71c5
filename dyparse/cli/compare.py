"""`dyparse compare`: train a grid of parsers, and report on them."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dyparse.cli.arguments import (
    ALTERNATIVE,
    TREEBANK,
    Commands,
    add_baseline,
    chosen_baseline,
    require_positive,
)
from dyparse.cli.report import print_summary
from dyparse.config.extras import require_training
from dyparse.errors import ConfigError

if TYPE_CHECKING:  # it imports torch, which is slow
    from dyparse.comparison.grid import Task

PLURALS = {"system": "systems", "exploration": "explorations", "loss": "losses"}
LONGEST_SEED = len(str(2**32 - 1))  # digits
MOST_SEEDS = 10_000


def register(commands: Commands) -> None:
    """The arguments of the command."""
    command = commands.add_parser(
        "compare",
        help="train a grid of parsers and compare static with dynamic oracles",
        description="Train every combination of systems, explorations, losses, treebanks and\n"
        "seeds, several at a time, and report on them: report.html, results.csv, results.json\n"
        "and figures. Cells that are finished already are not trained again.",
        epilog="examples:\n"
        "  dyparse compare --system arc_eager --system attardi --exploration static\n"
        "      --exploration explore --seeds 1-2\n"
        "  dyparse compare --treebank ud/UD_English-LinES --system nonmonotonic:reduce=false\n"
        "  dyparse compare --experiment none trainer.epochs=10 logger=wandb",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for axis, plural in PLURALS.items():
        more = "; static is added to a single one" if axis == "exploration" else ""
        command.add_argument(
            f"--{axis}",
            action="append",
            dest=plural,
            default=[],
            metavar=axis.upper(),
            help=f"{ALTERNATIVE}; may be repeated (default: the {plural} of the experiment{more})",
        )
    command.add_argument(
        "--treebank",
        action="append",
        dest="treebanks",
        default=[],
        metavar="TREEBANK",
        help=f"{TREEBANK}; may be repeated (default: that of the experiment, else sample)",
    )
    command.add_argument(
        "--seeds", metavar="LIST", help="such as 1-5 or 1,4,7 (default: those of the experiment)"
    )
    command.add_argument(
        "--experiment",
        default="static_vs_dynamic",
        metavar="NAME",
        help="conf/experiment/NAME.yaml: the size of the model, and the grid where no option "
        "says otherwise; none: the defaults of dyparse train (default: %(default)s)",
    )
    add_baseline(command)
    command.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("compare"),
        metavar="DIR",
        help="directory of cells and report (default: %(default)s)",
    )
    command.add_argument(
        "--jobs",
        type=int,
        metavar="N",
        help="cells to train at a time (default: one per core, or per GPU)",
    )
    command.add_argument("--keep-models", action="store_true", help="keep the model of every cell")
    command.add_argument("--dry-run", action="store_true", help="list the cells and train nothing")
    command.add_argument(
        "--config-dir",
        type=Path,
        metavar="DIR",
        help="directory with groups of options of your own",
    )
    command.add_argument(
        "files", metavar="KEY=VALUE", nargs="*", help="more options of dyparse train, for all cells"
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Train the cells that are not finished, and write the report; exit status 2 if one failed."""
    require_training("dyparse compare", "hydra", "torch", "matplotlib", "jinja2")
    from dyparse.comparison.experiment import Report, experiment_grid, run_experiment
    from dyparse.comparison.grid import AxisError, plan

    require_positive(options, "jobs")
    if options.output.exists() and not options.output.is_dir():
        raise ConfigError(f"--output is {options.output}, a file; expected a directory")
    report = Report(options.output, baseline=chosen_baseline(options.baseline))
    axes = {axis: getattr(options, plural) for axis, plural in PLURALS.items()}
    axes |= {
        "treebank": options.treebanks,
        "seed": [] if options.seeds is None else numbers_in(options.seeds),
    }
    try:
        grid = experiment_grid(
            options.experiment, axes, options.files, options.config_dir, instead=as_option
        )
        tasks = plan(grid, options.output, options.config_dir)
    except AxisError as error:
        raise ConfigError(f"--{error}") from error
    unfinished = sum(not task.is_finished for task in tasks)
    sys.stdout.write(
        f"{len(tasks)} cells in {options.output}, {unfinished} of them to be trained\n"
    )
    sys.stdout.flush()
    if options.dry_run:
        list_cells(tasks)
        return 0
    summary = run_experiment(
        tasks,
        report,
        jobs=options.jobs,
        keep_models=options.keep_models,
        on_failure=lambda line: sys.stderr.write(f"failed: {line}\n"),
    )
    print_summary(summary)
    return 0 if all(task.is_finished for task in tasks) else 2


def as_option(part: str, _value: str) -> str:
    """The option that gives a part of the grid."""
    return "--seeds" if part == "seed" else f"--{part}"


def list_cells(tasks: "list[Task]") -> None:
    """Print a line for every cell."""
    for task in tasks:
        state = "finished" if task.is_finished else "to do   "
        sys.stdout.write(f"{state}  {task.directory}\n")


def numbers_in(text: str) -> list[int]:
    """The numbers of `1-3,7`: 1, 2, 3, 7."""
    numbers: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        ends = [first, last] if dash else [first, first]
        is_sound = all(end.isdecimal() and len(end) <= LONGEST_SEED for end in ends)
        if not is_sound or int(ends[0]) > int(ends[1]):
            raise ConfigError(f"--seeds is {text[:50]!r}, expected numbers such as 1-5 or 1,4,7")
        if len(numbers) + int(ends[1]) - int(ends[0]) >= MOST_SEEDS:
            raise ConfigError(f"--seeds is {text[:50]!r}, expected at most {MOST_SEEDS:,} numbers")
        numbers += range(int(ends[0]), int(ends[1]) + 1)
    return list(dict.fromkeys(numbers))
