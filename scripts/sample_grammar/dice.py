"""Chance, reproducible under every Python: only `random.Random.random` is used, which is stable."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")

ZIPF_OFFSET = 4.0  # flattens the head of the frequency curve: rank k weighs 1 / (k + offset)


class Dice:
    """Draws from one seeded stream."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def pick(self, items: Sequence[T]) -> T:
        return items[int(self._random.random() * len(items))]

    def weigh(self, table: Mapping[T, float]) -> T:
        """One key of the table, in proportion to its weight."""
        point = self._random.random() * sum(table.values())
        for key, weight in table.items():
            point -= weight
            if point < 0:
                return key
        return key

    def frequent(self, items: Sequence[T]) -> T:
        """One item; earlier ones are likelier, after Zipf."""
        return items[self.weigh({k: 1 / (k + ZIPF_OFFSET) for k in range(len(items))})]

    def number(self, least: int, most: int) -> int:
        return least + int(self._random.random() * (most - least + 1))
