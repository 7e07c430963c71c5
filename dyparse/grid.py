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

from dyparse.choice import text_of
from dyparse.config import TrainOptions, build, checked, require_seed, run_directory
from dyparse.errors import ConfigError
from dyparse.run_result import RESULT, Cell


@dataclass(frozen=True)
class Grid:
    """What is combined with what; empty axes are those of the experiment."""

    systems: Sequence[str]
    explorations: Sequence[str]
    losses: Sequence[str]
    treebanks: Sequence[str]  # `sample`, or directories of UD treebanks
    seeds: Sequence[int]
    overrides: Sequence[str]  # more options for all runs, as for train.py

    def choices(self) -> Iterator[list[str]]:
        """The options of every cell, without its seed."""
        axes = (
            [choice_overrides("system", text) for text in self.systems],
            [choice_overrides("exploration", text) for text in self.explorations],
            [choice_overrides("loss", text) for text in self.losses],
            [treebank_overrides(text) for text in self.treebanks],
        )
        for parts in itertools.product(*axes):
            yield [*itertools.chain(*parts), *self.overrides]


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


def choice_overrides(choice: str, text: str) -> list[str]:
    """`NAME:KEY=VALUE,…` as options of train.py; `attardi` is [system=attardi]."""
    name, _, options = text.partition(":")
    return [f"{choice}={name}", *(f"{choice}.{option}" for option in options.split(",") if option)]


def treebank_overrides(text: str) -> list[str]:
    """`sample`, or the directory of a UD treebank, as options of train.py."""
    path = Path(text)
    if text == "sample" or not path.is_dir():
        if text != "sample":
            raise ConfigError(
                f"--treebank {text}: no such directory; expected `sample`, or the directory of a "
                "UD treebank such as ud/UD_English-LinES (dyparse download fetches one)"
            )
        return ["treebank=sample"]
    return ["treebank=ud", f"treebank.root={path.absolute().parent}", f"treebank.name={path.name}"]


def configuration_directory(given: Path | None) -> Path:
    """Where train.yaml is: as given, else in the working directory, else beside the package."""
    places = [given] if given else [Path("conf"), Path(__file__).parents[1] / "conf"]
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
    return {str(key): str(value).split(",") for key, value in swept.items()}


def plan(grid: Grid, conf: Path, directory: Path) -> list[Task]:
    """All cells, checked: first all of the first seed, then all of the second, ….

    A wrong option or a missing treebank is an error here, before anything is trained.
    """
    for seed in grid.seeds:
        require_seed(seed)
    of_first_seed = []
    with initialize_config_dir(str(conf), version_base="1.3"), config_errors():
        for overrides in grid.choices():
            config = compose("train", [*overrides, f"seed={grid.seeds[0]}"])
            of_first_seed.append((config, *_check(config)))
    tasks = []
    for seed in grid.seeds:
        for config, cell, choices in of_first_seed:
            own: DictConfig = OmegaConf.merge(config, {"seed": seed})  # type: ignore[assignment]
            name = run_directory(own, choices, cell.treebank).name
            of_seed = Cell(cell.system, cell.exploration, cell.loss, cell.treebank, seed)
            tasks.append(Task(of_seed, own, choices, directory / name))
    return list({task.directory: task for task in tasks}.values())  # each once


def _check(config: DictConfig) -> tuple[Cell, dict[str, str]]:
    """What a configuration trains; ConfigError if it cannot."""
    options: TrainOptions = checked(config, TrainOptions)
    if options.output:
        raise ConfigError(f"output is {options.output!r}; a grid has a directory for each cell")
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
