"""A pool of threads for tasks that use torch, without more torch threads than cores."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import torch

T = TypeVar("T")
R = TypeVar("R")


def at_once(task: Callable[[T], R], argument: T) -> Callable[[], R]:
    """Run a task in this thread; like a task of `thread_pool`, it returns a function that waits."""
    result = task(argument)
    return lambda: result


@contextmanager
def thread_pool(device: torch.device) -> Iterator[Callable[..., Callable[[], Any]]]:
    """A function that submits a task to the pool; it returns a function that waits for the result.

    The pool has as many threads as torch, each with one torch thread: whole batches side by side
    use several cores better than small matrix products split among them, and do not stall when
    another program takes one of the cores. Beside a GPU there are at least two threads, so that one
    batch can use the CPU while another uses the GPU.
    """
    threads = max(torch.get_num_threads(), 1 if device.type == "cpu" else 2)
    if threads == 1:
        yield at_once
        return
    before = torch.get_num_threads()
    pool = ThreadPoolExecutor(threads, "parse", initializer=torch.set_num_threads, initargs=(1,))
    try:
        yield lambda task, argument: pool.submit(task, argument).result
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(before)  # new threads inherit the number that was set last anywhere
