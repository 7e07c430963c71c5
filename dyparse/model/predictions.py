"""Predictions of the heads: the best entries, of tags the best that go together."""

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dyparse.model.parts import ModelParts
from dyparse.tensors.transfer import to_device


def predicted_entries(
    parts: ModelParts, scores: Mapping[str, Tensor], heads: NDArray[np.int32]
) -> dict[str, list[list[int]]]:
    """The numbers [B, N] of the entries that every head predicts, by its name.

    From the scores [B, N, entries] of each head, and the trees [B, N].
    """
    model, analyses = parts.network, parts.analyses
    found = {name: head.predict(scores[name], heads) for name, head in model.head_items()}
    if not analyses.columns:
        return found

    def scores_of(words: NDArray[np.int64]) -> list[NDArray[np.float32]]:
        (rows,) = to_device([torch.from_numpy(words)], model.device)
        return [scores[c].flatten(0, 1)[rows].float().cpu().numpy() for c in analyses.columns]

    tags = np.array([found[column] for column in analyses.columns])  # [C, B, N]
    seen = analyses.choose(tags.reshape(len(tags), -1).T, scores_of)  # [B·N, C]
    return found | dict(zip(analyses.columns, seen.T.reshape(tags.shape).tolist(), strict=True))
