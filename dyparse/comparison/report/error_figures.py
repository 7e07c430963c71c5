"""Figures of errors: what happens after a mistake, and scores by length of sentence and arc."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dyparse.comparison.error_rates import Analysis
from dyparse.comparison.groups import ALL
from dyparse.comparison.report.panels import (
    Plot,
    about_loss,
    columns_for,
    draw_legend,
    draw_rows,
    in_lines,
    looks,
    panels,
    row_of,
    row_places,
    rows_height,
)
from dyparse.comparison.statistics import Comparison
from dyparse.evaluation.error_analysis import NO_MISTAKE

PROPAGATION = {  # rates, and titles of their panels
    "cost_after_per_sentence": "arcs lost after the first mistake\nper sentence with one",
    "mistakes_before": "mistakes up to the first\n% of moves",
    "mistakes_after": "mistakes after the first\n% of moves",
}


def by_sentence_length(comparison: Comparison) -> Plot | None:
    """LAS of words by the length of their sentence."""
    return _breakdown(
        comparison,
        ("by_sentence_length", "las"),
        "LAS by the length of the sentence",
        "words in the sentence",
    )


def by_arc_length(comparison: Comparison) -> Plot | None:
    """Labelled F1 of arcs by their length."""
    return _breakdown(
        comparison,
        ("by_arc_length", "f1"),
        "Labelled F1 by the length of the arc",
        "words from head to dependent",
    )


def by_first_mistake(comparison: Comparison) -> Plot | None:
    """LAS of sentences by the quarter of the derivation with their first mistake."""
    return _breakdown(
        comparison,
        ("by_first_mistake", "las"),
        "LAS by the time of the first mistake",
        "quarter of the derivation with the first mistake",
        "Each training is scored on the sentences in which its own first mistake falls into the "
        "quarter. ",
    )


def _breakdown(
    comparison: Comparison, rate: tuple[str, str], title: str, axis: str, caution: str = ""
) -> Plot | None:
    """Two panels for every system: a rate of its trainings by class, and their differences."""
    analyses = _main_analyses(comparison)
    if not analyses:
        return None
    systems = list(dict.fromkeys(analysis.key.system for analysis in analyses))
    classes = [
        name
        for name in analyses[0].rates[rate[0]]
        if name != NO_MISTAKE and any(a.rates[rate[0]][name][rate[1]] is not None for a in analyses)
    ]
    columns = columns_for(len(systems))
    size = (2.7, 1.75) if columns > 1 else (4.4, 2.1)
    figure, grid = panels(2 * -(-len(systems) // columns), columns, size, sharey="row")
    upper, lower = grid[::2].ravel(), grid[1::2].ravel()
    styles = looks(comparison)
    for system, above, below in zip(systems, upper, lower, strict=False):
        own = {
            a.key.exploration: _values(a, rate, classes) for a in analyses if a.key.system == system
        }
        base = own.get(comparison.baseline)
        for exploration, values in own.items():
            look = styles[exploration]
            style: Any = {"color": look.colour, "marker": look.marker, "linestyle": look.line}
            above.plot(range(len(classes)), values, **style)
            if base is not None:
                below.plot(range(len(classes)), values - base, **style)
        above.set_title(in_lines(system))
        for axes in (above, below):
            axes.grid(axis="y")
            axes.set_xticks(range(len(classes)), [name.partition(" ")[0] for name in classes])
            axes.set_xlim(-0.3, len(classes) - 0.7)
        below.set_visible(base is not None)
    for k in range(len(systems), len(upper)):
        upper[k].set_visible(False)
        lower[k].set_visible(False)
    for row, axes in enumerate(grid[:, 0]):
        metric = title.partition(" by ")[0]
        axes.set_ylabel(f"{metric} − {comparison.baseline}" if row % 2 else metric)
    figure.supxlabel(axis, fontsize=9)
    draw_legend(comparison, figure, {analysis.key.exploration for analysis in analyses})
    return Plot(
        rate[0],
        title,
        f"Above: scores; below: difference from {comparison.baseline}, in points. {caution}"
        "Words of all treebanks and seeds together." + about_loss(comparison),
        figure,
    )


def _values(analysis: Analysis, rate: tuple[str, str], classes: Sequence[str]) -> Any:
    """[classes]: a rate of each class, NaN where it has no words."""
    values = [analysis.rates[rate[0]][name][rate[1]] for name in classes]
    return np.array([np.nan if value is None else value for value in values])


def propagation(comparison: Comparison) -> Plot | None:
    """How often moves are mistakes up to the first one and after it, and the arcs lost after it."""
    analyses = _main_analyses(comparison)
    if not analyses:
        return None
    places = row_places(comparison, [analysis.key for analysis in analyses])
    figure, grid = panels(1, len(PROPAGATION), (2.9, rows_height(places)), sharey=True)
    styles = looks(comparison)
    for axes, (name, title) in zip(grid[0], PROPAGATION.items(), strict=True):
        draw_rows(comparison, axes, places)
        values = {a.key: a.rates["propagation"][""][name] or 0.0 for a in analyses}
        for key, value in values.items():
            y = places[row_of(key)]
            axes.barh(y, value, height=0.8, color=styles[key.exploration].colour)
            axes.annotate(
                f"{value:.2f}",
                (value, y),
                (3, 0),
                textcoords="offset points",
                va="center",
                fontsize=7,
            )
        axes.set_xlim(0, 1.18 * max(values.values()) or 1.0)
        axes.set_title(title)
    draw_legend(comparison, figure, {analysis.key.exploration for analysis in analyses}, "bar")
    return Plot(
        "propagation",
        "Mistakes up to the first one, and after it",
        "A mistake is a move that makes gold arcs unreachable. Left: arcs lost by mistakes after "
        "the first one of a sentence; middle: moves up to the first mistake, that one included; "
        "right: those after it. Shares of moves depend on how many moves a parser takes for a "
        "sentence, which training may change; arcs lost do not. All treebanks and seeds together."
        + about_loss(comparison),
        figure,
    )


def _main_analyses(comparison: Comparison) -> list[Analysis]:
    """Analyses over all treebanks, of trainings with the main loss."""
    return [a for a in comparison.analyses_of(ALL) if a.key.loss == comparison.main_loss]
