"""The label head as a part of the network."""

from collections.abc import Sequence
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dyparse.data.vocabulary import Entries
from dyparse.head._head import Head, best_entries
from dyparse.head._label_column import LabelColumn
from dyparse.tensors.dropout import LABELS, Dropout, keys_below


class LabelHead(Head, LabelColumn):
    """Scores of labels for arcs: one hidden layer over head and dependent."""

    def __init__(
        self,
        width: int,
        entries: Entries,
        hidden: int,
        dropout: float,
        unique: Sequence[str] = (),
        root: str | None = None,
    ) -> None:
        Head.__init__(self, entries)
        self.restrict(unique, root)
        self.head = nn.Linear(width, hidden)
        self.dependent = nn.Linear(width, hidden, bias=False)
        self.output = nn.Linear(hidden, len(entries))
        self.dropout = Dropout(dropout)

    def forward(self, encoded: Tensor, tree: Tensor, keys: Tensor | None = None) -> Tensor:
        """[B, N, width], [B, N], [B] → [B, N, labels]"""
        B, N, _ = encoded.shape
        rows = (tree + torch.arange(B, device=tree.device).unsqueeze(1) * N).flatten()
        of_head = self.head(encoded).flatten(0, 1).index_select(0, rows).view(B, N, -1)
        hidden = torch.relu(of_head + self.dependent(encoded))  # [B, N, hidden]
        if keys is not None:
            tokens = torch.arange(N, device=keys.device)
            keys = keys_below(keys_below(keys, LABELS).unsqueeze(1), tokens)  # [B, N]
        return self.output(self.dropout(hidden, keys))  # type: ignore[no-any-return]  # as torch modules are called untyped

    def predict(self, scores: Tensor, tree: NDArray[np.int32]) -> list[list[int]]:
        """The best label of every token, of those that the tree allows."""
        flat = scores.flatten(0, 1)  # [tokens, labels]

        def scores_of(tokens: NDArray[np.int64]) -> NDArray[np.float32]:
            rows = torch.from_numpy(tokens).to(flat.device)
            return flat[rows].float().cpu().numpy()

        labels = self.allowed(best_entries(flat), tree, scores_of)
        return cast("list[list[int]]", labels.reshape(tree.shape).tolist())
