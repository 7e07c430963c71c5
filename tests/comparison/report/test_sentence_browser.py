"""Pictures of sentences that differ, as far as the files of the runs are there."""

import re

from helpers.made_results import compared, made_grid, made_result, made_runs, pictures_of, report

from dyparse.comparison.report.sentence_browser import browser_of


def test_pictures_show_gold_and_both_trees_of_sentences_that_differ(tmp_path):
    static = made_result((2, 5, 6))
    explore = made_result((4, 3, 6), exploration="explore")
    runs = made_runs(tmp_path, [static, explore])
    pictures = pictures_of(report(tmp_path, runs))
    assert {(p["better"], p["gain"], p["words"]) for p in pictures} == {
        ("explore", 2, 4),
        ("static", -2, 10),
    }
    picture = next(p for p in pictures if p["gain"] > 0)
    assert "of 4 words 2 are right with static, 4 with explore" in picture["about"]
    assert picture["about"].startswith("UD_Made-Up, sentence 1, arc_eager, seed 1")
    assert "static · 2 wrong" in re.sub(r"<[^>]*>", "", picture["svg"])
    assert "explore · the same tree" in picture["svg"]


def test_better_and_worse_sentences_are_chosen_in_turn(tmp_path):
    words, static = [10] * 12, [5] * 12
    results = [
        made_result(static, words=words),
        made_result([9] * 9 + [4] * 3, words=words, exploration="explore"),
    ]
    browser = browser_of(made_runs(tmp_path, results), compared(results))
    assert len(browser.pictures) == 12
    assert browser.tables[0].rows == [("arc_eager", "explore", "75.0", "0.0", "25.0")]


def test_number_and_size_of_pictures_are_limited(tmp_path, monkeypatch):
    monkeypatch.setattr("dyparse.comparison.report.sentence_browser.MOST_PICTURES", 7)
    results = made_grid(sentences=40)
    runs = made_runs(tmp_path, results)
    pictures = browser_of(runs, compared(results)).pictures
    assert len(pictures) == 7
    assert {picture["gain"] > 0 for picture in pictures} == {True, False}
    monkeypatch.setattr("dyparse.comparison.report.sentence_browser.MOST_BYTES_OF_PICTURES", 5000)
    assert len(browser_of(runs, compared(results)).pictures) < 7


def test_sentences_too_long_for_a_picture_are_left_out(tmp_path):
    results = [
        made_result((2, 50, 3), words=(4, 60, 6)),
        made_result((3, 10, 3), words=(4, 60, 6), exploration="explore"),
    ]
    (picture,) = browser_of(made_runs(tmp_path, results), compared(results)).pictures
    assert picture["words"] == 4


def test_without_gold_the_page_says_why_there_are_no_sentences(tmp_path):
    runs = made_runs(tmp_path, made_grid(sentences=5))
    for path, _ in runs:
        (path / "gold.conllu").unlink()
    page = report(tmp_path, runs)
    assert "No sentences are shown: they need parsed.conllu and gold.conllu" in page
    assert 'id="pictures"' not in page
    assert 'id="filters"' not in page


def test_gold_beside_one_of_the_two_runs_is_enough(tmp_path):
    results = [made_result((2, 5, 6)), made_result((4, 3, 6), exploration="explore")]
    runs = made_runs(tmp_path, results)
    (runs[1][0] / "gold.conllu").unlink()
    assert len(browser_of(runs, compared(results)).pictures) == 2


def test_a_file_with_other_sentences_is_left_out_and_named(tmp_path):
    results = [made_result((2, 5, 6)), made_result((4, 3, 6), exploration="explore")]
    runs = made_runs(tmp_path, results)
    path = runs[1][0] / "parsed.conllu"
    path.write_text(path.read_text().split("\n\n")[0] + "\n\n")
    browser = browser_of(runs, compared(results))
    assert not browser.pictures
    assert "has 1 sentences, expected 3" in browser.paragraphs[0]


def test_filters_offer_what_the_pictures_have(tmp_path):
    results = made_grid(systems=("arc_eager", "swap"), sentences=10, seeds=(1, 2))
    fields = browser_of(made_runs(tmp_path, results), compared(results)).fields
    options = {field["name"]: [value for value, _ in field["options"]] for field in fields}
    assert options["system"] == ["", "arc_eager", "swap"]
    assert options["better"] == ["", "explore", "static"]
    assert options["seed"] == ["", "1", "2"]
    assert options["most_words"] == ["40", "20", "10"]
