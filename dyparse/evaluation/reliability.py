"""How far confidences can be trusted: their calibration error, and weights that lower it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dyparse.data.sentence import Sentence
from dyparse.evaluation.attachment_scores import AlignedWords

BINS = 15
PRIOR = 1.0  # words' worth of trust in the weights to begin with
MOST_STEPS = 100


@dataclass(frozen=True)
class Reliability:
    """Confidences beside what they are about, in percent."""

    confidence: float  # mean
    right: float  # how many are right
    calibration_error: float  # expected: see `reliability`


def reliability(confidence: NDArray[np.float64], right: NDArray[np.bool_]) -> Reliability:
    """Mean confidence and accuracy, and the expected calibration error:

    Σ_bins (words in the bin / words) · |mean confidence in the bin − accuracy in the bin|

    over bins of equal width (Naeini et al. 2015, Guo et al. 2017).
    """
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, weights=confidence - right, minlength=BINS)  # [bins] summed
    error = np.abs(gaps).sum() / len(right)
    return Reliability(*(float(100 * x) for x in (confidence.mean(), right.mean(), error)))


def reliability_of(
    parsed: Sequence[Sentence], words: AlignedWords
) -> dict[str, Reliability] | None:
    """The reliability of heads and of labels; None unless every word has confidences."""
    tokens = [token for sentence in parsed for token in sentence]
    heads = _column([token.head_confidence for token in tokens])
    labels = _column([token.label_confidence for token in tokens])
    if heads is None or labels is None:
        return None
    return {
        "heads": reliability(heads, words.head_right),
        "labels": reliability(labels, words.label_right),
    }


def _column(values: list[float | None]) -> NDArray[np.float64] | None:
    return None if None in values else np.array(values, dtype=np.float64)


def logistic_weights(
    columns: Sequence[NDArray[np.float64]], right: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Weights w of the columns and of a bias: p(right) = σ(columns · w) of highest likelihood.

    The first column is taken as it is to begin with, w = (1, 0, …), and a weak Gaussian prior stays
    near that, so that there is an answer for few words too. By Newton's method.
    """
    X = np.column_stack([*columns, np.ones(len(right))])  # [W, weights]
    start = np.eye(1, X.shape[1])[0]

    def objective(w: NDArray[np.float64]) -> float:
        losses = np.logaddexp(0, np.where(right, -1, 1) * (X @ w))
        return float(losses.sum() + PRIOR / 2 * ((w - start) ** 2).sum())

    weights: NDArray[np.float64] = start
    for _ in range(MOST_STEPS):
        p = (1 + np.tanh(X @ weights / 2)) / 2
        gradient = X.T @ (p - right) + PRIOR * (weights - start)
        curvature = (X * (p * (1 - p))[:, None]).T @ X + PRIOR * np.eye(len(weights))
        step: NDArray[np.float64] = np.linalg.solve(curvature, gradient)
        while objective(weights - step) > objective(weights) and np.abs(step).max() > 1e-9:
            step = step / 2
        weights = weights - step
        if np.abs(step).max() < 1e-9:
            break
    return weights
