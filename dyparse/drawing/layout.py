"""Layout of a tree picture: columns and rows of words, levels of arcs, and where arcs end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dyparse.drawing.text import clean, isolated, shortened, text_width

NONE = -1  # the head of a word without an arc, as in a sentence
WORD_SIZE, LABEL_SIZE, SMALL_SIZE = 15, 11, 10  # font sizes in pixels
MARGIN, WORD_GAP, GUTTER = 16, 14, 76  # the gutter names words in other rows
LABEL_PAD, LABEL_BACK = 22, 4
SLOT, MOST_SLOTS = 6.0, 80.0  # between two arc ends at a word, and between the outermost
LONGEST_WORD, LONGEST_LABEL = 240.0, 120.0  # longer text is shortened
LEAST_WIDTH = 560  # fits one word with gutters and labels on both sides

Slots = dict[tuple[int, int], float]


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
                f"labels and {len(self.upos)} tags, expected the same number of each"
            )
        for word, head in enumerate(self.heads, 1):
            if not NONE <= head <= n or head == word:
                raise ValueError(
                    f"tree {self.title!r}: head {head} of word {word}, "
                    f"expected another word in 0..{n}"
                )

    def numbered(self, word: int) -> str:
        """A word followed by its number, for text in any script."""
        return f"{isolated(clean(self.forms[word - 1]))} {word}"

    def arc_text(self, word: int) -> str:
        """The arc to a word as text: its label and its head."""
        head = self.heads[word - 1]
        where = {0: "of the root", NONE: "without a head"}.get(head) or f"of {self.numbered(head)}"
        return f"{clean(self.labels[word - 1])} {where}"


class Arc(NamedTuple):
    """An arc between two words, and the width that its label needs."""

    word: int  # the dependent
    left: int
    right: int
    slots: tuple[float, float]  # of the left and right end, relative to the middle of the word
    need: float  # least distance between the ends


class Row(NamedTuple):
    """Words side by side, and the borders at which arcs to other rows end."""

    first: int
    last: int
    x: dict[int, float]  # the middle of each word
    left: float
    right: float


class Piece(NamedTuple):
    """The part of an arc that a row shows, and its level: all of it, or one end up to a border."""

    arc: Arc
    left: float
    right: float
    level: int


def arcs_of(tree: Tree) -> list[Arc]:
    """The arcs between words, without that of the root."""
    slots = slots_of(tree.heads)
    arcs = []
    for word, head in enumerate(tree.heads, 1):
        if head > 0:
            left, right = min(word, head), max(word, head)
            need = text_width(shown_label(tree, word), LABEL_SIZE) + LABEL_PAD
            arcs.append(Arc(word, left, right, (slots[left, word], slots[right, word]), need))
    return arcs


def slots_of(heads: Sequence[int]) -> Slots:
    """Offset of each arc end from the middle of its word, by word and dependent of the arc.

    Longer arcs end further inside, so that arcs of one word do not cross: from left to right the
    short and the long ones to the left, the root's, the long and the short ones to the right.
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
    """The words in rows of at most this width, at the same positions in all trees."""
    slots = [slots_of(tree.heads) for tree in trees]
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
    """Half the width of a word's column."""
    widths = [text_width(shown_form(trees[0], word), WORD_SIZE)]
    for tree, of_tree in zip(trees, slots, strict=True):
        ends = 1 + sum(head == word for head in tree.heads)
        widths.append(min(SLOT * ends, MOST_SLOTS + SLOT))
        widths.append(text_width(shown_tag(tree, word), SMALL_SIZE))
        if tree.heads[word - 1] == 0:  # its label is above its slot
            label = text_width(shown_label(tree, word), LABEL_SIZE) + LABEL_BACK
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
    """The row with one more word, as close as labels allow.

    An arc to another row has its label in the row of the dependent; the head's row shows none.
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
    """The parts of arcs that a row shows, the highest first.

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


def crossing_words(heads: Sequence[int]) -> set[int]:
    """Words whose arc crosses another one; the root's arc starts at position 0."""
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


def label_place(piece: Piece, wide: float, lines: Sequence[float]) -> float:
    """Where the label goes: the middle of the arc, or of its widest part free of other lines."""
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


def shown_form(tree: Tree, word: int) -> str:
    """A word as shown in the picture."""
    return shortened(tree.forms[word - 1], LONGEST_WORD, WORD_SIZE)


def shown_tag(tree: Tree, word: int) -> str:
    """The tag below a word; empty if the tree has no tags."""
    return shortened(tree.upos[word - 1], LONGEST_WORD, SMALL_SIZE) if tree.upos else ""


def shown_label(tree: Tree, word: int) -> str:
    """The label of a word's arc as shown in the picture."""
    return shortened(tree.labels[word - 1], LONGEST_LABEL, LABEL_SIZE)
