"""Comparisons of made-up runs whose answers are worked out by hand."""

import subprocess
import sys

import pytest
from helpers.made_results import (
    compared,
    gain_in_one_sentence,
    made_grid,
    made_result,
    two_trainings,
)

from dyparse.comparison.groups import ALL, Key
from dyparse.comparison.statistics import comparison_of


def test_means_and_deviations_are_over_seeds():
    static, explore = compared(two_trainings()).lines
    assert static.key == Key("arc_eager", "static", "set_nll", "UD_Made-Up")
    assert static.seeds == explore.seeds == (1, 2, 3)
    assert static.test["las"].mean == pytest.approx(60)  # 50, 60, 70
    assert static.test["las"].sd == pytest.approx(10)
    assert static.test["uas"].mean == pytest.approx(80)
    assert explore.test["las"].mean == pytest.approx(75)  # 65, 70, 90
    assert explore.test["las"].sd == pytest.approx(13.228757)
    assert explore.dev_las.mean == 70
    assert explore.dev_las.sd == 0


def test_a_difference_is_that_of_the_means_and_the_baseline_has_none():
    static, explore = compared(two_trainings()).lines
    assert static.effect is None
    assert explore.effect.las.mean == pytest.approx(15)
    assert explore.effect.uas == pytest.approx(7.5)
    assert explore.effect.clas == pytest.approx(7.5)
    assert explore.effect.las.p_seeds == 0.25  # two of 2³ exchanges are as different
    assert explore.effect.las.seed_pairs == 3


def test_the_baseline_may_be_another_exploration():
    explore, static = compared(two_trainings(), baseline="explore").lines
    assert (explore.key.exploration, explore.effect) == ("explore", None)
    assert static.effect.las.mean == pytest.approx(-15)


def test_p_values_are_corrected_for_all_comparisons_of_their_kind():
    gains = {"static": 0.0, "explore": 0.0, "sample": 0.0, "dagger": 0.2}
    comparison = compared(made_grid(gains=gains, treebanks=("UD_A", "UD_B")))
    for rows, number in ((comparison.lines, 6), (comparison.pooled, 3)):
        effects = [row.effect for row in rows if row.effect]
        assert len(effects) == number
        least = min(effects, key=lambda effect: effect.las.p_sentences)
        assert least.p_sentences == pytest.approx(number * least.las.p_sentences)
        least = min(effects, key=lambda effect: effect.las.p_seeds)
        assert least.p_seeds == pytest.approx(min(1, number * least.las.p_seeds))


def test_all_treebanks_count_the_same_whatever_their_size():
    large = two_trainings(treebank="UD_Large", words=(400, 1000, 600))
    comparison = compared([*two_trainings(), *large])
    static, explore = comparison.pooled
    assert explore.key.treebank == ALL
    assert explore.treebanks == ("UD_Large", "UD_Made-Up")
    assert static.test["las"] == pytest.approx((60 + 0.6) / 2)
    assert explore.effect.las.mean == pytest.approx((15 + 0.15) / 2)
    assert explore.effect.las.seed_pairs == 6


def test_wins_ties_and_losses_are_counted_over_treebanks():
    results = [
        *made_grid(gains={"static": 0, "explore": 0.2}, treebanks=("UD_A", "UD_B")),
        *made_grid(gains={"static": 0, "explore": -0.2}, treebanks=("UD_C",)),
        *made_grid(gains={"static": 0.3, "explore": 0.3}, treebanks=("UD_D",)),
    ]
    tally = comparison_of(results, resamples=2000).pooled[1].tally
    assert (tally.wins, tally.ties, tally.losses) == (2, 1, 1)


def test_the_verdict_needs_a_clear_gain_or_loss_over_many_runs():
    many = {"treebanks": ("UD_A", "UD_B"), "seeds": range(5)}
    better = compared(made_grid(**many)).pooled[1].effect
    worse = compared(made_grid(gains={"static": 0.1, "explore": 0.0}, **many)).pooled[1].effect
    neither = compared(made_grid(gains={"static": 0.1, "explore": 0.1}, **many)).pooled[1].effect
    assert [effect.verdict for effect in (better, worse, neither)] == ["better", "worse", ""]


def test_the_verdict_needs_an_interval_without_zero_however_small_p_is():
    (effect,) = (row.effect for row in compared(gain_in_one_sentence()).pooled if row.effect)
    assert effect.p_seeds == 2 / 2**8
    assert effect.las.mean > 0 > effect.las.low
    assert effect.verdict == ""


def test_trainings_are_compared_with_the_baseline_of_the_same_loss():
    results = made_grid(losses=("set_nll", "hinge"))
    lines = {(line.key.loss, line.key.exploration): line for line in compared(results).lines}
    for loss in ("set_nll", "hinge"):
        found = lines[loss, "explore"].effect.las
        means = [lines[loss, name].test["las"].mean for name in ("static", "explore")]
        assert found.mean == pytest.approx(means[1] - means[0])


def test_the_main_loss_has_most_runs_and_among_equals_is_the_usual_one():
    assert compared(made_grid(losses=("set_nll", "hinge"))).main_loss == "set_nll"
    more = [*made_grid(), *made_grid(losses=["hinge"], seeds=(1, 2, 3, 4))]
    assert compared(more).main_loss == "hinge"


def test_names_of_trainings_have_the_loss_only_if_there_are_several():
    key = Key("arc_eager", "explore", "set_nll", ALL)
    assert compared(made_grid()).training(key) == "explore"
    assert compared(made_grid(losses=("set_nll", "hinge"))).training(key) == "explore, set_nll"


def test_single_runs_have_a_difference_but_no_deviation():
    static, explore = compared([r for r in two_trainings() if r.cell.seed == 1]).lines
    assert static.test["las"].sd is None
    assert explore.effect.las.mean == pytest.approx(15)
    assert explore.effect.verdict == ""


def test_without_a_baseline_there_is_no_difference_but_a_note():
    comparison = compared([r for r in two_trainings() if r.cell.exploration == "explore"])
    assert comparison.lines[0].effect is None
    assert comparison.pooled[0].effect is None
    assert comparison.pooled[0].tally is None
    assert "UD_Made-Up: no run of static" in comparison.notes[0]


def test_a_difference_is_over_the_seeds_that_both_have():
    results = [r for r in two_trainings() if (r.cell.exploration, r.cell.seed) != ("static", 3)]
    comparison = compared(results)
    static, explore = comparison.lines
    assert (static.seeds, explore.seeds) == ((1, 2), (1, 2, 3))
    assert explore.test["las"].mean == pytest.approx(75)
    assert explore.effect.las.mean == pytest.approx((65 + 70) / 2 - 55)
    assert "3 runs, static: 2" in comparison.notes[0]
    assert "(1, 2)" in comparison.notes[0]


def test_without_a_seed_in_common_there_is_no_difference():
    results = [r for r in two_trainings() if (r.cell.exploration == "static") == (r.cell.seed == 1)]
    comparison = compared(results)
    assert comparison.lines[1].effect is None
    assert "no seed in common" in comparison.notes[0]


def test_curves_are_means_over_seeds_up_to_the_last_common_epoch():
    results = [
        made_result((1, 1, 1), seed=1, dev_las=(10, 20, 30)),
        made_result((1, 1, 1), seed=2, dev_las=(14, 26)),
    ]
    (curve,) = compared(results).curves
    assert curve.epochs == [1, 2]
    assert curve.mean == [12, 23]
    assert curve.sd == pytest.approx([8**0.5, 18**0.5])
    (curve,) = compared(results[:1]).curves
    assert curve.mean == [10, 20, 30]
    assert curve.sd is None


def test_a_comparison_needs_no_torch():
    code = "import sys, dyparse.comparison.statistics; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
