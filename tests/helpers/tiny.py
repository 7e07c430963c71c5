"""Small parsers and small runs for the tests: made in seconds, from the sample treebank."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import torch

from dyparse import system as systems
from dyparse.data.sentence import Sentence
from dyparse.data.vocabulary import Vocabulary
from dyparse.encoder.bilstm import BiLSTM
from dyparse.exploration.explore import Explore
from dyparse.loss.set_nll import SetNLL
from dyparse.model.parser import Parser
from dyparse.model.sizes import ScorerSizes
from dyparse.training.loop import Lesson, Trainer
from dyparse.treebank.sample import Sample

PROJECT = Path(__file__).parents[2]
CONF = PROJECT / "conf"
UD = Path(os.environ.get("DYPARSE_UD", PROJECT.parent / "shared" / "ud"))
TRAINER = Trainer(epochs=10, max_tokens_per_batch=60, learning_rate=1e-2, average_decay=0.9)


def yamls(choice: str) -> list[Path]:
    """The files of a choice; a newcomer among them falls under the tests."""
    return sorted((CONF / choice).glob("*.yaml"))


@cache
def sample(split: str) -> list[Sentence]:
    """All sentences of a split of the sample treebank."""
    return Sample().read(split)


def small_encoder(**options: Any) -> BiLSTM:
    """The default encoder with few units."""
    sizes = {f"{name}_width": 12 for name in ("word", "subword", "character")}
    sizes |= {f"{name}_width": 8 for name in ("upos", "xpos", "feats")}
    sizes |= {"subword_buckets": 400, "hidden": 20, "layers": 1}
    dropout = {"input_dropout": 0.1, "layer_dropout": 0.1, "word_dropout": 0.2}
    return BiLSTM(**(sizes | dropout | options))


def fresh_parser(
    sentences: list[Sentence], *, seed: int = 1, system: Any = None, **encoder: Any
) -> Parser:
    """A parser with random weights and the vocabulary of the sentences."""
    torch.manual_seed(seed)
    return Parser.with_fresh_weights(
        system or systems.load("arc_eager"),
        small_encoder(**encoder),
        ScorerSizes(hidden=24, dropout=0.1),
        Vocabulary.from_sentences(sentences),
    )


def lesson(train: list[Sentence], dev: list[Sentence], **changed: Any) -> Lesson:
    """What to learn: exploring from the second epoch on, unless changed."""
    parts = {"exploration": Explore(), "loss": SetNLL(), "train": train, "dev": dev, "seed": 1}
    return Lesson(**(parts | changed))


def trained(
    parser: Parser, task: Lesson, trainer: Trainer = TRAINER
) -> tuple[Parser, list[dict[str, float]]]:
    """The parser that a training keeps, read as it was when kept, and the figures of each epoch."""
    kept: list[Parser] = []

    def keep(best: Parser, _figures: dict[str, float]) -> None:
        copy = Parser.with_fresh_weights(best.system, best.encoder, best.network, best.vocabulary)
        copy.model.load_state_dict(best.model.state_dict())
        kept.append(copy)

    figures = list(trainer.train(parser, task, keep))
    return kept[-1], figures


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
