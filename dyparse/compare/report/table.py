"""A table of text, and how numbers are written in tables and text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dyparse.compare.statistics import Effect, Spread


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
    key_column: int = -1  # the column in which the verdict is shown

    def to_markdown(self) -> str:
        """The table in Markdown, with its title and note."""
        line = "|".join(
            "---" if column < self.text_columns else "--:" for column in range(len(self.header))
        )
        cells = [[cell.replace("|", "\\|") for cell in row] for row in (self.header, *self.rows)]
        rows = [f"| {' | '.join(row)} |" for row in cells]
        parts = [f"### {self.title}", *([self.note] if self.note else [])]
        return "\n\n".join([*parts, "\n".join([rows[0], f"|{line}|", *rows[1:]])]) + "\n"


def signed(value: float, digits: int = 2) -> str:
    """A difference with its sign; minus is U+2212."""
    return f"{value:+.{digits}f}".replace("-", "−")


def interval(effect: Effect) -> str:
    """A difference in LAS and its confidence interval."""
    las = effect.las
    return f"{signed(las.mean)} [{signed(las.low)}, {signed(las.high)}]"


def p_value(p: float | None) -> str:
    """A p-value with three digits; empty for None."""
    if p is None:
        return ""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def percent(value: float | None, digits: int = 2) -> str:
    """A number; empty for None."""
    return "" if value is None else f"{value:.{digits}f}"


def spread(value: Spread) -> str:
    """Mean ± standard deviation, or the mean alone for a single run."""
    return percent(value.mean) + ("" if value.sd is None else f" ± {value.sd:.2f}")
