"""Every legal move's score as a prediction of its cost."""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from dyparse.loss import Loss, cost_above_least


@dataclass(frozen=True)
class CostRegression(Loss):
    """loss = Σ_{m legal} (score(m) + above(m))²,  above(m) = min(cost(m) − least, most_cost).

    AggreVaTe (Ross & Bagnell 2014) reduces imitation to predicting what each move costs in the end
    if the oracle continues, and takes the move of the least prediction: here the score is minus the
    predicted cost. States that look alike to the network get the mean of their costs, so that it
    takes the move that loses fewest arcs on average, be it the best move in few of them.

    Costs are counted from the least, which does not depend on the move. As in `binary` a constant
    added to all scores matters, a state with a single legal move teaches, and the loss is a sum.
    """

    most_cost: int | None = None
    weight: float = field(default=0.3, kw_only=True)  # tuned, see docs/losses/README.md

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.most_cost is not None and self.most_cost < 1:
            raise ValueError(f"loss.most_cost is {self.most_cost}, expected 1 or more, or null")

    def __call__(self, scores: Tensor, legal: Tensor, cost: Tensor) -> Tensor:
        above = cost_above_least(legal, cost, self.most_cost)  # [T, M]
        off = (scores + above).masked_fill(~legal, 0)  # [T, M]
        return torch.square(off).sum(-1)
