"""Rendering: the SVG elements of one or more trees of a sentence, from top to bottom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from dyparse.drawing.layout import (
    GUTTER,
    LABEL_BACK,
    LABEL_SIZE,
    LEAST_WIDTH,
    MARGIN,
    SMALL_SIZE,
    WORD_SIZE,
    Piece,
    Row,
    Tree,
    arcs_of,
    crossing_words,
    label_place,
    pieces_of,
    rows_of,
    shown_form,
    shown_label,
    shown_tag,
    slots_of,
)
from dyparse.drawing.text import clean, isolated, shortened, text_width

TITLE_SIZE, BOLD = 13, 1.12  # pixels, and the extra width of bold letters
LONGEST_TITLE = 800.0  # longer titles are shortened
LEVEL, ROW_GAP, CORNER, TIP = 22, 12, 18, 7

WRONG_HEAD, WRONG_LABEL, CROSSING = "dtree-wrong-head", "dtree-wrong-label", "dtree-crossing"
LEGEND = {
    CROSSING: "crosses another arc",
    WRONG_HEAD: "wrong head",
    WRONG_LABEL: "right head, wrong label",
}


@dataclass(frozen=True)
class Drawing:
    """The SVG elements of a picture, and its size."""

    caption: str
    description: str
    width: float
    height: float
    elements: tuple[str, ...]


def draw(trees: Sequence[Tree], *, width: int | None = None, caption: str = "") -> Drawing:
    """The trees one above the other, wrapped into rows of at most `width` pixels if given."""
    require_drawable(trees, width)
    rows = rows_of(trees, width or float("inf"))
    edge = max(row.right + (GUTTER if row.last < len(trees[0].forms) else 0) for row in rows)
    sheet = Sheet(trees, rows, max(edge - MARGIN, min(LONGEST_TITLE, (width or 1e9) - 2 * MARGIN)))
    sheet.draw_title("dtree-caption", caption)
    for row in rows:
        sheet.y += ROW_GAP if row.first > 1 else 0
        for number in range(len(trees)):
            sheet.draw_tree(number, row)
    sheet.draw_legend()
    return Drawing(
        caption=clean(caption or ", ".join(t.title for t in trees if t.title) or "dependency tree"),
        description=" ".join(map(_description, trees)),
        width=max(edge, sheet.edge) + MARGIN,
        height=sheet.y + MARGIN / 2,
        elements=tuple(sheet.elements),
    )


def require_drawable(trees: Sequence[Tree], width: int | None) -> None:
    """ValueError unless these are trees of one sentence and the width is large enough."""
    if not trees or not trees[0].forms:
        raise ValueError("nothing to draw, expected at least one tree of at least one word")
    for tree in trees[1:]:
        if list(tree.forms) != list(trees[0].forms):
            raise ValueError(
                f"trees {trees[0].title!r} and {tree.title!r} have different words; "
                "expected trees of one sentence"
            )
    if width is not None and width < LEAST_WIDTH:
        raise ValueError(f"width is {width}, expected {LEAST_WIDTH} or more, or None")


class Sheet:
    """A drawing in the making; everything is added below what is there."""

    def __init__(self, trees: Sequence[Tree], rows: Sequence[Row], room: float) -> None:
        self.trees, self.room, self.is_wrapped = trees, room, len(rows) > 1
        self.arcs = [arcs_of(tree) for tree in trees]
        self.slots = [slots_of(tree.heads) for tree in trees]
        self.crossing = [crossing_words(tree.heads) for tree in trees]
        self.y, self.edge = float(MARGIN), 0.0  # bottom and right end of what is drawn
        self.elements: list[str] = []
        self.classes: set[str] = set()  # to be explained in the legend

    def text(self, kind: str, x: float, y: float, text: str) -> None:
        """A text element; where x is on it, its class says."""
        place = f'x="{pixels(x)}" y="{pixels(y)}"'
        self.elements.append(f'<text class="{kind}" {place}>{escape(text)}</text>')

    def draw_title(self, kind: str, title: str) -> None:
        """A line of text at the left; nothing for an empty title."""
        if title:
            shown = shortened(title, self.room, TITLE_SIZE * BOLD)
            self.text(kind, MARGIN, self.y + TITLE_SIZE, shown)
            self.edge = max(self.edge, MARGIN + text_width(shown, TITLE_SIZE * BOLD))
            self.y += TITLE_SIZE + 9

    def draw_tree(self, number: int, row: Row) -> None:
        """The words of a row, and the arcs of a tree above them."""
        tree = self.trees[number]
        if row.first == 1:
            self.draw_title("dtree-title", tree_title(tree, self.trees[0]))
        elif len(self.trees) > 1:
            self.draw_title("dtree-title", tree.title)
        pieces = pieces_of(self.arcs[number], row)
        roots = [word for word in row.x if tree.heads[word - 1] == 0]
        levels = (pieces[0].level if pieces else 0) + bool(roots)
        base = self.y + LEVEL * levels + LABEL_SIZE / 2
        slots = {word: row.x[word] + self.slots[number][word, word] for word in roots}
        for word in roots:
            self.draw_root(number, word, slots[word], (base, base - LEVEL * levels))
        for piece in pieces:
            higher = [p for p in pieces if p.level > piece.level]
            lines = [x for p in higher for x in (p.left, p.right)]
            self.draw_piece(number, piece, row, base, [*lines, *slots.values()])
        self.y = base
        self.draw_words(number, row)

    def open_arc(self, number: int, word: int) -> None:
        """Start the group of an arc or of a part of one, with a tooltip."""
        tree, first = self.trees[number], self.trees[0]
        kinds = ["dtree-arc", difference(tree, first, word)]
        if word in self.crossing[number]:
            kinds.append(CROSSING)
        self.classes.update(kinds)
        self.elements.append(
            f'<g class="{" ".join(filter(None, kinds))}" data-tree="{number}" data-word="{word}" '
            f'data-head="{tree.heads[word - 1]}">'
            f"<title>{escape(self.tooltip(number, word))}</title>"
        )

    def tooltip(self, number: int, word: int) -> str:
        """A word and its arc as text; also the first tree's arc if that is different."""
        tree, first = self.trees[number], self.trees[0]
        text = f"{tree.numbered(word)}: {tree.arc_text(word)}"
        if difference(tree, first, word):
            text += f"; {clean(first.title)}: {first.arc_text(word)}"
        return text

    def draw_root(self, number: int, word: int, x: float, ends: tuple[float, float]) -> None:
        """An arrow down to the word, from above all arcs."""
        base, top = ends
        self.open_arc(number, word)
        self.line(f"M{pixels(x)} {pixels(top + LABEL_SIZE / 2 + 1)}V{pixels(base - TIP)}")
        self.tip(x, base)
        self.label(number, word, x, top)
        self.elements.append("</g>")

    def draw_piece(
        self, number: int, piece: Piece, row: Row, base: float, lines: Sequence[float]
    ) -> None:
        """An arc, or its part up to a border, where a mark names the word at the other end."""
        arc, tree = piece.arc, self.trees[number]
        top = base - LEVEL * piece.level
        has_left, has_right = arc.left in row.x, arc.right in row.x
        has_word = arc.word in row.x
        self.open_arc(number, arc.word)
        ends = [base - TIP if arc.word == end else base for end in (arc.left, arc.right)]
        corner = min(CORNER, max(8.0, (piece.right - piece.left) / 8))
        path = f"M{pixels(piece.left)} {pixels(top)}"
        if has_left:
            path = f"M{pixels(piece.left)} {pixels(ends[0])}V{pixels(top + CORNER)}"
            path += _curve((piece.left, top), (piece.left + corner, top))
        path += f"H{pixels(piece.right - corner if has_right else piece.right)}"
        if has_right:
            path += _curve((piece.right, top), (piece.right, top + CORNER))
            path += f"V{pixels(ends[1])}"
        self.line(path)
        if has_word:
            self.tip(piece.left if arc.word == arc.left else piece.right, base)
            wide = text_width(shown_label(tree, arc.word), LABEL_SIZE)
            self.label(number, arc.word, label_place(piece, wide, lines), top)
        if not has_left:
            self.mark("dtree-to-left", _mark(tree, arc.left), row.left, top)
        if not has_right:
            self.mark("dtree-to-right", _mark(tree, arc.right), row.right, top)
        self.elements.append("</g>")

    def line(self, path: str) -> None:
        """The line of an arc."""
        self.elements.append(f'<path class="dtree-line" d="{path}"/>')

    def tip(self, x: float, y: float) -> None:
        """An arrowhead that points down."""
        path = f"M{pixels(x)} {pixels(y)}l-3.5 -{TIP + 1}h7z"
        self.elements.append(f'<path class="dtree-tip" d="{path}"/>')

    def mark(self, kind: str, text: str, x: float, y: float) -> None:
        """A dot at the border of a row, and beside it the word in another row."""
        self.elements.append(
            f'<circle class="dtree-tip" cx="{pixels(x)}" cy="{pixels(y)}" r="2.5"/>'
        )
        self.text(kind, x + (6 if kind == "dtree-to-right" else -6), y + SMALL_SIZE * 0.36, text)

    def label(self, number: int, word: int, x: float, y: float) -> None:
        """The label of an arc, in a gap in its line."""
        text = shown_label(self.trees[number], word)
        wide, high = text_width(text, LABEL_SIZE) + LABEL_BACK, LABEL_SIZE + LABEL_BACK
        self.elements.append(
            f'<rect class="dtree-back" x="{pixels(x - wide / 2)}" y="{pixels(y - high / 2)}" '
            f'width="{pixels(wide)}" height="{pixels(high)}" rx="3"/>'
        )
        self.text("dtree-label", x, y + LABEL_SIZE * 0.36, text)

    def draw_words(self, number: int, row: Row) -> None:
        """The words, their tags below, and their numbers if marks refer to them."""
        tree = self.trees[number]
        self.y += WORD_SIZE + 2
        for word, x in row.x.items():
            kind = f"dtree-word {difference(tree, self.trees[0], word)}".strip()
            self.text(kind, x, self.y, shown_form(tree, word))
        for kind, texts in (
            ("dtree-tag", [shown_tag(tree, word) for word in row.x]),
            ("dtree-number", [str(word) for word in row.x if self.is_wrapped]),
        ):
            if any(texts):
                self.y += SMALL_SIZE + 4
                for x, text in zip(row.x.values(), texts, strict=True):
                    self.text(kind, x, self.y, text)
        self.y += MARGIN

    def draw_legend(self) -> None:
        """A legend of the colours, dashes and weights that occur."""
        x = float(MARGIN)
        for kind, text in LEGEND.items():
            if kind not in self.classes:
                continue
            if x == MARGIN:
                self.y += LABEL_SIZE
            self.elements.append(f'<g class="{kind}">')
            if kind == WRONG_LABEL:
                y = self.y - LABEL_SIZE
                self.elements.append(
                    f'<rect class="dtree-back" x="{pixels(x)}" y="{pixels(y)}" '
                    f'width="28" height="{LABEL_SIZE + 3}" rx="3"/>'
                )
            else:
                self.line(f"M{pixels(x)} {pixels(self.y - 4)}h28")
            self.text("dtree-key", x + 34, self.y, text)
            self.elements.append("</g>")
            x += 34 + text_width(text, LABEL_SIZE)
            self.edge = max(self.edge, x)
            x += 20


def _curve(corner: tuple[float, float], end: tuple[float, float]) -> str:
    return f"Q{pixels(corner[0])} {pixels(corner[1])} {pixels(end[0])} {pixels(end[1])}"


def tree_title(tree: Tree, first: Tree) -> str:
    """The title of a tree, with the number of differences if it is not the first tree."""
    if tree is first:
        return tree.title
    kinds = [difference(tree, first, word) for word in range(1, len(tree.forms) + 1)]
    counts = [
        f"{kinds.count(kind)} wrong {noun}{'s' * (kinds.count(kind) > 1)}"
        for kind, noun in ((WRONG_HEAD, "head"), (WRONG_LABEL, "label"))
        if kind in kinds
    ]
    return f"{tree.title} · {', '.join(counts) or 'the same tree'}"


def difference(tree: Tree, first: Tree, word: int) -> str:
    """The class of a word with another head or another label than in the first tree; else empty."""
    if tree.heads[word - 1] != first.heads[word - 1]:
        return WRONG_HEAD
    return WRONG_LABEL if tree.labels[word - 1] != first.labels[word - 1] else ""


def _mark(tree: Tree, word: int) -> str:
    """A word and its number, shortened to fit the gutter."""
    number = f" {word}"
    room = GUTTER - 8 - text_width(number, SMALL_SIZE)
    short = shortened(tree.forms[word - 1], room, SMALL_SIZE)
    return isolated(short) + number


def _description(tree: Tree) -> str:
    """The whole tree as text, for screen readers."""
    words = range(1, len(tree.forms) + 1)
    text = "; ".join(f"{tree.numbered(word)}, {tree.arc_text(word)}" for word in words)
    return f"{clean(tree.title)}: {text}." if tree.title else f"{text}."


def pixels(value: float) -> str:
    """A length rounded to a tenth of a pixel, as text."""
    return f"{value:.1f}".removesuffix(".0")
