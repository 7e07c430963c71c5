"""Is one training better than another? Confidence intervals, tests and counts of wins.

A score is a ratio of sums over sentences, in percent: 100 · Σ right / Σ total. The score of a
training is the mean over its seeds. The difference is `new` − `base`, over the seeds that both
have: runs with the same seed are a pair. Over treebanks it is the mean of the differences.

It varies with the seeds and with the sentences, and with few seeds no single test is valid for
both. So there are two p-values, each with its own unit of exchange, and an interval:

* `p_sentences`: would *these trained parsers* differ on new sentences? Ignores the variation
  between seeds, so it rejects too often if the question is about the trainings.
* `p_seeds`: would *training again* give a difference on these test sentences? With n pairs never
  below 2 / 2ⁿ, so 3 or 5 seeds of one treebank cannot reach 0.05; pooled over treebanks they can.
* `low` .. `high` covers both sources of variation.

All numbers are determined by `seed`, whatever the order of treebanks and runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Unit: TypeAlias = Literal["sentence", "seed"]

RESAMPLES = 10_000
SIGNIFICANT = 0.05  # a difference with a smaller p counts
EXACT_UNITS = 18  # with up to so many units every exchange is tried, with more random ones
CELLS_AT_ONCE = 200_000  # of the table resamples × units, to bound the memory
ROUNDING = 1e-9  # differences closer than this are equal


@dataclass(frozen=True)
class Counts:
    """Correct and total counts of S runs of a training in K sentences.

    LAS: right = words with correct head and label, total = words. An F1 such as CLAS: right = twice
    the number of correct arcs, total = gold + predicted arcs, which differs from run to run.
    """

    right: ArrayLike  # [S, K]
    total: ArrayLike  # [S, K], or [K] if it is the same for all runs
    seeds: tuple[int, ...]  # [S]

    def __post_init__(self) -> None:
        right, total = (np.asarray(x, dtype=np.float64) for x in (self.right, self.total))
        seeds = tuple(self.seeds)
        if right.ndim != 2 or len(right) != len(seeds) or not right.size:
            raise ValueError(f"right has the shape {right.shape}, expected {len(seeds)} seeds × K")
        if len(set(seeds)) < len(seeds):
            raise ValueError(f"seeds are {seeds}, expected each seed once")
        if total.shape not in (right.shape, right.shape[1:]):
            raise ValueError(f"total has the shape {total.shape}, right {right.shape}")
        total = np.broadcast_to(total, right.shape)
        if not ((right >= 0) & (right <= total) & np.isfinite(total)).all():
            raise ValueError("right is not within 0..total in every sentence; is it a count?")
        if not total.sum(1).all():
            raise ValueError("total is 0 in all sentences of a seed: nothing to score")
        for name, value in (("right", right), ("total", total), ("seeds", seeds)):
            object.__setattr__(self, name, value)

    @property
    def table(self) -> Floats:
        """[2, S, K]: right and total."""
        return np.stack([np.asarray(self.right), np.asarray(self.total)])

    @property
    def scores(self) -> Floats:
        """[S]: the score of each run."""
        return _score(self.table.sum(-1))

    @property
    def mean(self) -> float:
        """The mean score over runs."""
        return float(self.scores.mean())


Pair: TypeAlias = tuple[Counts, Counts]  # base and new on the same sentences


@dataclass(frozen=True)
class Difference:
    """The difference between `new` and `base`, in percentage points."""

    base: float  # mean score over the seeds that both have, over treebanks
    new: float
    mean: float  # new − base
    low: float  # confidence interval of mean
    high: float
    p_sentences: float  # exchanging sentences; see the module docstring
    p_seeds: float  # exchanging runs with the same seed
    seed_pairs: int  # over all treebanks
    sentences: int

    def verdict(self, p: float | None) -> str:
        """`better` or `worse` if the difference is significant, or empty.

        The only rule for what is emphasised: the corrected p is below SIGNIFICANT, and the
        confidence interval excludes zero.
        """
        if p is None or p >= SIGNIFICANT or self.low <= 0 <= self.high:
            return ""
        return "better" if self.mean > 0 else "worse"


@dataclass(frozen=True)
class Tally:
    """Number of treebanks on which `new` is better, not distinguishable, worse."""

    wins: int
    ties: int
    losses: int


def pooled_difference(
    pairs: Mapping[str, Pair], *, resamples: int = RESAMPLES, level: float = 0.95, seed: int = 0
) -> Difference:
    """The mean of the differences on treebanks, given by name; all treebanks count the same."""
    matched = in_common(pairs)
    low, high = confidence_interval(pairs, resamples=resamples, level=level, seed=seed)
    base, new = (float(np.mean([pair[k].mean for pair in matched])) for k in (0, 1))
    return Difference(
        base=base,
        new=new,
        mean=new - base,
        low=low,
        high=high,
        p_sentences=permutation_test(pairs, "sentence", resamples=resamples, seed=seed),
        p_seeds=permutation_test(pairs, "seed", resamples=resamples, seed=seed),
        seed_pairs=sum(_units(pair, "seed") for pair in matched),
        sentences=sum(_units(pair, "sentence") for pair in matched),
    )


def confidence_interval(
    pairs: Mapping[str, Pair], *, resamples: int = RESAMPLES, level: float = 0.95, seed: int = 0
) -> tuple[float, float]:
    """Confidence interval of the difference over sentences and seeds: bootstrap percentiles.

    difference* = difference + (from sentences + from seeds) · sqrt(f / χ²_f),  mean over treebanks
    from sentences: its change on K sentences drawn with replacement, the same for both trainings
                    and all seeds
    from seeds:     its change with S − 1 pairs of runs, drawn with replacement from S

    Efron & Tibshirani (1993); paired as in Koehn (2004) and Berg-Kirkpatrick et al. (2012). With
    few seeds, plain percentiles are too narrow: S draws from S have only (S − 1) / S of the right
    variance, S − 1 draws have all of it. And a variance estimated from few runs is itself
    uncertain: the square root turns the normal spread into Student's t, with the degrees of freedom
    of a sum of variances (Satterthwaite 1946), S − 1 for seeds and no limit for sentences, sums
    over treebanks (see `SeedVariance`):

    f = (Σ v)² / Σ (v_seeds² / (S − 1)),  v = v_sentences + v_seeds

    The interaction of sentence and seed is in both variances, so the interval is rather too wide
    than too narrow. A treebank with a single pair of runs is taken to vary as the others do; where
    none has two, the interval ignores the seeds.
    """
    _require(resamples, level)
    rng = np.random.default_rng(seed)
    matched = in_common(pairs)
    by_seed = [new.scores - base.scores for base, new in matched]  # [S] of each treebank
    of_seeds = variance_of_seeds(by_seed)
    change, variance = np.zeros(resamples), float(of_seeds.means.sum())
    for (base, new), differences, v in zip(matched, by_seed, of_seeds.means, strict=True):
        from_sentences = _resampled_sentences(base, new, resamples, rng) - differences.mean()
        from_seeds = (
            _resampled_seeds(differences, resamples, rng) - differences.mean()
            if len(differences) > 1
            else rng.normal(0, math.sqrt(v), resamples)
        )
        change += (from_sentences + from_seeds) / len(matched)
        variance += float(from_sentences.var())
    freedom = of_seeds.freedom(variance)
    if math.isfinite(freedom):
        change *= np.sqrt(freedom / rng.chisquare(freedom, resamples))
    mean = np.mean([differences.mean() for differences in by_seed])
    low, high = np.quantile(mean + change, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


@dataclass(frozen=True)
class SeedVariance:
    """How much the mean differences on treebanks vary with the seeds."""

    means: Floats  # [treebanks]: variance of the mean over pairs of runs; all 0 if it is not known
    uncertainty: float  # Σ (w · v)² / (S − 1), where Σ means = Σ w · v over treebanks

    def freedom(self, total: float) -> float:
        """Degrees of freedom of a sum of variances that has these in it (Satterthwaite 1946)."""
        return total**2 / self.uncertainty if self.uncertainty > 0 else math.inf


def variance_of_seeds(by_seed: Sequence[Floats]) -> SeedVariance:
    """From the differences of each treebank's pairs of runs, [S].

    A treebank with a single pair is taken to vary as those with several do on average, so that the
    variance v of one of these counts with the weight w = 1 / S + singles / several.
    """
    sizes = np.array([len(differences) for differences in by_seed])
    several = sizes > 1
    if not several.any():
        return SeedVariance(np.zeros(len(by_seed)), 0.0)
    of_one = np.array([d.var(ddof=1) if len(d) > 1 else np.nan for d in by_seed])
    means = np.where(several, of_one, np.nanmean(of_one)) / sizes
    known, S = of_one[several], sizes[several]
    weights = 1 / S + (~several).sum() / several.sum()
    uncertainty = ((weights * known) ** 2 / (S - 1)).sum()
    return SeedVariance(means, float(uncertainty))


def permutation_test(
    pairs: Mapping[str, Pair], unit: Unit, *, resamples: int = RESAMPLES, seed: int = 0
) -> float:
    """Two-sided p-value of the difference, exchanging the results of `base` and `new` on units.

    sentence: a sentence is exchanged in all runs at once; seed: two whole runs with the same seed
    on one treebank are exchanged. Scores are computed again from the exchanged sums, so `total` may
    differ too. With up to EXACT_UNITS units all 2ⁿ exchanges are tried, and p is the proportion of
    those with at least the observed difference. With more units, `resamples` random exchanges are
    tried (approximate randomization, Noreen 1989), and p = (b + 1) / (resamples + 1), where b of
    them have at least the observed difference (Phipson & Smyth 2010).
    """
    _require(resamples)
    matched = in_common(pairs)
    borders = np.cumsum([_units(pair, unit) for pair in matched])
    found = np.mean([new.mean - base.mean for base, new in matched])
    is_exact = borders[-1] <= EXACT_UNITS
    swaps = (
        _every_swap(int(borders[-1]))
        if is_exact
        else _random_swaps(int(borders[-1]), resamples, np.random.default_rng(seed))
    )
    as_different, tried = 0, 0
    for swap in swaps:
        parts = np.split(swap, borders[:-1], axis=1)
        swapped = [_swapped(*pair, part, unit) for pair, part in zip(matched, parts, strict=True)]
        as_different += int((abs(np.mean(swapped, axis=0)) >= abs(found) - ROUNDING).sum())
        tried += len(swap)
    return as_different / tried if is_exact else (as_different + 1) / (tried + 1)


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Each p-value corrected for a family of m tests (Holm 1979); None and NaN are not counted.

    adjusted p₍ᵢ₎ = max_{j ≤ i} min(1, (m − j + 1) · p₍ⱼ₎), with p₍₁₎ the least
    """
    adjusted = list(ps)
    known = [(p, k) for k, p in enumerate(ps) if p is not None and not math.isnan(p)]
    greatest = 0.0
    for rank, (p, k) in enumerate(sorted(known)):
        greatest = max(greatest, min(1.0, (len(known) - rank) * p))
        adjusted[k] = greatest
    return adjusted


def least_p(pairs: int, comparisons: int) -> float:
    """The least corrected p_seeds of comparisons with so many pairs of runs, whatever the scores.

    n pairs of runs have 2ⁿ exchanges, two of which are as extreme as what was observed; Holm's
    correction multiplies the least p of all comparisons by their number.
    """
    return min(1.0, comparisons * 2 / 2.0**pairs)


def pairs_needed(comparisons: int) -> int:
    """Pairs of runs with which one of so many comparisons can be significant."""
    pairs = 1
    while least_p(pairs, comparisons) >= SIGNIFICANT:
        pairs += 1
    return pairs


def tally(differences: Sequence[float], corrected_ps: Sequence[float | None]) -> Tally:
    """Significant differences counted as wins and losses by their sign, all others as ties."""
    both = zip(differences, corrected_ps, strict=True)
    significant = [found for found, p in both if p is not None and p < SIGNIFICANT]
    wins, losses = sum(found > 0 for found in significant), sum(found < 0 for found in significant)
    return Tally(wins, len(differences) - wins - losses, losses)


def _score(sums: Floats) -> Floats:
    """[2, ...] → [...]: scores from sums of right and total; 0 where total is 0."""
    right, total = sums
    return np.asarray(np.divide(100 * right, total, out=np.zeros_like(right), where=total > 0))


def in_common(pairs: Mapping[str, Pair]) -> list[Pair]:
    """Base and new of each treebank with the seeds that both have, all in a fixed order."""
    if not pairs:
        raise ValueError("there is no treebank to compare on")
    return [_with_same_seeds(name, *pairs[name]) for name in sorted(pairs)]


def _with_same_seeds(name: str, base: Counts, new: Counts) -> Pair:
    seeds = tuple(sorted(set(base.seeds) & set(new.seeds)))
    if not seeds:
        raise ValueError(f"{name}: no common seed in {base.seeds} and {new.seeds}")
    if base.table.shape[-1] != new.table.shape[-1]:
        raise ValueError(
            f"{name}: {base.table.shape[-1]} sentences and {new.table.shape[-1]}; "
            "a comparison needs the same test sentences"
        )
    return _with_seeds(base, seeds), _with_seeds(new, seeds)


def _with_seeds(counts: Counts, seeds: tuple[int, ...]) -> Counts:
    right, total = counts.table[:, [counts.seeds.index(seed) for seed in seeds]]
    return Counts(right, total, seeds)


def _units(pair: Pair, unit: Unit) -> int:
    return int(pair[0].table.shape[2 if unit == "sentence" else 1])


def _chunks(resamples: int, units: int) -> Iterator[int]:
    """Sizes of batches that fit into memory, `resamples` in total."""
    most = max(1, CELLS_AT_ONCE // units)
    for start in range(0, resamples, most):
        yield min(most, resamples - start)


def _resampled_sentences(
    base: Counts, new: Counts, resamples: int, rng: np.random.Generator
) -> Floats:
    """[resamples]: differences on K sentences drawn with replacement."""
    K = base.table.shape[-1]
    tables = [_by_sentence(counts.table) for counts in (base, new)]
    found = []
    for R in _chunks(resamples, K):
        drawn = rng.integers(K, size=(R, K)) + K * np.arange(R)[:, None]
        times = np.bincount(drawn.ravel(), minlength=R * K).reshape(R, K).astype(np.float64)
        before, after = (_score(_sums(times, table)) for table in tables)  # [R, S]
        found.append((after - before).mean(1))
    return np.concatenate(found)


def _resampled_seeds(by_seed: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """[resamples]: means over S − 1 values drawn with replacement from S."""
    S = len(by_seed)
    return np.asarray(by_seed[rng.integers(S, size=(resamples, S - 1))].mean(1))


def _every_swap(units: int) -> Iterator[Floats]:
    """[2ⁿ, n] in one batch: all ways to exchange (1) or leave (0) n units."""
    yield (np.arange(2**units)[:, None] >> np.arange(units) & 1).astype(np.float64)


def _random_swaps(units: int, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """[R, units] in batches: each unit is exchanged with probability 1/2."""
    for R in _chunks(resamples, units):
        yield rng.integers(2, size=(R, units), dtype=np.int8).astype(np.float64)


def _swapped(base: Counts, new: Counts, swap: Floats, unit: Unit) -> Floats:
    """[R]: differences after exchanging the units where swap [R, units] is 1."""
    gain = new.table - base.table  # [2, S, K]
    by_sentence = unit == "sentence"
    moved = _sums(swap, _by_sentence(gain)) if by_sentence else swap * gain.sum(-1)[:, None]
    before = _score(base.table.sum(-1)[:, None] + moved)  # [R, S]
    after = _score(new.table.sum(-1)[:, None] - moved)
    return np.asarray((after - before).mean(1))


def _by_sentence(table: Floats) -> Floats:
    """[2, S, K] → [K, 2·S], in one piece: products of other layouts do not go through BLAS."""
    return np.ascontiguousarray(table.reshape(-1, table.shape[-1]).T)


def _sums(times: Floats, by_sentence: Floats) -> Floats:
    """[2, R, S]: right and total if sentences count so many times.  [R, K], [K, 2·S]"""
    return np.asarray((times @ by_sentence).reshape(len(times), 2, -1).swapaxes(0, 1))


def _require(resamples: int, level: float = 0.95) -> None:
    if resamples < 1:
        raise ValueError(f"resamples is {resamples}, expected at least 1")
    if not 0 < level < 1:
        raise ValueError(f"level is {level}, expected between 0 and 1")
