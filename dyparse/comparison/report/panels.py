"""Common parts of all figures: style, colours and markers, panels, rows and legends.

An exploration has the same colour, marker and line style in all figures. Colours are those of Okabe
& Ito (2008), which colour-blind readers can distinguish.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dyparse.comparison.groups import Key
from dyparse.comparison.statistics import Comparison

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
    "pdf.fonttype": 42,  # TrueType, which publishers accept
}
UNWANTED_METADATA = {
    "pdf": ("CreationDate", "Creator", "Producer"),
    "png": ("Software",),
    "svg": ("Date", "Creator", "Format", "Type"),
}
DOTS_PER_INCH = 160
MOST_COLUMNS = 4  # of panels, before they are wrapped into rows of about equal length
ZERO = "#888888"  # the line of no difference

Places = dict[tuple[str, str, str], float]  # y by system, loss and exploration


class Look(NamedTuple):
    """Colour, marker and line style of an exploration."""

    colour: str
    marker: str
    line: Any


LOOKS = {
    "static": Look("#4d4d4d", "s", (0, (4, 1.5))),
    "explore": Look("#0072b2", "o", "-"),
    "ambiguity": Look("#e69f00", "^", (0, (6, 1, 1, 1))),
    "sample": Look("#009e73", "D", (0, (2, 1))),
    "dagger_replay": Look("#332288", "h", (0, (3, 1))),
    "dagger": Look("#d55e00", "v", (0, (8, 1.5))),
    "curriculum": Look("#cc79a7", "P", (0, (1, 1))),
}
SPARE_LOOKS = (
    Look("#56b4e9", "X", (0, (5, 1, 1, 1, 1, 1))),
    Look("#999933", ">", (0, (1, 2))),
    Look("#882255", "*", (0, (7, 2, 2, 2))),
    Look("#000000", "p", "-"),
)


@dataclass(frozen=True)
class Plot:
    """A figure with its title and caption."""

    name: str
    title: str
    caption: str
    figure: Figure

    def to_bytes(self, kind: str) -> bytes:
        """The content of a `pdf`, `png` or `svg` file, without dates or versions."""
        import matplotlib

        metadata = dict.fromkeys(UNWANTED_METADATA[kind])
        stream = io.BytesIO()
        with matplotlib.rc_context({**STYLE, "svg.hashsalt": self.name}):
            self.figure.savefig(stream, format=kind, dpi=DOTS_PER_INCH, metadata=metadata)
        return stream.getvalue()


def looks(comparison: Comparison) -> dict[str, Look]:
    """The look of every exploration; variants of one exploration get spare looks."""
    found: dict[str, Look] = {}
    spare = iter(SPARE_LOOKS * (1 + len(comparison.values("exploration"))))
    for exploration in comparison.values("exploration"):
        usual = LOOKS.get(exploration.partition(":")[0])
        found[exploration] = usual if usual and usual not in found.values() else next(spare)
    return found


def panels(
    rows: int, columns: int, size: tuple[float, float], *, right: float = 0.0, **share: Any
) -> tuple[Figure, Any]:
    """A figure with panels of this size in inches, and room for names and a legend."""
    from matplotlib.figure import Figure

    width, height = size
    figure = Figure((columns * width + 1.0 + right, rows * height + 0.75), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **share)


def columns_for(n_panels: int) -> int:
    """Number of columns such that all rows have about the same number of panels."""
    rows = -(-n_panels // MOST_COLUMNS)
    return -(-n_panels // rows)


def row_of(key: Key) -> tuple[str, str, str]:
    """The row of a group, the same for all treebanks."""
    return key.system, key.loss, key.exploration


def row_places(comparison: Comparison, keys: Iterable[Key]) -> Places:
    """The y of every row, from top to bottom; rows of one system are close together."""
    rows = {row_of(key) for key in keys}
    places: Places = {}
    y, before = 0.0, None
    for line in comparison.lines:
        row = row_of(line.key)
        if row in rows and row not in places:
            y += 1.0 if before in (None, row[:2]) else 1.7
            places[row], before = y, row[:2]
    return places


def rows_height(places: Places) -> float:
    """Height in inches of a panel with these rows."""
    return 0.5 + 0.24 * max(places.values())


def draw_rows(comparison: Comparison, axes: Axes, places: Places) -> None:
    """An empty panel with named rows and a line at 0."""
    axes.axvline(0, color=ZERO, linewidth=0.9)
    axes.grid(axis="x")
    several = len(comparison.values("loss")) > 1
    groups: dict[str, list[float]] = {}
    for (system, loss, _), y in places.items():
        groups.setdefault(f"{system}, {loss}" if several else system, []).append(y)
    axes.set_yticks([float(np.mean(ys)) for ys in groups.values()], list(groups))
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(max(places.values()) + 0.8, 0.2)


def draw_legend(
    comparison: Comparison, figure: Figure, explorations: set[str], kind: str = "line"
) -> None:
    """A legend of these explorations above the panels.

    Each is shown as a `line`, a `curve` without markers, a `point` or a `bar`.
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


def about_loss(comparison: Comparison) -> str:
    """A sentence for captions of figures of the main loss; empty if there is no other."""
    several = len(comparison.values("loss")) > 1
    return f" Trainings with the loss {comparison.main_loss}." if several else ""


def in_lines(system: str) -> str:
    """A system's name with its options on lines of their own."""
    return system.replace(":", ":\n").replace(",", ",\n")


def short(treebank: str) -> str:
    """A treebank's name without the prefix UD_."""
    return treebank.removeprefix("UD_")
