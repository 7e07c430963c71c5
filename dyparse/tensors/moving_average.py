"""Exponential moving average of a model's weights, which is evaluated and saved."""

import copy
from typing import Generic, TypeVar

import torch
from torch import Tensor, nn

UPDATES_PER_AVERAGE = 4  # reading all weights is expensive, and four updates change little

M = TypeVar("M", bound=nn.Module)


class MovingAverage(Generic[M]):
    """A copy of a model whose weights follow it slowly, faster at the start; it shares frozen ones.

    Not torch's AveragedModel, which waits for the device at every update.
    """

    def __init__(self, model: M, decay: float) -> None:
        frozen = {id(p): p for p in model.parameters() if not p.requires_grad}
        self.model = copy.deepcopy(model, frozen)
        for module in self.model.modules():
            if isinstance(module, nn.LSTM):
                module.flatten_parameters()  # in one piece, as a GPU needs them
        self.decay = decay
        self.updates = 0

    @torch.no_grad()
    def follow(self, model: M) -> None:
        """Move towards the model's weights; to be called after every update."""
        self.updates += 1
        interval = UPDATES_PER_AVERAGE if self.updates > 100 and self.decay > 0 else 1
        if self.updates % interval:
            return
        decay = min(self.decay, self.updates / (10 + self.updates))
        for own, other in zip(self.model.buffers(), model.buffers(), strict=True):
            own.copy_(other)
        torch._foreach_lerp_(_trained(self.model), _trained(model), 1 - decay**interval)


def _trained(model: nn.Module) -> list[Tensor]:
    return [weights for weights in model.parameters() if weights.requires_grad]
