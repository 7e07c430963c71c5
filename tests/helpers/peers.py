"""What tests of benchmarks/peers share; tests/peers/conftest.py makes its modules importable."""

from __future__ import annotations

from pathlib import Path

from measurement import Job

from helpers.tiny import PROJECT

PEERS = PROJECT / "benchmarks" / "peers"


def job_in(directory: Path, **changed: object) -> Job:
    fields: dict[str, object] = {
        "row": "fake",
        "options": {},
        "train_words": 1000,
        "test_words": 50,
        "directory": str(directory),
        "minutes": 10.0,
        "moments": [1.0, 5.0],
        "parse_seconds": 6.0,
        "seed": 1,
    }
    fields |= {split: str(directory / f"{split}.conllu") for split in ("train", "dev", "test")}
    return Job(**(fields | changed))


def result(row: str, speed: float, **changed: object) -> dict[str, object]:
    made: dict[str, object] = {
        "row": row,
        "title": f"the {row}",
        "reads": "words",
        "training_words": 100 * speed,
        "training_seconds": 100.0,
        "startup_seconds": 2.0,
        "snapshots": [{"minutes": 1.0, "cpu_seconds": 60.5, "las": 70.0}],
        "end": {"cpu_seconds": 240.0, "reason": "all epochs", "las": 80.0, "complete": True},
        "parsing": {"conllu": 10 * speed, "memory": 20 * speed},
        "model_bytes": 2_000_000,
        "peak_bytes": 300_000_000,
        "versions": {"it": "1.0"},
    }
    return made | changed
