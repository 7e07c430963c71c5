"""Scores of texts of any length: the network reads windows that overlap.

A window has its own characters and some on both sides that it only reads. Windows of one batch have
about the same length and padding is skipped, so the scores of a text do not depend on the others.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dyparse.tokenizer._characters import Ids
from dyparse.tokenizer._scores import N_SCORES

OWN = 500  # characters of a window
MARGIN = 48  # on each side of them
PER_BATCH = 8192  # characters, with padding

Scores = NDArray[np.float32]


class WindowScorer(Protocol):
    """The network, be it torch's (`_segmenter.py`) or a compiled one."""

    def window_scores(self, windows: Sequence[Ids]) -> list[Scores]:
        """Scores of the characters of windows, the longest first.  [3, n] each → [n, 5] each"""
        ...


class Window(NamedTuple):
    """Characters first..last of a text; the scores of own_first..own_last are taken from here."""

    text: int
    first: int
    last: int  # excluded, as below
    own_first: int
    own_last: int


def windows(lengths: Sequence[int]) -> list[Window]:
    """Windows over texts of these lengths, the longest window first."""
    found = [
        Window(text, max(0, own - MARGIN), min(own + OWN + MARGIN, n), own, min(own + OWN, n))
        for text, n in enumerate(lengths)
        for own in range(0, n, OWN)
    ]
    return sorted(found, key=lambda window: window.first - window.last)


def batches(found: Sequence[Window]) -> Iterator[list[Window]]:
    """Windows in order, as many at a time as a batch has room for."""
    start = 0
    while start < len(found):
        longest = found[start].last - found[start].first
        count = max(1, PER_BATCH // longest)
        yield list(found[start : start + count])
        start += count


def scores_of(network: WindowScorer, texts: Sequence[Ids]) -> list[Scores]:
    """The scores of every character of texts, given as features.  [3, n] each → [n, 5] each"""
    scores = [np.zeros((features.shape[1], N_SCORES), np.float32) for features in texts]
    for batch in batches(windows([features.shape[1] for features in texts])):
        parts = [texts[window.text][:, window.first : window.last] for window in batch]
        for window, found in zip(batch, network.window_scores(parts), strict=True):
            text, first, _, own_first, own_last = window
            scores[text][own_first:own_last] = found[own_first - first : own_last - first]
    return scores
