"""The cost that a move drawn from the model would have."""

from dataclasses import dataclass

import torch
from torch import Tensor

from dyparse.loss import Loss, cost_above_least


@dataclass(frozen=True)
class ExpectedCost(Loss):
    """loss = Σ_{m legal} p(m) min(cost(m) − least, most_cost),  p(m) ∝ exp score(m).

    The risk of Smith & Eisner (2006), of one move instead of a tree. With `most_cost` 1, or costs
    of 0 and 1 as static training has them, it is the probability of a move that is not best.

    Its gradient by score(m) is p(m) times what m costs above the expectation. This vanishes where
    the model is sure, also where it is sure and wrong: such a state teaches almost nothing.
    """

    most_cost: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.most_cost is not None and self.most_cost < 1:
            raise ValueError(f"loss.most_cost is {self.most_cost}, expected 1 or more, or null")

    def __call__(self, scores: Tensor, legal: Tensor, cost: Tensor) -> Tensor:
        probability = scores.masked_fill(~legal, -torch.inf).softmax(-1)  # [T, M]
        above = cost_above_least(legal, cost, self.most_cost)  # [T, M]
        return (probability * above).sum(-1)
