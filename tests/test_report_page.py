"""The report as a file: it says what the runs say, and needs nothing but itself."""

import base64
import csv
import gzip
import json
import re
from html.parser import HTMLParser

import pytest
from made_results import made_grid, made_result, made_run

from dyparse.comparison import comparison_of
from dyparse.errors import DyparseError
from dyparse.report_page import (
    Table,
    browser_of,
    explanation,
    extent,
    inline_svg,
    p_value,
    signed,
    tables,
    verdict,
    write_report,
)

SIZE = {"seeds": range(4), "sentences": 20}
VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(HTMLParser):
    """Checks that all elements are closed in order; collects tags, ids and text."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.ids, self.text, self.packed = [], [], [], [], ""
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] == ["script"]:
            self.packed = self.packed or data
        elif "style" not in self.open:
            self.text.append(data)


def compared(results, **options):
    """The comparison with few resamples."""
    return comparison_of(results, resamples=200, **options)


def runs_in(directory, results, **options):
    """The runs with directories of their own."""
    return [made_run(directory / str(k), r, **options) for k, r in enumerate(results)]


def report(directory, runs, **options):
    """The text of a report."""
    chosen = {"title": "Report", "resamples": 50, **options}
    return write_report(runs, directory / "out", **chosen).read_text(encoding="utf-8")


def pictures_of(html):
    """The pictures in a page."""
    packed = re.search(r'id="pictures">([^<]*)<', html).group(1)
    return json.loads(gzip.decompress(base64.b64decode(packed)))


# --- the answer ----------------------------------------------------------------------------------


def test_the_verdict_says_which_training_is_better_by_how_much():
    comparison = compared(made_grid(treebanks=("UD_A", "UD_B"), seeds=range(4)))
    las = comparison.pooled[1].effect.las
    (sentence,) = verdict(comparison)
    assert sentence == (
        f"Explore beats static for arc_eager, by +{las.mean:.2f} [+{las.low:.2f}, +{las.high:.2f}] "
        "LAS on average over 2 treebanks (p = 0.008)."
    )


def test_the_verdict_says_if_it_is_worse():
    gains = {"static": 0.1, "explore": 0.0}
    (sentence,) = verdict(compared(made_grid(gains=gains, seeds=range(6))))
    assert sentence.startswith("Explore is worse than static for arc_eager, by −")
    assert "one treebank" in sentence


def test_the_verdict_claims_nothing_without_an_effect():
    gains = {"static": 0.1, "explore": 0.1}
    (sentence,) = verdict(compared(made_grid(gains=gains, seeds=range(8))))
    assert "no difference between explore and static can be told" in sentence
    assert "beats" not in sentence
    assert "too few" not in sentence


def test_the_verdict_says_if_there_are_too_few_runs_however_large_the_difference():
    (sentence,) = verdict(compared(made_grid(gains={"static": 0.0, "explore": 0.25}, seeds=(1, 2))))
    assert "no difference" in sentence
    assert "2 pairs of runs are too few" in sentence
    assert "one comparison takes at least 6" in sentence
    assert "These trained parsers do differ" in sentence


def test_the_verdict_says_if_sentences_are_sure_and_runs_are_not():
    words = [10] * 200
    results = [
        made_result([right] * 200, words=words, exploration=name, seed=seed)
        for name, scores in (("static", [5] * 8), ("explore", [9, 4, 9, 4, 9, 4, 9, 4]))
        for seed, right in enumerate(scores)
    ]
    (sentence,) = verdict(compared(results))
    assert "no difference between explore and static can be told: +15.00 [" in sentence
    assert "do differ (p < 0.05 over sentences); others, trained with other seeds" in sentence


def test_fewer_pairs_suffice_for_the_comparisons_that_are_left():
    many = made_grid(
        gains={"static": 0.0, "explore": 0.2}, treebanks=("UD_A", "UD_B"), seeds=range(5)
    )
    few = made_grid(systems=("swap",), gains={"static": 0.0, "explore": 0.2}, seeds=range(4))
    (sentence,) = verdict(compared([*many, *few]))
    assert "beats static for arc_eager" in sentence
    assert "one comparison takes at least 6" in sentence


def test_systems_are_summed_up_with_the_least_and_the_largest_difference():
    results = [
        *made_grid(systems=("arc_eager", "swap", "buffer"), seeds=range(8)),
        *made_grid(systems=("covington",), gains={"static": 0.1, "explore": 0.1}, seeds=range(8)),
    ]
    (text,) = verdict(compared(results))
    assert text.startswith(
        "Explore beats static for 3 of 4 systems (arc_eager, buffer, swap), by +"
    )
    assert "For covington no difference" in text


def test_the_verdict_names_the_systems_that_lack_runs():
    same = {"static": 0.1, "explore": 0.1}
    many = made_grid(gains=same, seeds=range(9))
    few = made_grid(systems=("swap",), gains=same, seeds=range(3))
    (sentence,) = verdict(compared([*many, *few]))
    assert "3 pairs of runs are too few for swap to tell" in sentence
    assert "2 comparisons take at least 7" in sentence


def test_every_training_has_its_own_verdict():
    gains = {"static": 0.0, "explore": 0.1, "sample": 0.1}
    found = verdict(compared(made_grid(gains=gains, seeds=range(8))))
    assert [sentence.split()[0] for sentence in found] == ["Explore", "Sample"]


def test_without_a_baseline_the_verdict_says_that_nothing_can_be_compared():
    (sentence,) = verdict(compared(made_grid(gains={"explore": 0.1})))
    assert sentence.startswith("Nothing can be compared")


def test_the_explanation_tells_what_is_lost_after_the_first_mistake():
    static = made_result((2, 5, 3))
    explore = made_result((4, 7, 4), exploration="explore")
    assert explanation(compared([static, explore])) == [
        "With static 100.0\u00a0% of the sentences have a mistake, with explore 100.0\u00a0%; "
        "after their first one they lose another 6.67 and 3.33 gold arcs each (−50\u00a0%)."
    ]


def test_the_explanation_is_about_systems_that_have_both_trainings():
    both = [made_result((2, 5, 3)), made_result((4, 7, 4), exploration="explore")]
    alone = made_result((0, 0, 0), system="swap")
    assert explanation(compared([*both, alone])) == explanation(compared(both))
    assert explanation(compared([both[1], alone])) == []


def test_the_extent_counts_runs():
    grid = made_grid(treebanks=("UD_A", "UD_B"))
    assert (
        extent(compared(grid))
        == "2 treebanks · 1 system · 2 explorations · 1 loss · 3 seeds · 12 runs"
    )
    assert "2 to 3 seeds · 11 runs" in extent(compared(grid[1:]))


def test_numbers_have_true_minus_signs_and_small_ps_a_bound():
    assert signed(-0.126) == "−0.13"
    assert signed(0.4, 0) == "+0"
    assert p_value(0.00004) == "< 0.001"
    assert p_value(0.0126) == "0.013"
    assert p_value(None) == ""


# --- tables --------------------------------------------------------------------------------------


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
    assert found["sentence_length"].header == ("system", "training", "1-10")
    assert found["repairs"].rows[0] == (
        *("arc_eager", "static", "LEFT"),
        *("40", "24", "20", "8", "2"),
    )
    assert ("arc_eager", "SHIFT", "60.00", "75.00") in found["moves"].rows


def test_tables_without_rows_are_left_out():
    names = [table.name for table in tables(compared(made_grid(gains={"explore": 0.1})))]
    assert "pooled" not in names
    assert "las" in names


def test_markdown_has_a_line_for_each_row_and_escapes_bars():
    table = Table(
        "name", "Title", ("system", "training", "LAS"), [("a|b", "static", "1.00")], "Note."
    )
    assert table.to_markdown() == (
        "### Title\n\nNote.\n\n| system | training | LAS |\n|---|---|--:|\n"
        "| a\\|b | static | 1.00 |\n"
    )


# --- the page ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def grid_report(tmp_path_factory):
    """A directory with a report on two systems and treebanks."""
    directory = tmp_path_factory.mktemp("report")
    results = made_grid(systems=("arc_eager", "swap"), treebanks=("UD_A", "UD_B"), **SIZE)
    report(directory, runs_in(directory, results), title="Static & dynamic")
    return directory / "out"


@pytest.fixture(scope="module")
def html(grid_report):
    """The page of that report."""
    return (grid_report / "report.html").read_text(encoding="utf-8")


def test_a_report_is_a_page_tables_and_figures_and_nothing_temporary(grid_report):
    assert sorted(path.name for path in grid_report.iterdir()) == [
        *("figures", "report.html", "results.csv", "results.json"),
    ]
    names = {path.name for path in (grid_report / "figures").iterdir()}
    assert {"differences.png", "differences.svg", "learning_curves.png"} <= names
    assert len(names) == 14
    with (grid_report / "results.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 8
    assert json.loads((grid_report / "results.json").read_text())["baseline"] == "static"


def test_the_page_is_well_formed_and_ids_are_unique(html):
    page = Page(html)
    assert len(page.ids) == len(set(page.ids))
    targets = {dict(attrs).get("href", "") for tag, attrs in page.tags if tag == "a"}
    assert targets
    assert {target.removeprefix("#") for target in targets} <= set(page.ids)


def test_the_page_fetches_nothing(html):
    for tag, attributes in Page(html).tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base")
        assert "src" not in attributes
        for name in ("href", "xlink:href"):
            assert attributes.get(name, "#").startswith("#")
    style = " ".join(re.findall(r"<style>(.*?)</style>", html, re.DOTALL))
    assert "@import" not in style
    assert all(target.startswith("#") for target in re.findall(r"url\(['\"]?([^)]*)", html))
    assert not re.search(r"\b(fetch|XMLHttpRequest|import)\s*\(", html)


def test_the_page_says_the_answer_first_and_shows_all_parts(html):
    text = " ".join(Page(html).text)
    assert text.index("Explore beats static") < text.index("Differences")
    assert "luck with seeds" not in text
    for title in ("Scores", "Learning curves", "What happens after a mistake", "Sentences"):
        assert title in text
    assert html.count("<figure") == 7
    assert "Static &amp; dynamic" in html


def test_the_same_runs_make_the_same_page(tmp_path, grid_report):
    directory = grid_report.parent
    results = made_grid(systems=("arc_eager", "swap"), treebanks=("UD_A", "UD_B"), **SIZE)
    runs = [(directory / str(k), result) for k, result in enumerate(results)]
    write_report(runs[::-1], tmp_path, title="Static & dynamic", resamples=50)
    for name in ("report.html", "results.csv", "results.json", "figures/propagation.svg"):
        assert (tmp_path / name).read_bytes() == (grid_report / name).read_bytes()


def test_names_and_words_that_look_like_html_are_text(tmp_path):
    nasty = "<script>alert('x')</script>&amp;\"]]>"
    results = made_grid(systems=(nasty,), treebanks=(f"UD_{nasty}",), seeds=(1,), sentences=5)
    page = report(tmp_path, runs_in(tmp_path, results, word=nasty), title=nasty)
    parsed = Page(page)
    assert "alert" not in " ".join(attributes.get("class") or "" for _, attributes in parsed.tags)
    assert page.count("<script") == 2
    assert nasty in " ".join(parsed.text)
    for picture in pictures_of(page):
        assert "<script" not in picture["svg"]
        assert "&lt;script&gt;" in picture["svg"]


def test_notes_on_what_is_missing_are_on_the_page(tmp_path):
    runs = runs_in(tmp_path, made_grid()[:-1])  # one seed of explore is missing
    assert "number of runs 2, of static 3" in report(tmp_path, runs)


def test_the_page_warns_of_intervals_from_a_single_seed(tmp_path):
    runs = runs_in(tmp_path, made_grid(seeds=(1,), sentences=5))
    assert "intervals know nothing of luck with seeds" in report(tmp_path, runs)


def test_a_report_without_a_baseline_is_written(tmp_path):
    page = report(tmp_path, runs_in(tmp_path, made_grid(gains={"explore": 0.1})))
    Page(page)
    assert "Nothing can be compared" in page
    assert "no pairs of runs" in page


def test_a_report_on_a_single_run_is_written(tmp_path):
    Page(report(tmp_path, runs_in(tmp_path, [made_result((2, 5, 3))])))


def test_another_baseline_turns_the_answer_round(tmp_path):
    page = report(tmp_path, runs_in(tmp_path, made_grid(seeds=range(6))), baseline="explore")
    assert "Static is worse than explore" in page


def test_no_run_is_an_error_and_nothing_is_written(tmp_path):
    with pytest.raises(DyparseError, match="no finished run"):
        write_report([], tmp_path / "out", title="Report")
    assert not (tmp_path / "out").exists()


def test_an_inlined_picture_keeps_only_the_ids_that_are_used():
    svg = '<?xml version="1.0"?>\n<svg width="1"><g id="a"/><g id="b"/><use xlink:href="#b"/></svg>'
    assert inline_svg(svg, 'A "b"') == (
        '<svg role="img" aria-label="A &#34;b&#34;" width="1"><g/><g id="b"/>'
        '<use xlink:href="#b"/></svg>'
    )


# --- sentences -----------------------------------------------------------------------------------


def test_pictures_show_gold_and_both_trees_of_sentences_that_differ(tmp_path):
    static = made_result((2, 5, 6))
    explore = made_result((4, 3, 6), exploration="explore")
    runs = runs_in(tmp_path, [static, explore])
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
    browser = browser_of(runs_in(tmp_path, results), compared(results))
    assert len(browser.pictures) == 12
    assert browser.tables[0].rows == [("arc_eager", "explore", "75.0", "0.0", "25.0")]


def test_pictures_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("dyparse.report_page.MOST_PICTURES", 7)
    results = made_grid(sentences=40)
    runs = runs_in(tmp_path, results)
    pictures = browser_of(runs, compared(results)).pictures
    assert len(pictures) == 7
    assert {picture["gain"] > 0 for picture in pictures} == {True, False}
    monkeypatch.setattr("dyparse.report_page.MOST_BYTES_OF_PICTURES", 5000)
    assert len(browser_of(runs, compared(results)).pictures) < 7


def test_sentences_too_long_for_a_picture_are_left_out(tmp_path):
    results = [
        made_result((2, 50, 3), words=(4, 60, 6)),
        made_result((3, 10, 3), words=(4, 60, 6), exploration="explore"),
    ]
    (picture,) = browser_of(runs_in(tmp_path, results), compared(results)).pictures
    assert picture["words"] == 4


def test_without_gold_the_page_says_why_there_are_no_sentences(tmp_path):
    runs = runs_in(tmp_path, made_grid(sentences=5))
    for path, _ in runs:
        (path / "gold.conllu").unlink()
    page = report(tmp_path, runs)
    assert "No sentences are shown: that needs parsed.conllu and gold.conllu" in page
    assert 'id="pictures"' not in page
    assert 'id="filters"' not in page


def test_gold_beside_one_of_the_two_runs_is_enough(tmp_path):
    results = [made_result((2, 5, 6)), made_result((4, 3, 6), exploration="explore")]
    runs = runs_in(tmp_path, results)
    (runs[1][0] / "gold.conllu").unlink()
    assert len(browser_of(runs, compared(results)).pictures) == 2


def test_a_file_of_other_sentences_is_left_out_and_named(tmp_path):
    results = [made_result((2, 5, 6)), made_result((4, 3, 6), exploration="explore")]
    runs = runs_in(tmp_path, results)
    path = runs[1][0] / "parsed.conllu"
    path.write_text(path.read_text().split("\n\n")[0] + "\n\n")
    browser = browser_of(runs, compared(results))
    assert not browser.pictures
    assert "has 1 sentences, expected 3" in browser.paragraphs[0]


def test_one_can_choose_by_what_the_pictures_have(tmp_path):
    results = made_grid(systems=("arc_eager", "swap"), sentences=10, seeds=(1, 2))
    fields = browser_of(runs_in(tmp_path, results), compared(results)).fields
    options = {field["name"]: [value for value, _ in field["options"]] for field in fields}
    assert options["system"] == ["", "arc_eager", "swap"]
    assert options["better"] == ["", "explore", "static"]
    assert options["seed"] == ["", "1", "2"]
    assert options["most_words"] == ["40", "20", "10"]
