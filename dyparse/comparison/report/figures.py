"""All figures of a comparison: scores and their differences, and where the errors are.

Where there are several losses, learning curves and errors are shown for the loss with most runs.
The same comparison gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable

from dyparse.comparison.report.error_figures import (
    by_arc_length,
    by_first_mistake,
    by_sentence_length,
    propagation,
)
from dyparse.comparison.report.panels import STYLE, Plot
from dyparse.comparison.report.score_figures import (
    differences,
    differences_by_treebank,
    learning_curves,
)
from dyparse.comparison.statistics import Comparison

MAKERS: tuple[Callable[[Comparison], Plot | None], ...] = (
    differences,
    differences_by_treebank,
    learning_curves,
    propagation,
    by_first_mistake,
    by_sentence_length,
    by_arc_length,
)


def plots(comparison: Comparison) -> list[Plot]:
    """All figures for which the comparison has data."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        made = [plot for plot in (make(comparison) for make in MAKERS) if plot]
        for plot in made:  # lay it out once: each drawing would move it a little
            plot.figure.draw_without_rendering()
            plot.figure.set_layout_engine("none")
    return made
