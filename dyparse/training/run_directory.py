"""The directory of a run: one process writes to it, it holds one run, and what it tells others
names no place of the user's machine.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from dyparse.config.build import differences, what_is_run
from dyparse.data.sentence import Sentence
from dyparse.errors import ConfigError, DyparseError
from dyparse.evaluation.run_result import GOLD, PARSED, RESULT
from dyparse.model.checkpoint_files import LISTED, MANIFEST
from dyparse.model.parser import Parser
from dyparse.runtime.atomic_files import write
from dyparse.runtime.console import print_line
from dyparse.runtime.locks import unwritable
from dyparse.training.resume import DONE, NAME, TrainingFile

CONFIG, MODEL = "config.yaml", "model"
PLACES = ("root", "train", "dev", "test")  # options of treebanks that are paths
MOST_NAMED = 5
WRITTEN = (CONFIG, NAME, DONE, RESULT, PARSED, GOLD, *LISTED, MANIFEST)
HALF_WRITTEN = re.compile(rf"\.({'|'.join(map(re.escape, WRITTEN))})\.\d+\.tmp")


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
    """Write the options of a run to its directory; whether there is something left to train.

    What an earlier run left there that is no more true is removed.
    """
    has_model = (directory / MODEL / MANIFEST).exists()
    has_result = (directory / RESULT).exists()  # alone where `dyparse compare` kept no model
    if config.resume:
        if has_model or has_result or file.path.exists():
            _require_same_run(directory, config)
        if (has_model or has_result) and _is_finished(file) and has_model and has_result:
            file.remove()  # a kill may have come before that
            return False
        _take_up(file)
    else:
        file.remove()
    file.reopen()
    for left in (*directory.iterdir(), *directory.glob(f"{MODEL}/.*")):
        if HALF_WRITTEN.fullmatch(left.name):  # by a process that was killed
            left.unlink(missing_ok=True)
    (directory / RESULT).unlink(missing_ok=True)  # this run is not finished yet
    write(directory / CONFIG, OmegaConf.to_yaml(shareable(config), resolve=True).encode())
    return True


def _is_finished(file: TrainingFile) -> bool:
    """Whether this very training is; ConfigError if another one is, and would be lost."""
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
        other = differences(there, shareable(config)) if isinstance(there, DictConfig) else ["kind"]
    except (OSError, ValueError, yaml.YAMLError, OmegaConfBaseException, RecursionError):
        other = [f"{CONFIG}, which cannot be read"]
    if other:
        named = ", ".join(other[:MOST_NAMED]) + ", …" * (len(other) > MOST_NAMED)
        raise ConfigError(
            f"{directory}: holds a run with another {named}; choose another place with output=DIR, "
            "or replace the run with resume=false"
        )


def _take_up(file: TrainingFile) -> None:
    if file.fits():
        print_line(f"resuming  from {file.path}; train from the beginning with resume=false")
    elif file.path.exists():
        raise ConfigError(
            f"{file.path}: an unfinished training on other sentences or in another precision; "
            "choose another place with output=DIR, or discard it with resume=false"
        )


def identity(config: DictConfig, splits: dict[str, list[Sentence]], precision: str) -> str:
    """What a training must have in common with a saved one to go on with it: options and words.

    Where it runs, and how it is logged, may change.
    """
    what = what_is_run(config)
    what.update({"seed": config.seed, "treebank": None, "computed in": precision})
    digest = hashlib.sha256(OmegaConf.to_yaml(what, resolve=True).encode())
    for sentence in (*splits["train"], *splits["dev"]):
        digest.update(sentence.to_conllu().encode())
    return digest.hexdigest()


def shareable(config: DictConfig) -> DictConfig:
    """The options without places of the user's machine: of paths, their last parts."""
    told: dict[str, Any] = OmegaConf.to_container(config, resolve=True)  # type: ignore[assignment]  # a DictConfig gives a dict
    treebank = told["treebank"]
    for name in PLACES:
        if treebank.get(name):
            treebank[name] = Path(str(treebank[name])).name
    if told["output"]:
        told["output"] = Path(str(told["output"])).name
    return OmegaConf.create(told)


def keeper(directory: Path) -> Callable[[Parser, dict[str, float]], None]:
    """Saves the best parser in directory/model."""

    def keep(best: Parser, figures: dict[str, float]) -> None:
        best.save(directory / MODEL, {"best_epoch": figures})

    return keep


def forget(_best: Parser, _figures: dict[str, float]) -> None:
    """What processes other than the first do with the best parser."""


@contextmanager
def telling_what_is_kept(file: TrainingFile) -> Iterator[None]:
    """Where something cannot be written, the error says how far the training is saved."""
    try:
        yield
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        remedy = "make room, or mend the directory, and start the same command again"
        if isinstance(error, BrokenPipeError):
            remedy = "start the same command again"
        raise DyparseError(
            f"{place}{error.strerror or error}; the training {file.kept}: {remedy}"
        ) from error
