"""Where words and arcs are in the picture of a tree: columns, rows, levels and ends of arcs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dyparse.data.sentence import NONE
from dyparse.drawing.text import clean, isolated, shortened, text_width

WORD_SIZE, LABEL_SIZE, SMALL_SIZE = 15, 11, 10  # of letters, in pixels
MARGIN, WORD_GAP, GUTTER = 16, 14, 76  # a gutter names ends in other rows
LABEL_PAD, LABEL_BACK = 22, 4
SLOT, MOST_SLOTS = 6.0, 80.0  # between the ends of arcs at a word, and from the first to the last
LONGEST_WORD, LONGEST_LABEL = 180.0, 120.0  # what is longer is shortened
LEAST_WIDTH = 560  # in which one word fits with gutters and labels on both sides

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
                f"labels and {len(self.upos)} tags, expected as many of each"
            )
        for word, head in enumerate(self.heads, 1):
            if not NONE <= head <= n or head == word:
                raise ValueError(
                    f"tree {self.title!r}: head {head} of word {word}, expected another of 0..{n}"
                )

    def token(self, index: int) -> str:
        """A word with its number; whatever its script, it does not turn the text around it."""
        return f"{isolated(clean(self.forms[index - 1]))} {index}"

    def label(self, word: int) -> str:
        """The arc to a word, to be read: its label and its head."""
        head = self.heads[word - 1]
        where = {0: "of the root", NONE: "without a head"}.get(head) or f"of {self.token(head)}"
        return f"{clean(self.labels[word - 1])} {where}"


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
    slots = slots_of(tree.heads)
    arcs = []
    for word, head in enumerate(tree.heads, 1):
        if head > 0:
            left, right = min(word, head), max(word, head)
            need = text_width(shown_label(tree, word), LABEL_SIZE) + LABEL_PAD
            arcs.append(Arc(word, left, right, (slots[left, word], slots[right, word]), need))
    return arcs


def slots_of(heads: Sequence[int]) -> Slots:
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
    """From the middle of a word to where its column ends."""
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


def label_place(piece: Piece, wide: float, lines: Sequence[float]) -> float:
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


def shown_form(tree: Tree, word: int) -> str:
    """A word as it stands in the picture."""
    return shortened(tree.forms[word - 1], LONGEST_WORD, WORD_SIZE)


def shown_tag(tree: Tree, word: int) -> str:
    """What stands below a word, if there are tags."""
    return shortened(tree.upos[word - 1], LONGEST_WORD, SMALL_SIZE) if tree.upos else ""


def shown_label(tree: Tree, word: int) -> str:
    """The label of a word's arc as it stands in the picture."""
    return shortened(tree.labels[word - 1], LONGEST_LABEL, LABEL_SIZE)
