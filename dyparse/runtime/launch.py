"""What this process was given: its rank among those launched together, and its cores."""

import os
import sys


def launched() -> bool:
    """Whether torchrun, or something like it, started this process among others."""
    return "WORLD_SIZE" in os.environ and "RANK" in os.environ


def is_first_rank() -> bool:
    """Whether this process may write, as far as the environment tells."""
    return not launched() or os.environ["RANK"] == "0"


def cores() -> int:
    """Cores that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
