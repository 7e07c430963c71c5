"""A text in passages, for streams: the text is never in memory as a whole.

A passage is a paragraph. One that is longer than LONGEST is read as its first LONGEST characters;
their last sentences, of which the end may be missing, are read again at the start of the next
passage. Where passages begin is thus a matter of the text alone: sentences do not depend on the
pieces in which it came. Several passages go to the tokenizer at once, for speed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise
from typing import NamedTuple

from dyparse.data.sentence import Sentence
from dyparse.tokenizer._protocol import Tokenizer
from dyparse.tokenizer._sentences import require_writable, to_sentence
from dyparse.tokenizer._spans import BLANK_LINE, VISIBLE, Token

LONGEST = 16_384  # characters of a passage, without the white space around it
UNSURE = 512  # at the end of one that was cut
PER_BATCH = 65_536  # characters that a tokenizer gets at once
LINES_PER_BATCH = 1024
NEW_TEXT: tuple[str, ...] = ("newdoc", "newpar")


class Passage(NamedTuple):
    """A part of the text that is read in one piece, with white space around it."""

    text: str
    offset: int  # in the whole text
    marks: tuple[str, ...]  # newdoc, newpar
    is_cut: bool  # its paragraph goes on


def tokenize(tokenizer: Tokenizer, text: str | Iterable[str]) -> Iterator[Sentence]:
    """The sentences of a text; it may come in pieces, which can be cut anywhere.

    TreebankError for a text that CoNLL-U cannot hold: with NUL or half a surrogate pair.
    """
    buffer = _Buffer([text] if isinstance(text, str) else text)
    while batch := buffer.take():
        found = tokenizer.sentences([passage.text for passage in batch])
        for passage, sentences in zip(batch, found, strict=True):
            kept = _sure(passage.text, sentences) if passage.is_cut else sentences
            end = len(passage.text)
            if len(kept) < len(sentences):
                end = sentences[len(kept)][0].start
                buffer.give_back(passage.text[end:])
            yield from _as_sentences(passage, kept, end)


def tokenize_lines(tokenizer: Tokenizer, lines: Iterable[str]) -> Iterator[Sentence]:
    """The sentences of lines that have one each; a blank line begins a paragraph.

    Lines come with their line ends, as a file gives them, so that the text can be restored.
    """
    passages = _line_passages(lines)
    while batch := list(islice(passages, LINES_PER_BATCH)):
        found = tokenizer.words([passage.text for passage in batch])
        for passage, tokens in zip(batch, found, strict=True):
            yield from _as_sentences(passage, [tokens], len(passage.text))


def _line_passages(lines: Iterable[str]) -> Iterator[Passage]:
    """Each line with the blank ones after it; the first also with those before it."""
    text, offset, marks = "", 0, NEW_TEXT
    for line in chain(lines, ["end"]):
        if VISIBLE.search(text) and VISIBLE.search(line):
            require_writable(text)
            yield Passage(text, offset, marks, is_cut=False)
            marks = ("newpar",) if BLANK_LINE.search(text, len(text.rstrip())) else ()
            offset += len(text)
            text = ""
        text += line


def _as_sentences(
    passage: Passage, sentences: Sequence[Sequence[Token]], end: int
) -> Iterator[Sentence]:
    borders = [0, *(tokens[0].start for tokens in sentences[1:]), end]
    marks = passage.marks
    for tokens, (first, last) in zip(sentences, pairwise(borders), strict=True):
        yield to_sentence(
            passage.text, tokens, range(first, last), offset=passage.offset, marks=marks
        )
        marks = ()


def _sure(text: str, sentences: list[list[Token]]) -> list[list[Token]]:
    """The sentences of a cut passage that end well before the cut; all if there is none."""
    sure = [tokens for tokens in sentences if tokens[-1].end <= len(text) - UNSURE]
    return sure[: len(sentences) - 1] or sentences


class _Buffer:
    """The text from where it was read to; knows where the next passages begin and end."""

    def __init__(self, pieces: Iterable[str]) -> None:
        self.pieces = _bounded(pieces)
        self.text = ""
        self.offset = 0  # of this text in the whole
        self.marks = NEW_TEXT  # of the next passage
        self.is_complete = False

    def take(self) -> list[Passage]:
        """The next passages; none at the end. Only the last one may be cut."""
        least = PER_BATCH + LONGEST
        while True:
            self._fill(least)
            batch = self._passages()
            if batch or self.is_complete:
                return batch
            least *= 2  # white space alone has filled it

    def give_back(self, text: str) -> None:
        """To be read again: the end of the last passage taken."""
        self.text = text + self.text
        self.offset -= len(text)

    def _fill(self, least: int) -> None:
        parts, length = [self.text], len(self.text)
        while length < least and not self.is_complete:
            piece = next(self.pieces, None)
            self.is_complete = piece is None
            parts.append(piece or "")
            length += len(parts[-1])
        self.text = "".join(parts)

    def _passages(self) -> list[Passage]:
        batch: list[Passage] = []
        start = 0
        while start < PER_BATCH and (found := self._end_of_passage(start)):
            end, is_cut = found
            batch.append(Passage(self.text[start:end], self.offset + start, self.marks, is_cut))
            self.marks = () if is_cut else ("newpar",)
            start = end
            if is_cut:
                break
        self.text = self.text[start:]
        self.offset += start
        return batch

    def _end_of_passage(self, start: int) -> tuple[int, bool] | None:
        """Where a passage ends, and whether it is cut there; None if that is not known yet."""
        visible = VISIBLE.search(self.text, start)
        if not visible:
            return None
        latest = visible.start() + LONGEST
        blank = BLANK_LINE.search(self.text, visible.start())
        after = VISIBLE.search(self.text, blank.end()) if blank else None
        end = len(self.text) if self.is_complete else None
        if after:
            end = after.start()
        if end is not None and not VISIBLE.search(self.text, latest, end):
            return end, False
        if VISIBLE.search(self.text, latest):
            return _place_to_cut(self.text, latest), True
        return None


def _place_to_cut(text: str, latest: int) -> int:
    """After the last white space before this place, or where no mark is cut off its letter."""
    near = range(latest, latest - UNSURE, -1)
    white = (place for place in near if text[place - 1].isspace())
    whole = (place for place in near if not unicodedata.category(text[place]).startswith("M"))
    return next(white, None) or next(whole, latest)


def _bounded(pieces: Iterable[str]) -> Iterator[str]:
    """The same text in pieces of bounded size, checked."""
    for piece in pieces:
        for start in range(0, len(piece), PER_BATCH):
            part = piece[start : start + PER_BATCH]
            require_writable(part)
            yield part
