"""Limits: how much a request may hold, how many may wait, how long one may take."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What the server takes; the options of `dyparse serve` set some."""

    characters: int = 500_000  # of a text or CoNLL-U
    words: int = 1000  # of a sentence that is parsed
    waiting: int = 256  # requests that wait to be parsed; as many for the explorer
    seconds: float = 60.0  # for one request
    batch_wait: float = 0.001  # seconds in which requests come together, when none are waiting

    @property
    def body(self) -> int:
        """Bytes of a request: a character may take six, as \\uXXXX in JSON."""
        return 6 * self.characters + 100_000

    def require_size(self, characters: int) -> None:
        """TooLargeError if a text has more characters than the limit."""
        if characters > self.characters:
            raise TooLargeError(
                f"the text has {characters:,} characters, expected at most {self.characters:,}; "
                "send it in parts"
            )


class TooLargeError(Exception):
    """A request holds more than the limit."""


class OverloadError(Exception):
    """The server has too much to do for this request; the client may try again."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after  # seconds


class Workers:
    """Threads for the explorer: a bounded number of requests waits for them.

    A request that takes too long is given up; its thread is taken until the work ends all the same,
    so that no more work than there are threads is under way.
    """

    def __init__(self, limits: Limits, threads: int) -> None:
        self.limits, self.waiting = limits, 0
        self._pool = ThreadPoolExecutor(threads, "explorer")

    async def run(self, task: Callable[..., T], *arguments: Any) -> T:
        """The result of a task; OverloadError if too many wait or it takes too long."""
        if self.waiting >= self.limits.waiting:
            raise busy()
        self.waiting += 1
        future = self._pool.submit(task, *arguments)
        future.add_done_callback(self._counted(asyncio.get_running_loop()))
        return await within(self.limits.seconds, asyncio.wrap_future(future))

    def _counted(self, loop: asyncio.AbstractEventLoop) -> Callable[[Any], None]:
        def less() -> None:
            self.waiting -= 1

        def done(_: Any) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(less)

        return done

    def close(self) -> None:
        """End when the work under way has ended."""
        self._pool.shutdown(wait=False, cancel_futures=True)


async def within(seconds: float, future: "asyncio.Future[T]") -> T:
    """The result of a future; OverloadError if it does not come in time."""
    try:
        return await asyncio.wait_for(future, seconds)
    except asyncio.TimeoutError:
        message = f"this takes longer than {seconds:g} s; ask for less, or try again later"
        raise OverloadError(message, 10) from None


def busy() -> OverloadError:
    """The error when too many requests wait."""
    return OverloadError("too many requests are waiting; try again in a second", 1)
