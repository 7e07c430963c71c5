"""Losses: the number that training differentiates, for every visited state of a batch.

A loss gets the model's scores of all moves in T states, which of them are legal, and their costs by
the oracle; it should be small where a move of least cost has the highest score. Training adds up
the losses of the states, with the loss's `weight`, and those of the heads, with theirs. Start with
set_nll.py, the default.

To add one: write `dyparse/loss/<name>.py` with a frozen dataclass derived from `Loss` below; write
`conf/loss/<name>.yaml`. Training and the tests then find it by its name. Outside the package: put
the same into `my_module.py`, with `loss._target_=my_module.MyLoss`.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class Loss:
    """A number to differentiate for every state, from scores, legal moves and costs."""

    weight: float = 1.0  # in the sum of all losses; heads have one too

    def __post_init__(self) -> None:
        if not 0 < self.weight < math.inf:
            raise ValueError(f"loss.weight is {self.weight}, expected more than 0")

    def __call__(self, scores: Tensor, legal: Tensor, cost: Tensor) -> Tensor:
        """The loss of each state.  [T, M] float, [T, M] bool, [T, M] int → [T]"""
        raise NotImplementedError


def best_moves(legal: Tensor, cost: Tensor) -> Tensor:
    """Legal and of least cost.  [T, M], [T, M] → [T, M]"""
    return legal & (cost_above_least(legal, cost) == 0)


def cost_above_least(legal: Tensor, cost: Tensor, most: int | None = None) -> Tensor:
    """Cost of a legal move beyond that of the best ones, at most `most`; 0 for illegal moves.

    The least cost of a state need not be 0. [T, M], [T, M] → [T, M]
    """
    reach = cost.masked_fill(~legal, torch.iinfo(cost.dtype).max)
    above = cost - reach.amin(-1, keepdim=True)
    return above.masked_fill(~legal, 0).clamp(min=0, max=most)
