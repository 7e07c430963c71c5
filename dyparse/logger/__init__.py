"""Metric sinks: where the figures of a run go beside its `metrics.jsonl`, which is always written.

A `Logger` has two jobs: `open` starts the log of one training, `publish` uploads a report on many.
To add one: write `dyparse/logger/<name>.py` with a frozen dataclass that has both methods, and
`conf/logger/<name>.yaml`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol


class Log(Protocol):
    """The log of one training: `epoch` for each epoch, `finish` if it ends well, then `close`."""

    def epoch(self, figures: dict[str, float]) -> None:
        """Log the figures of an epoch. A resumed run logs the epochs before it again."""
        ...

    def finish(self, results: dict[str, dict[str, float]], model: Path) -> None:
        """Log the results, figures by split, and the directory of the finished model."""
        ...

    def close(self, *, failed: bool) -> None:
        """End the log; always the last call, also when the run fails."""
        ...


class Logger(Protocol):
    """A metric sink."""

    def open(self, directory: Path, config: dict[str, Any]) -> Log:
        """Start the log of the training in this directory, with its options."""
        ...

    def publish(self, page: Path, rows: list[dict[str, str]], figures: Sequence[Path]) -> None:
        """Upload a report on many runs: its HTML page, the rows of its table, its figures."""
        ...
