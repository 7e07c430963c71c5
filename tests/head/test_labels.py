"""The label head against plain formulas; its targets, predictions and entries."""

import numpy as np
import pytest
import torch
from helpers.tiny import fresh_parser, sample

from dyparse.data.sentence import NONE
from dyparse.head import load_heads, require_heads, require_writable
from dyparse.head.labels import Labels

SENTENCES = sample("train")[:20]
HEAD = Labels().build(4, ("det", "obj", "root"), hidden=3, dropout=0.0)


def test_labels_are_scored_by_one_layer_over_head_and_dependent():
    parser = fresh_parser(SENTENCES)
    model = parser.model.eval()
    encoded = model.encode(parser.collator.batch(SENTENCES[:3])).vectors  # [B, N, width]
    B, N, _ = encoded.shape
    head = torch.randint(N, (B, N), generator=torch.Generator().manual_seed(1))
    labels = model.heads["labels"]
    scores = labels(encoded, head)
    assert scores.shape == (B, N, len(parser.vocabulary.heads["labels"]))
    of_head, of_dependent, output = (
        labels.head,
        labels.dependent,
        labels.output,
    )
    for b in range(B):
        for w in range(N):
            hidden = of_head(encoded[b, head[b, w]]) + of_dependent(encoded[b, w])
            expected = output(torch.relu(hidden))
            torch.testing.assert_close(scores[b, w], expected, atol=1e-5, rtol=1e-4)


def test_the_loss_of_labels_is_the_sum_over_the_words_that_have_one():
    generator = torch.Generator().manual_seed(2)
    scores = torch.randn(2, 4, 5, generator=generator, dtype=torch.float64, requires_grad=True)
    label = torch.tensor([[NONE, 0, 4, NONE], [NONE, 2, NONE, NONE]])
    probability = scores.softmax(-1)
    expected = -(probability[0, 1, 0] * probability[0, 2, 4] * probability[1, 1, 2]).log()
    loss = HEAD.loss(scores, label)
    torch.testing.assert_close(loss, expected)
    loss.backward()
    has_gradient = scores.grad.abs().sum(-1) > 0
    assert torch.equal(has_gradient, label != NONE)


def test_targets_are_numbers_of_labels_and_an_unseen_label_is_none():
    one = SENTENCES[0].with_tree(SENTENCES[0].head, ["obj"] * len(SENTENCES[0]))
    other = SENTENCES[1].with_tree(SENTENCES[1].head, ["new", *["det"] * (len(SENTENCES[1]) - 1)])
    targets = HEAD.targets([one, other])
    assert targets.dtype == np.int64
    assert targets[0].tolist() == padded([NONE] + [1] * len(one), targets.shape[1])
    assert targets[1].tolist() == padded([NONE, NONE] + [0] * (len(other) - 1), targets.shape[1])
    assert (HEAD.n_targets(one), HEAD.n_targets(other)) == (len(one), len(other) - 1)


def padded(row, width):
    return row + [NONE] * (width - len(row))


def test_predictions_are_written_as_labels():
    sentence = SENTENCES[0]
    columns = HEAD.columns(sentence, [k % 3 for k in range(len(sentence))])
    assert columns["label"][:4] == ["det", "obj", "root", "det"]
    scores = torch.tensor([[[0.0, 2.0, 1.0], [3.0, 2.0, 1.0]]])
    assert HEAD.predict(scores, np.zeros((1, 2), np.int32)) == [[1, 0]]


@pytest.mark.parametrize("label", ["", "a\tb", "a\n", "\r", "a\0b"])
def test_entries_that_would_break_a_line_of_conllu_are_refused(label):
    with pytest.raises(ValueError, match="cannot be written"):
        require_writable("labels", ("det", label))
    require_writable("tags", ("det", "_"))


@pytest.mark.parametrize("entries", [(), ("_", "det")])
def test_words_without_labels_are_refused(entries):
    with pytest.raises(ValueError, match="label the treebank"):
        Labels().build(4, entries, hidden=3, dropout=0.0)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["labels", "labels"], "each once"),
        ([], "expected labels"),
        (["helpers.toy_parts.Tags"], "expected labels"),
        (["tags"], "no head 'tags'"),
        (["labels:weight=0"], "weight of labels is 0"),
    ],
)
def test_wrong_heads_are_refused(texts, message):
    with pytest.raises(ValueError, match=rf"heads.*{message}"):
        require_heads(load_heads(texts))
