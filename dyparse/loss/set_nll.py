"""The negative logarithm of the total probability of the best moves."""

from dataclasses import dataclass

import torch
from torch import Tensor

from dyparse.loss import Loss, best_moves


@dataclass(frozen=True)
class SetNLL(Loss):
    """loss = log Σ_{m legal} exp score(m) − log Σ_{m best} exp score(m).

    Riezler et al. (2002) for sets of parses; with a single best move it is cross-entropy.
    """

    def __call__(self, scores: Tensor, legal: Tensor, cost: Tensor) -> Tensor:
        of_legal = scores.masked_fill(~legal, -torch.inf).logsumexp(-1)  # [T]
        of_best = scores.masked_fill(~best_moves(legal, cost), -torch.inf).logsumexp(-1)  # [T]
        return of_legal - of_best
