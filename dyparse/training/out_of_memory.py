"""Telling a lack of memory from other errors."""

import gc

import torch


def is_out_of_memory(error: BaseException) -> bool:
    """Whether a device, torch on the host, or numpy had no room."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return "can't allocate memory" in str(error) or "not enough memory" in str(error)


def free_memory() -> None:
    """Give back what is not used any more."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
