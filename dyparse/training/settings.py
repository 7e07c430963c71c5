"""The settings of a training: frozen numbers, and the learning rate that follows from them."""

import math
from dataclasses import dataclass

from dyparse.config.precisions import require_precision


@dataclass(frozen=True)
class TrainingSettings:
    """AdamW over batches of similar length, a learning rate that rises, stays and falls, averaged
    weights, early stopping.

    The average is an exponential moving one (Polyak & Juditsky 1992); it is evaluated on dev, and
    the best one is saved.
    """

    epochs: int = 18
    patience: int = 10
    max_tokens_per_batch: int = 300
    max_tokens_per_pass: int | None = None
    learning_rate: float = 2e-3
    warmup: float = 0.03
    constant: float = 0.3
    final_rate: float = 0.03
    beta1: float = 0.9
    beta2: float = 0.98
    weight_decay: float = 1e-3
    max_gradient_norm: float = 5.0
    average_decay: float = 0.998
    precision: str = "float32"
    rollout_ahead: bool = False
    max_sentences: int | None = None

    def __post_init__(self) -> None:
        for name in ("epochs", "patience", "max_tokens_per_batch"):
            self._require(name, getattr(self, name) >= 1, "1 or more")
        for name in ("learning_rate", "max_gradient_norm", "final_rate"):
            self._require(name, 0 < getattr(self, name) < math.inf, "more than 0")
        self._require("weight_decay", 0 <= self.weight_decay < math.inf, "0 or more")
        for name in ("beta1", "beta2", "average_decay"):
            self._require(name, 0 <= getattr(self, name) < 1, "0 <= x < 1")
        require_precision(self.precision, "trainer.precision")
        for name in ("max_sentences", "max_tokens_per_pass"):
            value = getattr(self, name)
            self._require(name, value is None or value >= 1, "1 or more")
        if self.max_tokens_per_pass and self.rollout_ahead:
            raise ValueError(
                "trainer.max_tokens_per_pass and trainer.rollout_ahead exclude each other: a "
                "rollout ahead is one of a whole batch"
            )
        if not 0 <= self.warmup <= self.constant <= 1:
            raise ValueError(
                f"trainer.warmup is {self.warmup} and trainer.constant {self.constant}, "
                "expected 0 <= warmup <= constant <= 1: fractions of the training"
            )

    def _require(self, name: str, holds: bool, expected: str) -> None:  # noqa: FBT001 - a claim
        if not holds:
            raise ValueError(f"trainer.{name} is {getattr(self, name)}, expected {expected}")

    def rate_at(self, progress: float) -> float:
        """The learning rate when this fraction of the training, 0..1, is done."""
        if progress < self.warmup:
            fraction = progress / self.warmup
        elif progress < self.constant:
            fraction = 1.0
        else:
            fraction = 1 - (1 - self.final_rate) * (progress - self.constant) / max(
                1 - self.constant, 1e-9
            )
        return self.learning_rate * max(fraction, self.final_rate)
