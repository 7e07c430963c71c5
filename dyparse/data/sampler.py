"""Which sentences go together: groups of similar length, windows over a stream."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def group_by_length(
    lengths: Sequence[int], max_tokens: int, generator: np.random.Generator | None = None
) -> list[list[int]]:
    """Positions of sentences in groups of similar length, each of at most max_tokens tokens with
    its padding.

    With a generator the lengths are jittered and the groups shuffled, for training. A sentence
    longer than max_tokens is alone.
    """
    sizes = np.asarray(lengths, dtype=np.float64) + 1
    if generator is not None:
        sizes = sizes * generator.uniform(0.9, 1.1, len(sizes)) + generator.uniform(
            0, 2, len(sizes)
        )
    groups: list[list[int]] = []
    longest = 0
    for position in np.argsort(sizes, kind="stable").tolist():
        longest = max(longest, lengths[position] + 1)
        if not groups or longest * (len(groups[-1]) + 1) > max_tokens:
            groups.append([])
            longest = lengths[position] + 1
        groups[-1].append(position)
    if generator is not None:
        generator.shuffle(groups)
    return groups


def windows(items: Iterable[T], size_of: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """Successive items in lists whose sizes add up to at most `most` (or of one item)."""
    window: list[T] = []
    total = 0
    for item in items:
        if window and total + size_of(item) > most:
            yield window
            window, total = [], 0
        window.append(item)
        total += size_of(item)
    if window:
        yield window
