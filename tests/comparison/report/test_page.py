"""The report page: well-formed, self-contained, deterministic, and safe for any names."""

import csv
import json
import re
from html.parser import HTMLParser

import pytest
from helpers.made_results import (
    compared,
    made_grid,
    made_result,
    made_runs,
    pictures_of,
    report,
)

from dyparse.comparison.report import figures
from dyparse.comparison.report.page import inline_svg, write_report
from dyparse.comparison.report.score_figures import differences, learning_curves

NAMED = ("figures/propagation.svg", "tables/scores.tex")  # for pdf and png see test_figures.py
SIZE = {"seeds": range(4), "sentences": 20}
VOID = {"meta", "br", "hr", "img", "input", "link"}


def report_files(directory):
    """Names of the figures and tables of a report."""
    return {f"{path.parent.name}/{path.name}" for path in directory.glob("*/*")}


class Page(HTMLParser):
    """Checks that elements are closed in order; collects tags, ids and text."""

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


@pytest.fixture(scope="module")
def grid_report(tmp_path_factory):
    """A directory with a report on two systems and treebanks."""
    directory = tmp_path_factory.mktemp("report")
    results = made_grid(systems=("arc_eager", "swap"), treebanks=("UD_A", "UD_B"), **SIZE)
    comparison = compared(results, resamples=50)
    runs = made_runs(directory, results)
    write_report(runs, comparison, directory / "out", title="Static & dynamic")
    return directory / "out"


@pytest.fixture(scope="module")
def html(grid_report):
    """The page of that report."""
    return (grid_report / "report.html").read_text(encoding="utf-8")


def test_a_report_has_page_csv_json_and_figures_and_no_temporary_files(grid_report):
    assert sorted(path.name for path in grid_report.iterdir()) == [
        "figures",
        "report.html",
        "results.csv",
        "results.json",
        "tables",
    ]
    names = {path.name for path in (grid_report / "figures").iterdir()}
    assert {"differences.pdf", "differences.png", "differences.svg"} <= names
    assert len(names) == 21
    tables = {path.name: path.read_text() for path in (grid_report / "tables").iterdir()}
    assert {"pooled.tex", "scores.tex", "las.tex", "sentences.tex", "setting.tex"} <= set(tables)
    assert all(text.startswith(r"% needs \usepackage{booktabs}") for text in tables.values())
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


def test_the_page_gives_the_answer_first_and_has_all_sections(html):
    text = " ".join(Page(html).text)
    assert text.index("Explore beats static") < text.index("Differences")
    assert "too narrow" not in text
    assert text.count("95 % interval excludes zero") == 1, "the rule of emphasis"
    for title in ("Scores", "Learning curves", "What happens after a mistake", "Sentences"):
        assert title in text
    assert html.count("<figure") == 7
    assert "Static &amp; dynamic" in html


def test_the_same_runs_make_the_same_page(tmp_path, grid_report):
    directory = grid_report.parent
    results = made_grid(systems=("arc_eager", "swap"), treebanks=("UD_A", "UD_B"), **SIZE)
    runs = [(directory / str(k), result) for k, result in enumerate(results)]
    report(tmp_path, runs[::-1], title="Static & dynamic")
    for name in ("report.html", "results.csv", "results.json", *NAMED):
        assert (tmp_path / "out" / name).read_bytes() == (grid_report / name).read_bytes()


def test_figures_and_tables_that_only_an_earlier_report_has_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "MAKERS", (differences, learning_curves))
    runs = made_runs(tmp_path, made_grid(treebanks=("UD_A", "UD_B"), seeds=(1,), sentences=5))
    report(tmp_path, runs)
    earlier = report_files(tmp_path / "out")
    (tmp_path / "out" / "figures" / "own.svg").touch()
    report(tmp_path, [runs[0]])
    now = report_files(tmp_path / "out")
    assert {"figures/differences.svg", "tables/pooled.tex"} <= earlier - now
    assert "figures/learning_curves.svg" in now
    assert now - earlier == {"figures/own.svg"}


def test_names_and_words_that_look_like_html_are_text(tmp_path):
    nasty = "<script>alert('x')</script>&amp;\"]]>"
    results = made_grid(systems=(nasty,), treebanks=(f"UD_{nasty}",), seeds=(1,), sentences=5)
    page = report(tmp_path, made_runs(tmp_path, results, word=nasty), title=nasty)
    parsed = Page(page)
    assert "alert" not in " ".join(attributes.get("class") or "" for _, attributes in parsed.tags)
    assert page.count("<script") == 2
    assert nasty in " ".join(parsed.text)
    for picture in pictures_of(page):
        assert "<script" not in picture["svg"]
        assert "&lt;script&gt;" in picture["svg"]


def test_notes_on_what_is_missing_are_on_the_page(tmp_path):
    runs = made_runs(tmp_path, made_grid()[:-1])  # one seed of explore is missing
    assert "2 runs, static: 3" in report(tmp_path, runs)


def test_the_page_warns_of_intervals_from_a_single_seed(tmp_path):
    runs = made_runs(tmp_path, made_grid(seeds=(1,), sentences=5))
    assert "intervals ignore the variation between seeds" in report(tmp_path, runs)


def test_a_report_without_a_baseline_is_written(tmp_path):
    page = report(tmp_path, made_runs(tmp_path, made_grid(gains={"explore": 0.1})))
    Page(page)
    assert "Nothing can be compared" in page
    assert "No two runs parse a sentence differently" in page


def test_a_report_on_a_single_run_is_written(tmp_path):
    Page(report(tmp_path, made_runs(tmp_path, [made_result((2, 5, 3))])))


def test_another_baseline_reverses_the_answer(tmp_path):
    page = report(tmp_path, made_runs(tmp_path, made_grid(seeds=range(6))), baseline="explore")
    assert "Static is worse than explore" in page


def test_an_inlined_picture_keeps_only_the_ids_that_are_used():
    svg = '<?xml version="1.0"?>\n<svg width="1"><g id="a"/><g id="b"/><use xlink:href="#b"/></svg>'
    assert inline_svg(svg, 'A "b"') == (
        '<svg role="img" aria-label="A &#34;b&#34;" width="1"><g/><g id="b"/>'
        '<use xlink:href="#b"/></svg>'
    )
