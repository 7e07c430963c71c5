"""Tables of scores and differences."""

from helpers.made_results import compared, gain_in_one_sentence, made_grid, made_result

from dyparse.comparison.report.tables import tables


def test_tables_hold_the_means_and_differences():
    static = [made_result(n, seed=k) for k, n in enumerate([(2, 5, 3), (4, 6, 4)])]
    explore = [made_result((4, 7, 4), exploration="explore", seed=k) for k in range(2)]
    found = {table.name: table for table in tables(compared(static + explore))}
    assert found["las"].rows == [
        ("arc_eager", "static", "60.00 ± 14.14"),
        ("arc_eager", "explore", "75.00 ± 0.00"),
    ]
    (row,) = found["pooled"].rows
    assert row[:6] == ("arc_eager", "explore", "1", "2", "60.00", "75.00")
    assert row[6].startswith("+15.00 [")
    assert [row[3] for row in found["scores"].rows] == ["2", "2"]


def test_a_difference_is_emphasised_in_every_table_by_its_verdict_alone():
    unclear = {table.name: table for table in tables(compared(gain_in_one_sentence()))}
    assert unclear["pooled"].verdicts == [""]
    assert unclear["scores"].verdicts == ["", ""]
    clear = {table.name: table for table in tables(compared(made_grid(seeds=range(6))))}
    assert clear["pooled"].verdicts == ["better"]
    assert clear["scores"].verdicts == ["", "better"]


def test_tables_without_rows_are_left_out():
    names = [table.name for table in tables(compared(made_grid(gains={"explore": 0.1})))]
    assert "pooled" not in names
    assert "las" in names


def test_a_mean_is_shown_only_for_trainings_on_all_treebanks():
    both = [made_result((2, 5, 3), treebank=name) for name in ("UD_A", "UD_B")]
    one = made_result((4, 7, 4), exploration="explore", treebank="UD_A")
    found = {table.name: table for table in tables(compared([*both, one]))}
    assert found["las"].header[-1] == "mean"
    assert [row[-1] for row in found["las"].rows] == ["50.00", ""]
