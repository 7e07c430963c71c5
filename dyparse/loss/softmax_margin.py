"""The negative logarithm of the probability of the best moves, after a bonus for costly ones."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from dyparse.loss import Loss, best_moves, cost_above_least


@dataclass(frozen=True)
class SoftmaxMargin(Loss):
    """loss = log Σ_{m legal} exp(score(m) + scale · above(m)) − log Σ_{m best} exp score(m),
    above(m) = min(cost(m) − least, most_cost).

    Gimpel & Smith (2010), with a set of best moves. The more a move costs, the further below the
    best its score must be. Scale 0 is `set_nll`; more is never less than `set_nll` plus scale
    times `expected_cost` (Jensen's inequality), and has a gradient where the model is sure and
    wrong.
    """

    scale: float = 1.0
    most_cost: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.scale < math.inf:
            raise ValueError(f"loss.scale is {self.scale}, expected 0 or more")
        if self.most_cost is not None and self.most_cost < 1:
            raise ValueError(f"loss.most_cost is {self.most_cost}, expected 1 or more, or null")

    def __call__(self, scores: Tensor, legal: Tensor, cost: Tensor) -> Tensor:
        above = cost_above_least(legal, cost, self.most_cost).to(scores.dtype)  # [T, M]
        raised = scores + self.scale * above
        of_legal = raised.masked_fill(~legal, -torch.inf).logsumexp(-1)  # [T]
        of_best = scores.masked_fill(~best_moves(legal, cost), -torch.inf).logsumexp(-1)  # [T]
        return of_legal - of_best
