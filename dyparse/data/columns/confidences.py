"""Confidences of heads and labels as attributes in MISC."""

from collections.abc import Iterable
from dataclasses import replace

from dyparse.data.columns.attributes import HEAD_CONFIDENCE, LABEL_CONFIDENCE
from dyparse.data.sentence import Sentence

CONFIDENCES = (HEAD_CONFIDENCE, LABEL_CONFIDENCE)


def with_confidences(sentence: Sentence, head: Iterable[float], label: Iterable[float]) -> Sentence:
    """The same sentence with the confidences of its heads and labels in MISC, instead of others
    that it may have there.
    """
    lines = list(sentence.lines)
    for index, *values in zip(sentence.word_lines, head, label, strict=True):
        line = lines[index].rstrip("\r\n")
        before, _, misc = line.rpartition("\t")
        kept = [part for part in misc.split("|") if part.partition("=")[0] not in CONFIDENCES]
        own = [f"{name}={p:.4f}" for name, p in zip(CONFIDENCES, values, strict=True)]
        parts = own if kept == ["_"] else kept + own
        lines[index] = f"{before}\t{'|'.join(parts)}{lines[index][len(line) :]}"
    return replace(sentence, lines=lines)
