"""A table of text, and how numbers are written in tables and text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from dyparse.comparison.significance import SIGNIFICANT, Difference
from dyparse.comparison.statistics import Spread
from dyparse.drawing.latex import booktabs, comment, escaped
from dyparse.runtime.console import columns


@dataclass(frozen=True)
class Table:
    """A table of text cells; the first columns are names, the others numbers."""

    name: str
    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    note: str = ""
    text_columns: int = 2
    verdicts: list[str] = field(default_factory=list)  # per row: better, worse or empty
    key_column: int = -1  # the column that is emphasised if there is a verdict

    def to_markdown(self) -> str:
        """The table in Markdown, with its title and note."""
        line = "|".join(
            "---" if column < self.text_columns else "--:" for column in range(len(self.header))
        )
        cells = [[cell.replace("|", "\\|") for cell in row] for row in (self.header, *self.rows)]
        rows = [f"| {' | '.join(row)} |" for row in cells]
        parts = [f"### {self.title}", *([self.note] if self.note else [])]
        return "\n\n".join([*parts, "\n".join([rows[0], f"|{line}|", *rows[1:]])]) + "\n"

    def to_latex(self) -> str:
        """The table in LaTeX with booktabs, its title and note as comments.

        Significant differences are bold, as on the page; names are aligned left, numbers right.
        """
        columns = "l" * self.text_columns + "r" * (len(self.header) - self.text_columns)
        if self.text_columns >= len(self.header):  # long text
            columns = "l" * (len(self.header) - 1) + r"p{.7\linewidth}"
        rows: list[list[str]] = []
        for number, row in enumerate(self.rows):
            if number and row[0] != self.rows[number - 1][0]:
                rows.append([])
            cells = [escaped(cell) for cell in row]
            if self.verdicts and self.verdicts[number]:
                cells[self.key_column] = rf"\textbf{{{cells[self.key_column]}}}"
            rows.append(cells)
        about = comment(r"needs \usepackage{booktabs}", self.title, self.note)
        return about + booktabs(columns, [escaped(name) for name in self.header], rows)

    def to_html(self) -> str:
        """The table in HTML, with its title and note, for a notebook; what matters is bold."""
        rows = [[escape(cell) for cell in row] for row in self.rows]
        for row, verdict in zip(rows, self.verdicts, strict=False):
            if verdict:
                row[self.key_column] = f"<strong>{row[self.key_column]}</strong>"
        lines = [f"<th>{'</th><th>'.join(map(escape, self.header))}</th>"]
        lines += [f"<td>{'</td><td>'.join(row)}</td>" for row in rows]
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        note = f"<p>{escape(self.note)}</p>" if self.note else ""
        return f"<table><caption>{escape(self.title)}</caption>{body}</table>{note}"

    def to_text(self, *, bold: bool = False) -> str:
        """The table as aligned plain text without title and note, for a terminal.

        With `bold` the cells that the verdicts mark are bold.
        """
        lines = [self.header, *self.rows]
        widths = [max(map(columns, column)) for column in zip(*lines, strict=True)]
        marked = self.key_column % len(self.header)
        text = ""
        for number, line in enumerate(lines, -1):
            is_marked = bold and 0 <= number < len(self.verdicts) and self.verdicts[number] != ""
            cells = []
            for column, (cell, width) in enumerate(zip(line, widths, strict=True)):
                space = " " * (width - columns(cell))
                shown = f"\033[1m{cell}\033[0m" if is_marked and column == marked else cell
                cells.append(shown + space if column < self.text_columns else space + shown)
            text += "  ".join(cells).rstrip() + "\n"
        return text


def signed(value: float, digits: int = 2) -> str:
    """A difference with its sign; minus is U+2212."""
    return f"{value:+.{digits}f}".replace("-", "−")


def interval(found: Difference) -> str:
    """A difference and its confidence interval."""
    return f"{signed(found.mean)} [{signed(found.low)}, {signed(found.high)}]"


def p_value(p: float | None) -> str:
    """A p-value with three digits, with four if three would hide that it is significant."""
    if p is None:
        return ""
    if p < 0.001:
        return "< 0.001"
    return f"{p:.4f}" if p < SIGNIFICANT <= round(p, 3) else f"{p:.3f}"


def percent(value: float | None, digits: int = 2) -> str:
    """A number; empty for None."""
    return "" if value is None else f"{value:.{digits}f}"


def spread(value: Spread) -> str:
    """Mean ± standard deviation, or the mean alone for a single run."""
    return percent(value.mean) + ("" if value.sd is None else f" ± {value.sd:.2f}")
