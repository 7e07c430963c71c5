"""Several processes that train one model, as torchrun starts them; one alone is the ordinary case.

Each takes its part of every batch and all take the same step, so that they always have the same
weights. Objects of the host (states, figures, errors) go through a process group of their own.
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
    """Rank and world size of this process."""

    rank: int = 0
    size: int = 1
    host_group: Any = None  # for objects of the host

    @property
    def is_first(self) -> bool:
        """Whether this process writes logs and models."""
        return self.rank == 0

    def shard(self, items: Sequence[T]) -> list[T]:
        """This rank's part of a batch; of one sorted by length, about as many words as any."""
        return list(items[self.rank :: self.size])

    def all_gather(self, item: T) -> list[T]:
        """The items of all ranks, in their order."""
        if self.size == 1:
            return [item]
        items: list[Any] = [None] * self.size
        dist.all_gather_object(items, item, group=self.host_group)
        return items

    def broadcast(self, item: T) -> T:
        """The first rank's item."""
        if self.size == 1:
            return item
        items = [item]
        dist.broadcast_object_list(items, src=0, group=self.host_group)
        return items[0]

    def all_reduce(self, numbers: Tensor) -> Tensor:
        """The sum over all ranks."""
        if self.size == 1:
            return numbers
        total = numbers.to("cpu", torch.float64)
        dist.all_reduce(total, group=self.host_group)
        return total

    def data_parallel(self, module: nn.Module) -> nn.Module:
        """The module with gradients summed over all ranks: each has a part of the loss."""
        if self.size == 1:
            return module
        wrapped = DistributedDataParallel(module)
        wrapped.register_comm_hook(None, sum_gradients)
        return wrapped


def sum_gradients(
    _: None,
    bucket: dist.GradBucket,  # type: ignore[name-defined]  # torch has no type for it, but asks for it
) -> torch.futures.Future[Tensor]:
    """Sum gradients, in place of DDP's mean."""
    sent: torch.futures.Future[list[Tensor]] = dist.all_reduce(
        bucket.buffer(), async_op=True
    ).get_future()
    return sent.then(lambda done: done.value()[0])


SINGLE = World()


@contextmanager
def distributed_training(device: torch.device) -> Iterator[World]:
    """The world of this training: NCCL between GPUs, gloo between CPUs; one process if alone."""
    if not launched():
        yield SINGLE
        return
    gpu = device if device.type == "cuda" else None
    if gpu:
        torch.cuda.set_device(gpu)
    dist.init_process_group("nccl" if gpu else "gloo", device_id=gpu)
    try:
        # Not the group of the gradients: rollouts ahead send their states from another thread.
        host_group = dist.new_group(backend="gloo")
        yield World(dist.get_rank(), dist.get_world_size(), host_group)
    finally:
        dist.destroy_process_group()
