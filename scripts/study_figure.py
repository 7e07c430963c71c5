"""The figure of README.md: what dynamic training gains, by system, and elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import study
from study import Outcome

from dyparse.comparison.report.panels import LOOKS, STYLE, ZERO, Plot
from dyparse.comparison.report.table import interval

TITLE = "Gain in LAS over static training, with 95 % intervals"
SHOWN = (study.REPLAY, study.EXPLORE)
ELSEWHERE = {"B": "larger model", "C": "larger model, EWT", "D": "predicted tags", "E": "MiniLM"}
APART, BETWEEN = 0.36, 0.6  # of the rows of one system; of groups, in rows
MARGIN = 0.03


def rows() -> list[tuple[str, list[Outcome]]]:
    """A name and the outcomes of each row, primary ones first; unfinished grids have none."""
    by_name: dict[str, list[Outcome]] = {}
    found = [*study.family(study.PRIMARY), *study.family(study.OTHER_TRAININGS)]
    for one in found:
        system, exploration = one.planned.new
        if exploration in SHOWN and one.difference:
            by_name.setdefault(system, []).append(one)
    for one in study.family(study.ELSEWHERE):
        if one.difference:
            place = f"{one.planned.new[0]}, {ELSEWHERE[one.planned.grid]}"
            by_name.setdefault(place, []).append(one)
    return list(by_name.items())


def figure(found: Sequence[tuple[str, list[Outcome]]]) -> Plot:
    """Points with intervals, a row for each system and setting."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine
    from matplotlib.lines import Line2D

    with matplotlib.rc_context(STYLE):
        places = [
            number + BETWEEN * (outcomes[0].planned.grid != "A")
            for number, (_, outcomes) in enumerate(found)
        ]
        layout = ConstrainedLayoutEngine(rect=(0, 0, 1 - MARGIN, 1))  # room for the intervals
        canvas = Figure((7.0, 0.8 + 0.36 * (max(places) + 1)), layout=layout)
        axes = canvas.subplots()
        axes.axvline(0, color=ZERO, linewidth=0.9)
        axes.grid(axis="x")
        for y, (_, outcomes) in zip(places, found, strict=True):
            for number, one in enumerate(outcomes):
                look, difference = LOOKS[one.planned.new[1]], one.difference
                assert difference
                at = y + APART * (number - (len(outcomes) - 1) / 2)
                axes.plot(
                    [difference.low, difference.high], [at, at], color=look.colour,
                    solid_capstyle="butt",
                )  # fmt: skip
                filled = look.colour if one.verdict else "white"
                axes.plot(
                    [difference.mean], [at], marker=look.marker, color=look.colour,
                    markerfacecolor=filled, markersize=5.5,
                )  # fmt: skip
                axes.annotate(
                    interval(difference), (1.02, at), xycoords=("axes fraction", "data"),
                    va="center", fontsize=7.5, color=look.colour, annotation_clip=False,
                )  # fmt: skip
        axes.set_yticks(places, [name for name, _ in found])
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(max(places) + 0.6, -0.6)
        axes.set_xlabel("LAS on test: difference from static training, in points")
        handles = [
            Line2D([], [], color=LOOKS[name].colour, marker=LOOKS[name].marker, label=name)
            for name in SHOWN
        ]
        canvas.legend(handles=handles, loc="outside upper center", ncols=2)
        canvas.draw_without_rendering()
        canvas.set_layout_engine("none")
    return Plot("static_vs_dynamic", TITLE, "", canvas)
