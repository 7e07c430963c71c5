"""Two one-way LSTMs over mirrored sequences, against torch's two-way LSTM."""

import torch
from torch import nn

from dyparse.tensors.mirrored_lstm import mirrored_positions, one_way, reorder


def test_both_ways_of_a_padded_batch_are_those_of_each_sequence_alone():
    torch.manual_seed(1)
    lstm = nn.LSTM(3, 4, bidirectional=True)
    lengths = torch.tensor([5, 1, 3])
    x = torch.randn(5, 3, 3)
    mirror = mirrored_positions(lengths, 5)
    ahead = one_way(lstm, x)
    back = reorder(one_way(lstm, reorder(x, mirror), "_reverse"), mirror)
    for b, length in enumerate(lengths.tolist()):
        alone, _ = lstm(x[:length, b : b + 1])
        found = torch.cat([ahead, back], dim=-1)[:length, b : b + 1]
        torch.testing.assert_close(found, alone)


def test_mirroring_twice_gives_the_sequences_back():
    x = torch.randn(6, 2, 3)
    mirror = mirrored_positions(torch.tensor([6, 4]), 6)
    assert not torch.equal(reorder(x, mirror), x)
    assert torch.equal(reorder(reorder(x, mirror), mirror), x)
