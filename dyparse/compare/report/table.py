"""A table to print, and how figures are written in tables and text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dyparse.compare.statistics import Effect, Spread


@dataclass(frozen=True)
class Table:
    """Cells to print; the first columns are text, the others numbers."""

    name: str
    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    note: str = ""
    text_columns: int = 2
    verdicts: list[str] = field(default_factory=list)  # of rows: better, worse or nothing
    key_column: int = -1  # that shows the verdict

    def to_markdown(self) -> str:
        """The table with its title and note."""
        line = "|".join(
            "---" if column < self.text_columns else "--:" for column in range(len(self.header))
        )
        cells = [[cell.replace("|", "\\|") for cell in row] for row in (self.header, *self.rows)]
        rows = [f"| {' | '.join(row)} |" for row in cells]
        parts = [f"### {self.title}", *([self.note] if self.note else [])]
        return "\n\n".join([*parts, "\n".join([rows[0], f"|{line}|", *rows[1:]])]) + "\n"


def signed(value: float, digits: int = 2) -> str:
    """A difference with its sign, a true minus."""
    return f"{value:+.{digits}f}".replace("-", "−")


def interval(effect: Effect) -> str:
    """A difference and where it may lie."""
    las = effect.las
    return f"{signed(las.mean)} [{signed(las.low)}, {signed(las.high)}]"


def p_value(p: float | None) -> str:
    """Three digits suffice."""
    if p is None:
        return ""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def percent(value: float | None, digits: int = 2) -> str:
    """A figure, or nothing."""
    return "" if value is None else f"{value:.{digits}f}"


def spread(value: Spread) -> str:
    """Mean and standard deviation."""
    return percent(value.mean) + ("" if value.sd is None else f" ± {value.sd:.2f}")
