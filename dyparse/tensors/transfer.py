"""Transfer between host and device: all arrays of a batch in one copy, in each direction.

On a GPU every separate copy costs a launch, and waiting for a value stops the host until the device
has finished all its work. So arrays go to the device in one buffer without waiting, and come back
in one buffer that is waited for once, where it is used.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

ALIGNMENT = 8  # bytes, of the largest type


def to_device(tensors: Sequence[Tensor], device: torch.device) -> list[Tensor]:
    """Copy tensors from the host to the device, in one copy from pinned memory.

    On a CPU they are returned as they are.
    """
    if device.type == "cpu":
        return list(tensors)
    is_cuda = device.type == "cuda"
    buffer = packed(tensors, pinned=is_cuda).to(device, non_blocking=is_cuda)
    return unpacked(buffer, tensors)


def packed(tensors: Sequence[Tensor], *, pinned: bool) -> Tensor:
    """The bytes of all tensors, one after the other, aligned."""
    ends = _ends(tensors)
    buffer = torch.empty(ends[-1] if ends else 0, dtype=torch.uint8, pin_memory=pinned)
    for tensor, end in zip(tensors, ends, strict=True):
        start = end - _room(tensor)
        flat = tensor.reshape(-1).view(torch.uint8)
        buffer[start : start + len(flat)] = flat
    return buffer


def unpacked(buffer: Tensor, like: Sequence[Tensor]) -> list[Tensor]:
    """Views of a packed buffer as tensors of these shapes and types."""
    parts = []
    for tensor, end in zip(like, _ends(like), strict=True):
        start = end - _room(tensor)
        part = buffer[start : start + tensor.numel() * tensor.element_size()]
        parts.append(part.view(tensor.dtype).view(tensor.shape))
    return parts


def _room(tensor: Tensor) -> int:
    size = tensor.numel() * tensor.element_size()
    return -(-size // ALIGNMENT) * ALIGNMENT


def _ends(tensors: Sequence[Tensor]) -> list[int]:
    return [*accumulate(map(_room, tensors))]


def fetch(tensors: Sequence[Tensor]) -> Callable[[], list[NDArray[Any]]]:
    """Start copying tensors to the host; the function returned waits for them as float32 arrays.

    One copy, in the type of the first tensor, which should be the largest: in half precision the
    copy is half as large.
    """
    first = tensors[0]
    if first.device.type == "cpu":
        arrays = [tensor.detach().to(torch.float32).numpy() for tensor in tensors]
        return lambda: arrays
    flat = torch.cat([tensor.detach().reshape(-1).to(first.dtype) for tensor in tensors])
    host = torch.empty(flat.shape, dtype=flat.dtype, pin_memory=flat.is_cuda)
    host.copy_(flat, non_blocking=flat.is_cuda)
    event = None
    if flat.is_cuda:
        event = torch.cuda.current_stream(flat.device).record_event()

    def wait() -> list[NDArray[Any]]:
        if event is not None:
            event.synchronize()
        parts = torch.split(host.to(torch.float32), [tensor.numel() for tensor in tensors])
        return [
            part.view(tensor.shape).numpy() for part, tensor in zip(parts, tensors, strict=True)
        ]

    return wait
