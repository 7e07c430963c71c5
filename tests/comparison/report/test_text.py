"""The text of a report claims what the statistics say, and no more."""

from helpers.made_results import compared, gain_in_one_sentence, made_grid, made_result

from dyparse.comparison.report.text import explanation, extent, verdict


def test_the_verdict_says_which_training_is_better_by_how_much():
    comparison = compared(made_grid(treebanks=("UD_A", "UD_B"), seeds=range(4)))
    las = comparison.pooled[1].effect.las
    (sentence,) = verdict(comparison)
    assert sentence == (
        f"Explore beats static for arc_eager, by +{las.mean:.2f} [+{las.low:.2f}, +{las.high:.2f}] "
        "LAS on average over 2 treebanks (p = 0.008)."
    )


def test_the_verdict_says_if_a_training_is_worse():
    gains = {"static": 0.1, "explore": 0.0}
    (sentence,) = verdict(compared(made_grid(gains=gains, seeds=range(6))))
    assert sentence.startswith("Explore is worse than static for arc_eager, by −")
    assert "one treebank" in sentence


def test_the_verdict_claims_no_difference_without_an_effect():
    gains = {"static": 0.1, "explore": 0.1}
    (sentence,) = verdict(compared(made_grid(gains=gains, seeds=range(8))))
    assert "no significant difference between explore and static was found" in sentence
    assert "beats" not in sentence
    assert "too few" not in sentence


def test_the_verdict_says_if_there_are_too_few_runs_even_for_a_large_difference():
    (sentence,) = verdict(compared(made_grid(gains={"static": 0.0, "explore": 0.25}, seeds=(1, 2))))
    assert "no significant difference" in sentence
    assert "2 pairs of runs are too few" in sentence
    assert "one comparison takes at least 6" in sentence
    assert "These trained parsers do differ" in sentence


def test_the_verdict_says_if_only_the_test_over_sentences_is_significant():
    words = [10] * 200
    results = [
        made_result([right] * 200, words=words, exploration=name, seed=seed)
        for name, scores in (("static", [5] * 8), ("explore", [9, 4, 9, 4, 9, 4, 9, 4]))
        for seed, right in enumerate(scores)
    ]
    (sentence,) = verdict(compared(results))
    assert "no significant difference between explore and static was found: +15.00 [" in sentence
    assert "do differ (p < 0.05 over sentences); others, trained with other seeds" in sentence


def test_the_number_of_runs_needed_depends_on_the_undecided_comparisons_only():
    many = made_grid(
        gains={"static": 0.0, "explore": 0.2}, treebanks=("UD_A", "UD_B"), seeds=range(5)
    )
    few = made_grid(systems=("swap",), gains={"static": 0.0, "explore": 0.2}, seeds=range(4))
    (sentence,) = verdict(compared([*many, *few]))
    assert "beats static for arc_eager" in sentence
    assert "one comparison takes at least 6" in sentence


def test_systems_are_summarized_with_the_least_and_the_largest_difference():
    results = [
        *made_grid(systems=("arc_eager", "swap", "buffer"), seeds=range(8)),
        *made_grid(systems=("covington",), gains={"static": 0.1, "explore": 0.1}, seeds=range(8)),
    ]
    (text,) = verdict(compared(results))
    assert text.startswith(
        "Explore beats static for 3 of 4 systems (arc_eager, buffer, swap), by +"
    )
    assert "For covington no significant difference" in text


def test_the_verdict_names_the_systems_that_lack_runs():
    same = {"static": 0.1, "explore": 0.1}
    many = made_grid(gains=same, seeds=range(9))
    few = made_grid(systems=("swap",), gains=same, seeds=range(3))
    (sentence,) = verdict(compared([*many, *few]))
    assert "3 pairs of runs are too few for swap to decide" in sentence
    assert "2 comparisons take at least 7" in sentence


def test_an_interval_with_zero_is_not_called_a_difference_however_small_p_is():
    (sentence,) = verdict(compared(gain_in_one_sentence()))
    assert "no significant difference between explore and static was found: +10.00 [" in sentence
    assert "(p = 0.008). Although p < 0.05, the interval includes zero." in sentence
    assert "beats" not in sentence
    assert "too few" not in sentence


def test_every_training_has_its_own_verdict():
    gains = {"static": 0.0, "explore": 0.1, "sample": 0.1}
    found = verdict(compared(made_grid(gains=gains, seeds=range(8))))
    assert [sentence.split()[0] for sentence in found] == ["Explore", "Sample"]


def test_without_a_baseline_the_verdict_says_that_nothing_can_be_compared():
    (sentence,) = verdict(compared(made_grid(gains={"explore": 0.1})))
    assert sentence.startswith("Nothing can be compared")


def test_the_explanation_compares_the_arcs_lost_after_the_first_mistake():
    static = made_result((2, 5, 3))
    explore = made_result((4, 7, 4), exploration="explore")
    assert explanation(compared([static, explore])) == [
        "With static 100.0\u00a0% of the sentences have a mistake, with explore 100.0\u00a0%; "
        "after their first one they lose another 6.67 and 3.33 gold arcs each (−50\u00a0%)."
    ]


def test_the_explanation_includes_only_systems_with_both_trainings():
    both = [made_result((2, 5, 3)), made_result((4, 7, 4), exploration="explore")]
    alone = made_result((0, 0, 0), system="swap")
    assert explanation(compared([*both, alone])) == explanation(compared(both))
    assert explanation(compared([both[1], alone])) == []


def test_the_extent_counts_values_of_axes_and_runs():
    grid = made_grid(treebanks=("UD_A", "UD_B"))
    assert (
        extent(compared(grid))
        == "2 treebanks · 1 system · 2 explorations · 1 loss · 3 seeds · 12 runs"
    )
    assert "2 to 3 seeds · 11 runs" in extent(compared(grid[1:]))
