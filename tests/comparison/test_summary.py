"""What `dyparse compare` and `dyparse report` print at their end."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from helpers.made_results import (
    SETTING,
    compared,
    made_grid,
    made_result,
    made_run,
    made_runs,
    quick_figures,
    two_trainings,
)

from dyparse.comparison.summary import missing_note, report_on, shortened, summary_table

WIDE = {**SETTING, "encoder": {"hidden": 160}}


@pytest.fixture(autouse=True)
def quick():
    """Reports with quick figures only."""
    with quick_figures():
        yield


def summary_of(tmp_path, results):
    """The summary of the report on some runs."""
    return report_on(made_runs(tmp_path, results), tmp_path / "out", title="T", resamples=50)


def test_the_table_has_las_difference_interval_and_p_of_every_training():
    comparison = compared(two_trainings())
    table = summary_table(comparison)
    static, explore = table.rows
    assert static == ("static", "60.00 ± 10.00", "", "")
    assert explore[:2] == ("explore", "75.00 ± 13.23")
    assert explore[2].startswith("+15.00 [")
    assert explore[3] == "0.250"  # the least with three pairs
    assert table.header == ("training", "LAS", "LAS − static [95 %]", "p")
    assert table.title == "LAS on test, Made-Up, arc_eager, 3 runs each"


def test_the_table_of_several_systems_fits_a_terminal():
    table = summary_table(compared(made_grid(systems=("nonmonotonic", "buffer"), sentences=5)))
    assert table.header[:3] == ("system", "training", "LAS")
    assert max(map(len, table.to_text().splitlines())) <= 80


def test_the_loss_is_named_if_there_are_several():
    table = summary_table(compared(made_grid(losses=("hinge", "set_nll"), sentences=5)))
    assert [row[0] for row in table.rows][:2] == ["static, hinge", "explore, hinge"]


def test_few_treebanks_have_rows_of_their_own_and_many_only_rows_over_all():
    few = summary_table(compared(made_grid(treebanks=("UD_A", "UD_B"), sentences=5)))
    assert [row[0] for row in few.rows] == ["A", "A", "B", "B", *["2 treebanks"] * 2]
    many = summary_table(compared(made_grid(treebanks="abcd", sentences=5)))
    assert many.title == "LAS on test, 4 treebanks, arc_eager, 12 runs each"
    assert [row[0] for row in many.rows] == ["static", "explore"]
    assert "±" in many.rows[0][1]


def test_a_p_that_could_not_be_small_is_explained():
    first_seed = [run for run in two_trainings() if run.cell.seed == 1]
    one_pair = summary_table(compared(first_seed)).note
    assert "No p below 1.000 is possible with 1 pair of runs, whatever the scores" in one_pair
    assert "p < 0.05 takes 6 or more: add seeds." in one_pair
    assert "their intervals ignore the variation between seeds" in one_pair
    grid = summary_table(compared(made_grid(treebanks="ab", sentences=5))).note.splitlines()
    assert "below 0.500 is possible with 3 pairs of runs in 2 comparisons" in grid[1]
    assert len(grid) == 2  # over both treebanks there are six pairs, which can be enough


def test_what_the_report_emphasizes_is_bold():
    comparison = compared(made_grid(treebanks="abcd", gains={"static": 0.0, "explore": 0.2}))
    table = summary_table(comparison)
    assert table.verdicts == ["", comparison.pooled[1].effect.verdict] == ["", "better"]
    assert f"\033[1m{table.rows[1][2]}\033[0m" in table.to_text(bold=True)


def test_scores_on_dev_are_called_so(tmp_path):
    on_dev = [replace(run, split="dev") for run in two_trainings()]
    (table,), (note,) = (summary := summary_of(tmp_path, on_dev)).tables, summary.notes
    assert table.title == "LAS on dev, Made-Up, arc_eager, 3 runs each"
    assert note == "UD_Made-Up has no test set: its scores are on dev, on which epochs were chosen."
    page = summary.paths["report"].read_text(encoding="utf-8")
    assert "All scores on dev" in page
    assert "LAS on test" not in page
    both = compared([*on_dev, *two_trainings(treebank="UD_B")])
    assert summary_table(both).title == "LAS on test or dev, arc_eager"


def test_a_difference_over_some_seeds_is_explained_and_of_many_notes_the_first_are_shown(tmp_path):
    summary = summary_of(tmp_path, two_trainings()[:4])
    assert "static: 3; the difference is over the seeds that both have (1)." in str(summary)
    shown = shortened([f"note {k}" for k in range(9)])
    assert shown == [*(f"note {k}" for k in range(6)), "3 more notes are in the report."]


def test_files_of_an_earlier_report_are_not_taken_for_this_one(tmp_path):
    out = tmp_path / "out"
    made = [*two_trainings(), *two_trainings(setting=WIDE)]
    assert "earlier" not in " ".join(summary_of(tmp_path, made).notes)
    only_wide = [(tmp_path / "5", made[5]), (tmp_path / "6", made[6])]
    nothing = report_on(only_wide, out, title="T", resamples=50)
    assert nothing.notes[-1] == "report.html is from an earlier report, not about these runs."
    one = report_on([(tmp_path / "0", made[0])], out, title="T", resamples=50)
    assert one.notes[-1] == "settings.csv is from an earlier report, not about these runs."


def test_missing_runs_are_one_line():
    assert missing_note([], 8, "failed") == []
    assert missing_note(["a", "b"], 8, "failed") == ["2 of 8 runs failed: a, b."]
    assert missing_note("abcde", 8, "failed") == ["5 of 8 runs failed: a, b, c, …."]


def test_dyparse_report_prints_the_table_and_the_paths_and_names_unfinished_runs(
    tmp_path, dyparse_command
):
    made_runs(tmp_path, two_trainings())
    (tmp_path / "killed").mkdir()
    (tmp_path / "killed" / "metrics.jsonl").touch()
    status, out, err = dyparse_command("report", tmp_path, "-o", tmp_path / "out")
    assert (status, err) == (0, "")
    assert re.search(r"\nexplore   75.00 ± 13.23 +\+15.00 \[.*\]  0.250\n", out)
    assert "1 of 7 runs left out, not finished: killed.\n" in out
    assert f"report    {tmp_path / 'out' / 'report.html'}\n" in out
    assert f"tables    {tmp_path / 'out' / 'tables'}\n" in out
    assert "\033" not in out
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "1 of 7 runs left out" in page


def test_a_notebook_shows_tables_notes_and_paths_with_everything_escaped(tmp_path):
    summary = summary_of(tmp_path, two_trainings())
    table = replace(summary.tables[0], title="a < b", rows=[("<b>", "&", *["1"] * 4)], verdicts=[])
    html = replace(summary, tables=[table], notes=["<i>"])._repr_html_()
    assert "<caption>a &lt; b</caption>" in html
    assert "<td>&lt;b&gt;</td><td>&amp;</td>" in html
    assert "<p>&lt;i&gt;</p>" in html
    assert f"<li>report: {tmp_path / 'out' / 'report.html'}</li>" in html
    assert "<strong>" in replace(table, verdicts=["better"]).to_html()
    ElementTree.fromstring(html)


def test_runs_of_different_settings_are_listed_and_compared_within_each_setting(tmp_path):
    sweep = [*two_trainings(), *two_trainings(setting=WIDE), made_result((1, 1, 1), system="swap")]
    summary = summary_of(tmp_path, sweep)
    listed, comparison = summary.tables
    assert listed.header[:3] == ("system", "exploration", "encoder.hidden")
    assert [row[3] for row in listed.rows] == ["3", "3", "3", "3", "1"]
    assert [row[0] for row in comparison.rows] == [
        *["arc_eager encoder.hidden=160"] * 2,
        *["arc_eager encoder.hidden=80"] * 2,
    ]
    (note,) = summary.notes
    assert "differ in encoder.hidden: trainings were compared with static within each" in note
    assert note.endswith("1 of 13 runs has no counterpart.")
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {"report.html", "settings.csv"}


def test_a_sweep_without_a_counterpart_is_listed_and_says_that_nothing_was_compared(
    tmp_path, dyparse_command
):
    made_run(tmp_path / "1", made_result((2, 5, 3), seed=1))
    made_run(tmp_path / "2", made_result((2, 5, 3), seed=2, setting=WIDE))
    status, out, _ = dyparse_command("report", tmp_path)
    assert status == 0
    assert "encoder.hidden  runs  LAS on dev  LAS on test\n" in out
    assert "nothing was compared" in out
    assert f"settings  {tmp_path / 'settings.csv'}\n" in out
    assert not (tmp_path / "report.html").exists()


def test_settings_with_other_data_are_listed_only(tmp_path):
    sweep = [*two_trainings(), *two_trainings(setting=WIDE, words=(4, 10, 5))]
    summary = summary_of(tmp_path, sweep)
    assert len(summary.tables) == 1
    assert "Nothing was compared" in summary.notes[0]
    assert "tested on 3 sentences" in summary.notes[0]
