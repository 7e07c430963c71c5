"""No logging beside `metrics.jsonl`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class NoLogger:
    """Logs nothing."""

    def open(self, directory: Path, config: dict[str, Any]) -> "NoLogger":  # noqa: ARG002 - the protocol
        return self

    def epoch(self, figures: dict[str, float]) -> None: ...

    def finish(self, results: dict[str, dict[str, float]], model: Path) -> None: ...

    def close(self, *, failed: bool) -> None: ...

    def publish(self, page: Path, rows: list[dict[str, str]], figures: Sequence[Path]) -> None: ...
