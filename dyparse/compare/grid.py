"""The grid of a comparison: what is trained, each cell in a directory named after its options."""

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hydra import compose, initialize_config_dir
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from dyparse.config.build import build, checked, construct
from dyparse.config.choices import for_hydra, load, text_of
from dyparse.config.options import TrainOptions
from dyparse.errors import ConfigError
from dyparse.evaluation.run_result import RESULT, Cell
from dyparse.model.sizes import ScorerSizes
from dyparse.runtime.device import find_device, require_seed, require_threads
from dyparse.training.run_directory import run_directory

AXES = ("system", "exploration", "loss")


@dataclass(frozen=True)
class Grid:
    """What is combined with what; empty axes are those of the experiment."""

    systems: Sequence[str]
    explorations: Sequence[str]
    losses: Sequence[str]
    treebanks: Sequence[str]  # `sample`, or directories of UD treebanks
    seeds: Sequence[int]
    overrides: Sequence[str]  # more options for all runs, as for train.py

    def choices(self) -> Iterator[tuple[list[str], dict[str, str]]]:
        """Of every cell, without its seed: options, and those of its treebank."""
        axes = (
            [choice_overrides("system", text) for text in self.systems],
            [choice_overrides("exploration", text) for text in self.explorations],
            [choice_overrides("loss", text) for text in self.losses],
        )
        treebanks = [treebank_options(text) for text in self.treebanks]
        for *parts, (name, options) in itertools.product(*axes, treebanks):
            yield [*itertools.chain(*parts), f"treebank={name}", *self.overrides], options


@dataclass(frozen=True)
class Task:
    """A cell to run."""

    cell: Cell
    config: DictConfig
    choices: dict[str, str]  # names of system, exploration and loss
    directory: Path

    @property
    def is_finished(self) -> bool:
        return (self.directory / RESULT).exists()


def choice_overrides(axis: str, text: str) -> list[str]:
    """`NAME:KEY=VALUE,…` as options of train.py; `attardi` is [system=attardi]."""
    try:
        load(axis, text)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"--{axis} {text}: {error}") from error
    name, _, listed = text.partition(":")
    options = [option.partition("=") for option in filter(None, listed.split(","))]
    return [f"{axis}={name}", *(f"{axis}.{key}={for_hydra(value)}" for key, _, value in options)]


def treebank_options(text: str) -> tuple[str, dict[str, str]]:
    """`sample`, or the directory of a UD treebank: the choice of treebank and its options.

    They do not pass through Hydra's grammar: paths may have any signs.
    """
    if text == "sample":
        return text, {}
    path = Path(text).absolute()
    if not path.is_dir():
        raise ConfigError(
            f"--treebank {text}: no such directory; expected `sample`, or the directory of a "
            "UD treebank such as ud/UD_English-LinES (dyparse download fetches one)"
        )
    if not path.name or ".." in path.parts:
        path = path.resolve()
    return "ud", {"root": str(path.parent), "name": path.name}


def configuration_directory(given: Path | None) -> Path:
    """Where train.yaml is: as given, else in the working directory, else beside the package."""
    places = [given] if given else [Path("conf"), Path(__file__).parents[2] / "conf"]
    for place in places:
        if (place / "train.yaml").is_file():
            return place.resolve()
    raise ConfigError(
        f"no train.yaml in {' or '.join(map(str, places))}; run this in the source tree, "
        "or name its directory conf with --conf"
    )


def experiment_axes(conf: Path, overrides: Sequence[str]) -> dict[str, list[str]]:
    """What an experiment sweeps over, as it is written for Hydra's sweeper."""
    with initialize_config_dir(str(conf), version_base="1.3"), config_errors():
        config = compose("train", list(overrides), return_hydra_config=True)
    swept = OmegaConf.select(config, "hydra.sweeper.params") or {}
    if unknown := sorted(set(map(str, swept)) - {*AXES, "seed"}):
        raise ConfigError(
            f"{' '.join(overrides)} sweeps over {unknown[0]}; a grid is made of "
            f"{', '.join((*AXES, 'seed'))}: give it as an option, or run train.py -m"
        )
    return {str(key): [v.strip() for v in str(value).split(",")] for key, value in swept.items()}


def plan(grid: Grid, conf: Path, directory: Path) -> list[Task]:
    """All cells, checked: first all of the first seed, then all of the second, ….

    A wrong option or a missing treebank is an error here, before anything is trained.
    """
    for seed in grid.seeds:
        require_seed(seed)
    of_first_seed = []
    with initialize_config_dir(str(conf), version_base="1.3"), config_errors():
        for overrides, treebank in grid.choices():
            config = compose("train", [*overrides, f"seed={grid.seeds[0]}"])
            for key, value in treebank.items():
                config.treebank[key] = value.replace("${", "\\${")  # a path, no interpolation
            of_first_seed.append((config, *_check(config)))
    tasks = []
    for seed in grid.seeds:
        for config, cell, choices in of_first_seed:
            own: DictConfig = OmegaConf.merge(config, {"seed": seed})  # type: ignore[assignment]  # of one, it is one
            name = run_directory(own, cell.treebank).name
            of_seed = Cell(cell.system, cell.exploration, cell.loss, cell.treebank, seed)
            tasks.append(Task(of_seed, own, choices, directory / name))
    once = {task.directory: task for task in tasks}
    for task in tasks:
        other = once[task.directory]
        if task.config.treebank != other.config.treebank:
            raise ConfigError(
                f"two treebanks are called {task.cell.treebank}: {task.config.treebank.root} and "
                f"{other.config.treebank.root}; compare them in different directories (-o)"
            )
    return list(once.values())


def _check(config: DictConfig) -> tuple[Cell, dict[str, str]]:
    """What a configuration trains; ConfigError if it cannot."""
    options: TrainOptions = checked(config, TrainOptions)
    if options.output:
        raise ConfigError(f"output is {options.output!r}; a grid has a directory for each cell")
    construct(ScorerSizes, options.network, "network")
    find_device(options.device)
    require_threads(options.threads)
    treebank = build(options.treebank, "treebank")
    treebank.describe()
    for name in ("encoder", "trainer", "logger"):
        build(getattr(options, name), name)
    names = ("system", "exploration", "loss")
    texts = {name: text_of(build(getattr(options, name), name)) for name in names}
    choices = {name: text.partition(":")[0] for name, text in texts.items()}
    return Cell(treebank=treebank.name, seed=options.seed, **texts), choices


@contextlib.contextmanager
def config_errors() -> Iterator[None]:
    """Hydra's complaints about options as ours."""
    try:
        yield
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(" ".join(str(error).split())) from error
