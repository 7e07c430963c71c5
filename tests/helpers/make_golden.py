"""Write tests/training/golden.json again:  PYTHONPATH=tests python -m helpers.make_golden

What a tiny training gives: run it when a change is meant to change results, look at the difference,
and say why in the commit.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from dyparse.evaluation.attachment_scores import attachment_scores
from dyparse.training.settings import TrainingSettings
from helpers.tiny import fresh_parser, plan, sample, trained

GOLDEN = Path(__file__).parents[1] / "training" / "golden.json"
WORDS = 10


def results() -> dict[str, Any]:
    """60 sentences, 2 epochs, one thread: losses, scores on 100 of dev, and its first heads."""
    torch.set_num_threads(1)
    train, dev = sample("train")[:60], sample("dev")[:100]
    settings = TrainingSettings(
        epochs=2, max_tokens_per_batch=30, learning_rate=1e-2, average_decay=0.8
    )
    parser, figures = trained(fresh_parser(train, seed=7), plan(train, dev, seed=7), settings)
    parsed = parser.parse(dev)
    scores = attachment_scores(dev, parsed)
    return {
        "losses": [round(epoch["loss"], 4) for epoch in figures],
        "uas": round(scores.uas, 2),
        "las": round(scores.las, 2),
        "heads": [head for sentence in parsed for head in sentence.head][:WORDS],
        "labels": [label for sentence in parsed for label in sentence.label][:WORDS],
    }


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(results(), indent=2) + "\n", encoding="utf-8")
