"""The grid of a comparison: its cells, all checked before any of them is trained.

A cell is a run of train.py, in a directory named after its options.
"""

import contextlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from hydra import compose, initialize_config_dir
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from dyparse.compare.groups import AXES
from dyparse.config.build import build, checked, construct
from dyparse.config.choices import for_hydra, load, text_of
from dyparse.config.options import TrainOptions
from dyparse.errors import ConfigError
from dyparse.evaluation.run_result import RESULT, Cell
from dyparse.runtime.device import find_device, require_seed, require_threads
from dyparse.training.run import build_model_config
from dyparse.training.run_directory import run_directory
from dyparse.training.settings import TrainingSettings

CHOICES = ("system", "exploration", "loss")  # axes whose values are classes with options


@dataclass(frozen=True)
class Grid:
    """The values on every axis, all of which are combined, and options for all cells."""

    values: Mapping[str, Sequence[Any]]  # by axis; seeds are numbers, all others text
    overrides: Sequence[str] = ()  # as for train.py


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


def select_choice(axis: str, text: str) -> Selection:
    """`NAME:KEY=VALUE,…`, where the name is one of the package or `module.Class`.

    Hydra knows only the names of the package: a class from outside is set after it has composed.
    """
    try:
        chosen = load(axis, text)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"--{axis} {text}: {error}") from error
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


def select_treebank(text: str) -> Selection:
    """`sample`, or the directory of a UD treebank.

    Paths are no overrides: they may have characters that mean something to Hydra.
    """
    if text == "sample":
        return Selection([f"treebank={text}"], {})
    path = Path(text).absolute()
    if not path.is_dir():
        raise ConfigError(
            f"--treebank {text}: no such directory; expected `sample` or the directory of a UD "
            "treebank such as ud/UD_English-LinES (dyparse download fetches one)"
        )
    if not path.name or ".." in path.parts:
        path = path.resolve()
    return Selection(["treebank=ud"], {"root": str(path.parent), "name": path.name})


def configuration_directory(given: Path | None) -> Path:
    """The directory of train.yaml: as given, else ./conf, else the conf beside the package."""
    places = [given] if given else [Path("conf"), Path(__file__).parents[2] / "conf"]
    for place in places:
        if (place / "train.yaml").is_file():
            return place.resolve()
    raise ConfigError(
        f"no train.yaml in {' or '.join(map(str, places))}; run this in the source tree, "
        "or give the path of its directory conf with --conf"
    )


def experiment_axes(conf: Path, overrides: Sequence[str]) -> dict[str, list[str]]:
    """The values of every axis that an experiment sweeps over with Hydra's sweeper."""
    with initialize_config_dir(str(conf), version_base="1.3"), _config_errors():
        config = compose("train", list(overrides), return_hydra_config=True)
    swept = OmegaConf.select(config, "hydra.sweeper.params") or {}
    axes = (*CHOICES, "seed")
    if unknown := sorted(set(map(str, swept)) - set(axes)):
        raise ConfigError(
            f"{' '.join(overrides)} sweeps over {unknown[0]}, expected {', '.join(axes)}; "
            f"give {unknown[0]} one value, or run train.py -m"
        )
    return {str(key): [v.strip() for v in str(value).split(",")] for key, value in swept.items()}


def plan(grid: Grid, conf: Path, directory: Path) -> list[Task]:
    """All cells: first those of the first seed, then those of the second, ….

    ConfigError if an option is wrong or a treebank missing, before anything is trained.
    """
    for seed in grid.values["seed"]:
        require_seed(seed)
    trainings = []
    with initialize_config_dir(str(conf), version_base="1.3"), _config_errors():
        for config in _configs(grid):
            trainings.append((config, _check(config)))
    tasks = []
    for seed in grid.values["seed"]:
        for config, cell in trainings:
            own: DictConfig = OmegaConf.merge(config, {"seed": seed})  # type: ignore[assignment]  # of one, it is one
            name = run_directory(own, cell.treebank).name
            tasks.append(Task(replace(cell, seed=seed), own, directory / name))
    once = {task.directory: task for task in tasks}
    for task in tasks:
        other = once[task.directory]
        if task.config.treebank != other.config.treebank:
            raise ConfigError(
                f"two treebanks are called {task.cell.treebank}: {task.config.treebank.root} and "
                f"{other.config.treebank.root}; compare them in different directories (-o)"
            )
    return list(once.values())


def _configs(grid: Grid) -> Iterator[DictConfig]:
    """The configuration of every cell, with the first seed."""
    choices = [[select_choice(axis, text) for text in grid.values[axis]] for axis in CHOICES]
    for axis, of_axis in zip(CHOICES, choices, strict=True):
        _require_effect(grid.overrides, axis, of_axis)
    treebanks = [select_treebank(text) for text in grid.values["treebank"]]
    seed = f"seed={grid.values['seed'][0]}"
    for selections in itertools.product(*choices, treebanks):
        overrides = [override for selection in selections for override in selection.overrides]
        config = compose("train", [*overrides, *grid.overrides, seed])
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
                f"{override}: no effect on {outside[0]}; give the option together with the class: "
                f"--{axis} {outside[0]}:{option}={value}"
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
            "use --output for the directory of all of them"
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


@contextlib.contextmanager
def _config_errors() -> Iterator[None]:
    """Turn Hydra's errors about options into ConfigError."""
    try:
        yield
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(" ".join(str(error).split())) from error
