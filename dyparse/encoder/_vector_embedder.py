"""Pretrained word vectors as a part of the network."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, embedding_bag

from dyparse.data.batch import Batch
from dyparse.data.vocabulary import RESERVED
from dyparse.encoder._vectors import NAME, NUMBERS, VectorTable
from dyparse.encoder._vectors import WORDS as WORDS_FILE
from dyparse.feature import TokenBags


class VectorEmbedder(nn.Module):
    """Vectors of words: fixed with a learned projection, or tuned as they are."""

    def __init__(self, files: Mapping[str, bytes], use: str, width: int) -> None:
        super().__init__()
        self.table = VectorTable.from_json(files[WORDS_FILE])
        own, size, is_tuned = self.table.width, self.table.feature().size, use == "tuned"
        self.weight = nn.Parameter(torch.zeros(size, own), requires_grad=is_tuned)
        self.projection = nn.Identity() if is_tuned else nn.Linear(own, width, bias=False)
        self.width = own if is_tuned else width
        if NUMBERS in files:
            numbers = np.frombuffer(files[NUMBERS], np.float32).reshape(-1, own)
            with torch.no_grad():
                self.weight[RESERVED:] = torch.from_numpy(numbers.copy())

    def forward(self, batch: Batch) -> Tensor:
        """batch → [B, N, width]"""
        bags: Any = batch.features[NAME]
        means = embedding_bag(bags.numbers, self.weight, bags.offsets, mode="mean")
        return embedding(bags.entry, self.projection(means))  # from [entries, width]

    def feature(self) -> TokenBags:
        """The feature that it reads."""
        return self.table.feature()
