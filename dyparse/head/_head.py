"""A head as a part of the network."""

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from dyparse.data.sentence import NONE
from dyparse.data.vocabulary import Entries
from dyparse.head._column import HeadColumn


class Head(nn.Module, HeadColumn):
    """Predicts an entry for a column of every word.

    A head that predicts something else overrides `targets`, `loss` and `columns` too.
    """

    loss_weight: float = 1.0  # set from the options

    def __init__(self, entries: Entries) -> None:
        nn.Module.__init__(self)
        HeadColumn.__init__(self, entries)

    def forward(self, encoded: Tensor, tree: Tensor, keys: Tensor | None = None) -> Tensor:
        """Scores of the entries for every token.

        The tree has the head of every token: the gold one in training, else the predicted one.
        Keys decide what a sentence drops in training.

        [B, N, width], [B, N], [B] → [B, N, entries]
        """
        raise NotImplementedError

    def loss(self, scores: Tensor, targets: Tensor) -> Tensor:
        """Cross-entropy, summed over the tokens that have a target.

        [B, N, entries], [B, N] → []
        """
        return cross_entropy(
            scores.flatten(0, 1), targets.flatten(), ignore_index=NONE, reduction="sum"
        )

    def predict(self, scores: Tensor, tree: NDArray[np.int32]) -> list[list[int]]:  # noqa: ARG002 - labels need it
        """The number of the best entry of every token, whose heads are in the tree.

        [B, N, entries], [B, N] → [B, N]
        """
        numbers: list[list[int]] = best_entries(scores).tolist()
        return numbers


def best_entries(scores: Tensor) -> NDArray[np.int64]:
    """The number of the best entry, the first of several.  [..., entries] → [...]"""
    is_here = scores.device.type == "cpu"  # where numpy is several times as fast as torch
    best: NDArray[np.int64] = (
        scores.detach().float().numpy().argmax(-1) if is_here else scores.argmax(-1).cpu().numpy()
    )
    return best
