"""Loggers: who else is told how a run goes; `metrics.jsonl` is always written.

To add one: write `dyparse/logger/<name>.py` with a frozen dataclass whose `open` gives a `Log`;
write `conf/logger/<name>.yaml`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol


class Log(Protocol):
    """One run's log."""

    def epoch(self, figures: dict[str, float]) -> None:
        """Figures after one epoch."""
        ...

    def finish(self, results: dict[str, dict[str, float]], model: Path) -> None:
        """Results per split, and the finished model."""
        ...

    def close(self, *, failed: bool) -> None:
        """The last call, also when a run fails."""
        ...


class Logger(Protocol):
    """Opens logs."""

    def open(self, directory: Path, config: dict[str, Any]) -> Log:
        """The log of the run in this directory."""
        ...

    def publish(self, page: Path, rows: list[dict[str, str]], figures: Sequence[Path]) -> None:
        """The report on many runs: its page, its table and its figures."""
        ...
