"""Losses: the number that training differentiates, from the visited states of a batch.

A loss gets the model's scores of all moves in T states, which of them are legal, and their costs by
the oracle; it should be small where a move of least cost has the highest score. Start with
set_nll.py, the default.

To add one: write `dyparse/loss/<name>.py` with a frozen dataclass that is called like `Loss`
below; write `conf/loss/<name>.yaml`. Training and the tests then find it by its name. Outside the
package: put the same into `my_module.py`, with `loss._target_=my_module.MyLoss`.
"""

from typing import Protocol

import torch
from torch import Tensor


class Loss(Protocol):
    """A number to differentiate, from scores, legal moves and costs."""

    def __call__(self, scores: Tensor, legal: Tensor, cost: Tensor) -> Tensor:
        """Mean over T states.  [T, M] float, [T, M] bool, [T, M] int → []"""
        ...


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
