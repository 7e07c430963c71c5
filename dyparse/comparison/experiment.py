"""A whole comparison: its grid, the training of its cells, and the report on them."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dyparse.comparison.grid import Grid, Task, experiment_axes, plan
from dyparse.comparison.groups import AXES, BASELINE
from dyparse.comparison.run_grid import publish, run_grid, usual_jobs
from dyparse.comparison.summary import TITLE, Summary, missing_note, report_on
from dyparse.config.choices import suggestion
from dyparse.errors import ConfigError, DyparseError, DyparseWarning
from dyparse.evaluation.run_result import finished_results

NO_EXPERIMENT = "none"


@dataclass(frozen=True)
class Report:
    """How a report is written."""

    directory: Path
    title: str = TITLE
    baseline: str = BASELINE  # the exploration that others are compared with


def _in_python(part: str, value: str) -> str:
    """How a part of the grid is given to `dyparse.compare`."""
    return f"experiment={value!r}" if part == "experiment" else f"axes={{{part!r}: […]}}"


def experiment_grid(
    experiment: str,
    given: Mapping[str, Sequence[Any]],
    overrides: Sequence[str] = (),
    own: Path | None = None,
    *,
    instead: Callable[[str, str], str] = _in_python,
) -> Grid:
    """The grid of an experiment, with axes that are given instead of its own.

    `own` is a directory with groups of options of the user's own; `instead` says how a part of the
    grid is given with this value, for an error about an override of it.
    """
    for override in overrides:
        key, _, value = override.lstrip("+~").partition("=")
        if key in (*AXES, "experiment"):
            remedy = f"use {instead(key, value)} instead"
            raise ConfigError(f"{override}: this is a part of the grid; {remedy}")
    chosen = [] if experiment == NO_EXPERIMENT else [f"experiment={experiment}"]
    axes = experiment_axes([*chosen, *overrides], own)
    values = axes | {axis: of_axis for axis, of_axis in given.items() if of_axis}
    values["seed"] = [int(seed) for seed in values["seed"]]
    return Grid(values, [*chosen, *overrides])


def run_experiment(
    tasks: Sequence[Task],
    report: Report,
    *,
    jobs: int | None = None,
    keep_models: bool = False,
    on_failure: Callable[[str], object],
) -> Summary:
    """Train all cells that are not finished, and report; each failure is passed on as a line.

    DyparseError if no cell could be finished.
    """
    failures = run_grid(tasks, jobs=jobs or usual_jobs(tasks[0].config), keep_models=keep_models)
    for failure in failures:
        on_failure(failure)
    runs = finished_results([task.directory for task in tasks if task.is_finished])
    if not runs:
        raise DyparseError(f"none of {len(tasks)} cells could be trained; see the lines above")
    missing = [task.directory.name for task in tasks if not task.is_finished]
    notes = missing_note(missing, len(tasks), "failed (the same command tries again)")
    summary = report_on(
        runs, report.directory, title=report.title, baseline=report.baseline, notes=notes
    )
    if page := summary.paths.get("report"):
        publish(tasks[0], page)
    return summary


def compare_with(
    overrides: Sequence[str],
    axes: Mapping[str, Sequence[Any]],
    output: Path,
    experiment: str,
    jobs: int | None,
) -> Summary:
    """Plan, train and report, with failures as warnings; see `dyparse.compare`."""
    if jobs is not None and jobs < 1:
        raise ConfigError(f"jobs is {jobs}, expected 1 or more")
    if output.exists() and not output.is_dir():
        raise ConfigError(f"output is {output}, a file; expected a directory")
    for axis, values in axes.items():
        if axis not in AXES:
            raise ConfigError(f"there is no axis {axis!r}; {suggestion(axis, AXES)}")
        kind = int if axis == "seed" else str
        is_list = isinstance(values, Sequence) and not isinstance(values, str)
        if not is_list or not all(isinstance(value, kind) for value in values):
            raise ConfigError(f"axis {axis} is {values!r}, expected a list of {kind.__name__}")
    tasks = plan(experiment_grid(experiment, axes, overrides), output)
    return run_experiment(
        tasks,
        Report(output),
        jobs=jobs,
        on_failure=lambda line: warnings.warn(f"failed: {line}", DyparseWarning, stacklevel=4),
    )
