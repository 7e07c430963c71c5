"""The processes that train together, as torchrun starts them; one alone is the ordinary case.

Each takes its share of every batch and all take the same step, so that they have the same weights
always. What lies on the host (states, figures, whether to stop) goes through a group of its own.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from dyparse.runtime.launch import launched

T = TypeVar("T")


@dataclass(frozen=True)
class World:
    """Which of them this one is."""

    rank: int = 0
    count: int = 1
    on_host: Any = None  # the group for what lies on the host

    @property
    def is_first(self) -> bool:
        """Whether this process writes logs and models."""
        return self.rank == 0

    def share(self, items: Sequence[T]) -> list[T]:
        """This process's share of a batch; of a batch sorted by length about as much as any."""
        return list(items[self.rank :: self.count])

    def all_gather(self, thing: T) -> list[T]:
        """What each of them has, in their order."""
        if self.count == 1:
            return [thing]
        things: list[Any] = [None] * self.count
        dist.all_gather_object(things, thing, group=self.on_host)
        return things

    def broadcast(self, thing: T) -> T:
        """What the first one has."""
        if self.count == 1:
            return thing
        things = [thing]
        dist.broadcast_object_list(things, src=0, group=self.on_host)
        return things[0]

    def all_reduce(self, numbers: Tensor) -> Tensor:
        """The sum of what they have."""
        if self.count == 1:
            return numbers
        total = numbers.to("cpu", torch.float64)
        dist.all_reduce(total, group=self.on_host)
        return total

    def joined(self, module: nn.Module) -> nn.Module:
        """The module, with gradients summed over the processes: each has a share of the loss."""
        if self.count == 1:
            return module
        together = DistributedDataParallel(module)
        together.register_comm_hook(None, sum_gradients)
        return together


def sum_gradients(
    _: None,
    bucket: dist.GradBucket,  # type: ignore[name-defined]  # torch has no type for it, but asks for it
) -> torch.futures.Future[Tensor]:
    """What is done with gradients in place of DDP's mean."""
    sent: torch.futures.Future[list[Tensor]] = dist.all_reduce(
        bucket.buffer(), async_op=True
    ).get_future()
    return sent.then(lambda done: done.value()[0])


SINGLE = World()


@contextmanager
def distributed_training(device: torch.device) -> Iterator[World]:
    """The processes of this training: NCCL between GPUs, gloo between CPUs; else one alone."""
    if not launched():
        yield SINGLE
        return
    gpu = device if device.type == "cuda" else None
    if gpu:
        torch.cuda.set_device(gpu)
    dist.init_process_group("nccl" if gpu else "gloo", device_id=gpu)
    try:
        # Not the group of the gradients: walks ahead send their states from another thread.
        on_host = dist.new_group(backend="gloo")
        yield World(dist.get_rank(), dist.get_world_size(), on_host)
    finally:
        dist.destroy_process_group()
