"""compile=true: the encoder compiled by torch learns what it learns otherwise."""

import json

import pytest
from helpers.tiny import run

SMALL = [
    *("trainer=debug", "threads=1", "encoder.hidden=20", "network.hidden=20"),
    *("trainer.precision=float32", "trainer.epochs=2"),
]


@pytest.mark.slow
def test_a_compiled_encoder_learns_the_same(tmp_path):
    losses = []
    for compiled in ("false", "true"):
        output = tmp_path / compiled
        told = run("train.py", *SMALL, f"compile={compiled}", f"output={output}", cwd=tmp_path)
        assert told.returncode == 0, told.stderr
        lines = (output / "metrics.jsonl").read_text().splitlines()
        losses.append([json.loads(line)["loss"] for line in lines])
    assert losses[0] == pytest.approx(losses[1], rel=1e-3)
