"""Vocabularies: what the training sentences hold, as numbers; everything else is UNKNOWN."""

import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from operator import ge
from typing import Any

from dyparse.data.sentence import Sentence

PADDING, UNKNOWN, ROOT = range(3)  # numbers below every vocabulary's own
RESERVED = 3
NO_LABEL = re.compile("_?|.*[\t\r\n\0].*", re.DOTALL)  # what our reader takes for something else
LONGEST_FORM = (
    40  # characters of a word that subwords and characters look at: its first and last 20
)


@dataclass(frozen=True)
class Vocabulary:
    """Sorted lists of what was seen in training; an entry's number is its position + RESERVED."""

    words: tuple[str, ...]  # lower case, seen at least min_frequency times
    characters: tuple[str, ...]
    upos: tuple[str, ...]
    xpos: tuple[str, ...]
    feats: tuple[str, ...]  # single features, such as "Case=Nom"
    labels: tuple[str, ...]  # labels; a label's number is its position, there is no unknown label

    @classmethod
    def from_sentences(cls, sentences: Sequence[Sentence], min_frequency: int = 2) -> "Vocabulary":
        """The vocabulary of the training sentences."""
        frequency = Counter(form.lower() for s in sentences for form in s.form)
        return cls(
            words=_sorted(word for word, count in frequency.items() if count >= min_frequency),
            characters=_sorted(
                character for s in sentences for form in s.form for character in form
            ),
            upos=_sorted(tag for s in sentences for tag in s.upos),
            xpos=_sorted(tag for s in sentences for tag in s.xpos),
            feats=_sorted(
                feature for s in sentences for column in s.feats for feature in column.split("|")
            ),
            labels=_sorted(label for s in sentences for label in s.label),
        )

    def to_json(self) -> str:
        """As text, for a file."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=0)

    @classmethod
    def from_json(cls, text: str) -> "Vocabulary":
        """From `to_json`'s text; ValueError if it is something else."""
        fields: Any = json.loads(text)
        if not isinstance(fields, dict) or set(fields) != set(cls.__dataclass_fields__):
            raise ValueError(f"expected an object with {', '.join(cls.__dataclass_fields__)}")
        for name, entries in fields.items():
            if not isinstance(entries, list) or not all(isinstance(e, str) for e in entries):
                raise ValueError(f"{name!r} must be a list of strings")
        vocabulary = cls(**{name: tuple(entries) for name, entries in fields.items()})
        vocabulary.check()
        return vocabulary

    def check(self) -> None:
        """ValueError if it is not sorted, or has a label that cannot be written as a DEPREL."""
        for name in self.__dataclass_fields__:
            entries: tuple[str, ...] = getattr(self, name)
            if any(map(ge, entries, entries[1:])):
                raise ValueError(f"{name!r} must be sorted, every entry once")
            "".join(entries).encode()  # UnicodeEncodeError, a ValueError, if it is not Unicode
        if not self.labels:
            raise ValueError("'labels' must not be empty")
        for label in self.labels:
            if NO_LABEL.fullmatch(label):
                raise ValueError(f"label {label!a} cannot be written in CoNLL-U")

    @cached_property
    def word_number(self) -> dict[str, int]:
        return _numbers(self.words)

    @cached_property
    def character_number(self) -> dict[str, int]:
        return _numbers(self.characters)

    @cached_property
    def upos_number(self) -> dict[str, int]:
        return _numbers(self.upos)

    @cached_property
    def xpos_number(self) -> dict[str, int]:
        return _numbers(self.xpos)

    @cached_property
    def feature_number(self) -> dict[str, int]:
        return _numbers(self.feats)

    @cached_property
    def label_number(self) -> dict[str, int]:
        return {label: number for number, label in enumerate(self.labels)}


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


def shortened(form: str) -> str:
    """The form, without its middle where it is very long."""
    half = LONGEST_FORM // 2
    return form if len(form) <= LONGEST_FORM else form[:half] + form[-half:]


def _sorted(entries: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(entries)))


def _numbers(entries: Sequence[str]) -> dict[str, int]:
    return {entry: number for number, entry in enumerate(entries, RESERVED)}
