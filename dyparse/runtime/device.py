"""Device, threads and random seeds of a run."""

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

from dyparse.errors import ConfigError, DyparseError
from dyparse.runtime.launch import launched
from dyparse.runtime.threads import require_threads, use_threads


def prepare_device(device: str, threads: int | None, seed: int) -> torch.device:
    """Seed every generator and set the number of threads; returns the device."""
    require_seed(seed)
    require_threads(threads)
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    return use_device(device, threads)


def use_device(device: str, threads: int | None) -> torch.device:
    """Set the number of threads, for work that draws nothing random; returns the device."""
    use_threads(threads)
    return find_device(device)


@contextmanager
def restoring_threads() -> Iterator[None]:
    """Restore torch's number of threads at the end: a program in Python has its own."""
    before = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(before)


def find_device(device: str) -> torch.device:
    """The device of this name; an error if it cannot be used here."""
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and launched():  # each process of a machine has its own GPU
        device = f"cuda:{os.environ.get('LOCAL_RANK', '0')}"
    try:
        torch.empty(0, device=device)
        if torch.device(device).type == "meta":
            raise RuntimeError("it cannot compute")
        return torch.device(device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        message = f"device is {device!r}, which cannot be used here ({reason}); try device=cpu"
        # A ConfigError is printed by one process of a machine only, but each has its own device.
        raise (DyparseError if launched() else ConfigError)(message) from error


def require_seed(seed: int) -> None:
    """ConfigError if the random generators do not accept this seed."""
    if not 0 <= seed < 2**32:
        raise ConfigError(f"seed is {seed}, expected 0 to 4294967295")
