"""The measurement of a parser; the parser's script, in its own environment, calls this.

Needs nothing but Python. The clock counts CPU seconds of the process and its children, which depend
less on other programs than wall time does. Work that is not training, such as parsing dev or test
in between, is off the clock.
"""

from __future__ import annotations

import json
import resource
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

MEASURED = "measured.json"  # in the directory of a job
CONLLU, MEMORY = "conllu", "memory"  # from file to file; from and to objects in memory
TEXT = "text"  # from raw text to CoNLL-U
Action = Callable[[], object]
Parse = Callable[[Path], object]  # writes the trees of test to a CoNLL-U file


class OutOfTimeError(Exception):
    """Training has used up its CPU minutes."""


@dataclass(frozen=True)
class Row:
    """A line of the table: one way to train one parser."""

    name: str
    title: str
    reads: str  # the columns that it reads
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Job:
    """The task of a script. Test has gold words and tags, but no gold trees; or it is raw text."""

    row: str
    options: dict[str, Any]
    train: str
    dev: str
    test: str
    train_words: int
    test_words: int
    directory: str
    minutes: float  # of CPU that training may take
    moments: list[float]  # minutes of CPU after which test is parsed
    parse_seconds: float  # of CPU, at least, to measure the speed of parsing
    seed: int

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")


def read_job() -> Job:
    """The job whose file the driver named on the command line."""
    return Job(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))


def cpu_seconds() -> float:
    """User and system time of this process and of its children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def peak_bytes() -> int:
    """Peak memory of this process, or of the largest of its children that have ended."""
    return max(own_peak_bytes(), max_rss(resource.RUSAGE_CHILDREN))


def own_peak_bytes() -> int:
    """Peak memory of this process.

    On Linux ru_maxrss starts with the peak of the parent process; VmHWM does not.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return max_rss(resource.RUSAGE_SELF)


def max_rss(who: int) -> int:
    """Peak memory as the system counts it for this process or for its children."""
    peak = resource.getrusage(who).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def size_on_disk(path: Path) -> int:
    """Bytes of a file, or of all files in a directory."""
    files = [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
    return sum(file.stat().st_size for file in files)


def versions(*packages: str) -> dict[str, str]:
    """The installed versions of packages."""
    found = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


class CpuClock:
    """CPU seconds since it was created, without pauses."""

    def __init__(self, now: Callable[[], float] = cpu_seconds) -> None:
        self.now = now
        self.start, self.left_out = now(), 0.0
        self.paused_since: float | None = None

    def seconds(self) -> float:
        """CPU seconds so far."""
        end = self.now() if self.paused_since is None else self.paused_since
        return end - self.start - self.left_out

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the clock in the body; may be nested."""
        if self.paused_since is not None:
            yield
            return
        self.paused_since = self.now()
        try:
            yield
        finally:
            self.left_out += self.now() - self.paused_since
            self.paused_since = None


class Measurement:
    """The training of one parser under way, and its results."""

    def __init__(self, job: Job, now: Callable[[], float] = cpu_seconds) -> None:
        self.job, self.now = job, now
        self.directory = Path(job.directory)
        self.moments = sorted(job.moments)
        self.words = 0
        self.snapshots: list[dict[str, Any]] = []
        self.last: tuple[int, Path] | None = (
            None  # words seen when test was last parsed, and its trees
        )
        self.measured: dict[str, Any] = {"snapshots": self.snapshots}

    def start(self) -> None:
        """Reading and preparing are done; training starts now."""
        self.measured["startup_seconds"] = self.now()
        self.clock = CpuClock(self.now)

    def off_the_clock(self) -> Any:
        """A context whose body is not counted as training."""
        return self.clock.paused()

    def updated(self, words: int, parse: Parse) -> None:
        """To be called after every update of the weights, with its number of words.

        Parses test at the moments; OutOfTimeError when the minutes are over.
        """
        self.words += words
        seconds = self.clock.seconds()
        due = [moment for moment in self.moments if seconds >= 60 * moment]
        if due:
            with self.off_the_clock():
                for moment in due:
                    self.snapshot(moment, seconds, parse)
            self.moments = self.moments[len(due) :]
        if seconds >= 60 * self.job.minutes:
            raise OutOfTimeError

    def snapshot(self, moment: float, seconds: float, parse: Parse) -> None:
        """Parse test with the parser as it is now."""
        trees = self.trees(f"after-{moment:g}-minutes", parse)
        self.snapshots.append({"minutes": moment, "cpu_seconds": seconds, "trees": trees})

    def trees(self, name: str, parse: Parse) -> str:
        """Parse test, unless this parser has just done so; the name of the file."""
        path = self.directory / f"{name}.conllu"
        if self.last and self.last[0] == self.words:
            shutil.copyfile(self.last[1], path)
        else:
            parse(path)
        self.last = (self.words, path)
        return path.name

    def trained(self, reason: str) -> None:
        """Training has ended by itself, for this reason."""
        seconds = self.clock.seconds()
        self.ended(seconds, reason, complete=True)
        self.record_training(self.words, seconds)

    def out_of_time(self) -> None:
        """Training was stopped when its minutes were over."""
        seconds = self.clock.seconds()
        self.ended(seconds, f"stopped after {self.job.minutes:g} CPU minutes", complete=False)
        self.record_training(self.words, seconds)

    def ended(self, seconds: float, reason: str, *, complete: bool) -> None:
        """Record when and why training ended; incomplete if it would have continued."""
        end = {"cpu_seconds": seconds, "reason": reason, "complete": complete}
        self.measured["end"] = end

    def record_training(self, words: int, seconds: float) -> None:
        """Record words and CPU seconds, from which the speed of training is computed."""
        self.measured |= {"training_words": words, "training_seconds": seconds}

    def parsed(self, parse: Parse, ways: dict[str, Action], *, other: str = "") -> None:
        """Parse test with the trained parser, and time every way to parse it.

        `other` names another decoding by the same parser.
        """
        name = f"end-{other}" if other else "end"
        self.last = None  # the best parser need not be the last one
        trees = self.trees(name, parse)
        speeds = {way: self.speed(action) for way, action in ways.items()}
        if other:
            found = {"name": other, "trees": trees, "parsing": speeds}
            self.measured.setdefault("others", []).append(found)
        else:
            self.measured["end"]["trees"] = trees
            self.measured["parsing"] = speeds

    def speed(self, action: Action) -> float:
        """Words of test parsed per CPU second, over as many passes as needed after a warm-up.

        A first pass that takes long enough is the measurement.
        """
        first = self.timed(action)
        if first >= self.job.parse_seconds:
            return self.job.test_words / first
        passes, seconds = 0, 0.0
        while seconds < self.job.parse_seconds:
            seconds += self.timed(action)
            passes += 1
        return passes * self.job.test_words / seconds

    def timed(self, action: Action) -> float:
        """CPU seconds of an action."""
        start = self.now()
        action()
        return max(self.now() - start, 1e-6)

    def finish(self, model: Path, packages: dict[str, str]) -> None:
        """Write all measurements to a file."""
        self.measured |= {
            "model_bytes": size_on_disk(model),
            "peak_bytes": peak_bytes(),
            "versions": packages,
        }
        text = json.dumps(self.measured, indent=2) + "\n"
        (self.directory / MEASURED).write_text(text, encoding="utf-8")
