"""Attributes in MISC, such as `SpaceAfter=No|HeadConfidence=0.97`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dyparse.data.sentence import Sentence

HEAD_CONFIDENCE, LABEL_CONFIDENCE = "HeadConfidence", "LabelConfidence"
CONFIDENCES = (HEAD_CONFIDENCE, LABEL_CONFIDENCE)


def attribute(misc: str, name: str) -> str | None:
    """The value of an attribute; None if there is none of this name."""
    found = (part.partition("=") for part in misc.split("|"))
    return next((value for key, sign, value in found if key == name and sign), None)


def probability(misc: str, name: str) -> float | None:
    """The value of an attribute as a number from 0 to 1; None if it has none."""
    try:
        value = float(attribute(misc, name) or "")
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None


def with_attributes(sentence: Sentence, columns: Mapping[str, Sequence[str] | None]) -> Sentence:
    """The same sentence with these attributes of its words in MISC, the last ones there.

    None takes an attribute out. Everything else in MISC stays.
    """
    lines = list(sentence.lines)
    for number, index in enumerate(sentence.word_lines):
        line = lines[index].rstrip("\r\n")
        before, _, misc = line.rpartition("\t")
        parts = [part for part in misc.split("|") if part.partition("=")[0] not in columns]
        parts = [part for part in parts if part != "_"]
        parts += [f"{name}={values[number]}" for name, values in columns.items() if values]
        lines[index] = f"{before}\t{'|'.join(parts) or '_'}{lines[index][len(line) :]}"
    return replace(sentence, lines=lines)


def with_confidences(sentence: Sentence, head: Iterable[float], label: Iterable[float]) -> Sentence:
    """The same sentence with the confidences of its heads and labels in MISC."""
    pairs = zip(CONFIDENCES, (head, label), strict=True)
    return with_attributes(sentence, {name: [f"{p:.4f}" for p in values] for name, values in pairs})


def without_confidences(sentence: Sentence) -> Sentence:
    """The same sentence without confidences in MISC."""
    return with_attributes(sentence, dict.fromkeys(CONFIDENCES))
