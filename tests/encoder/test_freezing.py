"""What is frozen in a pretrained model stays, and costs neither gradients nor copies; the rest
learns at its own rate.
"""

import pytest
import torch
from helpers.tiny import plan, sample
from helpers.tiny_transformers import SETTINGS, short_training, tiny_options, tiny_parser

from dyparse.encoder._architecture import FAMILIES
from dyparse.tensors.moving_average import MovingAverage, learned_state
from dyparse.training.resume import NAME, Progress, TrainingFile
from dyparse.training.session import Session

TRAIN, DEV = sample("train")[:20], sample("dev")[:6]
FROZEN = {"none": 0, "embeddings": 1, "0": 1, "1": 2, "2": 3, "3": 4, "all": 4}


def part(name):
    """Where a parameter is: 0 for embeddings, 1 for the lowest layer, …; None on top."""
    if "embedders.pieces.model." not in name:
        return None
    return int(name.split(".layer.")[1].split(".")[0]) + 1 if ".layer." in name else 0


@pytest.mark.parametrize("frozen", FROZEN)
def test_what_is_frozen_has_no_gradient_drops_nothing_and_stays(frozen, tiny_pretrained):
    options = tiny_options(tiny_pretrained(), frozen=frozen, kept_gigabytes=0)
    session = short_training(options, TRAIN, DEV)
    model, before = session.parser.model, tiny_parser(tiny_options(tiny_pretrained()), TRAIN).model
    start = dict(before.named_parameters())
    for name, parameter in model.named_parameters():
        is_frozen = part(name) is not None and part(name) < FROZEN[frozen]
        assert parameter.requires_grad != is_frozen, name
        assert torch.equal(parameter, start[name]) == is_frozen, name
    model.train()
    modes = dict(model.named_modules())
    for name, module in modes.items():
        parameters = [n for n, _ in module.named_parameters(prefix=name)]
        if parameters and all(part(n) is not None and part(n) < FROZEN[frozen] for n in parameters):
            assert not module.training, name
    inside = "encoder.embedders.pieces.model"
    assert modes[f"{inside}.embeddings.dropout"].training == (FROZEN[frozen] == 0)
    for layer in range(3):
        dropout = modes[f"{inside}.encoder.layer.{layer}.output.dropout"]
        assert dropout.training == (layer + 1 >= FROZEN[frozen])
    model.eval()
    assert not any(module.training for module in model.modules())


def test_layers_have_their_rates(tiny_pretrained):
    options = tiny_options(tiny_pretrained(), frozen="1", rate=0.2, layer_decay=0.5)
    model = tiny_parser(options, TRAIN).model
    rates = {p: g.rate for g in model.parameter_groups() for p in g.parameters}
    expected = {None: 1.0, 3: 0.2, 2: 0.1}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            assert rates[parameter] == pytest.approx(expected[part(name)]), name
        else:
            assert parameter not in rates
    assert set(map(part, dict(model.named_parameters()))) == {None, 0, 1, 2, 3}
    session = Session(SETTINGS, tiny_parser(options, TRAIN), plan(TRAIN, DEV))
    rates = {p: rate for group, rate in session.optimizer.adamw.groups for p in group}
    for name, parameter in session.parser.model.named_parameters():
        if parameter.requires_grad:
            assert rates[parameter] == pytest.approx(expected[part(name)])


@pytest.mark.parametrize("family", FAMILIES)
def test_gradients_reach_all_that_learns_and_nothing_below_frozen_layers(family, tiny_pretrained):
    for frozen in ("none", "embeddings", "1"):
        parser = tiny_parser(
            tiny_options(tiny_pretrained(family), frozen=frozen, mixed_layers=1), TRAIN
        )
        vectors, batch = parser.model.encoder.vectors, parser.collator.batch(TRAIN[:4])
        parser.model.eval()
        states = []
        lowest = vectors.model.get_input_embeddings()
        lowest.register_forward_hook(lambda _m, _i, output, kept=states: kept.append(output))
        vectors(batch).square().sum().backward()
        with_gradient = [p for p in vectors.model.parameters() if p.grad is not None]
        assert with_gradient == [p for p in vectors.model.parameters() if p.requires_grad]
        assert states[0].requires_grad == (frozen == "none")
        below = {
            p
            for group in vectors.groups[: {"none": 0, "embeddings": 1}.get(frozen, 2)]
            for p in group
        }
        assert all(p.requires_grad != (p in below) for p in vectors.model.parameters())
        projections = (
            "embeddings_project",
            "embedding_hidden_mapping_in",
            "relative_attention_bias",
        )
        for name, p in vectors.model.named_parameters():
            if "embeddings." in name or any(part in name for part in projections):
                assert p in set(vectors.groups[0]), name


def test_the_average_shares_frozen_weights_and_follows_the_others(tiny_pretrained):
    model = tiny_parser(tiny_options(tiny_pretrained(), frozen="2"), TRAIN).model
    average = MovingAverage(model, 0.5)
    pairs = list(zip(model.named_parameters(), average.model.parameters(), strict=True))
    frozen = [name for (name, p), own in pairs if p.data_ptr() == own.data_ptr()]
    assert frozen == [name for name, p in model.named_parameters() if not p.requires_grad]
    assert {part(name) for name in frozen} == {0, 1, 2}
    with torch.no_grad():
        for _, parameter in model.named_parameters():
            parameter.add_(1.0) if parameter.requires_grad else None
    average.follow(model)
    for (name, p), own in pairs:
        assert torch.equal(p, own) == (name in frozen)


def test_the_state_of_a_training_holds_what_learns_only(tiny_pretrained, tmp_path):
    sizes = {}
    for frozen in ("none", "all"):
        options = tiny_options(tiny_pretrained(), frozen=frozen, kept_gigabytes=0)
        session = short_training(options, TRAIN, DEV)
        file = TrainingFile(tmp_path / frozen / NAME, "options")
        file.path.parent.mkdir()
        file.save(session, Progress())
        sizes[frozen] = file.path.stat().st_size
        content = file._content()
        kept = {*content["model"], *content["optimizer"]["average"]}
        assert any(part(name) is not None for name in kept) == (frozen == "none")
    frozen_bytes = 4 * sum(
        p.numel()
        for name, p in session.parser.model.named_parameters()
        if part(name) is not None and not p.requires_grad
    )
    assert sizes["none"] - sizes["all"] > 4 * frozen_bytes  # weights, average, two of AdamW
    assert set(learned_state(session.parser.model)) == set(content["model"])
