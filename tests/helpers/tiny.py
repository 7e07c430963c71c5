"""Small parsers and small runs for the tests: made in seconds, from the sample treebank."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import torch

from dyparse import system as systems
from dyparse.data.sentence import Sentence
from dyparse.encoder.bilstm import BiLSTM
from dyparse.exploration.explore import Explore
from dyparse.head import load_heads
from dyparse.loss.set_nll import SetNLL
from dyparse.model.parser import Parser
from dyparse.model.parts import ModelConfig
from dyparse.model.sizes import ScorerSizes
from dyparse.training import loop
from dyparse.training.session import Session, TrainingPlan
from dyparse.training.settings import TrainingSettings
from dyparse.treebank.sample import Sample

PROJECT = Path(__file__).parents[2]
CONF = PROJECT / "conf"
UD = Path(os.environ.get("DYPARSE_UD", PROJECT.parent / "shared" / "ud"))
SETTINGS = TrainingSettings(
    epochs=10, max_tokens_per_batch=60, learning_rate=1e-2, average_decay=0.9
)


def yamls(choice: str) -> list[Path]:
    """The files of a choice; a newcomer among them falls under the tests."""
    return sorted((CONF / choice).glob("*.yaml"))


@cache
def sample(split: str) -> list[Sentence]:
    """All sentences of a split of the sample treebank."""
    return Sample().read(split)


def small_encoder(**options: Any) -> BiLSTM:
    """The default encoder with few units."""
    widths = {"word": 12, "subword": 12, "character": 12, "upos": 8, "xpos": 8, "feats": 8}
    widths["vectors"] = 12
    features = ["word", "subword:buckets=400", "upos"]
    sizes = {"features": features, "widths": widths, "hidden": 20, "layers": 1}
    dropout = {"input_dropout": 0.1, "layer_dropout": 0.1, "word_dropout": 0.2}
    return BiLSTM(**(sizes | dropout | options))


def model_config(
    *,
    system: Any = None,
    heads: Any = ("labels",),
    projectivity: str = "none",
    **encoder: Any,
) -> ModelConfig:
    """The choices of a small model."""
    return ModelConfig(
        system or systems.load("arc_eager"),
        small_encoder(**encoder),
        load_heads(heads),
        ScorerSizes(hidden=24, dropout=0.1),
        projectivity=projectivity,
    )


def fresh_parser(sentences: list[Sentence], *, seed: int = 1, **config: Any) -> Parser:
    """A parser with random weights and the vocabulary of the sentences."""
    torch.manual_seed(seed)
    return Parser.untrained(model_config(**config), sentences)


def plan(train: list[Sentence], dev: list[Sentence], **changed: Any) -> TrainingPlan:
    """What to train on: exploring from the second epoch on, unless changed."""
    parts = {"exploration": Explore(), "loss": SetNLL(), "train": train, "dev": dev, "seed": 1}
    return TrainingPlan(**(parts | changed))


def trained(
    parser: Parser, plan: TrainingPlan, settings: TrainingSettings = SETTINGS
) -> tuple[Parser, list[dict[str, float]]]:
    """The parser that a training saves, as it was then, and the figures of each epoch."""
    saved: list[Parser] = []

    def save(best: Parser, _figures: dict[str, float]) -> None:
        saved.append(best.with_network(copy.deepcopy(best.model)))

    figures = list(loop.train(Session(settings, parser, plan), save))
    return saved[-1], figures


def run(
    script: str, *arguments: Any, cwd: Path, timeout: float = 300, **environment: str
) -> subprocess.CompletedProcess[str]:
    """A script of the project, or -m and a module, in a process of its own, on one thread."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("WANDB")}
    program = ["-m"] if script == "-m" else [str(PROJECT / script)]
    command = [sys.executable, *program, *map(str, arguments)]
    return subprocess.run(
        command,
        cwd=cwd,
        env=clean | {"OMP_NUM_THREADS": "1"} | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
