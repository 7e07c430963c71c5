"""Exponential moving average of a model's weights, which is evaluated and saved."""

import copy
from typing import Generic, TypeVar

import torch
from torch import Tensor, nn

UPDATES_PER_AVERAGE = 4  # reading all weights is expensive, and four updates change little

M = TypeVar("M", bound=nn.Module)


class MovingAverage(Generic[M]):
    """A copy of a model whose weights follow it slowly, faster at the start; it shares frozen ones.

    Frozen weights are the model's own: a pretrained encoder would take twice the memory. Not
    torch's AveragedModel, which waits for the device at every update.
    """

    def __init__(self, model: M, decay: float) -> None:
        frozen = [p for p in model.parameters() if not p.requires_grad]
        self.model = copy.deepcopy(model, {id(p): p for p in frozen})
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

    def state_dict(self) -> dict[str, Tensor]:
        """The averaged weights, without frozen ones."""
        return learned_state(self.model)

    def load_state_dict(self, state: dict[str, Tensor]) -> None:
        """Resume from averaged weights."""
        load_learned_state(self.model, state)


def _trained(model: nn.Module) -> list[Tensor]:
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


def learned_state(model: nn.Module) -> dict[str, Tensor]:
    """The state of a model without its frozen parameters, which are as they were."""
    frozen = {name for name, p in model.named_parameters() if not p.requires_grad}
    return {name: tensor for name, tensor in model.state_dict().items() if name not in frozen}


def load_learned_state(model: nn.Module, state: dict[str, Tensor]) -> None:
    """The inverse of `learned_state`; ValueError if it is of another model."""
    if set(state) != set(learned_state(model)):
        raise ValueError("weights of another model")
    model.load_state_dict(state, strict=False)
