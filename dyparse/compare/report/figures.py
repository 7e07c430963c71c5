"""Figures of a comparison: differences, learning curves, and where the errors are.

An exploration has the same colour, marker and line in all of them: colours of Okabe & Ito (2008),
which the colour-blind can tell apart. Where there are several losses, curves and errors are those
of the loss with most runs. The same comparison gives the same bytes.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dyparse.compare.error_rates import Analysis
from dyparse.compare.groups import ALL, Key
from dyparse.compare.statistics import SIGNIFICANT, Comparison, Effect
from dyparse.evaluation.error_analysis import NO_MISTAKE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLE: dict[Any, Any] = {
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#666666",
    "axes.linewidth": 0.7,
    "axes.axisbelow": True,
    "grid.color": "#e2e2e2",
    "grid.linewidth": 0.6,
    "xtick.color": "#333333",
    "ytick.color": "#333333",
    "legend.frameon": False,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
    "svg.fonttype": "none",  # text stays text
}
DOTS_PER_INCH = 160
MOST_COLUMNS = 4  # of panels that could as well be below each other; rows are about as long
ZERO = "#888888"  # the line of no difference


class Look(NamedTuple):
    """How an exploration is drawn."""

    colour: str
    marker: str
    line: Any  # style


LOOKS = {
    "static": Look("#4d4d4d", "s", (0, (4, 1.5))),
    "explore": Look("#0072b2", "o", "-"),
    "ambiguity": Look("#e69f00", "^", (0, (6, 1, 1, 1))),
    "sample": Look("#009e73", "D", (0, (2, 1))),
    "dagger": Look("#d55e00", "v", (0, (8, 1.5))),
    "curriculum": Look("#cc79a7", "P", (0, (1, 1))),
}
SPARE_LOOKS = (
    Look("#56b4e9", "X", (0, (5, 1, 1, 1, 1, 1))),
    Look("#332288", "<", (0, (3, 1))),
    Look("#999933", ">", (0, (1, 2))),
    Look("#882255", "*", (0, (7, 2, 2, 2))),
    Look("#000000", "p", "-"),
)


@dataclass(frozen=True)
class Plot:
    """A figure, and what is to be said with it."""

    name: str
    title: str
    caption: str
    figure: Figure

    def to_bytes(self, kind: str) -> bytes:
        """The file, `png` or `svg`; nothing in it depends on time and place."""
        import matplotlib

        metadata = {"png": {"Software": None}}.get(
            kind, dict.fromkeys(("Date", "Creator", "Format", "Type"))
        )
        stream = io.BytesIO()
        with matplotlib.rc_context({**STYLE, "svg.hashsalt": self.name}):
            self.figure.savefig(stream, format=kind, dpi=DOTS_PER_INCH, metadata=metadata)
        return stream.getvalue()


def plots(comparison: Comparison) -> list[Plot]:
    """All figures that the comparison has something to show in."""
    import matplotlib

    makers: tuple[Callable[[Comparison], Plot | None], ...] = (
        differences,
        differences_by_treebank,
        learning_curves,
        propagation,
        by_first_mistake,
        by_sentence_length,
        by_arc_length,
    )
    with matplotlib.rc_context(STYLE):
        made = [plot for plot in (make(comparison) for make in makers) if plot]
        for plot in made:  # arrange it once: each time it is drawn it would move a little
            plot.figure.draw_without_rendering()
            plot.figure.set_layout_engine("none")
    return made


def looks(comparison: Comparison) -> dict[str, Look]:
    """The look of every exploration; variants of one by their options get another."""
    found: dict[str, Look] = {}
    spare = iter(SPARE_LOOKS * (1 + len(comparison.values("exploration"))))
    for exploration in comparison.values("exploration"):
        usual = LOOKS.get(exploration.partition(":")[0])
        found[exploration] = usual if usual and usual not in found.values() else next(spare)
    return found


# --- differences ---------------------------------------------------------------------------------


def differences(comparison: Comparison) -> Plot | None:
    """A row for every system, loss and exploration: the difference over treebanks."""
    effects = {row.key: row.effect for row in comparison.pooled if row.effect}
    if not effects:
        return None
    places = _places(comparison, effects)
    figure, ((axes,),) = _panels(1, 1, (5.2, _height(places)), right=1.4)
    _forest(comparison, axes, effects, places)
    for key, effect in effects.items():
        las = effect.las
        text = f"{las.mean:+.2f} [{las.low:+.2f}, {las.high:+.2f}]".replace("-", "−")
        axes.annotate(
            text,
            (1.02, places[_row(key)]),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=8,
            annotation_clip=False,
        )
    axes.set_xlabel(f"LAS: difference to {comparison.baseline}, in points")
    _legend(comparison, figure, {key.exploration for key in effects}, "point")
    return Plot(
        "differences",
        f"Difference to {comparison.baseline} in LAS, mean over treebanks",
        "Bars are 95 % intervals over sentences and seeds. Filled: p < 0.05 over pairs of runs, "
        "corrected for all rows; hollow: not.",
        figure,
    )


def differences_by_treebank(comparison: Comparison) -> Plot | None:
    """The same on each treebank; nothing if there is but one."""
    effects = {line.key: line.effect for line in comparison.lines if line.effect}
    treebanks = [name for name in comparison.values("treebank") if any(name in k for k in effects)]
    if len(treebanks) < 2:
        return None
    places = _places(comparison, effects)
    figure, panels = _panels(1, len(treebanks), (1.75, _height(places)), sharex=True, sharey=True)
    for axes, treebank in zip(panels[0], treebanks, strict=True):
        own = {key: effect for key, effect in effects.items() if key.treebank == treebank}
        _forest(comparison, axes, own, places)
        axes.set_title(_short(treebank))
    figure.supxlabel(f"LAS: difference to {comparison.baseline}, in points", fontsize=9)
    _legend(comparison, figure, {key.exploration for key in effects}, "point")
    return Plot(
        "differences_by_treebank",
        f"Difference to {comparison.baseline} in LAS, by treebank",
        "Bars are 95 % intervals over sentences and seeds. Filled: p < 0.05 over sentences, "
        "corrected for all rows and treebanks; hollow: not.",
        figure,
    )


def _row(key: Key) -> tuple[str, str, str]:
    return key.system, key.loss, key.exploration


def _places(comparison: Comparison, keys: Iterable[Key]) -> dict[tuple[str, str, str], float]:
    """Where the rows are from top to bottom; those of a system stand together."""
    rows = {_row(key) for key in keys}
    places: dict[tuple[str, str, str], float] = {}
    y, before = 0.0, None
    for line in comparison.lines:
        row = _row(line.key)
        if row in rows and row not in places:
            y += 1.0 if before in (None, row[:2]) else 1.7
            places[row], before = y, row[:2]
    return places


def _height(places: dict[tuple[str, str, str], float]) -> float:
    return 0.5 + 0.24 * max(places.values())


def _forest(
    comparison: Comparison,
    axes: Axes,
    effects: dict[Key, Effect],
    places: dict[tuple[str, str, str], float],
) -> None:
    styles, several = looks(comparison), len(comparison.values("loss")) > 1
    axes.axvline(0, color=ZERO, linewidth=0.9)
    axes.grid(axis="x")
    for key, effect in effects.items():
        look, y, las = styles[key.exploration], places[_row(key)], effect.las
        p = effect.p_seeds if key.treebank == ALL else effect.p_sentences
        is_sure = p is not None and p < SIGNIFICANT
        axes.plot([las.low, las.high], [y, y], color=look.colour, solid_capstyle="butt")
        axes.plot(
            [las.mean],
            [y],
            linestyle="",
            marker=look.marker,
            color=look.colour,
            markerfacecolor=look.colour if is_sure else "white",
            markersize=6,
        )
    groups: dict[str, list[float]] = {}
    for (system, loss, _), y in places.items():
        groups.setdefault(f"{system}, {loss}" if several else system, []).append(y)
    axes.set_yticks([float(np.mean(ys)) for ys in groups.values()], list(groups))
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(max(places.values()) + 0.8, 0.2)


# --- learning curves -----------------------------------------------------------------------------


def learning_curves(comparison: Comparison) -> Plot | None:
    """A panel for every system and treebank: LAS on dev after every epoch."""
    curves = [c for c in comparison.curves if c.key.loss == comparison.main_loss]
    systems = list(dict.fromkeys(curve.key.system for curve in curves))
    treebanks = sorted({curve.key.treebank for curve in curves})
    names = [(system, treebank) for system in systems for treebank in treebanks]
    is_matrix = len(systems) > 1 and len(treebanks) > 1
    columns = len(treebanks) if is_matrix else _columns(len(names))
    size = (1.75, 1.35) if len(names) > MOST_COLUMNS else (2.8, 2.1) if columns > 1 else (4.6, 3.0)
    figure, panels = _panels(-(-len(names) // columns), columns, size)
    styles = looks(comparison)
    for place, (name, axes) in enumerate(zip(names, panels.flat, strict=False)):
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
        _cut_off_the_start(axes, [curve.mean for curve in own])
        axes.grid(axis="y")
        axes.xaxis.get_major_locator().set_params(integer=True)
        _name_panel(axes, name, (place // columns, place % columns), is_matrix=is_matrix)
    _hide_unused(panels, len(names))
    figure.supxlabel("epoch", fontsize=9)
    figure.supylabel("LAS on dev", fontsize=9)
    _legend(comparison, figure, {curve.key.exploration for curve in curves}, "curve")
    return Plot(
        "learning_curves",
        "LAS on dev by epoch",
        "Mean over seeds; bands are ± one standard deviation. Axes do not start at 0, and the "
        "first epochs may lie below them." + _about_loss(comparison),
        figure,
    )


def _cut_off_the_start(axes: Axes, means: Sequence[Sequence[float]]) -> None:
    """Begin the axis where the first quarter of the training ends: later differences are small."""
    later = [value for mean in means for value in mean[len(mean) // 4 :]]
    if later and max(later) > min(later):
        room = 0.08 * (max(later) - min(later))
        axes.set_ylim(min(later) - room, max(later) + 2 * room)


def _name_panel(
    axes: Axes, name: tuple[str, str], place: tuple[int, int], *, is_matrix: bool
) -> None:
    system, treebank = name
    if not is_matrix:
        axes.set_title(f"{system}, {_short(treebank)}")
        return
    if place[0] == 0:
        axes.set_title(_short(treebank))
    if place[1] == 0:
        axes.set_ylabel(_in_lines(system))


# --- errors --------------------------------------------------------------------------------------


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
    """LAS of sentences by when their first mistake was made."""
    return _breakdown(
        comparison,
        ("by_first_mistake", "las"),
        "LAS by the time of the first mistake",
        "quarter of the derivation with the first mistake",
        "Each training is scored on the sentences in which its own first mistake falls into the "
        "quarter. ",
    )


def _breakdown(
    comparison: Comparison, what: tuple[str, str], title: str, axis: str, caution: str = ""
) -> Plot | None:
    """For every system a panel with the figures of its trainings, below it their differences."""
    analyses = _main_analyses(comparison)
    if not analyses:
        return None
    systems = list(dict.fromkeys(analysis.key.system for analysis in analyses))
    names = [
        name
        for name in analyses[0].rates[what[0]]
        if name != NO_MISTAKE and any(a.rates[what[0]][name][what[1]] is not None for a in analyses)
    ]
    columns = _columns(len(systems))
    size = (2.7, 1.75) if columns > 1 else (4.4, 2.1)
    figure, panels = _panels(2 * -(-len(systems) // columns), columns, size, sharey="row")
    upper, lower = panels[::2].ravel(), panels[1::2].ravel()
    styles = looks(comparison)
    for system, above, below in zip(systems, upper, lower, strict=False):
        own = {a.key.exploration: _figures(a, what, names) for a in analyses if system in a.key}
        base = own.get(comparison.baseline)
        for exploration, values in own.items():
            look = styles[exploration]
            style: Any = {"color": look.colour, "marker": look.marker, "linestyle": look.line}
            above.plot(range(len(names)), values, **style)
            if base is not None:
                below.plot(range(len(names)), values - base, **style)
        above.set_title(_in_lines(system))
        for axes in (above, below):
            axes.grid(axis="y")
            axes.set_xticks(range(len(names)), [name.partition(" ")[0] for name in names])
            axes.set_xlim(-0.3, len(names) - 0.7)
        below.set_visible(base is not None)
    for k in range(len(systems), len(upper)):
        upper[k].set_visible(False)
        lower[k].set_visible(False)
    for row, axes in enumerate(panels[:, 0]):
        figures_of = title.partition(" by ")[0]
        axes.set_ylabel(f"{figures_of} − {comparison.baseline}" if row % 2 else figures_of)
    figure.supxlabel(axis, fontsize=9)
    _legend(comparison, figure, {analysis.key.exploration for analysis in analyses})
    return Plot(
        what[0],
        title,
        f"Above: figures; below: difference to {comparison.baseline}, in points. {caution}Words of "
        "all treebanks and seeds together." + _about_loss(comparison),
        figure,
    )


def _figures(analysis: Analysis, what: tuple[str, str], names: Sequence[str]) -> Any:
    """[names]: NaN where there is none."""
    values = [analysis.rates[what[0]][name][what[1]] for name in names]
    return np.array([np.nan if value is None else value for value in values])


def propagation(comparison: Comparison) -> Plot | None:
    """How often a move is a mistake before and after the first one, and what is paid after it."""
    analyses = _main_analyses(comparison)
    if not analyses:
        return None
    effects = [analysis.key for analysis in analyses]
    places = _places(comparison, effects)
    contents = {
        "cost_after_per_sentence": "arcs lost after the first mistake\nper sentence with one",
        "mistakes_before": "mistakes up to the first\n% of moves",
        "mistakes_after": "mistakes after the first\n% of moves",
    }
    figure, panels = _panels(1, 3, (2.9, _height(places)), sharey=True)
    styles = looks(comparison)
    for axes, (name, title) in zip(panels[0], contents.items(), strict=True):
        _forest(comparison, axes, {}, places)
        values = {a.key: a.rates["propagation"][""][name] or 0.0 for a in analyses}
        for key, value in values.items():
            y = places[_row(key)]
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
    _legend(comparison, figure, {analysis.key.exploration for analysis in analyses}, "bar")
    return Plot(
        "propagation",
        "Mistakes before and after the first one",
        "A mistake is a move that makes gold arcs unreachable. Left: arcs lost by mistakes after "
        "the first one of a sentence; middle: moves up to the first mistake, that one included; "
        "right: those after it. Shares of moves depend on how many moves a parser takes for a "
        "sentence, which training may change; arcs lost do not. All treebanks and seeds together."
        + _about_loss(comparison),
        figure,
    )


def _main_analyses(comparison: Comparison) -> list[Analysis]:
    return [a for a in comparison.analyses_of(ALL) if a.key.loss == comparison.main_loss]


def _about_loss(comparison: Comparison) -> str:
    several = len(comparison.values("loss")) > 1
    return f" Trainings with the loss {comparison.main_loss}." if several else ""


# --- panels --------------------------------------------------------------------------------------


def _panels(
    rows: int, columns: int, size: tuple[float, float], *, right: float = 0.0, **share: Any
) -> tuple[Figure, Any]:
    """A figure with panels of this size in inches, and room for names and a legend."""
    from matplotlib.figure import Figure

    width, height = size
    figure = Figure((columns * width + 1.0 + right, rows * height + 0.75), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **share)


def _columns(panels: int) -> int:
    rows = -(-panels // MOST_COLUMNS)
    return -(-panels // rows)


def _hide_unused(panels: Any, used: int) -> None:
    for axes in panels.flat[used:]:
        axes.set_visible(False)


def _legend(
    comparison: Comparison, figure: Figure, explorations: set[str], kind: str = "line"
) -> None:
    """All explorations shown, above the panels: each as a `line`, a `curve` without markers, a
    `point` or a `bar`.
    """
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = []
    for name, look in looks(comparison).items():
        if name in explorations:
            style: Any = {"linestyle": "-" if kind == "point" else look.line}
            style["marker"] = "" if kind == "curve" else look.marker
            handles.append(
                Patch(color=look.colour, label=name)
                if kind == "bar"
                else Line2D([], [], color=look.colour, label=name, **style)
            )
    columns = max(1, min(len(handles), int(figure.get_figwidth() // 1.5)))
    figure.legend(handles=handles, loc="outside upper center", ncols=columns, handlelength=3)


def _in_lines(system: str) -> str:
    """The name with its options on lines of their own."""
    return system.replace(":", ":\n").replace(",", ",\n")


def _short(treebank: str) -> str:
    """The name without what all of them begin with."""
    return treebank.removeprefix("UD_")
