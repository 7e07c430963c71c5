"""The network against plain formulas, and the compiled scorer against the network."""

import numpy as np
import pytest
import torch
from helpers.tiny import fresh_parser, sample
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

from dyparse.config import choices
from dyparse.data.batch import gold_heads
from dyparse.data.sentence import NONE
from dyparse.loss.set_nll import SetNLL
from dyparse.rollout.scorer import score, table_rows
from dyparse.tensors.dropout import Dropout

SENTENCES = sample("train")[:20]


@pytest.fixture
def parser():
    """A fresh parser whose empty slots and biases are not the zeros they start as."""
    parser = fresh_parser(SENTENCES)
    with torch.no_grad():
        for parameter in (parser.model.empty_slot, parser.model.hidden_bias):
            parameter.normal_()
    parser.model.eval()
    return parser


def random_rows(parser, tokens, states=200):
    """[T, F] rows of the table, among them the last, which stands for an empty slot."""
    generator = torch.Generator().manual_seed(3)
    rows = torch.randint(tokens + 1, (states, len(parser.system.slots)), generator=generator)
    rows[0] = tokens
    rows[1, ::2] = tokens
    return rows


def test_the_table_and_its_sums_equal_one_layer_over_the_slots_side_by_side(parser):
    model = parser.model
    encoded = model.encode(parser.collator.batch(SENTENCES[:4])).vectors
    vectors = encoded.flatten(0, 1)  # [tokens, width]
    tokens, width = vectors.shape
    rows = random_rows(parser, tokens)
    F, D = model.empty_slot.shape[1:]
    layer = model.slot_projection.weight.view(F, D, width)  # the block of each slot
    expected = []
    for state in rows:
        inputs, weight = torch.zeros(F * width), layer.permute(1, 0, 2).reshape(D, -1)
        hidden = model.hidden_bias.clone()
        for f, row in enumerate(state.tolist()):
            if row == tokens:
                hidden = hidden + model.empty_slot[0, f]
            else:
                inputs[f * width : (f + 1) * width] = vectors[row]
        hidden = torch.relu(hidden + weight @ inputs)
        expected.append(model.output.weight @ hidden + model.output.bias)
    scores = model.score(model.table(encoded), rows)
    torch.testing.assert_close(scores, torch.stack(expected), atol=1e-5, rtol=1e-5)
    assert scores.std() > 0.01


def test_the_compiled_scorer_equals_the_model(parser):
    model = parser.model
    table = model.table(model.encode(parser.collator.batch(SENTENCES)).vectors)
    rows = random_rows(parser, len(table) - 1)
    scorer = model.scorer(table)()
    compiled = np.empty((len(rows), len(parser.system.moves)), dtype=np.float32)
    hidden = np.empty(len(scorer.bias), dtype=np.float32)
    for t, state in enumerate(rows.numpy().astype(np.int32)):
        score(scorer, state, hidden, compiled[t])
    torch.testing.assert_close(
        torch.from_numpy(compiled), model.score(table, rows), atol=1e-4, rtol=1e-4
    )


def test_the_scorer_is_float32_on_the_host_without_gradient(parser):
    model = parser.model.double()
    table = model.table(model.encode(parser.collator.batch(SENTENCES[:2])).vectors)
    assert table.dtype == torch.float64
    scorer = model.scorer(table)()
    for array in scorer:
        assert array.dtype == np.float32
        assert array.flags.c_contiguous
    np.testing.assert_allclose(scorer.table, table.detach().numpy(), rtol=1e-6)


def test_while_training_the_scorer_lacks_some_hidden_units_and_otherwise_none(parser):
    model = parser.model
    model.dropout = Dropout(0.5)
    table = model.table(model.encode(parser.collator.batch(SENTENCES[:2])).vectors)
    weight = model.output.weight.detach().numpy()
    np.testing.assert_array_equal(model.eval().scorer(table)().output, weight)
    model.train()
    dropped = model.scorer(table, 1)().output
    is_dropped = (dropped == 0).all(0)
    assert 0 < is_dropped.sum() < is_dropped.size
    np.testing.assert_allclose(dropped[:, ~is_dropped], 2 * weight[:, ~is_dropped], rtol=1e-6)
    np.testing.assert_array_equal(model.scorer(table, 1)().output, dropped)
    assert (model.scorer(table, 2)().output != dropped).any()


def test_an_empty_slot_has_the_last_row_of_the_table():
    rows = np.empty(4, dtype=np.int32)
    table_rows(np.array([NONE, 0, 3, NONE], dtype=np.int32), 10, 99, rows)
    assert rows.tolist() == [99, 10, 13, 99]


def test_the_gradient_of_both_losses_reaches_every_parameter(parser):
    model = parser.model
    labels = model.heads["labels"]
    encoded = model.encode(parser.collator.batch(SENTENCES)).vectors
    table = model.table(encoded)
    rows = random_rows(parser, len(table) - 1)
    scores = model.score(table, rows)
    legal = torch.ones_like(scores, dtype=torch.bool)
    cost = torch.arange(scores.shape[1], dtype=torch.int32).expand(scores.shape)
    of_labels = labels(encoded, torch.from_numpy(gold_heads(SENTENCES)).long())
    targets = torch.from_numpy(labels.targets(SENTENCES))
    (SetNLL()(scores, legal, cost).sum() + labels.loss(of_labels, targets)).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name


class Devices(TorchDispatchMode):
    """Which devices the results of torch's operations are on."""

    def __init__(self):
        super().__init__()
        self.seen = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for value in tree_flatten(result)[0]:
            if isinstance(value, torch.Tensor):
                kind = "numbers" if value.is_floating_point() else "indices"
                self.seen.setdefault((value.device.type, kind), str(func))
        return result


def test_nothing_is_made_on_another_device_than_that_of_the_batch():
    parser = fresh_parser(SENTENCES, features=choices.names("feature"), layers=2)
    meta = torch.device("meta")
    model = parser.model.to(meta).train()
    keys = np.arange(3, dtype=np.uint64)
    batch = parser.collator.batch(SENTENCES[:3], keys).to(meta)
    B, N = batch.shape
    rows = torch.zeros((7, len(parser.system.slots)), dtype=torch.int64, device=meta)
    with Devices() as devices:
        encoded = model.encode(batch).vectors
        scores = model.score(model.table(encoded), rows, rows[:, 0])
        zeros = torch.zeros((B, N), dtype=torch.int64, device=meta)
        labels = model.heads["labels"]
        of_labels = labels(encoded, zeros, batch.keys)
        legal = torch.ones_like(scores, dtype=torch.bool)
        loss = SetNLL()(scores, legal, torch.zeros_like(scores, dtype=torch.int32)).sum()
        (loss + labels.loss(of_labels, zeros)).backward()
    # Only the order of the sentences is found out on the host, which knows their lengths.
    allowed = {("meta", "numbers"), ("meta", "indices"), ("cpu", "indices")}
    assert set(devices.seen) == allowed, devices.seen
    assert scores.shape == (7, len(parser.system.moves))
    assert model.device == meta
