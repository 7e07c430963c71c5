"""TikZ pictures: every arc once, everything escaped, differences marked."""

import dataclasses

import pytest

from dyparse.drawing.svg import Tree
from dyparse.drawing.tikz import tikz, tikz_parts

GOLD = Tree("gold", ["R&D", "[50%]", "is", "up"], [2, 4, 4, 0], ["a_b", "nsubj", "cop", "root"])


def test_words_labels_and_arcs_are_written_and_escaped():
    assert tikz([dataclasses.replace(GOLD, title="")], caption="s-1") == (
        "% s-1\n"
        "\\begin{dependency}\n"
        "  \\begin{deptext}[column sep=1em]\n"
        "    R\\symbol{38}D \\& {}[50\\%] \\& is \\& up \\\\\n"
        "  \\end{deptext}\n"
        "  \\depedge[edge height=3.2ex]{2}{1}{a\\_b}\n"
        "  \\depedge[edge height=6.4ex]{4}{2}{nsubj}\n"
        "  \\depedge[edge height=3.2ex]{4}{3}{cop}\n"
        "  \\deproot[edge height=9.6ex]{4}{root}\n"
        "\\end{dependency}\\par\n"
    )


def test_other_trees_are_below_and_their_differences_are_styled():
    other = Tree("other", GOLD.forms, [3, 4, 4, 0], ["a_b", "obj", "cop", "root"], ["X"] * 4)
    gold, below = tikz([GOLD, other]).split("1 wrong head, 1 wrong label")
    assert "dtree-" not in gold
    assert r"\depedge[edge height=3.2ex, dtree-crossing, dtree-wrong-head]{3}{1}{a\_b}" in below
    assert r"dtree-crossing, dtree-wrong-label]{4}{2}{obj}" in below
    assert below.count(r"\scriptsize X") == 4
    styles = [line.split("}")[0] for line in "".join(tikz_parts([])).splitlines()[1:]]
    assert styles == [rf"\depstyle{{dtree-{n}" for n in ("crossing", "wrong-head", "wrong-label")]


def test_a_word_without_a_head_has_no_arc():
    assert r"{1}{" not in tikz([dataclasses.replace(GOLD, heads=[-1, 4, 4, 0])])


def test_trees_of_different_sentences_are_refused():
    with pytest.raises(ValueError, match="different words"):
        tikz([GOLD, Tree("other", ["a"], [0], ["root"])])
