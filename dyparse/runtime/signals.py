"""Ctrl-C, SIGTERM and SIGHUP: a program that is asked to stop saves first what it has done."""

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
ASKED = b"\nstopping after this batch; once more stops at once\n"


class Stopped(KeyboardInterrupt):
    """A signal has ended the program; the message says what became of its work."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(number, message)
        self.status = 128 + number  # as shells have it

    def __str__(self) -> str:
        return str(self.args[1])


@dataclass
class StopRequest:
    """The signal that has asked to stop, 0 if none has."""

    signal_number: int = 0


@contextmanager
def deferring_signals(request: StopRequest) -> Iterator[None]:
    """A first signal is written down only; a second one does what it does elsewhere."""

    def note(number: int, _frame: FrameType | None) -> None:
        request.signal_number = number
        for name, handler in before.items():
            signal.signal(name, handler)
        with contextlib.suppress(OSError):  # whoever read it may have got the signal too
            os.write(STDERR, ASKED)  # not sys.stderr: the signal may come while that is writing

    with _handlers(note, signal.SIGINT, *ENDING) as before:
        yield


@contextmanager
def signals_as_exceptions() -> Iterator[None]:
    """SIGTERM and SIGHUP are exceptions as Ctrl-C is, so that nothing half-written stays behind."""

    def end(number: int, _frame: FrameType | None) -> None:
        raise Stopped(number, "terminated")

    with _handlers(end, *ENDING):
        yield


@contextmanager
def preserving_handlers() -> Iterator[None]:
    """Whatever is called meanwhile, signals go afterwards where they went before."""
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
    """Ctrl-C waits for the end; processes that start meanwhile never get it, and leave it to us.

    Blocked and not ignored: one that comes meanwhile must not be lost.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # else the first start does it, and unblocks SIGINT after it
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _handlers(
    handler: Callable[[int, FrameType | None], None], *signals: signal.Signals
) -> Iterator[dict[signal.Signals, Any]]:
    """These signals go to the handler; the handlers before it.

    Signals that are ignored stay so. Only a main thread can set handlers.
    """
    before: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():
        heard = [number for number in signals if signal.getsignal(number) is not signal.SIG_IGN]
        before |= {number: signal.signal(number, handler) for number in heard}
    try:
        yield before
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)
