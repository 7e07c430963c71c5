"""Labels of arcs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from dyparse.data.sentence import Sentence
from dyparse.data.vocabulary import Entries, sorted_entries
from dyparse.head import Head
from dyparse.tensors.dropout import LABELS, Dropout, keys_below


@dataclass(frozen=True)
class Labels:
    """The label of every arc, by one hidden layer over head and dependent."""

    weight: float = 1.0

    name: ClassVar[str] = "labels"

    def entries(self, sentences: Sequence[Sentence]) -> Entries:
        return sorted_entries(label for s in sentences for label in s.label)

    def build(self, width: int, entries: Entries, *, hidden: int, dropout: float) -> "LabelHead":
        if not entries or "_" in entries:
            raise ValueError("heads: a word has no label; label the treebank")
        return LabelHead(width, entries, hidden, dropout)


class LabelHead(Head):
    """Scores of labels for arcs: one hidden layer over head and dependent."""

    column: ClassVar[str] = "label"

    def __init__(self, width: int, entries: Entries, hidden: int, dropout: float) -> None:
        super().__init__(entries)
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

    def score(self, gold: Sequence[Sentence], parsed: Sequence[Sentence]) -> dict[str, float]:  # noqa: ARG002 - not needed
        return {}  # LAS is reported anyway
