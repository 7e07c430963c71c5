"""Worker processes that parse shares side by side; what they send back comes out in order.

Each worker has one share at a time, over a pipe of its own. If it dies, another one takes its place
and its share. Workers are spawned, not forked: torch's threads do not survive a fork.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
import traceback
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any, NamedTuple

from dyparse.errors import CheckpointError, DyparseError
from dyparse.model.checkpoint_files import digest_of_model
from dyparse.parsing.chunks import UNREADABLE, Chunk, Parsed, parse_chunk
from dyparse.runtime.entry import limit_shape_caches
from dyparse.runtime.launch import cores
from dyparse.runtime.signals import interrupts_deferred

if TYPE_CHECKING:  # torch is slow to import, and only workers need it
    from dyparse.model.parser import Parser

CHUNKS_PER_WORKER = 3  # read and not yet written, at most: this bounds memory
MOST_DEATHS = 3  # of workers over one share, or before any of them is ready


class Settings(NamedTuple):
    """What a worker needs to know once."""

    model: str
    device: str
    threads: int | None  # of one worker; None for all
    text: bool
    max_tokens_per_batch: int
    precision: str = "auto"
    on_error: str = "stop"  # at a malformed sentence; who reads the input heeds it
    digest: str = ""  # of the model that all workers must have; empty for any


def load_parser(settings: Settings) -> "Parser":
    """The parser, on its device and with its threads; DyparseError if one of them is not there."""
    limit_shape_caches()
    from dyparse.model.parser import Parser
    from dyparse.runtime.device import prepare_device  # it imports torch, which is slow

    device = prepare_device(settings.device, settings.threads, seed=0)
    parser = Parser.load(settings.model, device, settings.precision)
    if settings.digest and digest_of_model(settings.model) != settings.digest:
        raise CheckpointError(
            f"{settings.model}: not the model that the command began with: it was replaced, or "
            "this node has another one; parse again, with a model that all see"
        )
    return parser


def threads_each(threads: int | None, workers: int) -> int:
    """Threads of one worker, where all have so many together; None for as many as there are."""
    if threads is None:
        told = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
        threads = int(told) if told.isdecimal() else cores()  # as torch
    return max(1, threads // workers)


@dataclass(eq=False)
class _Task:
    """A share that was read and not yet written."""

    share: Chunk
    parsed: Parsed | None = None
    is_given: bool = False  # to a worker that lives
    deaths: int = 0


@dataclass(eq=False)
class _Worker:
    process: BaseProcess
    connection: "Connection[Any, Any]"
    is_ready: bool = False
    task: _Task | None = None


class WorkerPool:
    """At most so many processes; they start when there is a share for them.

    with WorkerPool(settings, 4) as workers:
        for parsed in workers.parse(shares): ...
    """

    def __init__(self, settings: Settings, most: int) -> None:
        self.settings = settings
        self.most = most
        self._workers: list[_Worker] = []
        self._early_deaths = 0

    def __enter__(self) -> "WorkerPool":
        return self

    def __exit__(self, *_: object) -> None:
        """End all workers; they hold nothing that would have to be saved."""
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.join()
            worker.connection.close()
        self._workers.clear()

    def parse(self, shares: Iterable[Chunk]) -> Iterator[Parsed]:
        """What becomes of each share, in order; a bounded number of them is in memory."""
        source: Iterator[Chunk] | None = iter(shares)
        tasks: deque[_Task] = deque()
        while source or tasks:
            may_read = source is not None and len(tasks) < CHUNKS_PER_WORKER * self.most
            if source and may_read:
                if share := next(source, None):
                    tasks.append(_task(share))
                else:
                    source = None
            self._give_out(tasks)
            self._collect(0 if may_read else None)
            self._give_out(tasks)  # before the writing, which may take a while
            while tasks and tasks[0].parsed:
                yield tasks.popleft().parsed or Parsed()

    def _give_out(self, tasks: Iterable[_Task]) -> None:
        """Give waiting shares to idle workers; start workers for those that are left."""
        waiting = deque(task for task in tasks if not task.is_given and not task.parsed)
        for worker in self._workers:
            if waiting and worker.is_ready and not worker.task:
                worker.task = waiting.popleft()
                worker.task.is_given = True
                with contextlib.suppress(OSError):  # it has died, as collecting will find
                    worker.connection.send(worker.task.share)
        starting = sum(not worker.is_ready for worker in self._workers)
        room = self.most - len(self._workers)
        for _ in range(min(room, len(waiting) - starting)):
            with interrupts_deferred():
                self._workers.append(_start(self.settings))

    def _collect(self, timeout: float | None) -> None:
        """Take what workers have sent; without a timeout, wait until one has."""
        by_connection = {worker.connection: worker for worker in self._workers}
        if timeout is None and not any(w.task or not w.is_ready for w in self._workers):
            return  # nothing would come
        for connection in wait(list(by_connection), timeout):
            worker = by_connection[connection]  # type: ignore[index]  # only connections are waited for
            try:
                parsed: Parsed = worker.connection.recv()
            except (EOFError, OSError):
                self._bury(worker)
                continue
            if worker.task:
                worker.task.parsed, worker.task = parsed, None
            elif parsed.error:  # it could not load the model
                raise parsed.error
            else:
                worker.is_ready = True
                self._early_deaths = 0

    def _bury(self, worker: _Worker) -> None:
        """Forget a worker that died; its share waits for another, unless too many died of it."""
        self._workers.remove(worker)
        worker.connection.close()
        worker.process.join()
        how = _death(worker.process.exitcode)
        if not worker.is_ready:
            self._early_deaths += 1
            if self._early_deaths == MOST_DEATHS:
                raise DyparseError(
                    f"{MOST_DEATHS} workers in a row {how} before they had loaded the model; "
                    "if memory is short, give fewer --workers"
                )
        if task := worker.task:
            task.is_given = False
            task.deaths += 1
            if task.deaths == MOST_DEATHS:
                task.parsed = Parsed(error=DyparseError(_hopeless(task.share, how)))


def _task(share: Chunk) -> _Task:
    """A share to parse; one that holds nothing but a failure needs no worker."""
    return _Task(share, None if share.blocks else Parsed(error=share.failure))


def _hopeless(share: Chunk, how: str) -> str:
    return (
        f"{share.place}: {MOST_DEATHS} workers {how} while they parsed these lines; if memory is "
        "short, give fewer --workers or a smaller --max-tokens-per-batch, else try the lines alone"
    )


def _death(code: int | None) -> str:
    if code is not None and code < 0:
        return f"were killed ({signal.Signals(-code).name})"
    return f"ended (exit status {code})"


def _start(settings: Settings) -> _Worker:
    """A new worker, which loads the model first."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, settings), daemon=True)
    process.start()
    theirs.close()  # so that a worker's death closes the pipe
    return _Worker(process, ours)


def _work(connection: "Connection[Any, Any]", settings: Settings) -> None:
    """In a worker: load the model, print_line so, and parse shares until no more come."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where none can be blocked: on Windows
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ["OMP_NUM_THREADS"] = str(settings.threads)  # read when torch is imported
    try:
        parser = load_parser(settings)
    except UNREADABLE as error:
        connection.send(Parsed(error=error))
        return
    connection.send(Parsed())
    while True:
        try:
            share: Chunk = connection.recv()
        except EOFError:
            return
        connection.send(_outcome(parser, share, settings))


def _end_with_parent() -> None:
    """A worker whose parent was killed has nobody to work for."""
    parent = multiprocessing.parent_process()
    assert parent
    parent.join()
    os._exit(1)


def _outcome(parser: "Parser", share: Chunk, settings: Settings) -> Parsed:
    """The parsed share; a fault of the program comes with its traceback as text."""
    try:
        most = settings.max_tokens_per_batch
        return parse_chunk(parser, share, text=settings.text, max_tokens_per_batch=most)
    except Exception:
        report = traceback.format_exc()
        return Parsed(error=RuntimeError(f"in a worker, at {share.place}:\n{report}"))
