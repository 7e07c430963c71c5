"""Language-specific tags."""

from dataclasses import dataclass
from typing import ClassVar

from dyparse.feature import OnePerToken


@dataclass(frozen=True)
class Xpos(OnePerToken):
    """The column XPOS."""

    name: ClassVar[str] = "xpos"
    column: ClassVar[str] = "xpos"
