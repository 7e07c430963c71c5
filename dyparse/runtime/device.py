"""The machine that a run is on: generators, threads, device."""

import os
import random

import numpy as np
import torch

from dyparse.errors import ConfigError, DyparseError
from dyparse.runtime.launch import launched

MOST_THREADS = 1024  # that torch can bear


def prepare_device(device: str, threads: int | None, seed: int) -> torch.device:
    """Seed every generator, set the number of threads; the device that was asked for."""
    require_seed(seed)
    require_threads(threads)
    if threads is not None:
        torch.set_num_threads(threads)
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    return find_device(device)


def require_threads(threads: int | None) -> None:
    """ConfigError if there cannot be so many."""
    if threads is not None and not 1 <= threads <= MOST_THREADS:
        raise ConfigError(f"threads is {threads}, expected 1 to {MOST_THREADS}, or null for all")


def find_device(device: str) -> torch.device:
    """The device that was asked for, if it is there."""
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and launched():  # one for each process of this machine
        device = f"cuda:{os.environ.get('LOCAL_RANK', '0')}"
    try:
        torch.empty(0, device=device)
        if torch.device(device).type == "meta":
            raise RuntimeError("it computes nothing")
        return torch.device(device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        told = f"device is {device!r}, which cannot be used here ({reason}); try device=cpu"
        # Of several processes each has a device of its own, and this one has to tell.
        raise (DyparseError if launched() else ConfigError)(told) from error


def require_seed(seed: int) -> None:
    """ConfigError if no generator takes this seed."""
    if not 0 <= seed < 2**32:
        raise ConfigError(f"seed is {seed}, expected 0 to 4294967295")
