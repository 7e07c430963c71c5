"""Vocabularies: sorted lists of what the training sentences hold, by feature and by head."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from operator import ge
from typing import Any, TypeAlias

PADDING, UNKNOWN, ROOT = range(3)  # numbers below every feature's own entries
RESERVED = 3
SEEN = ("analyses", "lemmas")  # parts of a vocabulary that are one list

RULED_OUT = -1e4  # as a score of an entry: far below others, and a number of half precision too

Entries: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Vocabulary:
    """The entries of every feature that is read and of every head that predicts, by name; and the
    combinations of tags, and the lemmas of words, that were seen.
    """

    features: dict[str, Entries]
    heads: dict[str, Entries]
    analyses: Entries = ()
    lemmas: Entries = ()

    def __post_init__(self) -> None:
        parts: dict[str, dict[str, Entries]] = {"features": self.features, "heads": self.heads}
        parts |= {part: {"": getattr(self, part)} for part in SEEN}
        for part, lists in parts.items():
            for name, entries in lists.items():
                if any(map(ge, entries, entries[1:])):
                    raise ValueError(f"{part} {name!r} must be sorted, every entry once")

    def __repr__(self) -> str:
        sizes = (f"{len(found):,} {name}" for name, found in (self.features | self.heads).items())
        return f"<Vocabulary: {', '.join(sizes)}>"

    def to_json(self) -> str:
        """As text, for a file."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=0)

    @classmethod
    def from_json(cls, text: str) -> "Vocabulary":
        """From the text of `to_json`; ValueError if it is something else."""
        parts: Any = json.loads(text)
        if not isinstance(parts, dict) or set(parts) != set(cls.__dataclass_fields__):
            raise ValueError(f"expected an object with {', '.join(cls.__dataclass_fields__)}")
        analyses, lemmas = (_checked(part, {"": parts.pop(part)})[""] for part in SEEN)
        lists = {part: _checked(part, found) for part, found in parts.items()}
        return cls(**lists, analyses=analyses, lemmas=lemmas)


def sorted_entries(values: Iterable[str]) -> Entries:
    """Every value once, sorted."""
    return tuple(sorted(set(values)))


def numbered(entries: Entries) -> dict[str, int]:
    """The number of every entry of a feature; those below RESERVED are taken."""
    return {entry: number for number, entry in enumerate(entries, RESERVED)}


def _checked(part: str, lists: Any) -> dict[str, Entries]:
    """Sorted lists of text by name; ValueError if they are something else."""
    if not isinstance(lists, dict):
        raise ValueError(f"{part!r} must be an object")
    for name, entries in lists.items():
        if not isinstance(entries, list) or not all(isinstance(e, str) for e in entries):
            raise ValueError(f"{part} {name!r} must be a list of strings")
        "".join(entries).encode()  # UnicodeEncodeError, a ValueError, if it is not Unicode
    return {name: tuple(entries) for name, entries in lists.items()}
