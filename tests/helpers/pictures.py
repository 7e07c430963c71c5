"""Trees to draw, and readers of the pictures made of them."""

import re
from xml.etree import ElementTree

from dyparse.drawing.layout import LABEL_SIZE, SMALL_SIZE, WORD_SIZE, Tree
from dyparse.drawing.render import TITLE_SIZE
from dyparse.drawing.text import text_width

SVG = "{http://www.w3.org/2000/svg}"
SIZES = {
    "dtree-caption": TITLE_SIZE,
    "dtree-title": TITLE_SIZE,
    "dtree-word": WORD_SIZE,
    "dtree-label": LABEL_SIZE,
    "dtree-key": LABEL_SIZE,
    "dtree-tag": SMALL_SIZE,
    "dtree-number": SMALL_SIZE,
    "dtree-to-left": SMALL_SIZE,
    "dtree-to-right": SMALL_SIZE,
}
LEFT_ALIGNED = ("dtree-caption", "dtree-title", "dtree-key", "dtree-to-right")
NUMBER = r"-?\d+(?:\.\d)?"


def tree(heads, title="gold", words="word", label="dep"):
    """A tree with numbered words and labels."""
    numbers = range(1, len(heads) + 1)
    return Tree(title, [f"{words}{k}" for k in numbers], heads, [f"{label}{k}" for k in numbers])


def parsed(text):
    """The root of an SVG."""
    return ElementTree.fromstring(text)


def groups(picture, number=0):
    """The SVG groups of a tree's arcs, or of their parts, by dependent."""
    found = {}
    for group in parsed(picture).iter(f"{SVG}g"):
        if group.get("data-tree") == str(number):
            found.setdefault(int(group.get("data-word")), []).append(group)
    return found


def marked(picture, kind, number=0):
    """Dependents of the arcs that have a class."""
    arcs = groups(picture, number).items()
    return {word for word, pieces in arcs if all(kind in p.get("class").split() for p in pieces)}


def texts(picture, kind):
    """All texts that have a class."""
    return [t.text for t in parsed(picture).iter(f"{SVG}text") if kind in t.get("class").split()]


def points(path):
    """The points of a path; only arrowheads and the legend use relative commands."""
    x = y = 0.0
    for letter, numbers in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        values = [float(number) for number in re.findall(NUMBER, numbers)]
        if letter in "MQ":
            for x, y in zip(values[::2], values[1::2], strict=True):
                yield x, y
        elif letter in "HVhlv":
            x = {"H": values[0], "h": x + values[0], "l": x + values[0]}.get(letter, x)
            y = {"V": values[0], "l": y + values[-1]}.get(letter, y)
            yield x, y
        else:
            assert letter == "z"


def boxes(picture):
    """Approximate boxes of the elements: (left, top, right, bottom)."""
    for element in parsed(picture).iter():
        kind = element.tag.removeprefix(SVG)
        if kind == "path":
            xs, ys = zip(*points(element.get("d")), strict=True)
            yield min(xs), min(ys), max(xs), max(ys)
        elif kind == "rect":
            x, y = float(element.get("x", 0)), float(element.get("y", 0))
            yield x, y, x + float(element.get("width")), y + float(element.get("height"))
        elif kind == "text":
            name = element.get("class").split()[0]
            x, y, wide = (
                float(element.get("x")),
                float(element.get("y")),
                text_width(element.text, SIZES[name]),
            )
            left = (
                x if name in LEFT_ALIGNED else x - wide if name == "dtree-to-left" else x - wide / 2
            )
            yield left, y - 0.8 * SIZES[name], left + wide, y + 0.25 * SIZES[name]


def assert_inside(picture):
    """Assert that no element exceeds the picture; returns its width."""
    _, _, width, height = map(float, parsed(picture).get("viewBox").split())
    for left, top, right, bottom in boxes(picture):
        assert left >= -0.1
        assert top >= -0.1
        assert right <= width + 0.1
        assert bottom <= height + 0.1
    return width
