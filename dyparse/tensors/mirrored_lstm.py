"""An LSTM that reads padded sequences both ways, each in its own length.

On a CPU padded one-way LSTMs are far faster than a packed two-way one. Mirroring each sequence in
its own length gives the same vectors in every batch: padding comes last in both directions.
"""

import torch
from torch import Tensor, nn


def one_way(lstm: nn.LSTM, x: Tensor, suffix: str = "") -> Tensor:
    """One direction of a two-way LSTM of one layer, as `nn.LSTM` calls it; of the other one, the
    suffix of its weights is "_reverse".

    [N, B, ·] → [N, B, hidden]
    """
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    weights = [getattr(lstm, name + suffix) for name in names]
    zeros = x.new_zeros(1, x.shape[1], lstm.hidden_size)
    has_biases, both_ways, batch_first = True, False, False
    how = (has_biases, 1, 0.0, lstm.training, both_ways, batch_first)  # 1 layer, no dropout
    states, _, _ = torch.lstm(x, (zeros, zeros), weights, *how)
    return states


def mirrored_positions(length: Tensor, tokens: int) -> Tensor:
    """Position t of each sequence, counted from its end; padding keeps its place.  [B] → [N, B]"""
    t = torch.arange(tokens, device=length.device).unsqueeze(1)  # [N, 1]
    return torch.where(t < length, length - 1 - t, t)


def reorder(x: Tensor, positions: Tensor) -> Tensor:
    """x[positions[t, b], b].  [N, B, D], [N, B] → [N, B, D]"""
    N, B, D = x.shape
    rows = positions * B + torch.arange(B, device=x.device)
    return x.reshape(N * B, D).index_select(0, rows.reshape(-1)).view(N, B, D)
