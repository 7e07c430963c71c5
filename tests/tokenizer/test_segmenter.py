"""The network of the learned tokenizer: its two ways to compute the same scores."""

import torch

from dyparse.tokenizer._characters import N_RULES, PADDING
from dyparse.tokenizer._segmenter import Segmenter, SegmenterSizes


def test_scores_for_tokenizing_are_those_of_training_without_dropout():
    torch.manual_seed(1)
    model = Segmenter(SegmenterSizes(20, 30, 8, 6, 5), dropout=0.5).eval()
    torch.nn.init.normal_(model.word.weight)
    lengths = torch.tensor([40, 33, 7, 1])
    sizes = (20, 30, N_RULES)
    features = torch.stack([torch.randint(1, size, (4, 40)) for size in sizes])
    for row, length in enumerate(lengths.tolist()):
        features[:, row, length:] = PADDING
    with torch.no_grad():
        expected = model(features, lengths)
        found = model.inferred(features.transpose(1, 2), lengths)
    for row, length in enumerate(lengths.tolist()):
        torch.testing.assert_close(found[:length, row], expected[row, :length])
