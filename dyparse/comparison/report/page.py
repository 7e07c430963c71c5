"""The report on finished runs: `report.html`, one self-contained page, with its figures and tables
also as files of their own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import jinja2
from markupsafe import Markup

from dyparse.comparison.report.export import to_csv, to_json
from dyparse.comparison.report.figures import plots
from dyparse.comparison.report.panels import Plot
from dyparse.comparison.report.sentence_browser import Browser, Run, browser_of
from dyparse.comparison.report.table import Table
from dyparse.comparison.report.tables import tables
from dyparse.comparison.report.text import (
    caution,
    emphasis,
    explanation,
    extent,
    method,
    verdict,
)
from dyparse.comparison.statistics import Comparison
from dyparse.drawing.svg import STYLE as TREE_STYLE
from dyparse.runtime.atomic_files import write

PAGE, CSV, JSON, FIGURES, TABLES = "report.html", "results.csv", "results.json", "figures", "tables"
FIGURE_KINDS = ("pdf", "png", "svg")
TEMPLATES = Path(__file__).parent  # page.html.j2, page.css, page.js


def write_report(
    runs: Sequence[Run], comparison: Comparison, directory: Path, *, title: str
) -> Path:
    """Write the report on a comparison of runs into a directory; returns the path of the page.

    Beside the page: results.csv, results.json, figures as PDF, PNG and SVG, tables as LaTeX.
    Figures and tables that only an earlier report has are removed.
    """
    browser = browser_of(runs, comparison)
    shown = [*tables(comparison), *browser.tables]
    figures = _write_figures(plots(comparison), directory / FIGURES)
    (directory / TABLES).mkdir(exist_ok=True)
    for table in shown:
        write(directory / TABLES / f"{table.name}.tex", table.to_latex().encode())
    write(directory / CSV, to_csv(comparison).encode())
    write(directory / JSON, to_json(comparison).encode())
    page = report_page(comparison, figures, shown, browser, title=title)
    write(directory / PAGE, page.encode())
    written = {f"{FIGURES}/{plot.name}" for plot, _ in figures}
    written |= {f"{TABLES}/{table.name}" for table in shown}
    for section in _sections(comparison, browser):
        _remove_outdated(directory, section.parts, written)
    return directory / PAGE


def _remove_outdated(directory: Path, parts: Sequence[str], written: set[str]) -> None:
    """Remove figures and tables of these names that this report has not written."""
    for kinds, folder in ((FIGURE_KINDS, FIGURES), (("tex",), TABLES)):
        for name in parts:
            if f"{folder}/{name}" not in written:
                for kind in kinds:
                    (directory / folder / f"{name}.{kind}").unlink(missing_ok=True)


def _write_figures(shown: Sequence[Plot], directory: Path) -> list[tuple[Plot, str]]:
    """Write each figure in all formats; returns them with their SVG."""
    directory.mkdir(parents=True, exist_ok=True)
    files = {(plot.name, kind): plot.to_bytes(kind) for plot in shown for kind in FIGURE_KINDS}
    for (name, kind), content in files.items():
        write(directory / f"{name}.{kind}", content)
    return [(plot, files[plot.name, "svg"].decode()) for plot in shown]


def report_page(
    comparison: Comparison,
    figures: Sequence[tuple[Plot, str]],
    tables: Sequence[Table],
    browser: Browser,
    *,
    title: str,
) -> str:
    """The HTML of the page; figures come with their SVG."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    template = environment.get_template("page.html.j2")
    return template.render(
        title=title,
        style=_trusted("page.css"),
        tree_style=Markup(TREE_STYLE),
        script=_trusted("page.js"),
        extent=extent(comparison),
        verdict=verdict(comparison),
        sections=_sections(comparison, browser),
        figures={
            plot.name: {
                "title": plot.title,
                "caption": plot.caption,
                "svg": Markup(inline_svg(svg, plot.title)),
            }
            for plot, svg in figures
        },
        tables={table.name: table for table in tables},
        browser=browser,
        setting_name=comparison.setting_name,
    )


def _trusted(name: str) -> Markup:
    """A file of this package, to be put on the page without escaping."""
    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))


def inline_svg(svg: str, label: str) -> str:
    """A picture as part of a page: without XML declaration and without unused ids."""
    body = svg[svg.index("<svg") :]
    used = set(re.findall(r'(?:url\(#|href="#)([^")]+)', body))

    def kept(match: re.Match[str]) -> str:
        return match.group() if match.group(1) in used else ""

    body = re.sub(r' id="([^"]*)"', kept, body)
    return body.replace("<svg ", f'<svg role="img" aria-label="{Markup.escape(label)}" ', 1)


class Section(NamedTuple):
    """A section of the page: text, then figures and tables by name."""

    name: str
    title: str
    paragraphs: Sequence[str]
    parts: Sequence[str]


def _sections(comparison: Comparison, browser: Browser) -> list[Section]:
    rules = [*emphasis(comparison), *caution(comparison)]
    differences = ("differences", "pooled", "differences_by_treebank")
    why = ("propagation", "propagation_rates", "by_first_mistake", "first_mistake")
    where = (
        "by_sentence_length",
        "sentence_length",
        "by_arc_length",
        "arc_length",
        "projectivity",
        "moves",
        "repairs",
    )
    return [
        Section("differences", "Differences", rules, differences),
        Section("scores", "Scores", [], ("las", "scores")),
        Section("curves", "Learning curves", [], ("learning_curves",)),
        Section("why", "What happens after a mistake", explanation(comparison), why),
        Section("where", "Where the errors are", [], where),
        Section("sentences", "Sentences", browser.paragraphs, ("sentences",)),
        Section("method", "How it was computed", method(comparison), ("setting",)),
    ]
