"""Batching: requests that come together are parsed together.

One thread parses for each model. What comes while it parses is its next batch; when it is idle, the
first request waits a moment for company. A request that cannot be read or parsed fails
alone.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import islice

from dyparse.data.sentence import Sentence
from dyparse.errors import DyparseError
from dyparse.model.parser import Parser
from dyparse.web.server.limits import Limits, busy, within
from dyparse.web.server.metrics import Metrics

MOST_JOBS, MOST_CHARACTERS = 256, 100_000  # of a batch, so that nobody waits long for the next


@dataclass(frozen=True)
class Work:
    """What one request wants of the parser."""

    read: Callable[[Parser], list[Sentence]]  # DyparseError if it is malformed
    write: Callable[[Sequence[Sentence]], bytes]
    size: int  # characters, about
    confidence: bool = False
    is_parsed: bool = True  # else only read and written


@dataclass(eq=False)
class Job:
    """Work on its way through a batch."""

    work: Work
    answer: "asyncio.Future[bytes]"
    sentences: list[Sentence] = field(default_factory=list)
    result: bytes | Exception = b""


class Batcher:
    """Parses for one model."""

    def __init__(self, name: str, parser: Parser, limits: Limits, metrics: Metrics) -> None:
        self.name, self.limits, self.metrics = name, limits, metrics
        self.parsers = {sure: replace(parser, confidence=sure) for sure in (False, True)}
        self.queue: deque[Job] = deque()
        self._arrived = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, f"parse-{name}")
        self._task: asyncio.Task[None] | None = None

    async def parse(self, work: Work) -> bytes:
        """The answer to one request.

        OverloadError if too many wait, or if it takes too long; DyparseError if it is malformed.
        """
        if len(self.queue) >= self.limits.waiting:
            raise busy()
        self.limits.require_size(work.size)
        if self._task is None:
            self._task = asyncio.create_task(self._serve())
        job = Job(work, asyncio.get_running_loop().create_future())
        self.queue.append(job)
        self._arrived.set()
        return await within(self.limits.seconds, job.answer)

    def close(self) -> None:
        """End; what waits is not parsed."""
        if self._task:
            self._task.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            if not self.queue:
                self._arrived.clear()
                await self._arrived.wait()
                await asyncio.sleep(self.limits.batch_wait)
            jobs = self._take()
            try:
                await loop.run_in_executor(self._thread, self._parse, jobs)
            except asyncio.CancelledError:
                raise
            except BaseException as error:  # such as a panic of a compiled library
                for job in jobs:
                    job.result = RuntimeError(repr(error))
            for job in jobs:
                if job.answer.done():  # given up
                    continue
                if isinstance(job.result, Exception):
                    job.answer.set_exception(job.result)
                else:
                    job.answer.set_result(job.result)

    def _take(self) -> list[Job]:
        """The next jobs, at least one unless all have been given up."""
        taken: list[Job] = []
        size = 0
        while self.queue and len(taken) < MOST_JOBS and (not taken or size < MOST_CHARACTERS):
            job = self.queue.popleft()
            if not job.answer.done():
                taken.append(job)
                size += job.work.size
        return taken

    def _parse(self, jobs: Sequence[Job]) -> None:
        """Set the results of all jobs; nothing is raised."""
        for job in jobs:
            try:
                job.sentences = job.work.read(self.parsers[job.work.confidence])
                self._require_short(job.sentences)
            except Exception as error:  # whatever it is, it is this request's alone
                job.result = error
        sound = [job for job in jobs if not isinstance(job.result, Exception)]
        self.metrics.batch(self.name, sum(len(job.sentences) for job in sound))
        for job in sound:
            if not job.work.is_parsed:
                self._write(job, job.sentences)
        for sure in (False, True):
            to_parse = [job for job in sound if job.work.is_parsed]
            self._finish([job for job in to_parse if job.work.confidence == sure], sure=sure)

    def _finish(self, jobs: Sequence[Job], *, sure: bool) -> None:
        """Parse jobs together; if that fails, one by one."""
        if not jobs:
            return
        try:
            every = (sentence for job in jobs for sentence in job.sentences)
            parsed = list(self.parsers[sure].parse_sentences(every))
        except Exception as error:  # as above
            if len(jobs) == 1:
                jobs[0].result = error
                return
            for job in jobs:
                self._finish([job], sure=sure)
            return
        rest = iter(parsed)
        for job in jobs:
            self._write(job, list(islice(rest, len(job.sentences))))

    def _write(self, job: Job, sentences: Sequence[Sentence]) -> None:
        try:
            job.result = job.work.write(sentences)
        except Exception as error:  # as above
            job.result = error

    def _require_short(self, sentences: Iterable[Sentence]) -> None:
        for sentence in sentences:
            if len(sentence) > self.limits.words:
                raise DyparseError(
                    f"{sentence.place} has {len(sentence):,} words, expected at most "
                    f"{self.limits.words:,}; split it"
                )
