"""Universal part-of-speech tags."""

from dataclasses import dataclass
from typing import ClassVar

from dyparse.feature import OnePerToken


@dataclass(frozen=True)
class Upos(OnePerToken):
    """The column UPOS."""

    name: ClassVar[str] = "upos"
    column: ClassVar[str] = "upos"
