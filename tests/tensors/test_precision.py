"""Precision: which parts of the network compute in half of it, and that trees hardly change."""

import pytest
import torch
from helpers.tiny import fresh_parser, lesson, sample, trained

from dyparse.evaluation.attachment_scores import attachment_scores
from dyparse.model.parser import Parser
from dyparse.tensors.precision import (
    PRECISIONS,
    encoder_precision,
    has_bfloat16,
    require_precision,
    resolved,
    scorer_precision,
)
from dyparse.training.loop import Trainer

CPU, META = torch.device("cpu"), torch.device("meta")
HALF = {"float32": (False, False), "mixed": (False, True), "bfloat16": (True, True)}


@pytest.mark.parametrize("precision", HALF)
def test_a_precision_says_which_parts_compute_in_half(precision):
    x, layer = torch.ones(2, 3), torch.nn.Linear(3, 4)
    found = []
    for context in (encoder_precision, scorer_precision):
        with context(precision, CPU):
            found.append(layer(x).dtype == torch.bfloat16)
    assert tuple(found) == HALF[precision]
    assert layer(x).dtype == torch.float32


def test_auto_depends_on_what_the_device_can(monkeypatch):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": True})
    assert resolved("auto", CPU) == "mixed"
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx2": True})
    assert resolved("auto", CPU) == "float32"
    for has, expected in ((True, "bfloat16"), (False, "float32")):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda has=has, **_: has)
        assert resolved("auto", torch.device("cuda")) == expected
    assert not has_bfloat16(META)
    assert [resolved(p, CPU) for p in HALF] == [*HALF]


def test_an_unknown_precision_is_refused_by_name(tmp_path):
    with pytest.raises(ValueError, match=r"trainer\.precision is 'half'.*mixed"):
        Trainer(precision="half")
    with pytest.raises(ValueError, match="precision is 'int4'"):
        Parser.load(tmp_path, precision="int4")
    for precision in PRECISIONS:
        require_precision(precision, "x")


def test_a_trained_parser_finds_nearly_the_same_trees_in_every_precision(tmp_path):
    train, dev = sample("train")[:60], sample("dev")[:40]
    trainer = Trainer(epochs=8, max_tokens_per_batch=60, learning_rate=1e-2, average_decay=0.9)
    parser, _ = trained(fresh_parser(train), lesson(train, dev), trainer)
    parser.save(tmp_path / "model", {})
    trees = {p: Parser.load(tmp_path / "model", precision=p).parse(dev) for p in HALF}
    for precision in ("mixed", "bfloat16"):
        same = attachment_scores(trees["float32"], trees[precision])
        assert same.las > 95
