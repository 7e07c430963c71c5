"""Hashed parts of words."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from dyparse.data.sentence import Sentence
from dyparse.data.token_arrays import ROOT_VALUE
from dyparse.data.vocabulary import Entries
from dyparse.feature import BagPerToken, shortened


@dataclass(frozen=True)
class Subword(BagPerToken):
    """Affixes and n-grams of words, hashed into buckets: words never seen have known parts."""

    buckets: int = 6000

    name: ClassVar[str] = "subword"
    column: ClassVar[str] = "form"

    def __post_init__(self) -> None:
        if self.buckets < 1:
            raise ValueError(f"buckets is {self.buckets}, expected 1 or more")

    def entries(self, sentences: Sequence[Sentence]) -> Entries:  # noqa: ARG002 - it needs none
        return ()

    def size(self, entries: Entries) -> int:  # noqa: ARG002 - it has none
        return self.buckets + 1  # the root has one of its own

    def numbering(self, entries: Entries) -> Callable[[str], list[int]]:  # noqa: ARG002 - it has none
        return lambda form: [self.buckets] if form == ROOT_VALUE else subwords(form, self.buckets)


def subwords(form: str, buckets: int) -> list[int]:
    """Buckets of a word's parts: its affixes of 1-4 characters, its 3- and 4-grams, itself, and
    its shape.

    Hashed as in fastText (Bojanowski et al. 2017), so that words never seen have known parts.
    """
    short = shortened(form)
    lower = short.lower()
    padded = f"<{lower}>"
    parts = {f"w{lower}", f"s{shape(short)}"}
    for size in range(1, min(4, len(lower)) + 1):
        parts |= {f"p{lower[:size]}", f"e{lower[-size:]}"}
    for size in (3, 4):
        parts |= {padded[i : i + size] for i in range(len(padded) - size + 1)}
    return sorted(zlib.crc32(part.encode("utf-8", "surrogatepass")) % buckets for part in parts)


def shape(form: str) -> str:
    """Kinds of characters, repetitions left out: "McDonald's-7" → "XxXx'x-d"."""
    kinds: list[str] = []
    for character in form:
        if character.isdigit():
            kind = "d"
        elif character.isalpha():
            kind = "X" if character.isupper() else "x"
        else:
            kind = character
        if not kinds or kinds[-1] != kind:
            kinds.append(kind)
    return "".join(kinds)
