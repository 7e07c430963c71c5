"""The results from raw text as one Markdown table: F1 of CoNLL 2018, times and sizes."""

from __future__ import annotations

from typing import Any

from measurement import TEXT
from table import MEGA, escaped

from dyparse.evaluation.conll18.scores import TITLES

HEADER = (
    "parser",
    *TITLES.values(),
    "training, s",
    "text to CoNLL-U, words/s",
    "model, MB",
    "peak, MB",
)
Result = dict[str, Any]


def markdown(results: list[Result]) -> str:
    """The table, and below it how every training ended or why it failed."""
    notes = [f"- {result['title']} ({result['reads']}): {ending(result)}\n" for result in results]
    return f"{as_table(results)}\n{''.join(notes)}"


def as_table(results: list[Result]) -> str:
    """The table alone."""
    rows = [row for result in results for row in lines_of(result)]
    rule = ["---", *["--:"] * (len(HEADER) - 1)]
    return "".join(f"| {' | '.join(row)} |\n" for row in (HEADER, rule, *rows))


def lines_of(result: Result) -> list[tuple[str, ...]]:
    """The line of a parser, and one more for each other way to parse with the same model."""
    if "failed" in result:
        empty = [""] * (len(HEADER) - 2)
        return [(result["title"], f"failed: {escaped(result['failed'])}", *empty)]
    end = result["end"]
    spent = end["cpu_seconds"]  # 0 if it was trained before
    seconds = f"{result['startup_seconds'] + spent:,.0f}" if spent else ""
    sizes = (f"{result[key] / MEGA:,.0f}" for key in ("model_bytes", "peak_bytes"))
    line = (result["title"], *scores(end), seconds, speed(result), *sizes)
    others = [
        (f"the same model, {other['name']}", *scores(other), "", speed(other), "", "")
        for other in result.get("others", [])
    ]
    return [line, *others]


def scores(found: Result) -> list[str]:
    """The scores in the order of the header."""
    return [f"{found['conll18'][name]:.2f}" for name in TITLES]


def ending(result: Result) -> str:
    """How training ended, and the versions of packages."""
    if "failed" in result:
        return f"failed: {result['failed']}"
    packages = ", ".join(f"{name} {number}" for name, number in result["versions"].items())
    return f"{result['end']['reason']}; {packages}"


def speed(found: Result) -> str:
    return f"{found['parsing'][TEXT]:,.0f}"
