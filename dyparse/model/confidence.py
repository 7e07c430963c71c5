"""Confidence: the probability that a word's head is right, and its label.

The model gives log-odds; those of a head are of all decisions about it (`dyparse.decoding`), those
of a label are of the softmax over labels. Both are too sure of themselves, so a calibration that is
fitted on dev maps them to probabilities: a temperature (Guo et al. 2017) and a bias (Platt 1999).
"""

import math
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST_ODDS = 30.0  # of log-odds, either way
LEAST_TEMPERATURE, MOST_TEMPERATURE, MOST_WEIGHT = 0.01, 100.0, 100.0


class Odds(NamedTuple):
    """Log-odds that heads and labels of words are right, by the model's own scores."""

    head: NDArray[np.float64]  # [W]
    label: NDArray[np.float64]  # [W]


class Confidences(NamedTuple):
    """Probabilities that heads and labels of words are right."""

    head: NDArray[np.float64]  # [W]
    label: NDArray[np.float64]  # [W]


@dataclass(frozen=True)
class Calibration:
    """From log-odds to probabilities.

    head   σ(head_odds / head_temperature + head_bias)
    label  σ(label_odds / label_temperature + label_head_weight · head_odds + label_bias)

    A label depends on the head, for under a wrong head it is wrong more often. The defaults change
    nothing.
    """

    head_temperature: float = 1.0
    head_bias: float = 0.0
    label_temperature: float = 1.0
    label_head_weight: float = 0.0
    label_bias: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            is_temperature = field.name.endswith("temperature")
            least = LEAST_TEMPERATURE if is_temperature else -MOST_WEIGHT
            most = MOST_TEMPERATURE if is_temperature else MOST_WEIGHT
            if not math.isfinite(value) or not least <= value <= most:
                raise ValueError(f"{field.name} is {value}, expected {least:g}..{most:g}")

    @classmethod
    def of_weights(cls, head: NDArray[np.float64], label: NDArray[np.float64]) -> "Calibration":
        """From the weights of a logistic regression, brought within bounds: of head odds and 1; of
        label odds, head odds and 1.
        """
        temperatures = 1 / np.clip([head[0], label[0]], 1 / MOST_TEMPERATURE, 1 / LEAST_TEMPERATURE)
        others = np.clip([head[1], label[1], label[2]], -MOST_WEIGHT, MOST_WEIGHT)
        (of_head, of_label), (bias, weight, label_bias) = temperatures.tolist(), others.tolist()
        return cls(of_head, bias, of_label, weight, label_bias)

    def __call__(self, odds: Odds) -> Confidences:
        """The confidences of words with these log-odds."""
        label = odds.label / self.label_temperature + odds.head * self.label_head_weight
        return Confidences(
            sigmoid(odds.head / self.head_temperature + self.head_bias),
            sigmoid(label + self.label_bias),
        )


UNCALIBRATED = Calibration()


def sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 / (1 + exp(−x)), for any x without overflow."""
    return (1 + np.tanh(x / 2)) / 2


def odds_by_sentence(
    n_words: NDArray[np.int32], log_probability: NDArray[np.float64], label: NDArray[np.float64]
) -> list[Odds]:
    """The log-odds of every sentence's words, from those of a batch.  [B], [B, N], [B, N]"""
    head = odds_of(log_probability)
    return [Odds(head[b, 1 : n + 1], label[b, 1 : n + 1]) for b, n in enumerate(n_words.tolist())]


def odds_of(log_probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """log p − log(1 − p), bounded."""
    below = np.minimum(log_probability, -1e-300)  # of a word without a choice p is 1
    found: NDArray[np.float64] = np.clip(below - np.log(-np.expm1(below)), -MOST_ODDS, MOST_ODDS)
    return found


def label_odds(scores: NDArray[np.float32], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """The log-odds of labels by their scores, bounded; of unknown labels (NONE) those of the first.

    [B, N, entries], [B, N] → [B, N]
    """
    numbers, exact = np.maximum(labels, 0)[..., None], np.array(scores, np.float64)
    own = np.take_along_axis(exact, numbers, -1)[..., 0]
    np.put_along_axis(exact, numbers, -np.inf, -1)
    most = exact.max(-1)
    with np.errstate(divide="ignore", invalid="ignore"):  # of a single label there are no others
        others = most + np.log(np.exp(exact - most[..., None]).sum(-1))
    odds = np.where(np.isneginf(most), MOST_ODDS, own - others)
    found: NDArray[np.float64] = np.clip(odds, -MOST_ODDS, MOST_ODDS)
    return found
