"""The network: batch → token table → move scores; labels of arcs."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, embedding_bag

from dyparse.batch import Batch
from dyparse.dropout import Dropout
from dyparse.encoder import Encoder
from dyparse.scorer import Scorer


class Model(nn.Module):
    """An encoder, a scorer of moves with a hidden layer over feature slots, a labeller of arcs.

    The hidden layer of a state is a sum over its slots, so each token's share is computed once per
    slot, in the *table*; the walk and the update only add up rows of it.
    """

    def __init__(
        self, encoder: Encoder, *, slots: int, moves: int, labels: int, hidden: int, dropout: float
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.shares = nn.Linear(encoder.width, slots * hidden, bias=False)
        self.empty_shares = nn.Parameter(torch.zeros(1, slots, hidden))
        self.hidden_bias = nn.Parameter(torch.zeros(hidden))
        self.output = nn.Linear(hidden, moves)
        self.labeller = Labeller(encoder.width, hidden, labels, dropout)
        self.dropout = Dropout(dropout)
        with torch.no_grad():  # as if one layer had all slots as its input
            bound = (6 / (slots * encoder.width + hidden)) ** 0.5
            self.shares.weight.uniform_(-bound, bound)

    @property
    def device(self) -> torch.device:
        """Where the network is."""
        return self.hidden_bias.device

    def encode(self, batch: Batch) -> Tensor:
        """batch → [B, N, width]"""
        return self.encoder(batch)  # type: ignore[no-any-return]  # as torch modules are called untyped

    def table(self, encoded: Tensor) -> Tensor:
        """Every token's share in every slot, and last the shares of an empty slot.

        [B, N, width] → [B·N + 1, F, D]
        """
        _, slots, hidden = self.empty_shares.shape
        shares = self.shares(encoded.reshape(-1, encoded.shape[-1])).view(-1, slots, hidden)
        return torch.cat([shares, self.empty_shares])

    def scorer(self, table: Tensor) -> Scorer:
        """What the walk needs, on the host: the one synchronisation of a batch.

        While training, hidden units are dropped here too, the same ones in all states of the batch:
        an exploring walk then errs about as often on known sentences as it will on new ones.
        """
        output = self.dropout(self.output.weight[:1].new_ones(1, self.output.in_features))
        parts = (table, self.hidden_bias, self.output.weight * output, self.output.bias)
        return Scorer(*map(_on_host, parts))

    def score(self, table: Tensor, features: Tensor) -> Tensor:
        """Scores of every move in T states.  [tokens, F, D], [T, F] → [T, M]"""
        tokens, slots, hidden = table.shape
        rows = features * slots + torch.arange(slots, device=features.device)  # [T, F]
        sums = embedding_bag(rows, table.view(tokens * slots, hidden), mode="sum")  # [T, D]
        return self.output(self.dropout(torch.relu(sums + self.hidden_bias)))  # type: ignore[no-any-return]  # as torch modules are called untyped


class Labeller(nn.Module):
    """Scores of labels for arcs: one hidden layer over head and dependent."""

    def __init__(self, width: int, hidden: int, labels: int, dropout: float) -> None:
        super().__init__()
        self.head = nn.Linear(width, hidden)
        self.dependent = nn.Linear(width, hidden, bias=False)
        self.output = nn.Linear(hidden, labels)
        self.dropout = Dropout(dropout)

    def forward(self, encoded: Tensor, head: Tensor) -> Tensor:
        """Of every token with its head.  [B, N, width], [B, N] → [B, N, labels]"""
        B, N, _ = encoded.shape
        rows = (head + torch.arange(B, device=head.device).unsqueeze(1) * N).flatten()
        of_head = self.head(encoded).flatten(0, 1).index_select(0, rows).view(B, N, -1)
        return self.output(self.dropout(torch.relu(of_head + self.dependent(encoded))))  # type: ignore[no-any-return]  # as torch modules are called untyped


def label_loss(scores: Tensor, label: Tensor) -> Tensor:
    """Mean cross-entropy over the tokens whose label is not NONE.  [B, N, labels], [B, N] → []"""
    return cross_entropy(scores.flatten(0, 1), label.flatten(), ignore_index=-1)


def _on_host(tensor: Tensor) -> NDArray[np.float32]:
    return tensor.detach().to("cpu", torch.float32).numpy()
