"""The results as one markdown table.

    python benchmarks/peers/table.py peers.json

Ratios are relative to the first dyparse line of the same run: below 1, the parser is slower than
dyparse. LAS that was reached more than a tenth later than its column says is followed by its CPU
minutes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

MOMENTS = (1.0, 5.0)  # CPU minutes after which test is parsed
HEADER = (
    "parser",
    "reads",
    "training, words/s (ratio)",
    *(f"LAS, {moment:g} min" for moment in MOMENTS),
    "LAS, end (CPU min)",
    "parsing CoNLL-U, words/s (ratio)",
    "parsing in memory, words/s (ratio)",
    "model, MB",
    "peak, MB",
)
TEXT_COLUMNS = 2
OVERRUN = 1.1  # how late LAS may be without its minutes beside it
MEGA = 1e6
Result = dict[str, Any]


def main() -> None:
    results = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["rows"]
    sys.stdout.write(markdown(results))


def markdown(results: list[Result]) -> str:
    """The table, and below it how every training ended or why it failed."""
    notes = [f"- {result['title']}: {ending(result)}\n" for result in results]
    return f"{as_table(results)}\n{''.join(notes)}"


def as_table(results: list[Result]) -> str:
    """The table alone."""
    base = next((r for r in results if r["row"].startswith("dyparse") and "end" in r), None)
    rows = [row for result in results for row in lines_of(result, base)]
    rule = ["---" if k < TEXT_COLUMNS else "--:" for k in range(len(HEADER))]
    return "".join(f"| {' | '.join(row)} |\n" for row in (HEADER, rule, *rows))


def lines_of(result: Result, base: Result | None) -> list[tuple[str, ...]]:
    """The line of a parser, and one more for each other way to parse with the same model."""
    if "failed" in result:
        empty = [""] * (len(HEADER) - 3)
        return [(result["title"], result["reads"], f"failed: {escaped(result['failed'])}", *empty)]
    end = result["end"]
    line = (
        result["title"],
        result["reads"],
        with_ratio(training_speed(result), training_speed(base)),
        *(las_at(result, moment) for moment in MOMENTS),
        f"{end['las']:.2f} ({end['cpu_seconds'] / 60:.1f})",
        *parsing(result, base),
        *(f"{result[key] / MEGA:,.0f}" for key in ("model_bytes", "peak_bytes")),
    )
    others = [
        (
            f"the same model, {other['name']}",
            *[""] * (2 + len(MOMENTS)),
            f"{other['las']:.2f}",
            *parsing(other, base),
            "",
            "",
        )
        for other in result.get("others", [])
    ]
    return [line, *others]


def las_at(result: Result, moment: float) -> str:
    """LAS after this many CPU minutes; that of the end if training was over by then."""
    end = result["end"]
    found = next((s for s in result["snapshots"] if s["minutes"] == moment), None)
    if end["complete"] and end["cpu_seconds"] <= 60 * moment:
        return f"{end['las']:.2f}"
    if not found:
        return ""
    late = found["cpu_seconds"] > OVERRUN * 60 * moment
    return f"{found['las']:.2f}" + (f" ({found['cpu_seconds'] / 60:.1f})" if late else "")


def training_speed(result: Result | None) -> float | None:
    """Words per CPU second of training."""
    return result["training_words"] / result["training_seconds"] if result else None


def parsing(result: Result, base: Result | None) -> list[str]:
    """Speeds of parsing, from file to file and in memory, if measured."""
    speeds, to = result["parsing"], base["parsing"] if base else {}
    return [with_ratio(speeds.get(way), to.get(way)) for way in ("conllu", "memory")]


def with_ratio(speed: float | None, base: float | None) -> str:
    """A speed, and its ratio to that of dyparse."""
    if speed is None:
        return ""
    shown = f"{speed:,.0f}"
    return f"{shown} ({speed / base:.2g})" if base else shown


def ending(result: Result) -> str:
    """How training ended, and the versions of packages."""
    if "failed" in result:
        return f"failed: {result['failed']}"
    packages = ", ".join(f"{name} {number}" for name, number in result["versions"].items())
    return (
        f"{result['end']['reason']}; {result['training_words']:,} words seen; "
        f"{result['startup_seconds']:.0f} CPU s before training; {packages}"
    )


def escaped(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    main()
