"""XPOS: the treebank's own part of speech."""

from dataclasses import dataclass
from typing import ClassVar

from dyparse.head._tags import TagOptions


@dataclass(frozen=True)
class Xpos(TagOptions):
    """XPOS of every word."""

    name: ClassVar[str] = "xpos"
