"""LaTeX: text in which nothing is markup, booktabs tables, and complete documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from dyparse.drawing.text import clean

COMMANDS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\symbol{34}",  # babel may have made it a command
    "−": r"\textminus{}",
    "±": r"\textpm{}",
    "×": r"\texttimes{}",
    "·": r"\textperiodcentered{}",
    "…": r"\ldots{}",
    "→": r"$\rightarrow$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "\u00a0": "~",
    "\u00ad": r"\-",
    "\ufffd": "?",
}
# an empty group: within what fonts join (-- ,, '' `` ?` !`), and before what would be an option of
# the end of a row or cell
JOINED = r"(?<=([-,'`]))(?=\1)|(?<=[?!\ufffd])(?=`)"
SPECIAL = re.compile(rf"[{re.escape(''.join(COMMANDS))}]|{JOINED}|^(?=[*\\[])")
DOCUMENT = r"""\documentclass[border=6pt,varwidth=\maxdimen,multi=sentence]{standalone}
\usepackage{iftex}
\ifPDFTeX
  \usepackage[T1]{fontenc}
  \usepackage[utf8]{inputenc}
\else
  \usepackage{fontspec} % \setmainfont{...} chooses a font that has the letters
\fi
"""


def escaped(text: str) -> str:
    """The text as LaTeX that prints it, in a table too; hyphens and quotes stay what they are."""
    return SPECIAL.sub(lambda found: COMMANDS.get(found.group(), "{}"), clean(text))


def comment(*lines: str) -> str:
    """Lines of text as LaTeX comments; empty ones are left out."""
    return "".join(f"% {clean(line)}\n" for line in lines if line)


def booktabs(columns: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A `tabular` of cells in LaTeX; an empty row is a small vertical space."""
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", _row(header), r"\midrule"]
    lines += [_row(row) if row else r"\addlinespace" for row in rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def document(pages: Iterable[str], preamble: str) -> Iterator[str]:
    """A complete document, page by page, for pdflatex, or for lualatex in other scripts."""
    yield f"{DOCUMENT}{preamble}\\begin{{document}}\n"
    for page in pages:
        yield f"\\begin{{sentence}}\n{page}\\end{{sentence}}\n"
    yield "\\end{document}\n"
