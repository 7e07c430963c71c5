"""Tables of errors."""

from dataclasses import replace

from helpers.made_results import compared, made_pops, made_result

from dyparse.comparison.report.error_tables import error_tables


def tables_of(results):
    """The tables by name."""
    return {table.name: table for table in error_tables(compared(results))}


def both_trainings(**changed):
    """Of 20 words, 12 are right with static training and 15 with exploring."""
    explore = made_result((4, 7, 4), exploration="explore", **changed)
    return [made_result((3, 5, 4), **changed), explore]


def with_repairs(results, **pops):
    """The results with other counts of repairs."""
    return [replace(r, analysis={**r.analysis, "pops": pops}) for r in results]


def test_classes_without_words_have_no_column():
    assert tables_of(both_trainings())["sentence_length"].header == ("system", "training", "1-10")


def test_moves_show_labelled_arcs_and_heads_of_every_training():
    table = tables_of(both_trainings())["moves"]
    assert table.header == (
        "system",
        "move",
        "static: taken",
        "no cost",
        "arcs",
        "heads",
        "explore: taken",
        "no cost",
        "arcs",
        "heads",
    )
    assert table.rows[1] == (
        "arc_eager",
        "LEFT",
        "20",
        "60.00",
        "60.00",
        "80.00",
        "20",
        "75.00",
        "75.00",
        "85.00",
    )
    assert "labelled precision" in table.note


def test_moves_that_only_one_training_takes_have_empty_cells_for_the_other():
    static, explore = both_trainings()
    moves = {**explore.analysis["moves"]}
    moves["RIGHT"] = dict.fromkeys(moves["RIGHT"], 0)
    explore = replace(explore, analysis={**explore.analysis, "moves": moves})
    table = tables_of([static, explore])["moves"]
    (row,) = (row for row in table.rows if row[1] == "RIGHT")
    assert row == ("arc_eager", "RIGHT", "20", "60.00", "60.00", "80.00", "", "", "", "")


def test_projectivity_shows_labelled_arcs_and_heads_alone():
    (result, _) = both_trainings()
    arcs = {"gold": 20, "gold_right": 8, "gold_labelled": 4}
    arcs |= {"predicted": 8, "predicted_right": 4, "predicted_labelled": 2}
    result.analysis["by_projectivity"]["nonprojective"] = arcs
    table = tables_of([result])["projectivity"]
    named = list(zip(table.header, table.rows[0], strict=True))
    assert named[2:6] == [
        ("projective: precision", "60.00"),
        ("recall", "60.00"),
        ("heads alone: precision", "80.00"),
        ("recall", "80.00"),
    ]
    assert named[6:] == [
        ("non-projective: gold", "20"),
        ("predicted", "8"),
        ("precision", "25.00"),
        ("recall", "20.00"),
        ("F1", "22.22"),
        ("heads alone: precision", "50.00"),
        ("recall", "40.00"),
        ("F1", "44.44"),
    ]


def test_repairs_are_shown_with_those_missed_and_rightly_left_out():
    left = made_pops(right=3, wrong=1, missed=9, rightly_none=1200, neither=7)
    results = with_repairs([made_result((2, 5, 3), seed=k) for k in (1, 2)], LEFT=left)
    table = tables_of(results)["repairs"]
    assert table.header == (
        "system",
        "training",
        "repair by",
        "made",
        "right",
        "precision",
        "missed",
        "recall",
        "rightly left out",
    )
    assert table.rows == [
        ("arc_eager", "static", "LEFT", "8", "6", "75.00", "18", "25.00", "2,400")
    ]
    assert "punctuation left out" in table.note


def test_systems_have_rows_for_moves_by_which_any_of_their_trainings_repairs():
    monotonic = both_trainings()
    static, explore = both_trainings(system="nonmonotonic:reduce=false")
    missed = made_pops(missed=5, rightly_none=9)
    right = made_pops(right=1, missed=4)
    rows = tables_of(
        [
            *monotonic,
            *with_repairs([static], LEFT=missed, REDUCE=missed),
            *with_repairs([explore], LEFT=right, REDUCE=missed),
        ]
    )["repairs"].rows
    assert [row[:6] for row in rows] == [
        ("nonmonotonic:reduce=false", "static", "LEFT", "0", "0", ""),
        ("nonmonotonic:reduce=false", "explore", "LEFT", "1", "1", "100.00"),
    ]


def test_systems_without_such_moves_have_no_repairs():
    static = made_result((2, 5, 3), system="covington")
    del static.analysis["pops"]
    assert tables_of([static])["repairs"].rows == []
