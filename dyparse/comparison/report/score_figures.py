"""Figures of scores: differences from the baseline, and learning curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dyparse.comparison.groups import Key
from dyparse.comparison.report.panels import (
    MOST_COLUMNS,
    Places,
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
    short,
)
from dyparse.comparison.report.table import interval
from dyparse.comparison.significance import pairs_needed
from dyparse.comparison.statistics import Comparison, Effect

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INTERVALS = "Bars are 95 % intervals over sentences and seeds."
FILLED = "Filled points are significant differences, hollow ones are not."


def differences(comparison: Comparison) -> Plot | None:
    """The difference over treebanks, a row for every system, loss and exploration."""
    effects = {row.key: row.effect for row in comparison.pooled if row.effect}
    if not effects:
        return None
    places = row_places(comparison, effects)
    figure, ((axes,),) = panels(1, 1, (5.2, rows_height(places)), right=1.4)
    _draw_effects(comparison, axes, effects, places)
    for key, effect in effects.items():
        axes.annotate(
            interval(effect.las),
            (1.02, places[row_of(key)]),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=8,
            annotation_clip=False,
        )
    axes.set_xlabel(f"LAS: difference from {comparison.baseline}, in points")
    draw_legend(comparison, figure, {key.exploration for key in effects}, "point")
    return Plot(
        "differences",
        f"Difference from {comparison.baseline} in LAS, mean over treebanks",
        f"{INTERVALS} {FILLED}",
        figure,
    )


def differences_by_treebank(comparison: Comparison) -> Plot | None:
    """The differences on each treebank; None for a single treebank."""
    effects = {line.key: line.effect for line in comparison.lines if line.effect}
    treebanks = [
        name
        for name in comparison.values("treebank")
        if any(key.treebank == name for key in effects)
    ]
    if len(treebanks) < 2:
        return None
    places = row_places(comparison, effects)
    size = (1.75, rows_height(places))
    figure, grid = panels(1, len(treebanks), size, sharex=True, sharey=True)
    for axes, treebank in zip(grid[0], treebanks, strict=True):
        own = {key: effect for key, effect in effects.items() if key.treebank == treebank}
        _draw_effects(comparison, axes, own, places)
        axes.set_title(short(treebank))
    figure.supxlabel(f"LAS: difference from {comparison.baseline}, in points", fontsize=9)
    draw_legend(comparison, figure, {key.exploration for key in effects}, "point")
    return Plot(
        "differences_by_treebank",
        f"Difference from {comparison.baseline} in LAS, by treebank",
        f"{INTERVALS} {FILLED} On one treebank that takes {pairs_needed(len(effects))} seeds.",
        figure,
    )


def _draw_effects(
    comparison: Comparison, axes: Axes, effects: Mapping[Key, Effect], places: Places
) -> None:
    """Points with their intervals, filled where the difference is significant."""
    draw_rows(comparison, axes, places)
    styles = looks(comparison)
    for key, effect in effects.items():
        look, y, las = styles[key.exploration], places[row_of(key)], effect.las
        axes.plot([las.low, las.high], [y, y], color=look.colour, solid_capstyle="butt")
        axes.plot(
            [las.mean],
            [y],
            linestyle="",
            marker=look.marker,
            color=look.colour,
            markerfacecolor=look.colour if effect.verdict else "white",
            markersize=6,
        )


def learning_curves(comparison: Comparison) -> Plot | None:
    """LAS on dev after every epoch, a panel for every system and treebank."""
    curves = [c for c in comparison.curves if c.key.loss == comparison.main_loss]
    systems = list(dict.fromkeys(curve.key.system for curve in curves))
    treebanks = sorted({curve.key.treebank for curve in curves})
    names = [(system, treebank) for system in systems for treebank in treebanks]
    is_matrix = len(systems) > 1 and len(treebanks) > 1
    columns = len(treebanks) if is_matrix else columns_for(len(names))
    size = (1.75, 1.35) if len(names) > MOST_COLUMNS else (2.8, 2.1) if columns > 1 else (4.6, 3.0)
    figure, grid = panels(-(-len(names) // columns), columns, size)
    styles = looks(comparison)
    for place, (name, axes) in enumerate(zip(names, grid.flat, strict=False)):
        own = [curve for curve in curves if (curve.key.system, curve.key.treebank) == name]
        for curve in own:
            look = styles[curve.key.exploration]
            axes.plot(
                curve.epochs,
                curve.mean,
                color=look.colour,
                linestyle=look.line,
                marker="" if len(curve.epochs) > 1 else look.marker,
            )
            if curve.sd:
                low, high = np.array(curve.mean) + np.outer([-1, 1], curve.sd)
                axes.fill_between(curve.epochs, low, high, color=look.colour, alpha=0.18, lw=0)
        _zoom_in(axes, [curve.mean for curve in own])
        axes.grid(axis="y")
        axes.xaxis.get_major_locator().set_params(integer=True)
        if not own:  # the system has not been trained on the treebank
            axes.spines[:].set_visible(False)
            axes.set(xticks=[], yticks=[])
        _name_panel(axes, name, (place // columns, place % columns), is_matrix=is_matrix)
    for axes in grid.flat[len(names) :]:
        axes.set_visible(False)
    figure.supxlabel("epoch", fontsize=9)
    figure.supylabel("LAS on dev", fontsize=9)
    draw_legend(comparison, figure, {curve.key.exploration for curve in curves}, "curve")
    return Plot(
        "learning_curves",
        "LAS on dev by epoch",
        "Mean over seeds; bands are ± one standard deviation. Axes do not start at 0, and the "
        "first epochs may lie below them." + about_loss(comparison),
        figure,
    )


def _zoom_in(axes: Axes, means: Sequence[Sequence[float]]) -> None:
    """Limit the axis to what comes after the first quarter of training: later steps are small."""
    later = [value for mean in means for value in mean[len(mean) // 4 :]]
    if later and max(later) > min(later):
        room = 0.08 * (max(later) - min(later))
        axes.set_ylim(min(later) - room, max(later) + 2 * room)


def _name_panel(
    axes: Axes, name: tuple[str, str], place: tuple[int, int], *, is_matrix: bool
) -> None:
    """System and treebank as title, or as row and column of a matrix of panels."""
    system, treebank = name
    if not is_matrix:
        axes.set_title(f"{system}, {short(treebank)}")
        return
    if place[0] == 0:
        axes.set_title(short(treebank))
    if place[1] == 0:
        axes.set_ylabel(in_lines(system))
