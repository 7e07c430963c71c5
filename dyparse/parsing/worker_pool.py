"""Worker processes that parse chunks side by side; the results come out in order.

Each worker has one chunk at a time, over a pipe of its own. If it dies, another one takes its place
and its chunk. Workers are spawned, not forked: torch's threads do not survive a fork.
"""

import contextlib
import multiprocessing
import os
import signal
import threading
import traceback
import warnings
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any

from dyparse.errors import DyparseError, DyparseWarning
from dyparse.parsing.chunks import Chunk, ParsedChunk, parse_chunk
from dyparse.parsing.reading import UNREADABLE
from dyparse.parsing.settings import Settings, load_parser
from dyparse.runtime.launch import cores
from dyparse.runtime.signals import interrupts_deferred

if TYPE_CHECKING:  # torch is slow to import, and only workers need it
    from dyparse.model.parser import Parser

CHUNKS_PER_WORKER = 3  # read and not yet written, at most: this bounds memory
MOST_DEATHS = 3  # of workers on one chunk, or before any of them is ready


def threads_per_worker(threads: int | None, workers: int) -> int:
    """Threads of one worker if all of them together have this many; None for all cores."""
    if threads is None:
        setting = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
        threads = int(setting) if setting.isdecimal() else cores()  # as torch
    return max(1, threads // workers)


@dataclass(eq=False)
class _Task:
    """A chunk that was read and not yet written."""

    chunk: Chunk
    parsed: ParsedChunk | None = None
    is_assigned: bool = False  # to a worker that is alive
    deaths: int = 0

    @classmethod
    def of(cls, chunk: Chunk) -> "_Task":
        """A chunk to parse; one that holds only a failure needs no worker."""
        return cls(chunk, None if chunk.blocks else ParsedChunk(error=chunk.failure))


@dataclass(eq=False)
class _Worker:
    process: BaseProcess
    connection: "Connection[Any, Any]"
    is_ready: bool = False
    task: _Task | None = None


class WorkerPool:
    """A bounded number of processes, which start when there are chunks for them.

    with WorkerPool(settings, 4) as workers:
        for parsed in workers.parse(chunks): ...
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

    def parse(self, chunks: Iterable[Chunk]) -> Iterator[ParsedChunk]:
        """The parsed chunks, in order; a bounded number of them is in memory."""
        source: Iterator[Chunk] | None = iter(chunks)
        tasks: deque[_Task] = deque()
        while source or tasks:
            may_read = source is not None and len(tasks) < CHUNKS_PER_WORKER * self.most
            if source and may_read:
                if chunk := next(source, None):
                    tasks.append(_Task.of(chunk))
                else:
                    source = None
            self._assign(tasks)
            self._collect(0 if may_read else None)
            self._assign(tasks)  # before writing, which may take a while
            while tasks and tasks[0].parsed:
                yield tasks.popleft().parsed or ParsedChunk()

    def _assign(self, tasks: Iterable[_Task]) -> None:
        """Give waiting chunks to idle workers; start workers for the chunks that are left."""
        waiting = deque(task for task in tasks if not task.is_assigned and not task.parsed)
        for worker in self._workers:
            if waiting and worker.is_ready and not worker.task:
                worker.task = waiting.popleft()
                worker.task.is_assigned = True
                with contextlib.suppress(OSError):  # it has died, which _collect will find
                    worker.connection.send(worker.task.chunk)
        starting = sum(not worker.is_ready for worker in self._workers)
        room = self.most - len(self._workers)
        for _ in range(min(room, len(waiting) - starting)):
            with interrupts_deferred():
                self._workers.append(_start(self.settings))

    def _collect(self, timeout: float | None) -> None:
        """Receive what workers have sent; without a timeout, wait until one has."""
        by_connection = {worker.connection: worker for worker in self._workers}
        if timeout is None and not any(w.task or not w.is_ready for w in self._workers):
            return  # nothing would come
        for connection in wait(list(by_connection), timeout):
            worker = by_connection[connection]  # type: ignore[index]  # only connections are waited for
            try:
                parsed: ParsedChunk = worker.connection.recv()
            except (EOFError, OSError):
                self._remove_dead(worker)
                continue
            if worker.task:
                worker.task.parsed, worker.task = parsed, None
            elif parsed.error:  # it could not load the model
                raise parsed.error
            else:
                worker.is_ready = True
                self._early_deaths = 0

    def _remove_dead(self, worker: _Worker) -> None:
        """Remove a worker that died; its chunk waits for another, unless too many died of it."""
        self._workers.remove(worker)
        worker.connection.close()
        worker.process.join()
        cause = _cause_of_death(worker.process.exitcode)
        if not worker.is_ready:
            self._early_deaths += 1
            if self._early_deaths == MOST_DEATHS:
                raise DyparseError(
                    f"{MOST_DEATHS} workers in a row {cause} before they had loaded the model; "
                    "if memory is short, use fewer --workers"
                )
        if task := worker.task:
            task.is_assigned = False
            task.deaths += 1
            if task.deaths == MOST_DEATHS:
                task.parsed = ParsedChunk(error=_too_many_deaths(task.chunk, cause))


def _too_many_deaths(chunk: Chunk, cause: str) -> DyparseError:
    return DyparseError(
        f"{chunk.place}: {MOST_DEATHS} workers {cause} while they parsed these lines; if memory is "
        "short, use fewer --workers or a smaller --max-tokens-per-batch, else try the lines alone"
    )


def _cause_of_death(exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        return f"were killed ({signal.Signals(-exit_code).name})"
    return f"ended (exit status {exit_code})"


def _start(settings: Settings) -> _Worker:
    """A new worker, which loads the model first."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_run_worker, args=(theirs, settings), daemon=True)
    process.start()
    theirs.close()  # so that a worker's death closes the pipe
    return _Worker(process, ours)


def _run_worker(connection: "Connection[Any, Any]", settings: Settings) -> None:
    """In a worker: load the model, report that it is ready, and parse chunks until none come."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where none can be blocked: on Windows
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    os.environ["OMP_NUM_THREADS"] = str(settings.threads)  # read when torch is imported
    warnings.simplefilter("ignore", DyparseWarning)  # the parent has warned
    try:
        parser = load_parser(settings)
    except UNREADABLE as error:
        connection.send(ParsedChunk(error=error))
        return
    connection.send(ParsedChunk())
    while True:
        try:
            chunk: Chunk = connection.recv()
        except EOFError:
            return
        connection.send(_parse_or_report(parser, chunk, settings))


def _exit_with_parent() -> None:
    """End this worker when its parent is gone, which may have been killed."""
    parent = multiprocessing.parent_process()
    assert parent
    parent.join()
    os._exit(1)


def _parse_or_report(parser: "Parser", chunk: Chunk, settings: Settings) -> ParsedChunk:
    """The parsed chunk; an error in the program comes with its traceback as text."""
    try:
        return parse_chunk(parser, chunk, settings)
    except Exception:
        report = traceback.format_exc()
        return ParsedChunk(error=RuntimeError(f"in a worker, at {chunk.place}:\n{report}"))
