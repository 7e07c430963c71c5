"""UPOS: the universal part of speech."""

from dataclasses import dataclass
from typing import ClassVar

from dyparse.head._tags import TagOptions


@dataclass(frozen=True)
class Upos(TagOptions):
    """UPOS of every word."""

    weight: float = 1.0
    corrected: bool = True

    name: ClassVar[str] = "upos"
