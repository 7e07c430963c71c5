"""Predictions of the heads: the best entries, of tags the best that go together."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dyparse.data.sentence import Sentence
from dyparse.model.network import Model
from dyparse.model.parts import ModelParts
from dyparse.tensors.transfer import to_device


def given_tags(
    model: Model, columns: Collection[str], sentences: Sequence[Sentence]
) -> dict[str, Tensor]:
    """Tags of these columns as `Model.encode` takes them, on its device."""
    heads = {name: head for name, head in model.tag_heads() if head.column in columns}
    numbers = [torch.from_numpy(head.given(sentences)) for head in heads.values()]
    return dict(zip(heads, to_device(numbers, model.device), strict=True)) if heads else {}


def predicted_entries(
    parts: ModelParts,
    scores: Mapping[str, Tensor],
    heads: NDArray[np.int32],
    words: NDArray[np.int32],
) -> dict[str, list[list[int]]]:
    """The numbers [B, N] of the entries that every head predicts, by its name.

    From the scores [B, N, entries] of each head, the trees [B, N] and their numbers of words [B].
    """
    model, analyses = parts.network, parts.analyses
    found = {name: head.predict(scores[name], heads) for name, head in model.head_items()}
    if not analyses.columns:
        return found

    token = np.arange(heads.shape[1])
    places = np.flatnonzero((token > 0) & (token <= words[:, None]))  # neither root nor padding

    def scores_of(chosen: NDArray[np.int64]) -> list[NDArray[np.float32]]:
        (rows,) = to_device([torch.from_numpy(places[chosen])], model.device)
        return [scores[c].flatten(0, 1)[rows].float().cpu().numpy() for c in analyses.columns]

    tags = np.array([found[column] for column in analyses.columns])  # [C, B, N]
    flat = tags.reshape(len(tags), -1)
    flat[:, places] = analyses.choose(flat[:, places].T, scores_of).T
    return found | dict(zip(analyses.columns, tags.tolist(), strict=True))
