"""Figures of made-up comparisons: complete, deterministic, and with data in the right place."""

import math
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from helpers.made_results import compared, gain_in_one_sentence, made_grid, made_result

from dyparse.comparison.report import figures
from dyparse.comparison.report.figures import plots
from dyparse.comparison.report.panels import LOOKS

NAMES = [
    "differences",
    "differences_by_treebank",
    "learning_curves",
    "propagation",
    "by_first_mistake",
    "by_sentence_length",
    "by_arc_length",
]


def texts(svg):
    """All texts of an SVG."""
    return [
        "".join(e.itertext()) for e in ElementTree.fromstring(svg).iter() if e.tag.endswith("}text")
    ]


def named(comparison):
    """The figures by name."""
    return {plot.name: plot for plot in plots(comparison)}


@pytest.fixture(scope="module")
def small():
    """Two systems, two explorations, two treebanks, three seeds."""
    return compared(made_grid(systems=("arc_eager", "swap"), treebanks=("UD_A", "UD_B")))


def test_all_figures_have_title_caption_and_names(small):
    found = plots(small)
    assert [plot.name for plot in found] == NAMES
    for plot in found:
        assert plot.title
        assert plot.caption.endswith(".")
        words = texts(plot.to_bytes("svg"))
        assert "explore" in words
        assert {"arc_eager", "swap"} <= set(words)


def test_the_same_comparison_gives_the_same_bytes():
    small = compared(made_grid(seeds=(1, 2), sentences=10))
    for one, other in zip(plots(small), plots(small), strict=True):
        content = one.to_bytes("svg")
        assert content.startswith(b"<?xml")
        assert content == other.to_bytes("svg") == one.to_bytes("svg")
        assert b"<dc:date>" not in content


def first_figure(kind, monkeypatch):
    """The content of a file of the first figure, drawn twice."""
    monkeypatch.setattr(figures, "MAKERS", figures.MAKERS[:1])
    comparison = compared(made_grid(seeds=(1, 2), sentences=10))
    return [plots(comparison)[0].to_bytes(kind) for _ in range(2)]


def test_a_figure_as_png_has_no_version_and_is_the_same_each_time(monkeypatch):
    one, other = first_figure("png", monkeypatch)
    assert one.startswith(b"\x89PNG")
    assert one == other
    assert b"matplotlib.org" not in one


def test_a_figure_as_pdf_embeds_truetype_fonts_and_is_the_same_each_time(monkeypatch):
    one, other = first_figure("pdf", monkeypatch)
    assert one.startswith(b"%PDF")
    assert one == other
    assert b"/CreationDate" not in one
    assert b"atplotlib" not in one
    assert b"/FontFile2" in one
    assert b"/Type3" not in one


def test_one_treebank_has_no_figure_by_treebank():
    assert [plot.name for plot in plots(compared(made_grid()))] == [
        name for name in NAMES if name != "differences_by_treebank"
    ]


def test_without_a_baseline_there_are_all_figures_but_differences():
    found = named(compared(made_grid(gains={"explore": 0.1}, treebanks=("UD_A", "UD_B"))))
    assert list(found) == [name for name in NAMES if not name.startswith("differences")]
    assert "LAS − static" not in texts(found["by_sentence_length"].to_bytes("svg"))


def test_a_single_seed_has_a_curve_without_a_band():
    def bands(seeds):
        figure = named(compared(made_grid(seeds=seeds)))["learning_curves"].figure
        return len(figure.axes[0].collections), len(figure.axes[0].lines)

    assert bands((1,)) == (0, 2)
    assert bands((1, 2)) == (2, 2)


def test_a_system_that_lacks_a_treebank_has_an_empty_panel():
    runs = [
        *made_grid(treebanks=("UD_A", "UD_B"), seeds=(1,), sentences=5),
        *made_grid(systems=("swap",), seeds=(1,), sentences=5, treebanks=("UD_A",)),
    ]
    panels = named(compared(runs))["learning_curves"].figure.axes
    assert [len(axes.get_xticks()) > 0 for axes in panels] == [True, True, True, False]
    assert not any(spine.get_visible() for spine in panels[-1].spines.values())


def test_differences_are_drawn_at_their_values():
    static, explore = (
        [made_result(n, exploration=e)] for n, e in (((2, 5, 3), "static"), ((4, 6, 4), "explore"))
    )
    comparison = compared(static + explore)
    (axes,) = named(comparison)["differences"].figure.axes
    points = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]
    assert points == pytest.approx([20])
    (text,) = (text.get_text() for text in axes.texts)
    assert text.startswith("+20.00 [")


def test_points_are_filled_where_the_difference_is_significant():
    def fill(results, name="differences"):
        axes = named(compared(results))[name].figure.axes[0]
        return next(line.get_markerfacecolor() for line in axes.lines if line.get_marker() == "o")

    def grid(gain):
        return made_grid(gains={"static": 0.0, "explore": gain}, seeds=range(6))

    assert fill(grid(0.2)) == LOOKS["explore"].colour
    assert fill(grid(0.0)) == "white"
    assert fill(gain_in_one_sentence()) == "white"
    few = made_grid(treebanks=("UD_A", "UD_B"), gains={"static": 0.0, "explore": 0.25})
    assert fill(few) == LOOKS["explore"].colour
    assert fill(few, "differences_by_treebank") == "white", "three runs of a treebank are too few"
    caption = named(compared(few))["differences_by_treebank"].caption
    assert "takes 7 seeds" in caption, "of 2 comparisons, p = 2·2 / 2⁷"


@pytest.mark.parametrize(
    ("systems", "treebanks"),
    [(1, 7), (11, 1), (2, 2), pytest.param(11, 7, marks=pytest.mark.slow)],
)
def test_few_and_many_systems_and_treebanks_fit(systems, treebanks):
    gains = {"static": 0.0, "explore": 0.05, "sample": 0.02, "dagger": 0.03, "curriculum": 0.0}
    grid = made_grid(
        systems=[f"system_{k}:an_option=false" for k in range(systems)],
        gains=gains if systems * treebanks < 10 else dict(list(gains.items())[:2]),
        treebanks=[f"UD_{k}" for k in range(treebanks)],
        seeds=(1,),
        sentences=5,
    )
    for plot in plots(compared(grid)):
        size = plot.figure.get_size_inches()
        assert (size < (15, 25)).all()
        for axes in plot.figure.axes:
            if axes.get_visible():
                panel = axes.get_position()
                assert panel.width * size[0] > 0.9  # inches
                assert panel.height * size[1] > 0.4


def test_curves_and_errors_are_those_of_the_main_loss():
    comparison = compared(made_grid(losses=("set_nll", "hinge")))
    found = named(comparison)
    assert "set_nll" in found["learning_curves"].caption
    assert len(found["learning_curves"].figure.axes[0].lines) == 2
    assert {"arc_eager, hinge", "arc_eager, set_nll"} <= set(
        texts(found["differences"].to_bytes("svg"))
    )


def test_a_class_without_words_leaves_a_gap():
    results = made_grid()
    for result in results:
        if result.cell.exploration == "static":
            counts = {"words": 10, "heads": 8, "labelled": 7}
            result.analysis["by_sentence_length"]["41+"] = counts
    axes = named(compared(results))["by_sentence_length"].figure.axes[0]
    static, explore = (line.get_ydata() for line in axes.lines)
    assert static[-1] == pytest.approx(70)
    assert math.isnan(explore[-1])


def test_drawing_leaves_no_global_state_behind(small):
    import matplotlib

    before = dict(matplotlib.rcParams)
    plots(small)[0].to_bytes("svg")
    assert dict(matplotlib.rcParams) == before


def test_matplotlib_is_loaded_only_to_draw():
    code = "import sys, dyparse.comparison.report.figures; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
