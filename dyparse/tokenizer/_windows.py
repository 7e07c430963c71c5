"""Scores of texts of any length: the network reads windows that overlap.

A window has its own characters and some on both sides that it only reads. Windows of one batch have
about the same length and padding is skipped, so the scores of a text do not depend on the others.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dyparse.tokenizer._characters import PADDING, Ids
from dyparse.tokenizer._scores import N_SCORES

if TYPE_CHECKING:
    from dyparse.tokenizer._segmenter import Segmenter

OWN = 500  # characters of a window
MARGIN = 48  # on each side of them
PER_BATCH = 8192  # characters, with padding

Scores = NDArray[np.float32]


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


def scores_of(model: "Segmenter", texts: Sequence[Ids]) -> list[Scores]:
    """The scores of every character of texts, given as features.  [3, n] each → [n, 5] each"""
    import torch

    scores = [np.zeros((features.shape[1], N_SCORES), np.float32) for features in texts]
    model.eval()
    with torch.inference_mode():
        for batch in batches(windows([features.shape[1] for features in texts])):
            lengths = [window.last - window.first for window in batch]
            padded = np.full((3, lengths[0], len(batch)), PADDING)
            for column, window in enumerate(batch):
                part = texts[window.text][:, window.first : window.last]
                padded[:, : lengths[column], column] = part
            found = model.inferred(torch.from_numpy(padded), torch.tensor(lengths)).numpy()
            for column, (text, first, _, own_first, own_last) in enumerate(batch):
                own = slice(own_first - first, own_last - first)
                scores[text][own_first:own_last] = found[own, column]
    return scores
