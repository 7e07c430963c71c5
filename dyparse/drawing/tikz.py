"""Dependency trees as TikZ pictures for LaTeX, with the package tikz-dependency.

Trees of one sentence are one below the other with their words aligned; arcs with another head or
label than in the first tree are coloured. Sentences are not wrapped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dyparse.drawing.latex import comment, document, escaped
from dyparse.drawing.layout import Tree, arcs_of, crossing_words, pieces_of, rows_of
from dyparse.drawing.render import (
    CROSSING,
    WRONG_HEAD,
    WRONG_LABEL,
    difference,
    require_drawable,
    tree_title,
)

PACKAGE = "tikz-dependency"
LEVEL, SMALL = 3.2, r"\scriptsize "  # ex between arcs, and the font of tags
STYLES = {  # of marked arcs
    CROSSING: "edge style = {blue!70!black, dashed}",
    WRONG_HEAD: "edge style = {red!80!black, very thick}, "
    "label style = {draw = red!80!black, text = red!80!black}",
    WRONG_LABEL: "label style = {draw = orange!70!black, text = orange!70!black, fill = orange!15}",
}


def tikz_parts(pictures: Iterable[str], *, standalone: bool = False) -> Iterator[str]:
    """Pictures by `tikz` as a file to be included, or as a document with a page for each."""
    package = f"\\usepackage{{{PACKAGE}}}"
    styles = "".join(f"\\depstyle{{{name}}}{{{style}}}\n" for name, style in STYLES.items())
    if standalone:
        yield from document(pictures, f"{package}\n{styles}")
    else:
        yield comment(f"needs {package}") + styles
        yield from pictures


def tikz(trees: Sequence[Tree], *, caption: str = "") -> str:
    """The trees of one sentence, each in a `dependency` environment."""
    require_drawable(trees, None)
    parts = [comment(caption)]
    for tree in trees:
        if tree.title:
            parts.append(f"{{\\small {escaped(tree_title(tree, trees[0]))}}}\\par\n")
        parts.append("".join(f"{line}\n" for line in _dependency(tree, trees[0])))
    return "".join(parts)


def _dependency(tree: Tree, first: Tree) -> Iterator[str]:
    (row,) = rows_of([tree], float("inf"))
    levels = {piece.arc.word: piece.level for piece in pieces_of(arcs_of(tree), row)}
    crossing = crossing_words(tree.heads)
    yield r"\begin{dependency}"
    yield r"  \begin{deptext}[column sep=1em]"
    yield f"    {_cells(tree.forms)}"
    if tree.upos:
        yield f"    {_cells(tree.upos, SMALL)}"
    yield r"  \end{deptext}"
    above = 1 + max(levels.values(), default=0)
    for word, head in enumerate(tree.heads, 1):
        label = escaped(tree.labels[word - 1])
        styles = [CROSSING if word in crossing else "", difference(tree, first, word)]
        options = ", ".join(filter(None, styles))
        if head == 0:
            yield rf"  \deproot[{_height(above, options)}]{{{word}}}{{{label}}}"
        elif head > 0:
            yield rf"  \depedge[{_height(levels[word], options)}]{{{head}}}{{{word}}}{{{label}}}"
    yield r"\end{dependency}\par"


def _cells(texts: Sequence[str], command: str = "") -> str:
    r"""A line of the matrix, in which \& ends a cell."""
    cells = [command + escaped(text).replace(r"\&", r"\symbol{38}") for text in texts]
    return r" \& ".join(cells) + r" \\"


def _height(level: int, options: str) -> str:
    return f"edge height={level * LEVEL:.1f}ex" + (f", {options}" if options else "")
