"""Comparisons of made-up runs whose answers are worked out by hand."""

import csv
import io
import json
import subprocess
import sys
from dataclasses import replace

import pytest
from made_results import SETTING, made_grid, made_result

from dyparse.comparison import ALL, Key, comparison_of, grouped, rates_of, to_csv, to_json
from dyparse.errors import DyparseError

RESAMPLES = 200


def two_trainings(**changed):
    """Of 20 words 10, 12 and 14 right by static training, 13, 14 and 18 by exploring."""
    static = [(2, 5, 3), (3, 6, 3), (4, 6, 4)]
    explore = [(3, 6, 4), (3, 7, 4), (4, 9, 5)]
    return [
        made_result(labelled, exploration=name, seed=seed, **changed)
        for name, runs in (("static", static), ("explore", explore))
        for seed, labelled in enumerate(runs, 1)
    ]


def compared(results, **options):
    """The comparison with few resamples."""
    return comparison_of(results, resamples=RESAMPLES, **options)


def test_means_and_deviations_are_those_of_the_seeds():
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


def test_treebanks_count_the_same_whatever_their_size():
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


def test_a_clear_gain_over_many_runs_is_better_and_none_is_not():
    many = {"treebanks": ("UD_A", "UD_B"), "seeds": range(5)}
    better = compared(made_grid(**many)).pooled[1].effect
    worse = compared(made_grid(gains={"static": 0.1, "explore": 0.0}, **many)).pooled[1].effect
    neither = compared(made_grid(gains={"static": 0.1, "explore": 0.1}, **many)).pooled[1].effect
    assert [effect.verdict for effect in (better, worse, neither)] == ["better", "worse", ""]


def test_losses_are_compared_within_themselves():
    results = made_grid(losses=("set_nll", "hinge"))
    lines = {(line.key.loss, line.key.exploration): line for line in compared(results).lines}
    for loss in ("set_nll", "hinge"):
        found = lines[loss, "explore"].effect.las
        means = [lines[loss, name].test["las"].mean for name in ("static", "explore")]
        assert found.mean == pytest.approx(means[1] - means[0])


def test_the_main_loss_is_that_of_most_runs_and_the_usual_one_of_as_many():
    assert compared(made_grid(losses=("set_nll", "hinge"))).main_loss == "set_nll"
    more = [*made_grid(), *made_grid(losses=["hinge"], seeds=(1, 2, 3, 4))]
    assert compared(more).main_loss == "hinge"


def test_trainings_are_named_with_their_loss_only_where_there_are_several():
    key = Key("arc_eager", "explore", "set_nll", ALL)
    assert compared(made_grid()).training(key) == "explore"
    assert compared(made_grid(losses=("set_nll", "hinge"))).training(key) == "explore, set_nll"


def test_a_single_run_of_each_has_no_deviation_but_a_difference():
    static, explore = compared([r for r in two_trainings() if r.cell.seed == 1]).lines
    assert static.test["las"].sd is None
    assert explore.effect.las.mean == pytest.approx(15)
    assert explore.effect.verdict == ""


def test_a_missing_baseline_leaves_the_difference_out_and_says_so():
    comparison = compared([r for r in two_trainings() if r.cell.exploration == "explore"])
    assert comparison.lines[0].effect is None
    assert comparison.pooled[0].effect is None
    assert comparison.pooled[0].tally is None
    assert "UD_Made-Up: no run of static" in comparison.notes[0]


def test_unequal_seeds_are_compared_over_those_that_both_have():
    results = [r for r in two_trainings() if (r.cell.exploration, r.cell.seed) != ("static", 3)]
    comparison = compared(results)
    static, explore = comparison.lines
    assert (static.seeds, explore.seeds) == ((1, 2), (1, 2, 3))
    assert explore.test["las"].mean == pytest.approx(75)
    assert explore.effect.las.mean == pytest.approx((65 + 70) / 2 - 55)
    assert "number of runs 3, of static 2" in comparison.notes[0]
    assert "(1, 2)" in comparison.notes[0]


def test_without_a_seed_in_common_there_is_no_difference():
    results = [r for r in two_trainings() if (r.cell.exploration == "static") == (r.cell.seed == 1)]
    comparison = compared(results)
    assert comparison.lines[1].effect is None
    assert "no seed in common" in comparison.notes[0]


def test_settings_are_not_mixed_and_the_message_says_how_they_differ():
    other = made_result((1, 1, 1), setting=SETTING | {"trainer": {"epochs": 9, "patience": 10}})
    with pytest.raises(DyparseError, match="2 settings") as error:
        grouped([*two_trainings(), other])
    text = str(error.value)
    assert "trainer.epochs=9 (1 runs" in text
    assert "trainer.epochs=3 (6 runs" in text
    assert "patience" not in text
    assert "directories of one setting" in text


def test_different_test_sets_of_a_treebank_are_refused():
    other = made_result((2, 5, 3), words=(4, 9, 7), exploration="explore")
    with pytest.raises(DyparseError, match=r"explore.*tested on 3 sentences of 20 words"):
        grouped([made_result((2, 5, 3)), other])


def test_different_training_sets_of_a_treebank_are_refused():
    other = replace(made_result((2, 5, 3), exploration="explore"), train_words=999)
    with pytest.raises(DyparseError, match="trained on 999 words"):
        grouped([made_result((2, 5, 3)), other])


def test_a_run_that_is_there_twice_is_refused():
    with pytest.raises(DyparseError, match=r"seed 2: there twice"):
        grouped([*two_trainings(), made_result((1, 1, 1), seed=2)])


def test_no_run_at_all_is_refused():
    with pytest.raises(DyparseError, match=r"result\.json"):
        comparison_of([])


def test_curves_are_means_over_seeds_as_far_as_all_of_them_go():
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


def test_counts_of_an_analysis_are_added_up_over_seeds_and_treebanks():
    comparison = compared([*two_trainings(), *two_trainings(treebank="UD_Other")])
    (static, explore) = comparison.analyses_of(ALL)
    assert (static.runs, explore.runs) == (6, 6)
    assert static.counts["by_sentence_length"]["1-10"]["words"] == 6 * 20
    assert static.counts["by_sentence_length"]["1-10"]["labelled"] == 2 * (10 + 12 + 14)
    assert static.rates["by_sentence_length"]["1-10"]["las"] == pytest.approx(60)
    assert explore.rates["by_arc_length"]["1"]["f1"] == pytest.approx(75)
    assert explore.rates["by_arc_length"]["7+"]["f1"] is None
    (static, _) = comparison.analyses_of("UD_Other")
    assert static.runs == 3


def test_counts_over_all_treebanks_are_of_runs_that_all_trainings_have():
    results = [*two_trainings(), *two_trainings(treebank="UD_Other")[:3]]  # static only
    comparison = compared(results)
    assert [analysis.runs for analysis in comparison.analyses_of(ALL)] == [3, 3]
    assert any("the 3 runs that all have" in note for note in comparison.notes)


def test_rates_are_shares_of_the_counts():
    rates = rates_of(made_result((2, 5, 3)).analysis)  # 10 of 20 words right, in 3 sentences
    assert rates["propagation"][""] == {
        "sentences_with_mistake": 100,
        "mistakes_before": 15,  # 3 of 20 states
        "mistakes_after": 50,
        "cost_after_per_sentence": pytest.approx(20 / 3),
        "cost_after_per_state": 1,
        "moves_per_sentence": pytest.approx(40 / 3),
    }
    assert rates["by_first_mistake"]["2nd quarter"] == {"sentences": 100, "las": 50}
    assert rates["by_first_mistake"]["none"] == {"sentences": 0, "las": None}
    assert rates["moves"]["LEFT"] == {"free": 50, "right_arcs": 50, "mended": 40, "broken": 10}
    assert rates["by_projectivity"]["projective"]["precision"] == 50
    assert rates["by_projectivity"]["nonprojective"]["recall"] is None


def test_the_csv_has_a_line_for_each_group():
    rows = list(csv.DictReader(io.StringIO(to_csv(compared(two_trainings())))))
    assert [row["exploration"] for row in rows] == ["static", "explore"]
    assert rows[0]["difference_las"] == ""
    assert float(rows[1]["difference_las"]) == pytest.approx(15)
    assert float(rows[1]["las_sd"]) == pytest.approx(13.228757)
    assert (rows[1]["seeds"], rows[1]["p_seeds"]) == ("3", "0.25")


def test_the_json_has_all_of_it():
    content = json.loads(to_json(compared(two_trainings())))
    assert content["baseline"] == "static"
    assert content["lines"][1]["exploration"] == "explore"
    assert content["lines"][1]["effect"]["las"]["mean"] == 15
    assert content["curves"][0]["mean"] == [50, 60, 70]
    assert content["analyses"][0]["treebank"] == ALL


def test_files_do_not_depend_on_the_order_of_the_runs():
    results = made_grid(systems=("arc_eager", "swap"), treebanks=("UD_A", "UD_B"), sentences=20)
    one, other = compared(results), compared(results[::-1])
    assert to_json(one) == to_json(other)
    assert to_csv(one) == to_csv(other)


def test_a_comparison_needs_no_torch():
    code = "import sys, dyparse.comparison; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
