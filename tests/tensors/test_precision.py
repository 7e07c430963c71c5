"""Precision: which parts of the network compute in bfloat16, and that trees hardly change."""

import pytest
import torch
from helpers.tiny import fresh_parser, plan, sample, trained

from dyparse.config.precisions import TRAINING as PRECISIONS
from dyparse.config.precisions import require_precision
from dyparse.evaluation.attachment_scores import attachment_scores
from dyparse.model.parser import Parser
from dyparse.tensors.precision import (
    encoder_precision,
    has_bfloat16,
    resolved,
    scorer_precision,
)
from dyparse.training.settings import TrainingSettings

DEV = sample("dev")[:40]
CPU, META = torch.device("cpu"), torch.device("meta")
PARTS = {  # whether encoder and scorer compute in bfloat16
    "float32": (False, False),
    "mixed": (False, True),
    "bfloat16": (True, True),
}


@pytest.mark.parametrize("precision", PARTS)
def test_a_precision_decides_which_parts_compute_in_bfloat16(precision, monkeypatch):
    monkeypatch.setattr("dyparse.tensors.precision.has_bfloat16_lstm", lambda: True)
    x, layer = torch.ones(2, 3), torch.nn.Linear(3, 4)
    found = []
    for context in (encoder_precision, scorer_precision):
        with context(precision, CPU):
            found.append(layer(x).dtype == torch.bfloat16)
    assert tuple(found) == PARTS[precision]
    assert layer(x).dtype == torch.float32


def test_auto_depends_on_the_instructions_of_the_device(monkeypatch):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": True})
    assert resolved("auto", CPU) == "mixed"
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx2": True})
    assert resolved("auto", CPU) == "float32"
    for has, expected in ((True, "bfloat16"), (False, "float32")):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda has=has, **_: has)
        assert resolved("auto", torch.device("cuda")) == expected
    assert not has_bfloat16(META)
    for has, expected in ((True, "bfloat16"), (False, "mixed")):
        monkeypatch.setattr("dyparse.tensors.precision.has_bfloat16_lstm", lambda has=has: has)
        assert [resolved(p, CPU) for p in PARTS] == ["float32", "mixed", expected]


def test_an_unknown_precision_is_refused_by_name(tmp_path):
    with pytest.raises(ValueError, match=r"trainer\.precision is 'half'.*mixed"):
        TrainingSettings(precision="half")
    with pytest.raises(ValueError, match="precision is 'int4'"):
        Parser.load(tmp_path, precision="int4")
    for precision in PRECISIONS:
        require_precision(precision, "x")


@pytest.fixture(scope="module")
def model(once):
    """The directory of a parser that was trained in float32."""

    def make(path):
        train = sample("train")[:60]
        settings = TrainingSettings(
            epochs=8, max_tokens_per_batch=60, learning_rate=1e-2, average_decay=0.9
        )
        parser, _ = trained(fresh_parser(train), plan(train, DEV), settings)
        parser.save(path / "model", {})

    return once("trained_in_float32", make) / "model"


@pytest.mark.parametrize("precision", ["mixed", "bfloat16"])
def test_a_trained_parser_finds_nearly_the_same_trees_in_every_precision(precision, model):
    full, half = (Parser.load(model, precision=p).parse(DEV) for p in ("float32", precision))
    assert attachment_scores(full, half).las > 95
