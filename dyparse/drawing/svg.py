"""SVG pictures of dependency trees, and HTML pages of them.

gold = Tree("gold", ["Who", "called", "?"], [2, 0, 2], ["nsubj", "root", "punct"])
svg = tree_picture([gold, dataclasses.replace(gold, title="parsed", heads=[2, 0, 1])], width=800)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from dyparse.drawing.layout import LABEL_SIZE, LEAST_WIDTH, SMALL_SIZE, WORD_SIZE, Tree
from dyparse.drawing.render import (
    CROSSING,
    TITLE_SIZE,
    WRONG_HEAD,
    WRONG_LABEL,
    Drawing,
    draw,
    pixels,
)
from dyparse.drawing.text import clean

__all__ = ["LEAST_WIDTH", "STYLE", "Drawing", "Tree", "draw", "html_page", "svg", "tree_picture"]

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


def tree_picture(
    trees: Sequence[Tree],
    *,
    width: int | None = None,
    caption: str = "",
    standalone: bool = True,
) -> str:
    """The SVG of a tree, or of several trees of one sentence, one above the other.

    In the second and later trees, arcs with another head or label than in the first are marked.
    Long sentences are wrapped into rows of at most `width` pixels, if that is given. With
    `standalone=False` the SVG is meant for an HTML page that contains `STYLE` once.
    """
    return svg([draw(trees, width=width, caption=caption)], standalone=standalone)


def svg(drawings: Sequence[Drawing], *, standalone: bool = True) -> str:
    """Drawings one below the other in one picture."""
    width = pixels(max(drawing.width for drawing in drawings))
    height = pixels(sum(drawing.height for drawing in drawings))
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
        lines += [f'<g transform="translate(0 {pixels(top)})">', *drawing.elements, "</g>"]
        top += drawing.height
    return "\n".join([*lines, "</svg>\n"])


def html_page(drawings: Iterable[Drawing], title: str) -> Iterator[str]:
    """An HTML page, part by part; pictures wider than the window scroll."""
    yield (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(clean(title))}</title>\n<style>\nfigure{{overflow-x:auto;margin:1em}}\n"
        f"{STYLE}</style>\n</head>\n<body>\n"
    )
    for drawing in drawings:
        yield f"<figure>\n{svg([drawing], standalone=False)}</figure>\n"
    yield "</body>\n</html>\n"
