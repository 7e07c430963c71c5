"""A text in passages, for streams: the text is never in memory as a whole.

A passage is a paragraph; one that is longer than LONGEST is cut, where a sentence seems to end.
Where passages begin is a matter of the text alone: sentences neither depend on the pieces in which
it came, nor on the process that reads a passage. Several go to the tokenizer at once, for speed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from dyparse.data.sentence import Sentence
from dyparse.tokenizer._protocol import Tokenizer
from dyparse.tokenizer._sentences import require_writable, to_sentence
from dyparse.tokenizer._spans import BLANK_LINE, VISIBLE, Token

LONGEST = 16_384  # characters of a passage, without the white space around it
NEAR = 2048  # before LONGEST, where a place to cut is looked for
SENTENCE_END = re.compile(r"[.!?…。！？؟।]+[\"'”’»)\]]*\s+|[。！？]")
LINE_END, WHITE_SPACE = re.compile(r"\s*[\r\n]\s*"), re.compile(r"\s+")
PER_BATCH = 65_536  # characters that a tokenizer gets at once
NEW_TEXT: tuple[str, ...] = ("newdoc", "newpar")


class Passage(NamedTuple):
    """A part of the text that is read in one piece, with white space around it."""

    text: str
    offset: int  # in the whole text
    marks: tuple[str, ...]  # newdoc, newpar


def tokenize(tokenizer: Tokenizer, text: str | Iterable[str]) -> Iterator[Sentence]:
    """The sentences of a text; it may come in pieces, which can be cut anywhere.

    TreebankError for a text that CoNLL-U cannot hold: with NUL or half a surrogate pair.
    """
    for batch in batches_of(passages(text)):
        yield from tokenize_passages(tokenizer, batch)


def tokenize_passages(
    tokenizer: Tokenizer, batch: Sequence[Passage], *, are_lines: bool = False
) -> Iterator[Sentence]:
    """The sentences of passages, which go to the tokenizer at once; of lines, one of each."""
    texts = [passage.text for passage in batch]
    found = [[w] for w in tokenizer.words(texts)] if are_lines else tokenizer.sentences(texts)
    for passage, sentences in zip(batch, found, strict=True):
        yield from _as_sentences(passage, sentences)


def tokenize_lines(tokenizer: Tokenizer, lines: Iterable[str]) -> Iterator[Sentence]:
    """The sentences of lines that have one each; a blank line begins a paragraph.

    Lines come with their line ends, as a file gives them, so that the text can be restored.
    """
    for batch in batches_of(line_passages(lines)):
        yield from tokenize_passages(tokenizer, batch, are_lines=True)


def line_passages(lines: Iterable[str]) -> Iterator[Passage]:
    """Each line with the blank ones after it; the first also with those before it."""
    text, offset, marks = "", 0, NEW_TEXT
    for line in chain(lines, ["end"]):
        if VISIBLE.search(text) and VISIBLE.search(line):
            require_writable(text)
            yield Passage(text, offset, marks)
            marks = ("newpar",) if BLANK_LINE.search(text, len(text.rstrip())) else ()
            offset += len(text)
            text = ""
        text += line


def _as_sentences(passage: Passage, sentences: Sequence[Sequence[Token]]) -> Iterator[Sentence]:
    borders = [0, *(tokens[0].start for tokens in sentences[1:]), len(passage.text)]
    marks = passage.marks
    for tokens, (first, last) in zip(sentences, pairwise(borders), strict=True):
        yield to_sentence(
            passage.text, tokens, range(first, last), offset=passage.offset, marks=marks
        )
        marks = ()


def passages(text: str | Iterable[str]) -> Iterator[Passage]:
    """The passages of a text; they do not depend on the pieces in which it comes."""
    pieces = _bounded([text] if isinstance(text, str) else text)
    held, start, offset = "", 0, 0  # offset: of what is held, in the whole text
    marks, is_complete = NEW_TEXT, False
    while True:
        if found := _end_of_passage(held, start, is_complete=is_complete):
            end, is_cut = found
            yield Passage(held[start:end], offset + start, marks)
            start, marks = end, () if is_cut else ("newpar",)
        elif is_complete:
            return
        else:
            more = _at_least(PER_BATCH + len(held) - start, pieces)
            is_complete = not more
            held, start, offset = held[start:] + more, 0, offset + start


def _at_least(length: int, pieces: Iterator[str]) -> str:
    """The next pieces in one, of at least so many characters unless the text ends."""
    parts: list[str] = []
    while length > 0 and (piece := next(pieces, None)) is not None:
        parts.append(piece)
        length -= len(piece)
    return "".join(parts)


def _end_of_passage(text: str, start: int, *, is_complete: bool) -> tuple[int, bool] | None:
    """Where a passage ends, and whether it is cut there; None if that is not known yet."""
    visible = VISIBLE.search(text, start)
    if not visible:
        return None
    latest = visible.start() + LONGEST
    blank = BLANK_LINE.search(text, visible.start())
    after = VISIBLE.search(text, blank.end()) if blank else None
    end = after.start() if after else len(text) if is_complete else None
    if end is not None and not VISIBLE.search(text, latest, end):
        return end, False
    if VISIBLE.search(text, latest):
        return _place_to_cut(text, latest), True
    return None


def _place_to_cut(text: str, latest: int) -> int:
    """After the last sentence, line or word that ends before this place, or between letters."""
    for pattern in (SENTENCE_END, LINE_END, WHITE_SPACE):
        if ends := [match.end() for match in pattern.finditer(text, latest - NEAR, latest)]:
            return ends[-1]
    whole = (k for k in range(latest, latest - NEAR, -1) if unicodedata.category(text[k])[0] != "M")
    return next(whole, latest)


def batches_of(found: Iterable[Passage]) -> Iterator[list[Passage]]:
    """Passages that a tokenizer gets at once."""
    batch: list[Passage] = []
    length = 0
    for passage in found:
        batch.append(passage)
        length += len(passage.text)
        if length >= PER_BATCH:
            yield batch
            batch, length = [], 0
    if batch:
        yield batch


def _bounded(pieces: Iterable[str]) -> Iterator[str]:
    """The same text in pieces of bounded size, checked."""
    for piece in pieces:
        for start in range(0, len(piece), PER_BATCH):
            part = piece[start : start + PER_BATCH]
            require_writable(part)
            yield part
