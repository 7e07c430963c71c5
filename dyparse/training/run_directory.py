"""The directory of a run: its name, and what is in it.

A run is named after its choices and a hash of all options that decide what is learned: the same
command finds the same directory again, and resumes. A directory holds one run, and nothing in it
names a place of the user's machine.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from dyparse.config.build import build, checked
from dyparse.config.options import TrainOptions
from dyparse.config.places import content_name, is_content_name, with_content_names
from dyparse.config.training_command import NOT_LEARNED
from dyparse.data.columns.pseudo_projective import AS_IT_IS
from dyparse.data.sentence import Sentence
from dyparse.errors import CheckpointError, ConfigError, DyparseError
from dyparse.evaluation.run_result import GOLD, PARSED, RESULT
from dyparse.model.checkpoint import read_metrics
from dyparse.model.checkpoint_files import LISTED, MANIFEST, MODEL, ModelFiles
from dyparse.model.hub import HubModel
from dyparse.model.parser import Parser
from dyparse.model.sources import find_model, normalized
from dyparse.runtime.atomic_files import write
from dyparse.runtime.console import print_line
from dyparse.runtime.locks import unwritable
from dyparse.training.resume import DONE, NAME, TrainingFile

CONFIG, METRICS = "config.yaml", "metrics.jsonl"
PLACES = ("root", "train", "dev", "test")  # options of treebanks that are paths
MOST_NAMED = 5
WRITTEN = (CONFIG, NAME, DONE, RESULT, PARSED, GOLD, *LISTED, MANIFEST)
HALF_WRITTEN = re.compile(rf"\.({'|'.join(map(re.escape, WRITTEN))})\.\d+\.tmp")


def run_directory(config: DictConfig, treebank_name: str) -> Path:
    """Where a run writes: `output`, or a name that the same options give again."""
    if config.output:
        if HydraConfig.initialized() and HydraConfig.get().mode == RunMode.MULTIRUN:
            raise ConfigError(
                f"output is {config.output!r} for all runs of -m, each would overwrite the last; "
                "leave it out: every run gets a directory of its own"
            )
        return Path(str(config.output))
    options = learned_options(config)
    text = OmegaConf.to_yaml(options, sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    system, exploration = (options[choice]["_target_"] for choice in ("system", "exploration"))
    parts = (system, exploration, treebank_name, f"seed{config.seed}", digest)
    return Path("outputs") / re.sub(r"[^\w.+-]", "_", "-".join(parts))


@dataclass(frozen=True)
class TrainedRun:
    """A finished training: its directory, and what is in there."""

    directory: Path
    scores: dict[str, dict[str, float]]  # by split, dev and test: uas, las, clas, …
    curve: list[dict[str, float]]  # figures of every epoch, as in metrics.jsonl

    @classmethod
    def read(cls, directory: str | Path) -> "TrainedRun":
        """The run in a directory; CheckpointError if there is no model."""
        directory = Path(directory)
        metrics = read_metrics(directory / MODEL)
        scores: dict[str, dict[str, float]] = {
            split: metrics[split] for split in ("dev", "test") if split in metrics
        }
        lines = (directory / METRICS).read_text(encoding="utf-8").splitlines()
        return cls(directory, scores, [json.loads(line) for line in lines])

    @property
    def model(self) -> Path:
        """The model directory, for `dyparse.load` and `dyparse parse`."""
        return self.directory / MODEL

    @cached_property
    def parser(self) -> Parser:
        """The parser of the epoch with the best dev LAS, loaded when first asked for."""
        return Parser.load(self.model)

    def __repr__(self) -> str:
        las = ", ".join(f"{split} LAS {found['las']:.2f}" for split, found in self.scores.items())
        return f"<TrainedRun {self.directory}: {las}>"


def directory_of(config: DictConfig) -> Path:
    """The directory of the run with these options."""
    options: TrainOptions = checked(config, TrainOptions)
    return run_directory(named_by_content(config), build(options.treebank, "treebank").name)


def named_by_content(config: DictConfig) -> DictConfig:
    """The options with places of the encoder, and the model to start from, named by content."""
    named = with_content_names(config)
    model = named.get("start")
    if not model or is_content_name(model):
        return named
    start = start_by_content(str(model))
    return OmegaConf.merge(named, {"start": start})  # type: ignore[return-value]  # of a DictConfig it is one


def start_by_content(model: str) -> str:
    """The content name of the model to start from: with OWNER/NAME of the Hub, the name of a
    package, or the last part of a path. The model of a run has the name of the run.
    """
    try:
        found = find_model(model)
        directory = ModelFiles.open(found).directory
        on_hub = HubModel.named(model)
    except CheckpointError as error:
        raise CheckpointError(f"start={error}") from error
    if on_hub:
        name = on_hub.repository
    elif found is not model:
        name = normalized(model)
    else:
        path = directory.resolve()
        name = (path.parent if path.name == MODEL else path).name
    return content_name(name, [directory / MANIFEST])


def learned_options(config: DictConfig) -> DictConfig:
    """The options that decide what is learned, without the seed.

    Classes of the package are named by their modules, wherever these are: moving a class renames no
    run.
    """
    parts: dict[str, Any] = OmegaConf.to_container(config, resolve=True)  # type: ignore[assignment]  # a DictConfig gives a dict
    options = {name: part for name, part in parts.items() if name not in NOT_LEARNED}
    for name, usual in (("projectivity", AS_IT_IS), ("start", None)):  # what is usual is not named
        if options.get(name) == usual:
            options.pop(name, None)
    for part in options.values():
        path = part.get("_target_") if isinstance(part, dict) else None
        if str(path).startswith("dyparse."):
            part["_target_"] = str(path).split(".")[-2]
    if isinstance(options.get("treebank"), dict):
        options["treebank"].pop("root", None)  # where a treebank is does not change what is learned
    return OmegaConf.create(options)


def differences(one: DictConfig, other: DictConfig) -> list[str]:
    """Names of options that differ and decide what is learned, the seed among them."""
    flat = [_flat(learned_options(c)) | {"seed": c.get("seed")} for c in (one, other)]
    return sorted(name for name in {*flat[0], *flat[1]} if flat[0].get(name) != flat[1].get(name))


def _flat(config: DictConfig) -> dict[str, Any]:
    """Options with their full names."""
    flat: dict[str, Any] = {}
    for name, part in config.items():
        if isinstance(part, DictConfig):
            flat |= {f"{name!s}.{key!s}".removesuffix("._target_"): v for key, v in part.items()}
        else:
            flat[str(name)] = part
    return flat


def require_place(directory: Path) -> None:
    """ConfigError if a run could not write to this directory, found before any work."""
    there = next(path for path in (directory, *directory.absolute().parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        reason = "no right to write there" if there.is_dir() else "not a directory"
        raise unwritable(directory, f"{there}: {reason}")
    for name in (MODEL, CONFIG, RESULT, NAME):
        path = directory / name
        if path.exists() and path.is_dir() != (name == MODEL):
            raise unwritable(directory, f"{path}: in the way")


def prepare_directory(directory: Path, config: DictConfig, file: TrainingFile) -> bool:
    """Write the `shareable` options of a run to its directory; whether something is left to train.

    Removes what an earlier run left there that is no longer true.
    """
    has_model = (directory / MODEL / MANIFEST).exists()
    has_result = (directory / RESULT).exists()  # alone where `dyparse compare` kept no model
    if config.resume:
        if has_model or has_result or file.path.exists():
            _require_same_run(directory, config)
        if (has_model or has_result) and _is_finished(file) and has_model and has_result:
            file.remove()  # a kill may have come before that
            return False
        _announce_resume(file)
    else:
        file.remove()
    file.reopen()
    for left in (*directory.iterdir(), *directory.glob(f"{MODEL}/.*")):
        if HALF_WRITTEN.fullmatch(left.name):  # by a process that was killed
            left.unlink(missing_ok=True)
    (directory / RESULT).unlink(missing_ok=True)  # this run is not finished yet
    write(directory / CONFIG, OmegaConf.to_yaml(config, resolve=True).encode())
    return True


def _is_finished(file: TrainingFile) -> bool:
    """Whether this training is finished; ConfigError if another one is, and would be lost."""
    if file.done and file.done != file.options:
        raise ConfigError(
            f"{file.path.parent}: holds a run on other sentences or in another precision; choose "
            "another place with output=DIR, or replace the run with resume=false"
        )
    return bool(file.done)


def _require_same_run(directory: Path, config: DictConfig) -> None:
    """ConfigError if a run of other options would be lost."""
    try:
        there = OmegaConf.create(yaml.safe_load((directory / CONFIG).read_bytes()))
        other = differences(there, config) if isinstance(there, DictConfig) else ["kind"]
    except (OSError, ValueError, yaml.YAMLError, OmegaConfBaseException, RecursionError):
        other = [f"{CONFIG}, which cannot be read"]
    if other:
        named = ", ".join(other[:MOST_NAMED]) + ", …" * (len(other) > MOST_NAMED)
        raise ConfigError(
            f"{directory}: holds a run with another {named}; choose another place with output=DIR, "
            "or replace the run with resume=false"
        )


def _announce_resume(file: TrainingFile) -> None:
    if file.fits():
        print_line(f"resuming  from {file.path}; train from the beginning with resume=false")
    elif file.path.exists():
        raise ConfigError(
            f"{file.path}: an unfinished training on other sentences or in another precision; "
            "choose another place with output=DIR, or discard it with resume=false"
        )


def identity(config: DictConfig, splits: dict[str, list[Sentence]], precision: str) -> str:
    """A hash of what a training must share with a saved one to resume it: options and sentences.

    Where it runs, and how it is logged, may change.
    """
    options = learned_options(config)
    options.update({"seed": config.seed, "treebank": None, "computed in": precision})
    digest = hashlib.sha256(OmegaConf.to_yaml(options, sort_keys=True).encode())
    for sentence in (*splits["train"], *splits["dev"]):
        digest.update(sentence.to_conllu().encode())
    return digest.hexdigest()


def shareable(config: DictConfig) -> DictConfig:
    """The options without places of the user's machine: of paths, only the last part."""
    options: dict[str, Any] = OmegaConf.to_container(config, resolve=True)  # type: ignore[assignment]  # a DictConfig gives a dict
    treebank = options["treebank"]
    for name in PLACES:
        if treebank.get(name):
            treebank[name] = Path(str(treebank[name])).name
    if options["output"]:
        options["output"] = Path(str(options["output"])).name
    return OmegaConf.create(options)


def model_saver(directory: Path) -> Callable[[Parser, dict[str, float]], None]:
    """A function that saves the best parser so far in directory/model."""

    def save(best: Parser, figures: dict[str, float]) -> None:
        best.save(directory / MODEL, {"best_epoch": figures})

    return save


def save_nothing(_best: Parser, _figures: dict[str, float]) -> None:
    """Saves nothing; for ranks other than the first."""


@contextmanager
def explaining_write_errors(file: TrainingFile) -> Iterator[None]:
    """Where something cannot be written, the error says how far the training is saved."""
    try:
        yield
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        remedy = "make room, or fix the directory, and start the same command again"
        if isinstance(error, BrokenPipeError):
            remedy = "start the same command again"
        raise DyparseError(
            f"{place}{error.strerror or error}; the training {file.kept}: {remedy}"
        ) from error
