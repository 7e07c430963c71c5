"""A stopwatch for the stages of training and parsing: it times functions in place."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.profiler import record_function


class Stopwatch:
    """Seconds spent in named stages, summed over threads; nested stages are counted separately.

    On a GPU a stage ends when the device has finished, for which a run without a stopwatch does not
    wait: proportions are right, but the sum is more than the time of a run.
    """

    def __init__(self, device: torch.device) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.device = device
        self.inner: dict[int, list[float]] = defaultdict(list)  # by thread: time of nested stages

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time the body."""
        inner = self.inner[threading.get_ident()]
        inner.append(0.0)
        start = time.perf_counter()
        try:
            with record_function(name):
                yield
                self.wait()
        finally:
            spent = time.perf_counter() - start
            self.seconds[name] += spent - inner.pop()
            if inner:
                inner[-1] += spent

    def wait(self) -> None:
        """Wait until the device has finished its work."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    @contextmanager
    def on(self, *places: tuple[Any, str, str]) -> Iterator[None]:
        """Time functions in the body: (object or module, name of the function, stage)."""
        before = [(place, name, getattr(place, name)) for place, name, _ in places]
        for place, name, stage in places:
            setattr(place, name, self._timed(getattr(place, name), stage))
        try:
            yield
        finally:
            for place, name, function in before:
                setattr(place, name, function)

    def _timed(self, function: Callable[..., Any], stage: str) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            with self.stage(stage):
                return function(*arguments, **named)

        return timed

    def table(self, words: int, whole: float) -> str:
        """A line for each stage: microseconds per word, and percent of all stages."""
        total = sum(self.seconds.values())
        lines = [f"  {'stage':<34}{'us/word':>9}{'of all':>8}"]
        for name, seconds in sorted(self.seconds.items(), key=lambda item: -item[1]):
            lines.append(f"  {name:<34}{seconds / words * 1e6:9.2f}{seconds / total:8.1%}")
        lines.append(f"  {'all stages, summed over threads':<34}{total / words * 1e6:9.2f}")
        lines.append(f"  {'wall time':<34}{whole / words * 1e6:9.2f}")
        return "\n".join(lines) + "\n"
