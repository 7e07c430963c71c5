"""Pictures of dependency trees as SVG: arcs above the words, trees of the same words aligned.

gold = Tree("gold", ["Who", "called", "?"], [2, 0, 2], ["nsubj", "root", "punct"])
svg = tree_picture([gold, dataclasses.replace(gold, title="parsed", heads=[2, 0, 1])], width=800)
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from dyparse.sentence import NONE

GAP_SIGN, UNKNOWN_SIGN = "…", "\ufffd"
WORD_SIZE, LABEL_SIZE, SMALL_SIZE, TITLE_SIZE = 15, 11, 10, 13  # of letters, in pixels
MARGIN, WORD_GAP, GUTTER, ROW_GAP = 16, 14, 76, 12  # a gutter names ends in other rows
LEVEL, LABEL_PAD, LABEL_BACK, CORNER, TIP = 22, 22, 4, 18, 7
SLOT, MOST_SLOTS = 6.0, 80.0  # between the ends of arcs at a word, and from the first to the last
LONGEST_WORD, LONGEST_LABEL, LONGEST_TITLE = 180.0, 120.0, 800.0  # what is longer is shortened
LEAST_WIDTH = 560  # in which one word fits with gutters and labels on both sides

WRONG_HEAD, WRONG_LABEL, CROSSING = "dtree-wrong-head", "dtree-wrong-label", "dtree-crossing"
LEGEND = {
    CROSSING: "crosses another arc",
    WRONG_HEAD: "wrong head",
    WRONG_LABEL: "right head, wrong label",
}
BOLD = 1.12  # how much wider
SANS = "'DejaVu Sans','Noto Sans',Verdana,'Segoe UI',Helvetica,Arial,sans-serif"
STYLE = f"""\
.dtree-paper,.dtree-back{{fill:#fff}}
.dtree text{{font:{WORD_SIZE}px {SANS};fill:#1f2328;text-anchor:middle}}
.dtree .dtree-caption{{font-size:{TITLE_SIZE}px;font-weight:600;text-anchor:start}}
.dtree .dtree-title{{font-size:{TITLE_SIZE}px;fill:#57606a;text-anchor:start}}
.dtree .dtree-tag,.dtree .dtree-number{{font-size:{SMALL_SIZE}px;fill:#6e7781}}
.dtree .dtree-key{{font-size:{LABEL_SIZE}px;fill:#57606a;text-anchor:start}}
.dtree .dtree-label{{font-size:{LABEL_SIZE}px}}
.dtree .dtree-to-left{{font-size:{SMALL_SIZE}px;fill:#57606a;text-anchor:end}}
.dtree .dtree-to-right{{font-size:{SMALL_SIZE}px;fill:#57606a;text-anchor:start}}
.dtree-line{{fill:none;stroke:#57606a;stroke-width:1.3}}
.dtree-tip{{fill:#57606a}}
.{CROSSING} .dtree-line{{stroke:#0b62b8;stroke-dasharray:7 3}}
.{CROSSING} .dtree-tip{{fill:#0b62b8}}
.{WRONG_HEAD} .dtree-line{{stroke:#c8102e;stroke-width:2.6}}
.{WRONG_HEAD} .dtree-tip,.dtree .{WRONG_HEAD} .dtree-label{{fill:#c8102e}}
.dtree text.{WRONG_HEAD}{{fill:#c8102e;text-decoration:underline}}
.{WRONG_LABEL} .dtree-back{{fill:#fff4d6;stroke:#b35900}}
.dtree .{WRONG_LABEL} .dtree-label,.dtree text.{WRONG_LABEL}{{fill:#8f4700}}
"""

# --- what is drawn -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tree:
    """A tree over words 1..n; head 0 is the root, and a word whose head is NONE has no arc."""

    title: str
    forms: Sequence[str]
    heads: Sequence[int]
    labels: Sequence[str]
    upos: Sequence[str] = ()  # below the words, if given

    def __post_init__(self) -> None:
        n = len(self.forms)
        if not len(self.heads) == len(self.labels) == n or len(self.upos) not in (0, n):
            raise ValueError(
                f"tree {self.title!r} has {n} words, {len(self.heads)} heads, {len(self.labels)} "
                f"labels and {len(self.upos)} tags, expected as many of each"
            )
        for word, head in enumerate(self.heads, 1):
            if not NONE <= head <= n or head == word:
                raise ValueError(
                    f"tree {self.title!r}: head {head} of word {word}, expected another of 0..{n}"
                )

    def token(self, index: int) -> str:
        """A word with its number; whatever its script, it does not turn the text around it."""
        return f"{_isolated(clean(self.forms[index - 1]))} {index}"

    def relation(self, word: int) -> str:
        """The arc to a word, to be read: its label and its head."""
        head = self.heads[word - 1]
        where = {0: "of the root", NONE: "without a head"}.get(head) or f"of {self.token(head)}"
        return f"{clean(self.labels[word - 1])} {where}"

    def difference(self, first: Tree, word: int) -> str:
        """The class of a word whose head, or else whose label, is not that of the first tree."""
        if self.heads[word - 1] != first.heads[word - 1]:
            return WRONG_HEAD
        return WRONG_LABEL if self.labels[word - 1] != first.labels[word - 1] else ""


def crossing_words(heads: Sequence[int]) -> set[int]:
    """Words whose arc crosses another, that of the root from position 0 included."""
    far_left, far_right = list(range(len(heads) + 1)), list(range(len(heads) + 1))
    spans = {w: (min(w, h), max(w, h)) for w, h in enumerate(heads, 1) if h != NONE}
    for left, right in spans.values():
        far_right[left] = max(far_right[left], right)
        far_left[right] = min(far_left[right], left)
    return {
        word
        for word, (left, right) in spans.items()
        if any(far_left[k] < left or far_right[k] > right for k in range(left + 1, right))
    }


# --- text ----------------------------------------------------------------------------------------


def clean(text: str) -> str:
    """The text without what XML forbids, and without marks that turn the direction of others."""
    return "".join(UNKNOWN_SIGN if _is_forbidden(c) else c for c in text)


def _is_forbidden(character: str) -> bool:
    if character.isascii():
        return not character.isprintable()
    turning = unicodedata.bidirectional(character) in {
        *("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    }
    is_noncharacter = ord(character) & 0xFFFE == 0xFFFE
    return turning or is_noncharacter or unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp")


def text_width(text: str, size: float) -> float:
    """About how wide a text is in a wide sans-serif font; accents take no room."""
    return size * sum(map(_letter_width, text))


def _letter_width(character: str) -> float:
    if character in "iIjl.,:;'|! ":
        return 0.36
    if character in "mwMW@%—…":
        return 0.98
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    category = unicodedata.category(character)
    return 0.0 if category in ("Mn", "Me", "Cf") else 0.72 if category == "Lu" else 0.63


def shortened(text: str, most: float, size: float) -> str:
    """The clean text, or as much of its beginning as fits."""
    text = clean(text)
    if text_width(text, size) <= most:
        return text
    room, end = most - text_width(GAP_SIGN, size), 0
    while (room := room - text_width(text[end], size)) >= 0:
        end += 1
    return text[:end] + GAP_SIGN


# --- where words and arcs are --------------------------------------------------------------------


Slots = dict[tuple[int, int], float]


class Arc(NamedTuple):
    """An arc between two words, and what it needs so that its label fits on it."""

    word: int  # its dependent
    left: int
    right: int
    slots: tuple[float, float]  # of its left and right end, beside the middle of the word
    need: float  # from end to end


class Row(NamedTuple):
    """Words that stand side by side, and the borders at which arcs to other rows end."""

    first: int
    last: int
    x: dict[int, float]  # the middle of each word
    left: float
    right: float


class Piece(NamedTuple):
    """What a row shows of an arc: all, or one end and the way to a border, and at which level."""

    arc: Arc
    left: float
    right: float
    level: int


def arcs_of(tree: Tree) -> list[Arc]:
    """The arcs between words; that of the root is none of them."""
    slots = _slots(tree.heads)
    arcs = []
    for word, head in enumerate(tree.heads, 1):
        if head > 0:
            left, right = min(word, head), max(word, head)
            need = text_width(_label(tree, word), LABEL_SIZE) + LABEL_PAD
            arcs.append(Arc(word, left, right, (slots[left, word], slots[right, word]), need))
    return arcs


def _slots(heads: Sequence[int]) -> Slots:
    """Where beside the middle of a word an arc ends, by the word and the dependent of the arc.

    Arcs that reach farther end inside, so that arcs of the same word do not meet: from left to
    right the near and far ones to the left, the root's, the far and near ones to the right.
    """
    ends: list[list[tuple[bool, int, int]]] = [[] for _ in range(len(heads) + 1)]
    for word, head in enumerate(heads, 1):
        if head == 0:
            ends[word].append((False, NONE, word))
        elif head != NONE:
            for at, other in ((word, head), (head, word)):
                ends[at].append((other > at, -other, word))
    slots = {}
    for at, of_word in enumerate(ends):
        apart = min(SLOT, MOST_SLOTS / max(1, len(of_word) - 1))
        for place, (_, _, word) in enumerate(sorted(of_word)):
            slots[at, word] = apart * (place - (len(of_word) - 1) / 2)
    return slots


def rows_of(trees: Sequence[Tree], width: float) -> list[Row]:
    """The words in rows of at most this width, at the same places in all trees."""
    slots = [_slots(tree.heads) for tree in trees]
    words = range(1, len(trees[0].forms) + 1)
    halves = [0.0, *(_half(trees, slots, word) for word in words)]
    arcs: list[list[Arc]] = [[] for _ in halves]  # by their ends
    for arc in (arc for tree in trees for arc in arcs_of(tree)):
        arcs[arc.left].append(arc)
        arcs[arc.right].append(arc)
    rows: list[Row] = []
    while not rows or rows[-1].last < len(halves) - 1:
        rows.append(_next_row(rows[-1].last + 1 if rows else 1, halves, arcs, width))
    return rows


def _half(trees: Sequence[Tree], slots: Sequence[Slots], word: int) -> float:
    """From the middle of a word to where its column ends."""
    widths = [text_width(_form(trees[0], word), WORD_SIZE)]
    for tree, of_tree in zip(trees, slots, strict=True):
        ends = 1 + sum(head == word for head in tree.heads)
        widths.append(min(SLOT * ends, MOST_SLOTS + SLOT))
        widths.append(text_width(_tag(tree, word), SMALL_SIZE))
        if tree.heads[word - 1] == 0:  # its label is above its slot
            label = text_width(_label(tree, word), LABEL_SIZE) + LABEL_BACK
            widths.append(label + 2 * abs(of_tree[word, word]))
    return max(widths) / 2


def _next_row(
    first: int, halves: Sequence[float], arcs: Sequence[Sequence[Arc]], width: float
) -> Row:
    """As many words as fit, at least one."""
    border = float(MARGIN + (GUTTER if first > 1 else 0))
    row = Row(first, first - 1, {}, border, border)
    for word in range(first, len(halves)):
        longer = _with_word(row, word, halves, arcs)
        gutter = GUTTER if word < len(halves) - 1 else 0
        if word > first and longer.right + gutter + MARGIN > width:
            break
        row = longer
    return row


def _with_word(row: Row, word: int, halves: Sequence[float], arcs: Sequence[Sequence[Arc]]) -> Row:
    """The row with one more word, as near as labels allow.

    The label of an arc to another row stands where its dependent is; the head's end has none.
    """
    x = row.left + halves[word]
    if row.x:
        x = row.x[row.last] + halves[row.last] + WORD_GAP + halves[word]
    for arc in arcs[word]:
        if arc.left in row.x:
            x = max(x, row.x[arc.left] + arc.slots[0] + arc.need - arc.slots[1])
        elif arc.left < row.first:
            x = max(x, row.left + (arc.need if arc.word == word else LABEL_PAD) - arc.slots[1])
    places = row.x | {word: x}
    to_border = [
        x + arc.slots[0] + (arc.need if arc.word == left else LABEL_PAD)
        for left, x in places.items()
        for arc in arcs[left]
        if arc.left == left and arc.right > word
    ]
    return Row(row.first, word, places, row.left, max([x + halves[word], *to_border]))


def pieces_of(arcs: Sequence[Arc], row: Row) -> list[Piece]:
    """What a row shows of the arcs, the highest first.

    Arcs above the same gap between two words are at different levels, shorter ones below.
    """
    before, behind = row.first - 1, row.last + 1
    shown = [
        (min(arc.right, behind) - max(arc.left, before), arc.right - arc.left, arc)
        for arc in arcs
        if arc.left in row.x or arc.right in row.x
    ]
    taken = [0] * (behind - before)  # levels above the gaps
    pieces = []
    for *_, arc in sorted(shown):
        gaps = slice(max(arc.left, before) - before, min(arc.right, behind) - before)
        level = 1 + max(taken[gaps])
        taken[gaps] = [level] * len(taken[gaps])
        left = row.x[arc.left] + arc.slots[0] if arc.left in row.x else row.left
        right = row.x[arc.right] + arc.slots[1] if arc.right in row.x else row.right
        pieces.append(Piece(arc, left, right, level))
    return sorted(pieces, key=lambda piece: -piece.level)


# --- SVG -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Drawing:
    """The elements of a picture, and its size."""

    caption: str
    description: str
    width: float
    height: float
    elements: tuple[str, ...]


def tree_picture(
    trees: Sequence[Tree],
    *,
    width: int | None = None,
    caption: str = "",
    standalone: bool = True,
) -> str:
    """The SVG of a tree, or of several of the same words one above the other.

    In the second and later trees arcs are marked whose head, or else whose label, is not that of
    the first. Long sentences are wrapped into rows of at most `width` pixels, if that is given.
    With `standalone=False` the SVG is one to put into an HTML page that holds `STYLE` once.
    """
    return svg([draw(trees, width=width, caption=caption)], standalone=standalone)


def svg(drawings: Sequence[Drawing], *, standalone: bool = True) -> str:
    """Drawings below each other in one picture."""
    width = _short(max(drawing.width for drawing in drawings))
    height = _short(sum(drawing.height for drawing in drawings))
    space = ' xmlns="http://www.w3.org/2000/svg"' if standalone else ""
    lines = [
        f'<svg{space} class="dtree" role="img" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">',
        f"<title>{escape(', '.join(drawing.caption for drawing in drawings))}</title>",
        f"<desc>{escape(' '.join(drawing.description for drawing in drawings))}</desc>",
    ]
    if standalone:
        lines.append(f"<style>\n{STYLE}</style>")
    lines.append(f'<rect class="dtree-paper" width="{width}" height="{height}"/>')
    top = 0.0
    for drawing in drawings:
        lines += [f'<g transform="translate(0 {_short(top)})">', *drawing.elements, "</g>"]
        top += drawing.height
    return "\n".join([*lines, "</svg>\n"])


def html_page(drawings: Iterable[Drawing], title: str) -> Iterator[str]:
    """An HTML page, part by part; a picture that is too wide for the window scrolls."""
    yield (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(clean(title))}</title>\n<style>\nfigure{{overflow-x:auto;margin:1em}}\n"
        f"{STYLE}</style>\n</head>\n<body>\n"
    )
    for drawing in drawings:
        yield f"<figure>\n{svg([drawing], standalone=False)}</figure>\n"
    yield "</body>\n</html>\n"


def draw(trees: Sequence[Tree], *, width: int | None = None, caption: str = "") -> Drawing:
    """What `tree_picture` shows, to be put into a larger picture or page."""
    _check(trees, width)
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
        description=" ".join(map(_in_words, trees)),
        width=max(edge, sheet.edge) + MARGIN,
        height=sheet.y + MARGIN / 2,
        elements=tuple(sheet.elements),
    )


def _check(trees: Sequence[Tree], width: int | None) -> None:
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
    """A drawing while it is made, from top to bottom."""

    def __init__(self, trees: Sequence[Tree], rows: Sequence[Row], room: float) -> None:
        self.trees, self.room, self.is_wrapped = trees, room, len(rows) > 1
        self.arcs = [arcs_of(tree) for tree in trees]
        self.slots = [_slots(tree.heads) for tree in trees]
        self.crossing = [crossing_words(tree.heads) for tree in trees]
        self.y, self.edge = float(MARGIN), 0.0  # what is drawn ends here
        self.elements: list[str] = []
        self.classes: set[str] = set()  # that the legend explains

    def text(self, kind: str, x: float, y: float, text: str) -> None:
        """Clean text, at its middle or as its class says."""
        place = f'x="{_short(x)}" y="{_short(y)}"'
        self.elements.append(f'<text class="{kind}" {place}>{escape(text)}</text>')

    def draw_title(self, kind: str, title: str) -> None:
        """A line at the left, if there is a title."""
        if title:
            shown = shortened(title, self.room, TITLE_SIZE * BOLD)
            self.text(kind, MARGIN, self.y + TITLE_SIZE, shown)
            self.edge = max(self.edge, MARGIN + text_width(shown, TITLE_SIZE * BOLD))
            self.y += TITLE_SIZE + 9

    def draw_tree(self, number: int, row: Row) -> None:
        """The words of a row, and the arcs of a tree above them."""
        tree = self.trees[number]
        if row.first == 1:
            self.draw_title("dtree-title", self.title(number))
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

    def title(self, number: int) -> str:
        """The title of a tree, and how many words differ from the first tree."""
        tree = self.trees[number]
        if number == 0:
            return tree.title
        words = range(1, len(tree.forms) + 1)
        kinds = [tree.difference(self.trees[0], word) for word in words]
        counts = [
            f"{kinds.count(kind)} wrong {noun}{'s' * (kinds.count(kind) > 1)}"
            for kind, noun in ((WRONG_HEAD, "head"), (WRONG_LABEL, "label"))
            if kind in kinds
        ]
        return f"{tree.title} · {', '.join(counts) or 'the same tree'}"

    def open_arc(self, number: int, word: int) -> None:
        """Begin the group of an arc or of a piece of one; what it is can be read in a tooltip."""
        tree, first = self.trees[number], self.trees[0]
        kinds = ["dtree-arc", tree.difference(first, word)]
        if word in self.crossing[number]:
            kinds.append(CROSSING)
        self.classes.update(kinds)
        self.elements.append(
            f'<g class="{" ".join(filter(None, kinds))}" data-tree="{number}" data-word="{word}" '
            f'data-head="{tree.heads[word - 1]}"><title>{escape(self.about(number, word))}</title>'
        )

    def about(self, number: int, word: int) -> str:
        """A word and its arc, to be read; what the first tree says if that is something else."""
        tree, first = self.trees[number], self.trees[0]
        text = f"{tree.token(word)}: {tree.relation(word)}"
        if tree.difference(first, word):
            text += f"; {clean(first.title)}: {first.relation(word)}"
        return text

    def draw_root(self, number: int, word: int, x: float, ends: tuple[float, float]) -> None:
        """An arrow from above all arcs down to the word."""
        base, top = ends
        self.open_arc(number, word)
        self.line(f"M{_short(x)} {_short(top + LABEL_SIZE / 2 + 1)}V{_short(base - TIP)}")
        self.tip(x, base)
        self.label(number, word, x, top)
        self.elements.append("</g>")

    def draw_piece(
        self, number: int, piece: Piece, row: Row, base: float, lines: Sequence[float]
    ) -> None:
        """An arc, or its way from a word to the border where a mark names its other end."""
        arc, tree = piece.arc, self.trees[number]
        top = base - LEVEL * piece.level
        has_left, has_right = arc.left in row.x, arc.right in row.x
        has_word = arc.word in row.x
        self.open_arc(number, arc.word)
        ends = [base - TIP if arc.word == end else base for end in (arc.left, arc.right)]
        corner = min(CORNER, max(8.0, (piece.right - piece.left) / 8))
        path = f"M{_short(piece.left)} {_short(top)}"
        if has_left:
            path = f"M{_short(piece.left)} {_short(ends[0])}V{_short(top + CORNER)}"
            path += _curve((piece.left, top), (piece.left + corner, top))
        path += f"H{_short(piece.right - corner if has_right else piece.right)}"
        if has_right:
            path += _curve((piece.right, top), (piece.right, top + CORNER))
            path += f"V{_short(ends[1])}"
        self.line(path)
        if has_word:
            self.tip(piece.left if arc.word == arc.left else piece.right, base)
            wide = text_width(_label(tree, arc.word), LABEL_SIZE)
            self.label(number, arc.word, _label_place(piece, wide, lines), top)
        if not has_left:
            self.mark("dtree-to-left", _mark(tree, arc.left), row.left, top)
        if not has_right:
            self.mark("dtree-to-right", _mark(tree, arc.right), row.right, top)
        self.elements.append("</g>")

    def line(self, path: str) -> None:
        """A line of an arc."""
        self.elements.append(f'<path class="dtree-line" d="{path}"/>')

    def tip(self, x: float, y: float) -> None:
        """The head of an arrow that points down."""
        path = f"M{_short(x)} {_short(y)}l-3.5 -{TIP + 1}h7z"
        self.elements.append(f'<path class="dtree-tip" d="{path}"/>')

    def mark(self, kind: str, text: str, x: float, y: float) -> None:
        """A dot at the border of a row, and beyond it the word in another row."""
        self.elements.append(
            f'<circle class="dtree-tip" cx="{_short(x)}" cy="{_short(y)}" r="2.5"/>'
        )
        self.text(kind, x + (6 if kind == "dtree-to-right" else -6), y + SMALL_SIZE * 0.36, text)

    def label(self, number: int, word: int, x: float, y: float) -> None:
        """The label of an arc, in a gap of its line."""
        text = _label(self.trees[number], word)
        wide, high = text_width(text, LABEL_SIZE) + LABEL_BACK, LABEL_SIZE + LABEL_BACK
        self.elements.append(
            f'<rect class="dtree-back" x="{_short(x - wide / 2)}" y="{_short(y - high / 2)}" '
            f'width="{_short(wide)}" height="{_short(high)}" rx="3"/>'
        )
        self.text("dtree-label", x, y + LABEL_SIZE * 0.36, text)

    def draw_words(self, number: int, row: Row) -> None:
        """The words, below them their tags, and numbers if marks refer to them."""
        tree = self.trees[number]
        self.y += WORD_SIZE + 2
        for word, x in row.x.items():
            kind = f"dtree-word {tree.difference(self.trees[0], word)}".strip()
            self.text(kind, x, self.y, _form(tree, word))
        for kind, texts in (
            ("dtree-tag", [_tag(tree, word) for word in row.x]),
            ("dtree-number", [str(word) for word in row.x if self.is_wrapped]),
        ):
            if any(texts):
                self.y += SMALL_SIZE + 4
                for x, text in zip(row.x.values(), texts, strict=True):
                    self.text(kind, x, self.y, text)
        self.y += MARGIN

    def draw_legend(self) -> None:
        """What colours, dashes and weights mean, of those that occur."""
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
                    f'<rect class="dtree-back" x="{_short(x)}" y="{_short(y)}" '
                    f'width="28" height="{LABEL_SIZE + 3}" rx="3"/>'
                )
            else:
                self.line(f"M{_short(x)} {_short(self.y - 4)}h28")
            self.text("dtree-key", x + 34, self.y, text)
            self.elements.append("</g>")
            x += 34 + text_width(text, LABEL_SIZE)
            self.edge = max(self.edge, x)
            x += 20


def _curve(corner: tuple[float, float], end: tuple[float, float]) -> str:
    return f"Q{_short(corner[0])} {_short(corner[1])} {_short(end[0])} {_short(end[1])}"


def _label_place(piece: Piece, wide: float, lines: Sequence[float]) -> float:
    """The middle of the arc, or of its widest part between lines that would meet the label."""
    middle = (piece.left + piece.right) / 2
    inside = sorted(x for x in lines if piece.left < x < piece.right)
    if all(abs(x - middle) > wide / 2 + 2 for x in inside):
        return middle
    stops = [piece.left, *inside, piece.right]
    right, left = max(
        zip(stops[1:], stops[:-1], strict=True), key=lambda stop: round(stop[0] - stop[1], 1)
    )
    least, most = piece.left + wide / 2 + 4, piece.right - wide / 2 - 4
    return min(max((left + right) / 2, least), most)


def _form(tree: Tree, word: int) -> str:
    return shortened(tree.forms[word - 1], LONGEST_WORD, WORD_SIZE)


def _tag(tree: Tree, word: int) -> str:
    return shortened(tree.upos[word - 1], LONGEST_WORD, SMALL_SIZE) if tree.upos else ""


def _label(tree: Tree, word: int) -> str:
    return shortened(tree.labels[word - 1], LONGEST_LABEL, LABEL_SIZE)


def _mark(tree: Tree, word: int) -> str:
    """A word and its number, short enough for the gutter."""
    number = f" {word}"
    room = GUTTER - 8 - text_width(number, SMALL_SIZE)
    short = shortened(tree.forms[word - 1], room, SMALL_SIZE)
    return _isolated(short) + number


def _isolated(text: str) -> str:
    """The text such that, whatever its script, it does not turn what stands beside it."""
    turns = any(unicodedata.bidirectional(c) in ("R", "AL") for c in text)
    return f"\u2068{text}\u2069" if turns else text


def _in_words(tree: Tree) -> str:
    words = range(1, len(tree.forms) + 1)
    text = "; ".join(f"{tree.token(word)}, {tree.relation(word)}" for word in words)
    return f"{clean(tree.title)}: {text}." if tree.title else f"{text}."


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
