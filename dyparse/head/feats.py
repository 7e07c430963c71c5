"""FEATS: all features of a word as one class."""

from dataclasses import dataclass
from typing import ClassVar

from dyparse.head._tags import TagOptions


@dataclass(frozen=True)
class Feats(TagOptions):
    """FEATS of every word."""

    name: ClassVar[str] = "feats"
