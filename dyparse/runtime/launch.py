"""Rank and cores of this process, as its environment gives them."""

import multiprocessing
import os
import sys


def exit_in_imported_script() -> None:
    """Exit quietly if this process is a worker that is importing the script of its parent.

    Such a script has no `if __name__ == "__main__":`, so that the worker would start workers too;
    Python tells them by the same attribute. The parent reports it.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        sys.exit(1)


def launched() -> bool:
    """Whether torchrun, or a launcher like it, started this process as one of several."""
    return "WORLD_SIZE" in os.environ and "RANK" in os.environ


def is_first_rank() -> bool:
    """Whether this process has rank 0 or was started alone; only this one prints and writes."""
    return not launched() or os.environ["RANK"] == "0"


def cores() -> int:
    """Cores that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
