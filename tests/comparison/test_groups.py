"""Which runs can be compared, and the errors for those that cannot."""

from dataclasses import fields, replace

import pytest
from helpers.made_results import SETTING, made_result, two_trainings

from dyparse.comparison.groups import AXES, Key, grouped, remarks
from dyparse.errors import DyparseError
from dyparse.evaluation.run_result import Cell


def test_axes_are_the_fields_of_a_cell_and_keys_lack_the_seed():
    assert tuple(field.name for field in fields(Cell)) == AXES
    cell = Cell("swap", "explore", "hinge", "sample", 3)
    assert Key.of(cell) == ("swap", "explore", "hinge", "sample")


def test_runs_of_different_settings_are_refused_with_the_differing_options():
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


def test_a_run_that_appears_twice_is_refused():
    with pytest.raises(DyparseError, match=r"seed 2: found twice"):
        grouped([*two_trainings(), made_result((1, 1, 1), seed=2)])


def test_no_run_at_all_is_refused():
    with pytest.raises(DyparseError, match=r"result\.json"):
        grouped([])


def test_groups_are_sorted_by_name_with_the_baseline_first():
    results = [*two_trainings(system="swap"), *two_trainings()][::-1]
    groups = grouped(results, "static")
    assert [(key.system, key.exploration) for key in groups] == [
        ("arc_eager", "static"),
        ("arc_eager", "explore"),
        ("swap", "static"),
        ("swap", "explore"),
    ]
    for runs in groups.values():
        assert [run.cell.seed for run in runs] == [1, 2, 3]


def test_there_are_remarks_on_scores_on_dev_and_on_different_versions():
    results = two_trainings()
    assert remarks(results) == []
    on_dev = replace(results[0], split="dev")
    (note,) = remarks([on_dev, *results[1:]])
    assert note.startswith(f"{on_dev.cell.treebank} has no test set")
    older = replace(results[0], versions={**results[0].versions, "torch": "0.1"})
    newer = replace(results[1], versions={**results[1].versions, "torch": "0.2"})
    (note,) = remarks([older, newer])
    assert note == "Runs used different versions of torch: 0.1, 0.2."
