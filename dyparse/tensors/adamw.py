"""AdamW by torch's fused kernel."""

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor, nn

EPSILON = 1e-8
State: TypeAlias = list[tuple[Tensor, ...]]  # the moments of each parameter, or nothing


class Moments(NamedTuple):
    """Moving averages of a parameter's gradients and of their squares, and how many steps it took.

    The steps are a number of type float32, on the parameter's device.
    """

    mean: Tensor
    square: Tensor
    steps: Tensor


class AdamW:
    """Adam with decoupled weight decay (Loshchilov & Hutter 2019); every group of parameters has
    its own fraction of the learning rate.

    It takes the same steps as `torch.optim.AdamW`, which is not used because it imports torch's
    compiler: that takes long, and much memory.
    """

    def __init__(
        self,
        groups: Iterable[tuple[list[nn.Parameter], float]],
        betas: tuple[float, float],
        weight_decay: float,
    ) -> None:
        self.groups = list(groups)
        self.betas, self.weight_decay = betas, weight_decay
        self.moments: dict[Tensor, Moments] = {}  # of those that have had a gradient

    @torch.no_grad()
    def step(self, learning_rate: float) -> None:
        """Change all parameters that have a gradient."""
        for group, rate in self.groups:
            parameters: list[Tensor] = [p for p in group if p.grad is not None]
            if not parameters:
                continue
            means, squares, steps = map(list, zip(*map(self._moments, parameters), strict=True))
            torch._foreach_add_(steps, 1)
            torch._fused_adamw_(
                parameters,
                [p.grad for p in parameters if p.grad is not None],
                means,
                squares,
                [],  # maxima of squares, for AMSGrad
                steps,
                lr=learning_rate * rate,
                beta1=self.betas[0],
                beta2=self.betas[1],
                weight_decay=self.weight_decay,
                eps=EPSILON,
                amsgrad=False,
                maximize=False,
            )

    def _moments(self, parameter: Tensor) -> Moments:
        if parameter not in self.moments:
            zeros = torch.zeros_like(parameter), torch.zeros_like(parameter)
            self.moments[parameter] = Moments(*zeros, torch.zeros((), device=parameter.device))
        return self.moments[parameter]

    def state(self) -> State:
        """The state to resume from."""
        return [tuple(self.moments.get(p, ())) for p in self._parameters()]

    def load_state(self, state: State) -> None:
        """Resume from a state; ValueError if it is of other parameters."""
        moments: dict[Tensor, Moments] = {}
        for parameter, saved in zip(self._parameters(), state, strict=True):
            if saved:
                moments[parameter] = Moments(*(tensor.to(parameter.device) for tensor in saved))
                if moments[parameter].mean.shape != parameter.shape:
                    raise ValueError("moments of other parameters")
        self.moments = moments

    def _parameters(self) -> list[nn.Parameter]:
        return [parameter for group, _ in self.groups for parameter in group]
