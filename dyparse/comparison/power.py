"""How small a difference a comparison could have found."""

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from dyparse.comparison.significance import SIGNIFICANT, least_p

POWER = 0.8


def error_of_seeds(by_treebank: Sequence[NDArray[np.float64]]) -> tuple[float, float] | None:
    """Standard error of the mean difference over treebanks, from pairs of runs, and its degrees of
    freedom (Satterthwaite 1946). None without a treebank that has two pairs.

    v = Σ var / S over treebanks,  freedom = v² / Σ ((var / S)² / (S − 1))

    A treebank with a single pair of runs is taken to vary as the others do.
    """
    several = [pairs for pairs in by_treebank if len(pairs) > 1]
    if not several:
        return None
    variance = [float(pairs.var(ddof=1)) for pairs in several]
    usual = float(np.mean(variance))
    total = sum(v / len(pairs) for v, pairs in zip(variance, several, strict=True))
    uncertainty = sum(
        (v / len(pairs)) ** 2 / (len(pairs) - 1) for v, pairs in zip(variance, several, strict=True)
    )
    freedom = total**2 / uncertainty if uncertainty else math.inf
    total += usual * (len(by_treebank) - len(several))
    return math.sqrt(total) / len(by_treebank), freedom


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
    """Quantile of Student's t (Abramowitz & Stegun 1964, 26.7.5), good from 3 degrees on."""
    z = NormalDist().inv_cdf(p)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / freedom**k for k, term in enumerate(terms, 1))
