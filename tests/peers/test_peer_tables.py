"""The table of benchmarks/peers."""

from __future__ import annotations

from helpers.peers import result
from table import HEADER, las_at, markdown


def cells(text: str, line: int) -> dict[str, str]:
    """A line of a table, by the names of the columns; line 0 is the first parser."""
    return dict(zip(HEADER, text.split("\n")[line + 2][2:-2].split(" | "), strict=True))


def test_ratios_are_relative_to_the_first_dyparse_line():
    text = markdown([result("dyparse-default", 4000), result("other", 1000)])
    other = cells(text, 1)
    assert other["training, words/s (ratio)"] == "1,000 (0.25)"
    assert other["parsing CoNLL-U, words/s (ratio)"] == "10,000 (0.25)"
    assert other["parsing in memory, words/s (ratio)"] == "20,000 (0.25)"
    assert (other["model, MB"], other["peak, MB"]) == ("2", "300")
    assert cells(text, 0)["training, words/s (ratio)"] == "4,000 (1)"


def test_without_dyparse_there_are_no_ratios():
    failed = {"row": "dyparse-default", "title": "dyparse", "reads": "words", "failed": "a | b"}
    text = markdown([failed, result("other", 1000)])
    assert "failed: a \\| b" in text
    assert cells(text, 1)["training, words/s (ratio)"] == "1,000"


def test_las_after_the_end_is_that_of_the_end_if_training_was_complete():
    found = result("other", 1000)
    assert [las_at(found, moment) for moment in (1.0, 5.0)] == ["70.00", "80.00"]
    found["end"] = found["end"] | {"complete": False}
    assert [las_at(found, moment) for moment in (1.0, 5.0)] == ["70.00", ""]


def test_a_late_las_is_followed_by_its_minutes():
    late = [{"minutes": 1.0, "cpu_seconds": 90.0, "las": 60.0}]
    assert las_at(result("other", 1000, snapshots=late), 1.0) == "60.00 (1.5)"


def test_another_decoding_gets_its_own_line():
    others = [{"name": "greedy", "las": 75.0, "parsing": {"conllu": 50_000.0}}]
    text = markdown([result("dyparse-default", 4000), result("other", 1000, others=others)])
    greedy = cells(text, 2)
    assert greedy["parser"] == "the same model, greedy"
    assert greedy["LAS, end (CPU min)"] == "75.00"
    assert greedy["parsing CoNLL-U, words/s (ratio)"] == "50,000 (1.2)"
