"""Pictures of derivations, for the pages of the transition systems: SVG with the tree and a line
for every state. `scripts/make_docs.py` writes them to docs/systems/<name>.svg.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from dyparse.data.sentence import NONE
from dyparse.system import States, System

# --- examples ------------------------------------------------------------------------------------


class Example(NamedTuple):
    """A sentence, its gold heads, and the moves to take; the canonical ones if there are none."""

    words: str
    heads: tuple[int, ...]
    moves: str = ""


PROJECTIVE = Example("She ate hot soup at home", (2, 0, 4, 2, 6, 2))
CROSSING = Example("Who are you really talking to", (5, 5, 5, 5, 0, 1))
TWO_PLANES = Example("Hearings begin on taxes today", (2, 0, 4, 1, 2))
GARDEN_PATH = Example(
    "We know the answer was wrong",
    (2, 0, 4, 6, 6, 2),
    "SHIFT LEFT SHIFT SHIFT LEFT RIGHT SHIFT LEFT LEFT SHIFT REDUCE LEFT",
)
REPAIRED_PAIRS = Example(
    "We know the answer was wrong",
    (2, 0, 4, 6, 6, 2),
    "SHIFT LEFT SHIFT LEFT RIGHT SHIFT SHIFT LEFT LEFT NO_ARC RIGHT SHIFT",
)
EXAMPLES = {
    "arc_eager": PROJECTIVE,
    "arc_hybrid": PROJECTIVE,
    "arc_standard": PROJECTIVE,
    "attardi": CROSSING,
    "buffer": CROSSING,
    "covington": CROSSING,
    "covington_nonmonotonic": REPAIRED_PAIRS,
    "nonmonotonic": GARDEN_PATH,
    "swap": CROSSING,
    "two_planar": TWO_PLANES,
}
COVINGTON, TWO_STACKS = ("λ1", "λ2"), ("active stack", "other stack")
TITLES = {  # of the lists before the buffer, where they are not one stack
    "covington": COVINGTON,
    "covington_nonmonotonic": COVINGTON,
    "two_planar": TWO_STACKS,
}


class Row(NamedTuple):
    """A state, the move taken there, and its effect."""

    stack: tuple[int, ...]
    between: tuple[int, ...]  # λ2 of Covington, the stack of 2-planar that is not active
    buffer: tuple[int, ...]
    move: str = ""  # none in the last state
    arc: tuple[int, int] | None = None  # (head, dependent)
    is_mistake: bool = False  # the move has a cost
    is_repair: bool = False  # another head for a word, or one for a word that REDUCE pops


def rows_of(name: str, system: System, example: Example) -> Iterator[Row]:
    """The derivation of an example, including the last state."""
    states = system.start([len(example.heads)])
    gold = system.prepare([[0, *example.heads]])
    given = iter(example.moves.split())
    while not system.finished(states)[0]:
        move = int(system.static(states, gold)[0])
        if example.moves:
            move = system.moves.index(next(given))
        cost, before = int(system.target(states, gold)[0, move]), states.copy()
        system.step(states, [move])
        row = _row(name, system, before, states)
        yield row._replace(move=system.moves[move], is_mistake=cost > 0)
    yield _row(name, system, states, states)
    reached = tuple(system.heads(states)[0, 1:].tolist())
    if reached != example.heads:
        raise ValueError(f"{name}: the example ends with heads {reached}, not {example.heads}")


def _row(name: str, system: System, before: States, after: States) -> Row:
    """A state, and the arc that its move added."""
    size, front, end = (int(a[0]) for a in (before.stack_size, before.front, before.end))
    stack = tuple(before.stack[0, :size].tolist())
    buffer = tuple(before.buffer[0, front:end].tolist())
    passed = tuple(system.lists(before, 0)[TITLES[name][1]]) if name in TITLES else ()
    old, new = before.head[0].tolist(), after.head[0].tolist()
    changed = [word for word, head in enumerate(new) if head != old[word]]
    if not changed:
        return Row(stack, passed, buffer)
    (word,) = changed
    is_popped_below = stack[-2:] == (new[word], word)
    is_repair = old[word] != NONE or (name == "nonmonotonic" and is_popped_below)
    return Row(stack, passed, buffer, arc=(new[word], word), is_repair=is_repair)


# --- pictures ------------------------------------------------------------------------------------

SANS = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"
MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace"
INK, FAINT, LINE, STRIPE, PAPER = "#1f2328", "#6e7781", "#d0d7de", "#f6f8fa", "#ffffff"
ARC, CROSSED = "#0969da", "#cf222e"
MISTAKE, REPAIR = "#fff3c4", "#d5f5dd"
LETTER, ROW_HEIGHT, MARGIN, GAP = 8.5, 26, 24, 18  # a letter of 14px monospace, and pixels
LEVEL_HEIGHT, WORD_GAP = 24, 30


class Canvas:
    """A list of SVG elements; numbers are written short, and always in the same way."""

    def __init__(self) -> None:
        self.elements: list[str] = []

    def add(self, tag: str, text: str = "", **attributes: object) -> None:
        """Add an element; `_` in the names of attributes stands for `-`."""
        parts = [f'{k.replace("_", "-")}="{_short(v)}"' for k, v in attributes.items()]
        end = f">{escape(text)}</{tag}>" if text else "/>"
        self.elements.append(f"<{' '.join([tag, *parts])}{end}")

    def text(self, x: float, y: float, text: str, anchor: str = "start", fill: str = INK) -> None:
        """Add text in the font of tokens."""
        if text:
            self.add("text", text, x=x, y=y, text_anchor=anchor, fill=fill)

    def title(self, x: float, y: float, text: str, anchor: str = "start") -> None:
        """Add a caption, in small letters."""
        self.add("text", text, x=x, y=y, text_anchor=anchor, **{"class": "title"}, fill=FAINT)

    def svg(self, width: float, height: float, description: str) -> str:
        """The whole picture, on white paper, so that it can be read on any background."""
        w, h = _short(width), _short(height)
        style = f"text{{font:14px {MONO}}}.title{{font:12px {SANS}}}"
        frame = (
            f'<rect x="0.5" y="0.5" width="{_short(width - 1)}" height="{_short(height - 1)}" '
            f'rx="8" fill="{PAPER}" stroke="{LINE}"/>'
        )
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" '
            f'height="{h}" role="img">'
        )
        title = f"<title>{escape(description)}</title>"
        return "\n".join(
            [head, title, f"<style>{style}</style>", frame, *self.elements, "</svg>\n"]
        )


def _short(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def picture(name: str, system: System, example: Example) -> str:
    """The finished tree, and below it a line for every state, with its move and its arc."""
    forms = ["ROOT", *example.words.split()]
    rows = list(rows_of(name, system, example))
    is_root_last = 0 in rows[0].buffer
    canvas = Canvas()
    columns = _columns(rows, forms)
    width = columns["end"] + MARGIN
    bottom = _draw_tree(canvas, example, width, is_root_last=is_root_last)
    titles = TITLES.get(name, ("stack", ""))
    bottom = _draw_table(canvas, rows, forms, columns, bottom + 34, titles)
    if any(row.is_mistake for row in rows):
        bottom = _draw_legend(canvas, columns["stack"], bottom + 8)
    sentence = f"Derivation of “{example.words}” in {name.replace('_', '-')}"
    return canvas.svg(width, bottom + MARGIN - 8, sentence)


def _columns(rows: Sequence[Row], forms: Sequence[str]) -> dict[str, float]:
    """Where the columns of the table start, and where the last one ends."""

    def width(texts: list[str], least: str) -> float:
        return LETTER * max(len(text) for text in [*texts, least])

    passed = [_words(row.between, forms) for row in rows]
    widths = {
        "number": LETTER * 2,
        "stack": width([_words(row.stack, forms) for row in rows], "stack"),
        "passed": width(passed, "passed") if any(passed) else -GAP,
        "buffer": width([_words(row.buffer, forms) for row in rows], "buffer"),
        "move": width([row.move for row in rows], "move"),
        "arc": width([_arc_text(row, forms) for row in rows], "arc"),
    }
    x, columns = float(MARGIN), {}
    for name, wide in widths.items():
        columns[name] = x
        x += wide + GAP
    return columns | {"end": x - GAP}


def _words(tokens: Sequence[int], forms: Sequence[str]) -> str:
    return " ".join(forms[token] for token in tokens)


def _arc_text(row: Row, forms: Sequence[str]) -> str:
    return f"{forms[row.arc[0]]} → {forms[row.arc[1]]}" if row.arc else ""


def _draw_tree(canvas: Canvas, example: Example, width: float, *, is_root_last: bool) -> float:
    """The words, centred, with their arcs above; crossing arcs have another colour."""
    forms = ["ROOT", *example.words.split()]
    order = [*range(1, len(forms)), 0] if is_root_last else list(range(len(forms)))
    wide = sum(LETTER * len(form) for form in forms) + WORD_GAP * (len(forms) - 1)
    x, centre = (width - wide) / 2, {}
    for token in order:
        centre[token] = x + LETTER * len(forms[token]) / 2
        x += LETTER * len(forms[token]) + WORD_GAP
    arcs = [(head, word) for word, head in enumerate(example.heads, 1)]
    spans = {arc: sorted(order.index(token) for token in arc) for arc in arcs}
    levels: dict[tuple[int, int], int] = {}
    for arc in sorted(arcs, key=lambda arc: spans[arc][1] - spans[arc][0]):
        inside = [levels[other] for other in levels if _covers(spans[arc], spans[other])]
        taken = {levels[other] for other in levels if _cross(spans[arc], spans[other])}
        levels[arc] = next(k for k in itertools.count(1 + max(inside, default=0)) if k not in taken)
    base = MARGIN + LEVEL_HEIGHT * max(levels.values()) + 4
    for arc in arcs:
        is_crossed = any(_cross(spans[arc], spans[other]) for other in arcs)
        _draw_arc(canvas, centre, arc, (base, levels[arc]), CROSSED if is_crossed else ARC)
    for token in order:
        canvas.text(centre[token], base + 20, forms[token], "middle", INK if token else FAINT)
    return base + 20


def _covers(outer: Sequence[int], inner: Sequence[int]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _cross(one: Sequence[int], other: Sequence[int]) -> bool:
    return one[0] < other[0] < one[1] < other[1] or other[0] < one[0] < other[1] < one[1]


def _draw_arc(
    canvas: Canvas,
    centre: dict[int, float],
    arc: tuple[int, int],
    place: tuple[float, int],
    colour: str,
) -> None:
    """From beside the middle of the head up to the level, and down to the dependent."""
    base, level = place
    start, end = centre[arc[0]], centre[arc[1]]
    start += 7 if end > start else -7
    top, bend = base - LEVEL_HEIGHT * level, min(16.0, abs(end - start) / 2)
    bend = bend if end > start else -bend
    path = (
        f"M{_short(start)} {_short(base)}C{_short(start)} {_short(top)} {_short(start)} "
        f"{_short(top)} {_short(start + bend)} {_short(top)}H{_short(end - bend)}"
        f"C{_short(end)} {_short(top)} {_short(end)} {_short(top)} {_short(end)} {_short(base - 4)}"
    )
    canvas.add("path", d=path, fill="none", stroke=colour, stroke_width=1.5)
    tip = f"M{_short(end)} {_short(base + 3)}l-4 -8h8z"
    canvas.add("path", d=tip, fill=colour)


def _draw_table(
    canvas: Canvas,
    rows: Sequence[Row],
    forms: Sequence[str],
    columns: dict[str, float],
    top: float,
    titles: tuple[str, str],
) -> float:
    """One line per state; the top of the stack is next to the front of the buffer."""
    has_passed = any(row.between for row in rows)
    stack_end = (columns["passed"] if has_passed else columns["buffer"]) - GAP
    canvas.title(stack_end, top, titles[0], "end")
    if has_passed:
        canvas.title(columns["passed"], top, titles[1])
    for name in ("buffer", "move", "arc"):
        canvas.title(columns[name], top, name)
    y = top + 8
    for number, row in enumerate(rows, 1):
        stripe = STRIPE if number % 2 else PAPER
        fill = MISTAKE if row.is_mistake else REPAIR if row.is_repair else stripe
        left, wide = columns["number"] - 8, columns["end"] - columns["number"] + 16
        canvas.add("rect", x=left, y=y, width=wide, height=ROW_HEIGHT, fill=fill)
        line = y + 18
        canvas.title(columns["number"], line, str(number))
        canvas.text(stack_end, line, _words(row.stack, forms), "end")
        canvas.text(columns["passed"], line, _words(row.between, forms), fill=FAINT)
        canvas.text(columns["buffer"], line, _words(row.buffer, forms))
        if row.move:
            canvas.text(columns["move"], line, row.move, fill=ARC)
            canvas.text(columns["arc"], line, _arc_text(row, forms))
        else:
            canvas.title(columns["move"], line, "the end")
        y += ROW_HEIGHT
    for x in {stack_end + GAP / 2, columns["buffer"] - GAP / 2}:
        canvas.add("path", d=f"M{_short(x)} {_short(top + 8)}V{_short(y)}", stroke=LINE)
    return y


def _draw_legend(canvas: Canvas, x: float, y: float) -> float:
    """The meaning of the colours of lines."""
    for colour, text in ((MISTAKE, "a mistake"), (REPAIR, "its repair")):
        canvas.add("rect", x=x, y=y, width=14, height=14, fill=colour, stroke=LINE)
        canvas.title(x + 20, y + 11.5, text)
        x += 110
    return y + 14
