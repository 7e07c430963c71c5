"""Tasks on threads beside each other, without more threads of torch than there are cores."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import torch

T = TypeVar("T")
R = TypeVar("R")


def at_once(task: Callable[[T], R], argument: T) -> Callable[[], R]:
    """The task's result, when it is done."""
    result = task(argument)
    return lambda: result


@contextmanager
def thread_pool(device: torch.device) -> Iterator[Callable[..., Callable[[], Any]]]:
    """A function that starts a task on one of several threads and returns what waits for it.

    As many threads as torch has, each with one thread of torch: whole batches side by side use
    several cores better than the small products of an LSTM shared out among them, and do not stand
    still when another program takes one of the cores. Next to a GPU two at least, so that one batch
    is walked while another is encoded.
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
        torch.set_num_threads(before)  # threads made later begin with what was set last anywhere
