"""Counts of what the server does, in the text format of Prometheus."""

import threading
from bisect import bisect_left
from collections import Counter, defaultdict

BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)  # seconds
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)  # sentences
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Histogram:
    """How many observed values are at most each of some bounds."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds, self.counts, self.total = bounds, [0] * (len(bounds) + 1), 0.0

    def add(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def lines(self, name: str, labels: str) -> list[str]:
        """The lines of one histogram; labels are like `a="b"`."""
        found, so_far = [], 0
        for bound, count in zip((*self.bounds, "+Inf"), self.counts, strict=True):
            so_far += count
            found.append(f'{name}_bucket{{{labels},le="{bound}"}} {so_far}')
        return [
            *found,
            f"{name}_sum{{{labels}}} {self.total:g}",
            f"{name}_count{{{labels}}} {so_far}",
        ]


class Metrics:
    """All counts of a server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, int]] = Counter()  # by route and status
        self._seconds: dict[str, Histogram] = defaultdict(lambda: Histogram(BUCKETS))  # by route
        self._batches: dict[str, Histogram] = defaultdict(lambda: Histogram(BATCHES))  # by model

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count a request that has been answered."""
        with self._lock:
            self._requests[route, status] += 1
            self._seconds[route].add(seconds)

    def batch(self, model: str, sentences: int) -> None:
        """Count a batch that is parsed."""
        with self._lock:
            self._batches[model].add(sentences)

    def text(self) -> str:
        """All counts."""
        with self._lock:
            lines = [
                "# HELP dyparse_requests_total Requests that were answered.",
                "# TYPE dyparse_requests_total counter",
            ]
            for (route, status), count in sorted(self._requests.items()):
                lines.append(f'dyparse_requests_total{{route="{route}",status="{status}"}} {count}')
            lines += [
                "# HELP dyparse_request_seconds Time to answer a request.",
                "# TYPE dyparse_request_seconds histogram",
            ]
            for route, histogram in sorted(self._seconds.items()):
                lines += histogram.lines("dyparse_request_seconds", f'route="{route}"')
            lines += [
                "# HELP dyparse_batch_sentences Sentences that were parsed together.",
                "# TYPE dyparse_batch_sentences histogram",
            ]
            for model, histogram in sorted(self._batches.items()):
                lines += histogram.lines("dyparse_batch_sentences", f'model="{escaped(model)}"')
        return "\n".join(lines) + "\n"


def escaped(value: str) -> str:
    """A text as the value of a label."""
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
