"""The smallest difference that a comparison could have found."""

import numpy as np
import pytest
from helpers.made_results import made_result
from scipy.stats import t

from dyparse.comparison.power import detectable, error_of_seeds, student_quantile
from dyparse.comparison.significance import Counts, permutation_test
from dyparse.comparison.statistics import comparison_of

WORDS = 100_000


@pytest.mark.parametrize("p", [0.5001, 0.8, 0.95, 0.975, 0.9988, 0.99999])
def test_quantiles_are_those_of_scipy(p):
    for freedom in (1, 1.5, 1.99, 2, 2.5, *range(3, 31), 77.7, 1e4, 1e6, np.inf):
        assert student_quantile(p, freedom) == pytest.approx(t.ppf(p, freedom), rel=1e-6)


def test_the_error_is_that_of_a_mean_over_treebanks():
    values = np.random.default_rng(1).normal(size=(6, 5))
    error, freedom = error_of_seeds(list(values))
    assert error == pytest.approx(np.sqrt((values.var(1, ddof=1) / 5).sum()) / 6)
    assert 4 <= freedom <= 24
    assert error_of_seeds([values[0]]) == pytest.approx((values[0].std(ddof=1) / 5**0.5, 4))


def test_a_treebank_with_one_pair_of_runs_counts_with_the_variance_of_the_others():
    values = np.array([1.0, 2.0, 4.0])
    error, freedom = error_of_seeds([values, np.array([7.0])])
    assert error == pytest.approx(np.sqrt(values.var(ddof=1) * (1 / 3 + 1)) / 2)
    assert freedom == pytest.approx(2)  # no more is known than from the first
    assert error_of_seeds([np.array([7.0])]) is None


def test_too_few_pairs_of_runs_can_find_nothing():
    assert detectable(0.1, 2, pairs=3, comparisons=1) is None
    assert detectable(0.1, 11, pairs=12, comparisons=5) is not None


def test_the_exchange_of_runs_finds_such_a_difference_in_about_four_of_five_cases():
    random = np.random.default_rng(2)
    sd, treebanks, seeds, tries = 0.4, 4, 3, 300
    least = detectable(sd / (treebanks * seeds) ** 0.5, treebanks * (seeds - 1), 12, 1)
    found = 0
    for _ in range(tries):
        pairs = {}
        for k in range(treebanks):
            base = np.full((seeds, 1), 80_000.0)
            new = base + (least + random.normal(0, sd, (seeds, 1))) * WORDS / 100
            counts = [Counts(right, [WORDS], (1, 2, 3)) for right in (base, new)]
            pairs[f"UD_{k}"] = tuple(counts)
        found += permutation_test(pairs, "seed") < 0.05
    assert found / tries == pytest.approx(0.8, abs=0.08)


def test_a_comparison_says_what_it_could_have_found():
    runs = [
        made_result([right + seed % 2, 5, 3], exploration=name, treebank=treebank, seed=seed)
        for treebank in ("UD_A", "UD_B", "UD_C")
        for seed in (1, 2, 3)
        for name, right in (("static", 1), ("explore", 2 + (seed == 2)))
    ]
    (row,) = [row for row in comparison_of(runs, resamples=50).pooled if row.effect]
    error, freedom = error_of_seeds([np.array([5.0, 10.0, 5.0])] * 3)
    assert row.effect.detectable == pytest.approx(detectable(error, freedom, 9, 1))
    lines = [line for line in comparison_of(runs, resamples=50).lines if line.effect]
    assert {line.effect.detectable for line in lines} == {None}  # three pairs of runs each
