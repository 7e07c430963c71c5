"""The optimizer: AdamW over parameter groups, clipped gradients, averaged weights."""

from collections.abc import Iterable
from typing import Any, Generic, Protocol, TypeVar

from torch import nn
from torch.nn.utils import clip_grads_with_norm_, get_total_norm

from dyparse.tensors.adamw import AdamW
from dyparse.tensors.moving_average import MovingAverage

M = TypeVar("M", bound=nn.Module)


class Settings(Protocol):
    """The numbers that an optimizer needs (`trainer` in the configuration)."""

    @property
    def learning_rate(self) -> float: ...
    @property
    def beta1(self) -> float: ...
    @property
    def beta2(self) -> float: ...
    @property
    def weight_decay(self) -> float: ...
    @property
    def max_gradient_norm(self) -> float: ...
    @property
    def average_decay(self) -> float: ...


class Optimizer(Generic[M]):
    """AdamW; every group of parameters has its own fraction of the learning rate."""

    def __init__(
        self, model: M, groups: Iterable[tuple[list[nn.Parameter], float]], settings: Settings
    ) -> None:
        self.model = model
        self.max_gradient_norm = settings.max_gradient_norm
        with_parameters = [(parameters, rate) for parameters, rate in groups if parameters]
        trained = {p for parameters, rate in with_parameters if rate > 0 for p in parameters}
        self.trained = [p for p in model.parameters() if p in trained]
        betas = (settings.beta1, settings.beta2)
        self.adamw = AdamW(with_parameters, betas, settings.weight_decay)
        self.average = MovingAverage(model, settings.average_decay)
        self.learning_rate = settings.learning_rate  # of the last step

    def zero_grad(self) -> None:
        """Clear all gradients, also of parameters that are in no group."""
        self.model.zero_grad(set_to_none=True)

    def step(self, learning_rate: float) -> None:
        """One step at this learning rate; the averaged weights follow."""
        self.learning_rate = learning_rate
        self.clip_gradients()
        self.adamw.step(learning_rate)
        self.average.follow(self.model)

    def clip_gradients(self) -> None:
        """Scale the gradients down to the largest norm allowed, if they are above it."""
        parameters = [p for p in self.trained if p.grad is not None]
        norm = get_total_norm([p.grad for p in parameters if p.grad is not None])
        most = self.max_gradient_norm
        if norm.device.type != "cpu" or norm > most:  # without waiting for a device
            clip_grads_with_norm_(parameters, most, norm)

    def state_dict(self) -> dict[str, Any]:
        """The state to resume from."""
        return {
            "adamw": self.adamw.state(),
            "average": self.average.state_dict(),
            "updates": self.average.updates,
            "learning_rate": self.learning_rate,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Resume from a state."""
        self.adamw.load_state(state["adamw"])
        self.average.load_state_dict(state["average"])
        self.average.updates = state["updates"]
        self.learning_rate = state["learning_rate"]
