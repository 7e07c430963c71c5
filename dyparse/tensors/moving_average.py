"""Weights that follow a model slowly: what is evaluated and kept."""

import copy
from typing import Generic, TypeVar

import torch
from torch import nn

UPDATES_PER_AVERAGE = 4  # reading all weights is expensive; an average over hundreds misses nothing

M = TypeVar("M", bound=nn.Module)


class MovingAverage(Generic[M]):
    """A copy of a model whose weights follow it slowly; when young it forgets its past sooner.

    Not torch's AveragedModel, which waits for the device at every update.
    """

    def __init__(self, model: M, decay: float) -> None:
        self.model = copy.deepcopy(model)
        for module in self.model.modules():
            if isinstance(module, nn.LSTM):
                module.flatten_parameters()  # a GPU wants them in one piece
        self.decay = decay
        self.updates = 0

    @torch.no_grad()
    def follow(self, model: M) -> None:
        """To be called after every update; decay is per update."""
        self.updates += 1
        interval = UPDATES_PER_AVERAGE if self.updates > 100 and self.decay > 0 else 1
        if self.updates % interval:
            return
        decay = min(self.decay, self.updates / (10 + self.updates))
        torch._foreach_lerp_([*self.model.parameters()], [*model.parameters()], 1 - decay**interval)
