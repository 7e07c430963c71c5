"""A pool of threads, without more threads than cores; torch's follow it where torch is in use."""

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar

from dyparse.errors import ConfigError
from dyparse.runtime.launch import cores

MOST_THREADS = 1024  # torch fails with many more

T = TypeVar("T")
R = TypeVar("R")
Placed: TypeAlias = tuple[Sequence[int], Callable[[], Sequence[T]]]  # places, and what is there

_of_thread = threading.local()  # `count`: how many threads the work of a pool's thread may use
_of_process: dict[str, int] = {}


def thread_count() -> int:
    """How many threads work may use here: torch's number if torch is imported."""
    count: int | None = getattr(_of_thread, "count", None)
    if count is None and (torch := sys.modules.get("torch")):
        return int(torch.get_num_threads())
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return count or _of_process.get("count") or (int(asked) if asked.isdecimal() else 0) or cores()


def use_threads(count: int | None) -> None:
    """Set the number of threads of this process; None leaves it. ConfigError if it is impossible.

    torch reads it from the environment if it is imported later.
    """
    require_threads(count)
    if count is None:
        return
    _of_process["count"] = count
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(count)
    else:
        os.environ["OMP_NUM_THREADS"] = str(count)


def require_threads(threads: int | None) -> None:
    """ConfigError if this many threads cannot be used."""
    if threads is not None and not 1 <= threads <= MOST_THREADS:
        raise ConfigError(f"threads is {threads}, expected 1 to {MOST_THREADS}, or null for all")


def at_once(task: Callable[[T], R], argument: T) -> Callable[[], R]:
    """Run a task in this thread; like a task of `thread_pool`, it returns a function that waits."""
    result = task(argument)
    return lambda: result


def in_order(calls: Iterable[Placed[T]]) -> Iterator[T]:
    """What all calls return, by its places among all of them."""
    found: dict[int, T] = {}
    for places, result in calls:
        found.update(zip(places, result(), strict=True))
    return (found[k] for k in range(len(found)))


@contextmanager
def thread_pool(device: str) -> Iterator[Callable[..., Callable[[], Any]]]:
    """A function that submits a task to the pool; it returns a function that waits for the result.

    The pool has as many threads as work may use, each with one thread of torch: whole batches side
    by side use several cores better than small matrix products split among them, and do not stall
    when another program takes one of the cores. Beside a GPU there are at least two threads, so
    that one batch can use the CPU while another uses the GPU.
    """
    threads = max(thread_count(), 1 if device == "cpu" else 2)
    if threads == 1:
        yield at_once
        return
    before = thread_count()
    pool = ThreadPoolExecutor(threads, "parse", initializer=_use_one_thread)
    try:
        yield lambda task, argument: pool.submit(task, argument).result
    finally:
        pool.shutdown(cancel_futures=True)
        if torch := sys.modules.get("torch"):  # new threads inherit the number set last anywhere
            torch.set_num_threads(before)


def _use_one_thread() -> None:
    _of_thread.count = 1
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)
