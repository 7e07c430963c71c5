"""A training that takes seconds, and all that it leaves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from dyparse.training.resume import NAME
from helpers.tiny import PROJECT

SMALL = [
    *(
        "trainer=debug",
        "tokenizer=plain",
        "trainer.epochs=4",
        "trainer.max_tokens_per_batch=60",
        "threads=1",
    ),
    *("encoder.hidden=20", "encoder.layers=1", "network.hidden=20", "trainer.precision=float32"),
]
AFTER_EVERY_BATCH = "checkpoint_minutes=0.0001"
TIMES = {"seconds", "tokens_per_second", "sentences_per_second"}
OF_THIS_RUN = {Path(".lock"), Path("config.yaml"), Path("model", "manifest.sha256")}


def started(directory: Path, *overrides: str, **environment: str) -> subprocess.Popen[str]:
    """A small training in a process of its own, that saves after every batch."""
    return subprocess.Popen(
        [sys.executable, PROJECT / "train.py", *SMALL, AFTER_EVERY_BATCH, *overrides],
        cwd=directory,
        env=os.environ | {"OMP_NUM_THREADS": "1"} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def without_times(value: Any) -> Any:
    """Figures without those that a clock gave."""
    if isinstance(value, dict):
        return {key: without_times(item) for key, item in value.items() if key not in TIMES}
    return [without_times(item) for item in value] if isinstance(value, list) else value


def outcome(directory: Path) -> dict[Path, Any]:
    """All that a finished run has left, but for what a clock gave."""
    assert not (directory / NAME).exists()
    assert not list(directory.rglob(".*.tmp"))
    left: dict[Path, Any] = {}
    for path in sorted(directory.rglob("*")):
        if path.suffix == ".json" and path.name != "vocabulary.json":
            left[path.relative_to(directory)] = without_times(json.loads(path.read_text()))
        elif path.suffix == ".jsonl":
            left[path.relative_to(directory)] = [
                without_times(json.loads(line)) for line in path.read_text().splitlines()
            ]
        elif path.is_file() and path.relative_to(directory) not in OF_THIS_RUN:
            left[path.relative_to(directory)] = path.read_bytes()
    return left
