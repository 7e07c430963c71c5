"""A comparison as CSV and JSON."""

import csv
import io
import json

import pytest
from helpers.made_results import compared, made_grid, two_trainings

from dyparse.comparison.groups import ALL
from dyparse.comparison.report.export import to_csv, to_json


def test_the_csv_has_one_line_per_group():
    rows = list(csv.DictReader(io.StringIO(to_csv(compared(two_trainings())))))
    assert [row["exploration"] for row in rows] == ["static", "explore"]
    assert rows[0]["difference_las"] == ""
    assert float(rows[1]["difference_las"]) == pytest.approx(15)
    assert float(rows[1]["las_sd"]) == pytest.approx(13.228757)
    assert (rows[1]["seeds"], rows[1]["p_seeds"]) == ("3", "0.25")


def test_the_json_has_the_complete_comparison():
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
