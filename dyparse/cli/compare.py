"""What `dyparse compare` and `dyparse report` do."""

import argparse
import sys
from pathlib import Path

from dyparse.compare.grid import Grid, configuration_directory, experiment_axes, plan
from dyparse.compare.groups import AXES
from dyparse.compare.report.page import write_report
from dyparse.compare.run_grid import finished_results, publish, run_grid, usual_jobs
from dyparse.config.choices import load, text_of
from dyparse.errors import ConfigError
from dyparse.evaluation.run_result import RESULT

LONGEST_SEED = len(str(2**32 - 1))  # digits
MOST_SEEDS = 10_000
TITLE = "Static against dynamic oracles"


def run_compare(options: argparse.Namespace) -> int:
    """`dyparse compare`"""
    if options.jobs is not None and options.jobs < 1:
        raise ConfigError(f"--jobs is {options.jobs}, expected 1 or more")
    if options.output.exists() and not options.output.is_dir():
        raise ConfigError(f"--output is {options.output}, a file; expected a directory")
    baseline = chosen_baseline(options.baseline)
    conf = configuration_directory(options.conf)
    tasks = plan(chosen_grid(options, conf), conf, options.output)
    unfinished = sum(not task.is_finished for task in tasks)
    sys.stdout.write(
        f"{len(tasks)} cells in {options.output}, {unfinished} of them to be trained\n"
    )
    sys.stdout.flush()
    if options.dry_run:
        for task in tasks:
            state = "finished" if task.is_finished else "to do   "
            sys.stdout.write(f"{state}  {task.directory}\n")
        return 0
    jobs = options.jobs or usual_jobs(tasks[0].config)
    failures = run_grid(tasks, jobs=jobs, keep_models=options.keep_models)
    for failure in failures:
        sys.stderr.write(f"failed: {failure}\n")
    directories = [task.directory for task in tasks if task.is_finished]
    if directories:
        page = report_on(directories, options.output, TITLE, baseline)
        publish(tasks[0], page)
        sys.stdout.write(f"report    {page}\n")
    return 2 if failures else 0


def chosen_grid(options: argparse.Namespace, conf: Path) -> Grid:
    """The grid of the command line; what it leaves open is as the experiment has it."""
    overrides = list(options.files)
    for override in overrides:
        key = override.lstrip("+~").partition("=")[0]
        if key in (*AXES, "experiment"):
            option = "--seeds" if key == "seed" else f"--{key}"
            raise ConfigError(f"{override}: what a grid is made of is given by {option}")
    if options.experiment != "none":
        overrides.insert(0, f"experiment={options.experiment}")
    axes = experiment_axes(conf, overrides)
    seeds = ",".join(axes.get("seed", ["1"])) if options.seeds is None else options.seeds
    values = {
        "system": options.systems or axes.get("system", ["arc_eager"]),
        "exploration": options.explorations or axes.get("exploration", ["static", "explore"]),
        "loss": options.losses or axes.get("loss", ["set_nll"]),
        "treebank": options.treebanks or ["sample"],
        "seed": numbers_in(seeds),
    }
    return Grid(values, overrides)


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


def chosen_baseline(text: str) -> str:
    """The exploration that others are compared with, as results name it."""
    try:
        return text_of(load("exploration", text))
    except (ValueError, TypeError) as error:
        raise ConfigError(f"--baseline {text}: {error}") from error


def run_report(options: argparse.Namespace) -> int:
    """`dyparse report`"""
    baseline = chosen_baseline(options.baseline)
    directories = [Path(name) for name in options.files]
    for directory in directories:
        if not directory.is_dir():
            raise ConfigError(f"{directory}: no such directory; expected one with runs of train.py")
    page = report_on(directories, options.output or directories[0], options.title, baseline)
    sys.stdout.write(f"{page}\n")
    return 0


def report_on(directories: list[Path], output: Path, title: str, baseline: str) -> Path:
    """Write the report on all finished runs in these directories; where it is."""
    results = finished_results(directories)
    if not results:
        raise ConfigError(
            f"no {RESULT} below {', '.join(map(str, directories))}; a run of train.py leaves one "
            "when it is finished"
        )
    return write_report(results, output, title=title, baseline=baseline)
