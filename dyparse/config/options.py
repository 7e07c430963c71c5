"""The options of training and evaluation: schemas of conf/train.yaml and conf/evaluate.yaml, and
options as text.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class TrainOptions:
    """Options of training; those of the choices are fields of their classes."""

    treebank: Any
    encoder: Any
    system: Any
    exploration: Any
    loss: Any
    trainer: Any
    logger: Any
    tokenizer: Any
    heads: list[str]
    projectivity: str
    network: Any
    seed: int
    device: str
    threads: int | None
    compile: bool
    resume: bool
    checkpoint_minutes: float
    output: str | None
    start: str | None = None

    def __post_init__(self) -> None:
        if not self.checkpoint_minutes > 0:
            raise ValueError(
                f"checkpoint_minutes is {self.checkpoint_minutes}, expected more than 0"
            )


@dataclass
class EvaluateOptions:
    """Options of evaluation."""

    model: str
    treebank: Any
    split: str
    device: str
    threads: int | None
    max_tokens_per_batch: int
    json: str | None
    conllu: str | None
    text: bool = False
    decoding: str = "greedy"
    imports: list[str] = field(default_factory=list)  # modules with classes that the model needs


def flat_options(setting: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    """All options with their full names, such as trainer.epochs."""
    for name, value in setting.items():
        if isinstance(value, Mapping):
            yield from flat_options(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def as_written(value: Any) -> str:
    """A value as it is written on a command line."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f"[{','.join(map(as_written, value))}]" if isinstance(value, list) else str(value)
