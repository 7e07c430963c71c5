"""Chunks: pieces of a stream of raw sentences, for processes that parse them side by side.

A chunk holds the sentences of one window of `Parser.parse_sentences`. Whichever process parses it
makes the same batches of it, and so the same trees. Cutting chunks only counts words; sentences are
checked where they are parsed.
"""

import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from dyparse.data.conllu import Block
from dyparse.data.sentence import Sentence
from dyparse.data.word_rules import word_spans
from dyparse.parsing.reading import UNREADABLE, checked, decode_line
from dyparse.parsing.settings import Settings
from dyparse.parsing.stream import Totals, parse_stream, write_conllu

if TYPE_CHECKING:  # torch is slow to import, and a process that cuts chunks does not parse
    from dyparse.model.parser import Parser

WORDS_PER_CHUNK = 20_000  # as in a window of the parser
WORD_LINE = re.compile(rb"^(?:\xef\xbb\xbf)?[0-9]+\t", re.MULTILINE)  # not 1-2, nor 1.1


@dataclass(frozen=True)
class Chunk:
    """Raw sentences that are parsed together.

    The parser closes a window when it reads the sentence after it; if that one is malformed, the
    window is not parsed. So a chunk has the next sentence too, only to be checked.
    """

    blocks: list[Block]
    next_block: Block | None = None
    failure: Exception | None = None  # reading ended with it; nothing of the chunk is written

    @property
    def place(self) -> str:
        """Where the chunk is in the input: `file:first-last`, or `file:first to file:last`."""
        first, last = self.blocks[0], self.blocks[-1]
        end = last.line_number + len(last.lines) - 1
        if first.path == last.path:
            return f"{first.path}:{first.line_number}-{end}"
        return f"{first.path}:{first.line_number} to {last.path}:{end}"

    def sentences(self, *, text: bool) -> Iterator[Sentence]:
        """The sentences, checked; an error where one process that reads them all has it."""
        ahead = [] if self.next_block is None else [self.next_block]
        for block, sentence in checked([self.blocks, ahead], text=text):
            if block is not self.next_block:
                yield sentence
        if self.failure:
            raise self.failure


class ParsedChunk(NamedTuple):
    """The CoNLL-U of a chunk, or the error that parsing it ended with."""

    output: bytes = b""
    sentences: int = 0
    missing: tuple[str, ...] = ()  # tag columns that the model reads and a sentence lacks
    error: Exception | None = None


def read_chunks(blocks: Iterable[Block], *, text: bool) -> Iterator[Chunk]:
    """The raw sentences in chunks, cut where `batch.windows` cuts them for the parser."""
    chunk: list[Block] = []
    total = 0
    failure: Exception | None = None
    try:
        for block in blocks:
            words = count_words(block, text=text)
            if chunk and total + words > WORDS_PER_CHUNK:
                yield Chunk(chunk, block)
                chunk, total = [], 0
            chunk.append(block)
            total += words
    except UNREADABLE as error:
        failure = error
    if chunk or failure:
        yield Chunk(chunk, failure=failure)


def count_words(block: Block, *, text: bool) -> int:
    """The number of words of a sentence; some number, not 0, if it is malformed."""
    if not text:
        return max(1, len(WORD_LINE.findall(b"".join(block.lines))))
    return max(1, len(word_spans(decode_line(block.lines[0], block.line_number, "replace"))))


def parse_chunk(parser: "Parser", chunk: Chunk, settings: Settings) -> ParsedChunk:
    """Check and parse a chunk; of one with an error nothing is output."""
    totals, out = Totals(), io.BytesIO()
    try:
        sentences = chunk.sentences(text=settings.text)
        write_conllu(parse_stream(parser, sentences, settings, totals), out)
    except UNREADABLE as error:
        return ParsedChunk(missing=totals.missing, error=error)
    return ParsedChunk(out.getvalue(), totals.sentences, totals.missing)
