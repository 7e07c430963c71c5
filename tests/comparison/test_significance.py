"""Tests and intervals against enumeration, textbook values and simulations with a known truth."""

import math
from itertools import product

import numpy as np
import pytest

from dyparse.comparison import significance
from dyparse.comparison.significance import (
    Counts,
    Tally,
    confidence_interval,
    holm,
    least_p,
    pairs_needed,
    permutation_test,
    pooled_difference,
    tally,
)

SIMULATIONS = 400
RESAMPLES = 199  # (b + 1) / 200 reaches 0.05 exactly


def difference(base, new, **options):
    """The difference on a single treebank."""
    return pooled_difference({"": (base, new)}, **options)


def simulated_pair(rng, *, seeds=3, sentences=100, gain=0.0, seed_sd=0.0, sentence_sd=0.0):
    """Base and new on random sentences of varying difficulty, with varying luck of each run.

    gain: how much likelier `new` gets a word right, with standard deviation sentence_sd over
    sentences; seed_sd: standard deviation of that probability over runs of one training.
    """
    words = rng.integers(3, 40, sentences)
    easy = rng.uniform(0.6, 0.8, sentences)
    gains = rng.normal(gain, sentence_sd, sentences)
    runs = []
    for shift in (0, gains):
        probability = easy + shift + rng.normal(0, seed_sd, (seeds, 1))
        runs.append(Counts(rng.binomial(words, probability.clip(0, 1)), words, tuple(range(seeds))))
    return tuple(runs)


def random_f1_pair(rng, seeds, sentences):
    """Base and new as for CLAS: every run has totals of its own."""
    tables = []
    for _ in range(2):
        total = rng.integers(4, 12, (seeds, sentences))
        tables.append(Counts(rng.binomial(total, 0.6), total, tuple(range(seeds))))
    return tuple(tables)


def rate_of(events):
    """The proportion of simulations in which something happened."""
    return np.mean([bool(event) for event in events])


def near(rate, expected, simulations=SIMULATIONS):
    """Whether a proportion is within three binomial standard errors."""
    return abs(rate - expected) <= 3 * math.sqrt(expected * (1 - expected) / simulations)


def normal_power(z):
    """Power of a two-sided test at 0.05 if the expected difference is z standard errors."""
    return sum(0.5 * (1 + math.erf((side * z - 1.96) / math.sqrt(2))) for side in (1, -1))


def enumerated_p(pairs, unit):
    """The permutation test by definition: exchange entries of copied tables, one by one."""
    places = [
        (name, k)
        for name, (base, _) in pairs.items()
        for k in range(base.right.shape[1] if unit == "sentence" else len(base.seeds))
    ]
    found = []
    for swap in product((False, True), repeat=len(places)):
        tables = {name: [[c.right.copy(), c.total.copy()] for c in pairs[name]] for name in pairs}
        for (name, k), is_swapped in zip(places, swap, strict=True):
            where = np.s_[:, k] if unit == "sentence" else np.s_[k, :]
            for one, other in zip(*tables[name], strict=True):
                if is_swapped:
                    one[where], other[where] = other[where].copy(), one[where].copy()
        gains = []
        for (right, total), (new_right, new_total) in tables.values():
            scores = 100 * right.sum(1) / total.sum(1)
            gains.append((100 * new_right.sum(1) / new_total.sum(1) - scores).mean())
        found.append(abs(np.mean(gains)))
    return np.mean(np.array(found) >= found[0] - 1e-9)


def test_a_score_is_a_ratio_of_sums():
    counts = Counts([[1, 4], [2, 5], [0, 6]], [2, 8], (1, 2, 3))
    assert counts.scores == pytest.approx([50, 70, 60])
    assert counts.mean == pytest.approx(60)


def test_the_total_of_f1_may_differ_from_run_to_run():
    right, gold, predicted = np.array([[3, 1], [2, 2]]), np.array([4, 2]), [[5, 2], [2, 2]]
    counts = Counts(2 * right, gold + predicted, (1, 2))
    assert counts.scores == pytest.approx([200 * 4 / 13, 200 * 4 / 10])


@pytest.mark.parametrize(
    ("right", "total", "seeds", "message"),
    [
        ([[1, 2]], [3, 3], (1, 2), "2 seeds"),
        ([1, 2], [3, 3], (1, 2), "2 seeds"),
        ([[1], [2]], [3], (4, 4), "each seed once"),
        ([[4]], [3], (1,), r"within 0\.\.total"),
        ([[-1]], [3], (1,), r"within 0\.\.total"),
        ([[math.nan]], [3], (1,), r"within 0\.\.total"),
        ([[0, 0]], [0, 0], (1,), "nothing to score"),
        ([[1, 2]], [3, 3, 3], (1,), "shape"),
    ],
)
def test_impossible_counts_are_refused(right, total, seeds, message):
    with pytest.raises(ValueError, match=message):
        Counts(right, total, seeds)


def test_runs_that_cannot_be_compared_are_refused():
    one, other = Counts([[1]], [2], (1,)), Counts([[1]], [2], (2,))
    with pytest.raises(ValueError, match="no common seed"):
        difference(one, other)
    with pytest.raises(ValueError, match="same test sentences"):
        difference(one, Counts([[1, 1]], [2, 2], (1,)))
    with pytest.raises(ValueError, match="no treebank"):
        pooled_difference({})
    with pytest.raises(ValueError, match="resamples is 0"):
        permutation_test({"a": (one, one)}, "seed", resamples=0)
    with pytest.raises(ValueError, match="level is 95"):
        difference(one, one, level=95)


def test_only_common_seeds_count_and_are_paired_by_number():
    base = Counts([[1], [2], [9]], [10], (5, 3, 8))
    new = Counts([[4], [6], [0]], [10], (3, 5, 1))
    found = difference(base, new, resamples=RESAMPLES)
    assert (found.base, found.new, found.mean) == pytest.approx((15, 50, 35))
    assert found.seed_pairs == 2
    assert found.p_seeds == 0.5  # 2 of 4: gains of 50 and 20 have the same sign


def test_equal_runs_have_no_difference_and_a_p_of_one():
    rng = np.random.default_rng(0)
    runs = simulated_pair(rng)[0]
    found = difference(runs, runs, resamples=RESAMPLES)
    assert found.p_sentences == found.p_seeds == 1
    assert found.mean == 0
    base, new = Counts([[3, 5]] * 3, [9, 9], (1, 2, 3)), Counts([[4, 6]] * 3, [9, 9], (1, 2, 3))
    assert confidence_interval({"": (base, new)}) == pytest.approx((100 / 9, 100 / 9))


def test_five_gains_of_five_have_a_p_of_two_in_thirty_two():
    words = [10] * 5
    base, new = [5, 6, 4, 7, 3], [6, 8, 7, 8, 5]
    by_sentence = Counts([base], words, (1,)), Counts([new], words, (1,))
    assert permutation_test({"a": by_sentence}, "sentence") == 2 / 32
    assert permutation_test({"a": by_sentence}, "seed") == 1  # a single pair proves nothing
    seeds = (1, 2, 3, 4, 5)
    by_seed = Counts(np.c_[base], [10], seeds), Counts(np.c_[new], [10], seeds)
    assert permutation_test({"a": by_seed}, "seed") == 2 / 32
    assert permutation_test({"a": by_seed}, "sentence") == 1


def test_three_seeds_reach_significance_on_six_treebanks_but_never_on_one():
    base, new = Counts([[5], [5], [5]], [10], (1, 2, 3)), Counts([[8], [9], [7]], [10], (1, 2, 3))
    assert difference(base, new, resamples=9).p_seeds == 0.25
    pairs = {str(k): (base, new) for k in range(6)}
    assert pooled_difference(pairs, resamples=9).p_seeds == 2 / 2**18


@pytest.mark.parametrize("unit", ["sentence", "seed"])
def test_exact_p_is_that_of_exchanging_one_by_one(unit):
    rng = np.random.default_rng(1)
    for _ in range(10):
        pairs = {"a": random_f1_pair(rng, 2, 3), "b": random_f1_pair(rng, 4, 4)}
        assert permutation_test(pairs, unit) == pytest.approx(enumerated_p(pairs, unit))


@pytest.mark.parametrize("unit", ["sentence", "seed"])
def test_random_exchanges_approximate_all_of_them(unit, monkeypatch):
    rng = np.random.default_rng(2)
    for _ in range(5):
        pairs = {"a": random_f1_pair(rng, 4, 6), "b": random_f1_pair(rng, 5, 5)}
        exact = permutation_test(pairs, unit)
        with monkeypatch.context() as patch:
            patch.setattr(significance, "EXACT_UNITS", 0)
            assert permutation_test(pairs, unit) == pytest.approx(exact, abs=0.02)


def test_random_exchanges_never_give_a_p_of_zero():
    base, new = Counts([[1] * 50], [9] * 50, (1,)), Counts([[8] * 50], [9] * 50, (1,))
    assert permutation_test({"a": (base, new)}, "sentence", resamples=99) == 1 / 100


def test_numbers_depend_on_the_seed_and_not_on_the_order_of_runs_or_treebanks():
    rng = np.random.default_rng(3)
    runs = {name: simulated_pair(rng, seeds=4, sentences=40, seed_sd=0.01) for name in "abc"}
    seeds = (0, 8, 16, 24)  # a set keeps these in the order they come
    pairs = {name: tuple(Counts(c.right, c.total, seeds) for c in runs[name]) for name in runs}
    found = pooled_difference(pairs, resamples=RESAMPLES, seed=5)
    shuffled = {
        name: tuple(Counts(c.right[::-1], c.total, c.seeds[::-1]) for c in pairs[name])
        for name in "cab"
    }
    assert pooled_difference(shuffled, resamples=RESAMPLES, seed=5) == found
    others = [pooled_difference(pairs, resamples=RESAMPLES, seed=k) for k in range(4)]
    assert len({other.low for other in others}) == 4
    assert len({other.p_sentences for other in others}) > 1


def test_exchanging_the_trainings_mirrors_the_result():
    base, new = simulated_pair(np.random.default_rng(4), gain=0.01, seed_sd=0.01)
    one, other = (difference(*p, resamples=RESAMPLES) for p in ((base, new), (new, base)))
    assert (other.mean, other.low, other.high) == pytest.approx((-one.mean, -one.high, -one.low))
    assert (other.p_sentences, other.p_seeds) == (one.p_sentences, one.p_seeds)
    assert one.low < one.mean < one.high


def test_the_pooled_difference_is_the_mean_over_treebanks_whatever_their_size():
    rng = np.random.default_rng(5)
    pairs = {
        "a": simulated_pair(rng, sentences=20),
        "b": simulated_pair(rng, seeds=2, sentences=200),
    }
    found = pooled_difference(pairs, resamples=RESAMPLES)
    apart = [difference(*pair, resamples=RESAMPLES) for pair in pairs.values()]
    assert found.mean == pytest.approx(np.mean([one.mean for one in apart]))
    assert found.mean == pytest.approx(found.new - found.base)
    assert (found.seed_pairs, found.sentences) == (5, 220)


def test_treebanks_are_resampled_independently():
    pair = simulated_pair(np.random.default_rng(6), seeds=1, sentences=200)
    low, high = confidence_interval({"a": pair})
    pooled_low, pooled_high = confidence_interval(dict.fromkeys("abcd", pair))
    assert pooled_high - pooled_low == pytest.approx((high - low) / 2, rel=0.05)
    alone = permutation_test({"a": pair}, "sentence")
    assert permutation_test(dict.fromkeys("abcd", pair), "sentence") < alone < 1


def test_with_one_seed_the_interval_is_that_of_a_ratio_over_sentences():
    base, new = simulated_pair(np.random.default_rng(7), seeds=1, sentences=1000, gain=0.02)
    low, high = confidence_interval({"a": (base, new)}, level=0.9)
    gain, words = (new.right - base.right)[0], base.total[0]
    error = 100 * np.sqrt(((gain - words * gain.sum() / words.sum()) ** 2).sum()) / words.sum()
    assert high - low == pytest.approx(2 * 1.645 * error, rel=0.05)
    assert (low + high) / 2 == pytest.approx(new.mean - base.mean, abs=0.1 * error)


def test_three_seeds_of_many_treebanks_give_the_standard_error_of_their_mean():
    seeds, treebanks = (1, 2, 3), [str(k) for k in range(200)]
    base, new = Counts([[40], [42], [47]], [100], seeds), Counts([[45], [48], [49]], [100], seeds)
    low, high = confidence_interval(dict.fromkeys(treebanks, (base, new)))
    error = (new.scores - base.scores).std(ddof=1) / math.sqrt(len(seeds) * len(treebanks))
    assert high - low == pytest.approx(2 * 1.96 * error, rel=0.05)


def test_if_seeds_do_not_matter_exchanging_sentences_has_five_percent_false_positives():
    rng = np.random.default_rng(8)
    pairs = [{"a": simulated_pair(rng, sentence_sd=0.05)} for _ in range(SIMULATIONS)]
    ps = [permutation_test(pair, "sentence", resamples=RESAMPLES) for pair in pairs]
    assert near(rate_of(p <= 0.05 for p in ps), 0.05)
    assert near(rate_of(p <= 0.5 for p in ps), 0.5)


def test_if_seeds_matter_only_exchanging_seeds_has_five_percent_false_positives():
    rng = np.random.default_rng(9)
    names = ("a", "b")
    pairs = [
        {name: simulated_pair(rng, seeds=4, seed_sd=0.02) for name in names}
        for _ in range(SIMULATIONS)
    ]
    by_seed = [permutation_test(pair, "seed") for pair in pairs]
    by_sentence = [permutation_test(pair, "sentence", resamples=RESAMPLES) for pair in pairs]
    assert near(rate_of(p <= 0.05 for p in by_seed), 12 / 256)
    assert rate_of(p <= 0.05 for p in by_sentence) > 0.25


def test_the_power_of_exchanging_sentences_is_that_of_theory():
    rng = np.random.default_rng(10)
    S, K, z = 3, 100, 2.5
    words, easy = 21, 0.7  # means of simulated_pair
    variance = easy * (1 - easy) - 0.2**2 / 12  # of one word, given how easy its sentence is
    gain = z * math.sqrt(2 * variance / (S * K * words))
    pairs = [
        {"a": simulated_pair(rng, seeds=S, sentences=K, gain=gain)} for _ in range(SIMULATIONS)
    ]
    ps = [permutation_test(pair, "sentence", resamples=RESAMPLES) for pair in pairs]
    assert rate_of(p <= 0.05 for p in ps) == pytest.approx(normal_power(z), abs=0.07)


def test_the_power_of_exchanging_seeds_is_nearly_that_of_theory():
    rng = np.random.default_rng(11)
    S, K, treebanks, seed_sd, z = 4, 100, 4, 0.02, 3.0
    variance = 2 * (seed_sd**2 + 0.21 / (K * 21))  # of the gain of one pair of runs
    gain = z * math.sqrt(variance / (S * treebanks))
    ps = [
        permutation_test(
            {
                str(k): simulated_pair(rng, seeds=S, gain=gain, seed_sd=seed_sd)
                for k in range(treebanks)
            },
            "seed",
        )
        for _ in range(SIMULATIONS // 2)
    ]
    power = rate_of(p <= 0.05 for p in ps)
    assert normal_power(z) - 0.13 < power < normal_power(z) + 0.05  # the spread is estimated


@pytest.mark.parametrize(
    ("seeds", "seed_sd", "sentence_sd", "least", "most"),  # seeds of each treebank
    [
        ((1,), 0.0, 0.05, 0.91, 0.98),  # sentences alone
        ((3,), 0.0, 0.07, 0.92, 0.995),  # sentences above all
        ((3,), 0.01, 0.05, 0.92, 0.995),  # both
        ((3,), 0.04, 0.0, 0.90, 0.98),  # seeds above all
        ((5,), 0.04, 0.0, 0.91, 0.98),
        ((3, 3, 3, 3), 0.02, 0.05, 0.92, 0.995),
        ((3, 1, 1, 1), 0.04, 0.0, 0.91, 0.98),  # single pairs vary as the others do
    ],
)
def test_the_interval_covers_the_truth_in_about_nineteen_of_twenty_cases(
    seeds, seed_sd, sentence_sd, least, most
):
    rng = np.random.default_rng(12)
    simulation = {"gain": 0.02, "seed_sd": seed_sd, "sentence_sd": sentence_sd}
    intervals = [
        confidence_interval(
            {str(k): simulated_pair(rng, seeds=S, **simulation) for k, S in enumerate(seeds)},
            resamples=500,
        )
        for _ in range(SIMULATIONS)
    ]
    assert least <= rate_of(low <= 2 <= high for low, high in intervals) <= most


@pytest.mark.parametrize(("pairs", "least"), [(1, 1), (3, 0.5), (7, 0.03125)])
def test_no_p_over_seeds_is_below_the_least_one(pairs, least):
    total, seeds = np.full((pairs, 4), 10), range(pairs)
    clear = {"t": (Counts(0 * total, total, seeds), Counts(total, total, seeds))}
    assert least_p(pairs, 2) == min(holm([permutation_test(clear, "seed"), 1.0])) == least


def test_more_comparisons_need_more_pairs():
    assert [pairs_needed(m) for m in (1, 2, 4)] == [6, 7, 8]


def test_holm_gives_the_textbook_values():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.01, 0.02, 0.03, 0.04, 0.05]) == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09])
    assert holm([0.6, 0.7]) == [1, 1]
    assert holm([]) == []


def test_holm_keeps_none_and_nan():
    first, nothing, unknown, last = holm([0.01, None, math.nan, 0.04])
    assert (first, last) == pytest.approx((0.02, 0.04))
    assert nothing is None
    assert math.isnan(unknown)


def test_a_tally_counts_only_what_is_significant():
    found = tally([0.5, -0.4, 0.3, -0.2, 0.1, 0.6], [0.01, 0.049, 0.05, 0.9, None, math.nan])
    assert found == Tally(wins=1, ties=4, losses=1)
