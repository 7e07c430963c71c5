"""The best moves' highest score against the highest of all others."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from dyparse.loss import Loss, best_moves


@dataclass(frozen=True)
class Hinge(Loss):
    """loss = max(0, margin − max_{m best} score(m) + max_{m legal, not best} score(m)).

    Kiperwasser & Goldberg (2016), with margin 1. A state in which every legal move is best costs
    nothing. Margin 0 is the perceptron's update of Goldberg & Nivre (2012), which scores that are
    all alike satisfy.
    """

    margin: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.margin < math.inf:
            raise ValueError(f"loss.margin is {self.margin}, expected 0 or more")

    def __call__(self, scores: Tensor, legal: Tensor, cost: Tensor) -> Tensor:
        best = best_moves(legal, cost)
        of_best = scores.masked_fill(~best, -torch.inf).amax(-1)  # [T]
        of_wrong = scores.masked_fill(~legal | best, -torch.inf).amax(-1)  # [T]  −inf if none is
        return (self.margin - of_best + of_wrong).clamp(min=0)
