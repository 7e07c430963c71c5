"""Counts of errors, summed over runs, and their rates."""

import pytest
from helpers.made_results import compared, made_pops, made_result, two_trainings

from dyparse.comparison.error_rates import rates_of
from dyparse.comparison.groups import ALL


def test_counts_are_summed_over_seeds_and_treebanks():
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


def test_counts_over_all_treebanks_include_only_runs_that_all_trainings_have():
    results = [*two_trainings(), *two_trainings(treebank="UD_Other")[:3]]  # static only
    comparison = compared(results)
    assert [analysis.runs for analysis in comparison.analyses_of(ALL)] == [3, 3]
    assert any("the 3 runs that all have" in note for note in comparison.notes)


def test_rates_are_percentages_of_the_counts():
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
    assert rates["moves"]["LEFT"] == {
        "free": 50,
        "right_arcs": 75,
        "labelled_arcs": 50,
        "mended": 40,
        "broken": 10,
    }
    assert rates["by_projectivity"]["projective"] == {
        "precision": 50,
        "recall": 50,
        "f1": 50,
        "head_precision": 75,
        "head_recall": 75,
        "head_f1": 75,
    }
    assert rates["by_projectivity"]["nonprojective"]["recall"] is None


def test_f1_is_zero_where_no_arc_of_the_gold_class_is_predicted():
    analysis = made_result((2, 5, 3)).analysis
    of_class = analysis["by_projectivity"]["nonprojective"] | {"gold": 4, "predicted": 0}
    analysis["by_projectivity"]["nonprojective"] = of_class
    rates = rates_of(analysis)["by_projectivity"]["nonprojective"]
    assert (rates["precision"], rates["recall"], rates["f1"]) == (None, 0, 0)


def test_repairs_have_precision_and_recall():
    analysis = made_result((2, 5, 3)).analysis
    left = made_pops(right=3, wrong=1, missed=9, rightly_none=100, neither=7)
    rates = rates_of({**analysis, "pops": {"LEFT": left, "REDUCE": made_pops()}})
    assert rates["pops"]["LEFT"] == {"precision": 75, "recall": 25}
    assert rates["pops"]["REDUCE"] == {"precision": None, "recall": None}


def test_systems_without_pops_have_no_rates_of_repairs():
    analysis = made_result((2, 5, 3)).analysis
    del analysis["pops"]
    assert rates_of(analysis)["pops"] == {}
