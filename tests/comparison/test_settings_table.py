"""Runs of different settings: their table, and what of them is compared."""

import csv
import io
from dataclasses import replace

from helpers.made_results import SETTING, made_result, made_runs, two_trainings
from helpers.programs import python

from dyparse.comparison.settings_table import (
    comparable,
    setting_rows,
    settings_csv,
    table_of_runs,
    with_settings_in_systems,
)

WIDE = {**SETTING, "encoder": {"hidden": 160}}


def made_sweep():
    """Two seeds of two sizes of the encoder; the wide one is better on dev, worse on test."""
    return [
        made_result((2, 5, 3), seed=1, dev_las=[60.0]),
        made_result((3, 6, 3), seed=2, dev_las=[62.0]),
        made_result((1, 5, 3), seed=1, dev_las=[70.0], setting=WIDE),
        made_result((1, 5, 3), seed=2, dev_las=[70.0], setting=WIDE),
    ]


def test_a_row_per_setting_best_on_dev_first_with_columns_for_what_differs():
    table = table_of_runs(made_sweep())
    assert table.header == ("encoder.hidden", "runs", "LAS on dev", "LAS on test")
    assert table.rows == [
        ("160", "2", "70.00 ± 0.00", "45.00 ± 0.00"),
        ("80", "2", "61.00 ± 1.41", "55.00 ± 7.07"),
    ]
    assert table.note == ""


def test_parts_of_the_cell_are_columns_too_and_treebanks_are_kept_apart():
    runs = [
        made_result((1, 1, 1), treebank="b", dev_las=[90.0]),
        made_result((1, 1, 1), treebank="a", dev_las=[20.0], exploration="explore"),
        replace(made_result((1, 1, 1), treebank="a", dev_las=[30.0]), split="dev"),
    ]
    table = table_of_runs(runs)
    assert table.header[:2] == ("exploration", "treebank")
    assert [row[:2] for row in table.rows] == [("static", "a"), ("explore", "a"), ("static", "b")]
    assert table.note.endswith("on dev: a.")


def test_csv_has_the_options_and_unrounded_numbers():
    (best, other) = csv.DictReader(io.StringIO(settings_csv(setting_rows(made_sweep()))))
    assert (best["encoder.hidden"], best["dev_las"], best["runs"]) == ("160", "70.0", "2")
    assert abs(float(other["test_las_sd"]) - 50**0.5) < 1e-9


def test_runs_are_comparable_that_share_all_but_the_exploration_with_the_baseline():
    runs = [*two_trainings(), *made_sweep()[2:]]
    assert comparable(runs, "static") == [True] * 6 + [False] * 2
    assert not any(comparable(runs, "ambiguity"))


def test_settings_become_part_of_the_systems_name():
    folded = with_settings_in_systems([*two_trainings(), *two_trainings(setting=WIDE)])
    assert {run.cell.system for run in folded} == {
        "arc_eager encoder.hidden=80",
        "arc_eager encoder.hidden=160",
    }
    (name,) = {run.setting_name for run in folded}
    assert folded[0].setting == {"trainer": SETTING["trainer"]}
    assert name != made_sweep()[0].setting_name


def test_what_settings_do_not_name_is_what_is_usual():
    lifted = {**SETTING, "projectivity": "head"}
    runs = [*two_trainings(), *two_trainings(setting=lifted)]
    assert {row.options["projectivity"] for row in setting_rows(runs)} == {"none", "head"}
    assert {run.cell.system for run in with_settings_in_systems(runs)} == {
        "arc_eager projectivity=none",
        "arc_eager projectivity=head",
    }
    assert all(comparable(runs, "static"))


def test_a_section_that_only_some_runs_have_leaves_no_difference():
    without = {"encoder": SETTING["encoder"]}
    folded = with_settings_in_systems([*two_trainings(), *two_trainings(setting=without)])
    assert len({run.setting_name for run in folded}) == 1


def test_the_table_of_directories_needs_no_torch(tmp_path):
    made_runs(tmp_path, made_sweep())
    program = (
        "import json, sys; from pathlib import Path\n"
        "from dyparse.comparison.settings_table import table_of_runs\n"
        "from dyparse.evaluation.run_result import finished_results\n"
        f"runs = finished_results([Path({str(tmp_path)!r})] * 2)\n"
        "table = table_of_runs([result for _, result in runs])\n"
        "heavy = sorted({'torch', 'numba', 'matplotlib'} & set(sys.modules))\n"
        "print(json.dumps([table.rows, heavy]))"
    )
    rows, heavy = python(program)
    assert [row[:2] for row in rows] == [["160", "2"], ["80", "2"]]  # directories named twice
    assert heavy == []
