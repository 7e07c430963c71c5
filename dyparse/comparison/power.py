"""How small a difference a comparison could have found."""

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from dyparse.comparison.significance import SIGNIFICANT, least_p, variance_of_seeds

POWER = 0.8
PRECISION = 1e-12


def error_of_seeds(by_treebank: Sequence[NDArray[np.float64]]) -> tuple[float, float] | None:
    """Standard error of the mean difference over treebanks, from pairs of runs, and its degrees of
    freedom (Satterthwaite 1946). None without a treebank that has two pairs.
    """
    if all(len(pairs) < 2 for pairs in by_treebank):
        return None
    found = variance_of_seeds(by_treebank)
    total = float(found.means.sum())
    return math.sqrt(total) / len(by_treebank), found.freedom(total)


def detectable(error: float, freedom: float, pairs: int, comparisons: int) -> float | None:
    """The difference that would have a corrected p over runs below 0.05 with a probability of 80 %,
    about; None if no difference would, because there are too few pairs of runs.

    (t(1 − 0.05 / 2m) + t(0.8)) · error,  for m comparisons

    As for Student's t test, which the exchange of runs comes close to. It is that of the first step
    of Holm's correction, so for all but the smallest p it is rather too large than too small.
    """
    if least_p(pairs, comparisons) >= SIGNIFICANT:
        return None
    level = 1 - SIGNIFICANT / (2 * comparisons)
    return error * (student_quantile(level, freedom) + student_quantile(POWER, freedom))


def student_quantile(p: float, freedom: float) -> float:
    """Quantile of Student's t for p of ½ or more, by bisection."""
    if math.isinf(freedom):
        return NormalDist().inv_cdf(p)
    low, high = 0.0, 1.0
    while _upper_tail(high, freedom) > 1 - p:
        low, high = high, 2 * high
    while high - low > PRECISION * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _upper_tail(middle, freedom) > 1 - p else (low, middle)
    return high


def _upper_tail(t: float, freedom: float) -> float:
    """P(T > t) = I(ν / (ν + t²); ν/2, ½) / 2 = (1 − I(t² / (ν + t²); ½, ν/2)) / 2."""
    a, b, total = freedom / 2, 0.5, freedom + t * t
    if freedom / total < (a + 1) / (a + b + 2):
        return _incomplete_beta(freedom / total, a, b) / 2
    return (1 - _incomplete_beta(t * t / total, b, a)) / 2


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """I(x; a, b), for x below (a + 1) / (a + b + 2) (Abramowitz & Stegun 1964, 26.5.8).

    x^a (1 − x)^b / (a B(a, b)) / (1 + d1 / (1 + d2 / (1 + …)))

    The continued fraction is computed from the front, until it stays (Lentz 1976).
    """
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    factor = math.exp(a * math.log(x) + b * math.log1p(-x) - log_beta) / a
    above = fraction = 1.0
    below, change, k = 0.0, math.inf, 0
    while abs(change - 1) > PRECISION:
        k += 1
        m = k // 2
        d = -(a + m) * (a + b + m) if k % 2 else m * (b - m)
        d *= x / ((a + k - 1) * (a + k))
        above, below = 1 + d / above, 1 / (1 + d * below)
        change = above * below
        fraction *= change
    return factor / fraction
