"""Ctrl-C, SIGTERM and SIGHUP: a program that is asked to stop can save its work first."""

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import resource_tracker
from types import FrameType
from typing import Any

ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
STDERR = 2
STOPPING = b"\nstopping after this batch; a second signal stops at once\n"


class Stopped(KeyboardInterrupt):
    """A signal has ended the program; the message says whether its work was saved."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(number, message)
        self.status = 128 + number  # the convention of shells

    def __str__(self) -> str:
        return str(self.args[1])


@dataclass
class StopRequest:
    """The signal that asked the program to stop; 0 if none did."""

    signal_number: int = 0


@contextmanager
def deferring_signals(request: StopRequest) -> Iterator[None]:
    """Only record the first signal; a second one acts as it does elsewhere."""

    def record(number: int, _frame: FrameType | None) -> None:
        request.signal_number = number
        for name, handler in before.items():
            signal.signal(name, handler)
        with contextlib.suppress(OSError):  # its reader may have got the signal too
            os.write(STDERR, STOPPING)  # not sys.stderr, which the signal may have interrupted

    with _handlers(record, signal.SIGINT, *ENDING) as before:
        yield


@contextmanager
def signals_as_exceptions() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into exceptions like Ctrl-C, so that open files are cleaned up."""

    def end(number: int, _frame: FrameType | None) -> None:
        raise Stopped(number, "terminated")

    with _handlers(end, *ENDING):
        yield


@contextmanager
def preserving_handlers() -> Iterator[None]:
    """Restore the signal handlers after the block, whatever it installed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, *ENDING)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Ctrl-C waits for the end of the block; processes started in it inherit the mask and never
    get Ctrl-C, so that their parent can end them in order.

    The signal is blocked and not ignored: one that arrives meanwhile must not be lost.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # else the first process start does it and unblocks SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _handlers(
    handler: Callable[[int, FrameType | None], None], *signals: signal.Signals
) -> Iterator[dict[signal.Signals, Any]]:
    """Install a handler for these signals; yields the previous handlers.

    Ignored signals stay ignored. Outside the main thread, which alone can set handlers, this does
    nothing.
    """
    before: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():
        active = [number for number in signals if signal.getsignal(number) is not signal.SIG_IGN]
        before |= {number: signal.signal(number, handler) for number in active}
    try:
        yield before
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)
