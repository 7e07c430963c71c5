"""The grid of a comparison: its cells, all checked before any of them is trained.

A cell is a training, in a directory named after its options.
"""

import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from omegaconf import DictConfig, OmegaConf

from dyparse.comparison.groups import AXES, BASELINE
from dyparse.config.application import compose_options, composing
from dyparse.config.build import build, checked, construct
from dyparse.config.choices import for_hydra, load, text_of
from dyparse.config.options import TrainOptions
from dyparse.errors import ConfigError, TreebankError
from dyparse.evaluation.run_result import RESULT, Cell
from dyparse.runtime.device import find_device, require_seed
from dyparse.runtime.threads import require_threads
from dyparse.training.run import build_model_config
from dyparse.training.run_directory import named_by_content, run_directory
from dyparse.training.settings import TrainingSettings
from dyparse.treebank._names import find_named

CHOICES = ("system", "exploration", "loss")  # axes whose values are classes with options


@dataclass(frozen=True)
class Grid:
    """The values on every axis, all of which are combined, and options for all cells."""

    # By axis; seeds are numbers, all others text, or None for what the overrides give.
    values: Mapping[str, Sequence[Any]]
    overrides: Sequence[str] = ()  # as for `dyparse train`


class AxisError(ConfigError):
    """A wrong value on an axis, which the message begins with; a command line adds dashes to it."""


class Selection(NamedTuple):
    """How one value of an axis enters a configuration."""

    overrides: list[str]  # for Hydra to compose
    options: dict[str, Any]  # to be set afterwards; with `_target_` they replace those composed


@dataclass(frozen=True)
class Task:
    """A cell to run."""

    cell: Cell
    config: DictConfig
    directory: Path

    @property
    def is_finished(self) -> bool:
        """Whether its result is there."""
        return (self.directory / RESULT).exists()


AS_COMPOSED = Selection([], {})


def select_choice(axis: str, text: str | None) -> Selection:
    """`NAME:KEY=VALUE,…`, where the name is one of the package or `module.Class`.

    Hydra knows only the names of the package: a class from outside is set after it has composed.
    """
    if text is None:
        return AS_COMPOSED
    try:
        chosen = load(axis, text)
    except (ValueError, TypeError) as error:
        raise AxisError(f"{axis} {text}: {error}") from error
    name = text_of(chosen).partition(":")[0]
    if "." in name:
        options = {
            field.name: getattr(chosen, field.name) for field in fields(chosen) if field.init
        }
        return Selection([], {"_target_": name, **options})
    listed = filter(None, text.partition(":")[2].split(","))
    given = [option.partition("=") for option in listed]
    return Selection(
        [f"{axis}={name}", *(f"{axis}.{key}={for_hydra(value)}" for key, _, value in given)], {}
    )


def select_treebank(text: str | None) -> Selection:
    """A treebank by its name: `sample`, a UD directory, a CoNLL-U file.

    Paths are no overrides: they may have characters that mean something to Hydra.
    """
    if text is None:
        return AS_COMPOSED
    try:
        choice, options = find_named(text)
    except TreebankError as error:
        raise AxisError(f"treebank {error}") from error
    places = {
        key: os.path.abspath(value) if key != "name" else value for key, value in options.items()
    }
    return Selection([f"treebank={choice}"], places)


def experiment_axes(overrides: Sequence[str], own: Path | None = None) -> dict[str, list[Any]]:
    """The values of every axis: those that an experiment sweeps over with Hydra's sweeper, else the
    one that it chooses; of explorations the baseline too.
    """
    config = compose_options("train", overrides, own, return_hydra_config=True)
    swept = OmegaConf.select(config, "hydra.sweeper.params") or {}
    axes = (*CHOICES, "seed")
    if unknown := sorted(set(map(str, swept)) - set(axes)):
        raise ConfigError(
            f"{' '.join(overrides)} sweeps over {unknown[0]}, expected {', '.join(axes)}; "
            f"give {unknown[0]} one value, or run dyparse train -m"
        )
    values: dict[str, list[Any]] = {axis: [None] for axis in AXES} | {"seed": [config.seed]}
    values["exploration"].insert(0, BASELINE)
    listed = {str(key): [v.strip() for v in str(value).split(",")] for key, value in swept.items()}
    return values | listed


def plan(grid: Grid, directory: Path, own: Path | None = None) -> list[Task]:
    """All cells: first those of the first seed, then those of the second, ….

    ConfigError if an option is wrong or a treebank missing, before anything is trained. `own` is a
    directory with groups of options of the user's own.
    """
    for seed in grid.values["seed"]:
        require_seed(seed)
    trainings = []
    with composing(own) as composed:
        for config in _configs(grid, composed):
            trainings.append((config, _check(config)))
    tasks = []
    for seed in grid.values["seed"]:
        for config, cell in trainings:
            seeded: DictConfig = OmegaConf.merge(config, {"seed": seed})  # type: ignore[assignment]  # of one, it is one
            name = run_directory(named_by_content(seeded), cell.treebank).name
            tasks.append(Task(replace(cell, seed=seed), seeded, directory / name))
    once = {task.directory: task for task in tasks}
    for task in tasks:
        other = once[task.directory]
        if task.config.treebank != other.config.treebank:
            places = (
                str(c.treebank.get("root") or c.treebank.get("train"))
                for c in (task.config, other.config)
            )
            raise ConfigError(
                f"two treebanks are called {task.cell.treebank}, {' and '.join(places)}; compare "
                "them in different output directories"
            )
    return list(once.values())


def _configs(grid: Grid, composed: Callable[..., DictConfig]) -> Iterator[DictConfig]:
    """The configuration of every cell, with the first seed."""
    choices = [[select_choice(axis, text) for text in grid.values[axis]] for axis in CHOICES]
    for axis, of_axis in zip(CHOICES, choices, strict=True):
        _require_effect(grid.overrides, axis, of_axis)
    treebanks = [select_treebank(text) for text in grid.values["treebank"]]
    seed = f"seed={grid.values['seed'][0]}"
    for selections in itertools.product(*choices, treebanks):
        overrides = [override for selection in selections for override in selection.overrides]
        config = composed("train", [*overrides, *grid.overrides, seed])
        for axis, selection in zip(AXES, selections, strict=False):
            options = {key: _escaped(value) for key, value in selection.options.items()}
            if "_target_" in options:
                config[axis] = options
            else:
                config[axis].update(options)
        yield config


def _require_effect(overrides: Sequence[str], axis: str, selections: Sequence[Selection]) -> None:
    """ConfigError for overrides without effect: classes from outside are set after composing."""
    outside = [selection.options["_target_"] for selection in selections if selection.options]
    for override in overrides:
        key, _, value = override.lstrip("+~").partition("=")
        if outside and key.startswith(f"{axis}."):
            option = key.removeprefix(f"{axis}.")
            raise ConfigError(
                f"{override}: no effect on {outside[0]}; give the option together with the class, "
                f"as {axis} {outside[0]}:{option}={value}"
            )


def _escaped(value: Any) -> Any:
    """Text in which ${ is no interpolation; other values as they are."""
    return value.replace("${", "\\${") if isinstance(value, str) else value


def _check(config: DictConfig) -> Cell:
    """The cell of a configuration; ConfigError if it is invalid."""
    options: TrainOptions = checked(config, TrainOptions)
    if options.output:
        raise ConfigError(
            f"output is {options.output!r}, expected none: every cell has its own directory; "
            "the comparison has an output directory for all of them"
        )
    build_model_config(options)
    construct(TrainingSettings, options.trainer, "trainer")
    find_device(options.device)
    require_threads(options.threads)
    treebank = build(options.treebank, "treebank")
    treebank.describe()
    build(options.logger, "logger")
    texts = {axis: text_of(build(getattr(options, axis), axis)) for axis in CHOICES}
    return Cell(treebank=treebank.name, seed=options.seed, **texts)
