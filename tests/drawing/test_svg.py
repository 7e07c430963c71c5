"""SVG and HTML of pictures: deterministic, self-contained; invalid input is refused."""

import os
import re
import subprocess
import sys

import pytest
from helpers.pictures import SVG, parsed, tree

from dyparse.drawing.svg import LEAST_WIDTH, STYLE, Tree, draw, html_page, svg, tree_picture


def test_the_same_trees_give_the_same_bytes():
    trees = [tree([2, 0, 2]), tree([0, 1, 2], "other")]
    assert tree_picture(trees) == tree_picture(trees)
    program = (
        "import sys; from dyparse.drawing.svg import *\n"
        f"sys.stdout.buffer.write(tree_picture({trees!r}).encode())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONHASHSEED": "7"},
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode() == tree_picture(trees)


def test_every_class_has_the_prefix_and_there_is_no_id():
    picture = tree_picture([tree([3, 4, 0, 3]), tree([2, 0, 2, 3], "other")], width=600)
    names = re.findall(r'class="([^"]+)"', picture)
    assert all(name.startswith("dtree") for value in names for name in value.split())
    assert all(".dtree" in line for line in STYLE.splitlines())
    assert not re.search(r'\bid="', picture)


def test_a_picture_for_a_page_has_no_style_of_its_own():
    trees = [tree([2, 0, 2])]
    assert "<style>" in tree_picture(trees)
    inline = tree_picture(trees, standalone=False)
    assert "<style>" not in inline
    assert "xmlns" not in inline
    page = "".join(html_page([draw(trees, caption="a"), draw(trees, caption="b")], "<page>"))
    assert page.count("<svg") == page.count("</svg>") == 2
    assert page.count(STYLE) == 1
    assert "<title>&lt;page&gt;</title>" in page
    assert "overflow-x:auto" in page


def test_several_drawings_are_stacked_in_one_picture():
    drawings = [draw([tree([2, 0, 2])], caption="a"), draw([tree([0, 1])], caption="b")]
    root = parsed(svg(drawings))
    assert float(root.get("height")) == pytest.approx(sum(d.height for d in drawings), abs=0.1)
    assert float(root.get("width")) == pytest.approx(max(d.width for d in drawings), abs=0.1)
    tops = [g.get("transform") for g in root.findall(f"{SVG}g")]
    assert tops == ["translate(0 0)", f"translate(0 {drawings[0].height:.1f})".replace(".0)", ")")]


@pytest.mark.parametrize(
    ("make", "finding"),
    [
        (lambda: tree([1]), "head 1 of word 1"),
        (lambda: tree([0, 3]), "expected another word in 0..2"),
        (lambda: tree([0, -2]), "head -2"),
        (lambda: Tree("t", ["a"], [0], []), "1 words, 1 heads, 0 labels"),
        (lambda: Tree("t", ["a", "b"], [0, 1], ["x", "y"], ["N"]), "1 tags"),
        (lambda: tree_picture([]), "nothing to draw"),
        (lambda: tree_picture([Tree("t", [], [], [])]), "nothing to draw"),
        (lambda: tree_picture([tree([0]), tree([0], "b", "other")]), "different words"),
        (lambda: tree_picture([tree([0])], width=LEAST_WIDTH - 1), "width is"),
    ],
)
def test_invalid_trees_and_widths_are_refused(make, finding):
    with pytest.raises(ValueError, match=re.escape(finding)):
        make()
