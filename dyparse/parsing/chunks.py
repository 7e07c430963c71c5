"""Chunks: pieces of a stream of blocks, for processes that parse them side by side.

A chunk holds the sentences of one window of `Parser.parse_sentences`. Whichever process parses it
makes the same batches of it, and so the same trees. Cutting chunks only counts words; sentences are
checked where they are parsed. Of raw text nobody knows the words before it is tokenized: there
chunks have about as many characters, and are parsed one by one in a single process too.
"""

import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from dyparse.data.conllu import Block
from dyparse.data.malformed import Skipped
from dyparse.data.sentence import Sentence
from dyparse.parsing.reading import (
    LINES,
    UNREADABLE,
    WORDS,
    checked,
    decode_line,
    has_passages,
)
from dyparse.parsing.settings import Settings
from dyparse.parsing.stream import Totals, parse_stream, write_sentences
from dyparse.tokenizer._passages import batches_of, tokenize_passages

if TYPE_CHECKING:  # torch is slow to import, and a process that cuts chunks does not parse
    from dyparse.model.parser import Parser
    from dyparse.tokenizer import Tokenizer

WORDS_PER_CHUNK = 20_000  # as in a window of the parser
CHARACTERS_PER_CHUNK = 100_000  # of raw text
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

    def sentences(self, input_format: str, tokenizer: "Tokenizer") -> Iterator[Sentence]:
        """The sentences, checked; an error where one process that reads them all has it."""
        if has_passages(input_format):
            found = [block.passage for block in self.blocks]
            for batch in batches_of(found):
                yield from tokenize_passages(tokenizer, batch, are_lines=input_format == LINES)
        else:
            ahead = [] if self.next_block is None else [self.next_block]
            for block, sentence in checked([self.blocks, ahead], input_format):
                if block is not self.next_block:
                    yield sentence
        if self.failure:
            raise self.failure


class ParsedChunk(NamedTuple):
    """The output for a chunk, or the error that parsing it ended with."""

    output: bytes = b""
    sentences: int = 0
    missing: tuple[str, ...] = ()  # tag columns that the model reads and a sentence lacks
    error: Exception | None = None


def read_chunks(blocks: Iterable[Block], input_format: str) -> Iterator[Chunk]:
    """The blocks in chunks; of sentences, cut where `batch.windows` cuts them for the parser."""
    chunk: list[Block] = []
    total = 0
    most = CHARACTERS_PER_CHUNK if has_passages(input_format) else WORDS_PER_CHUNK
    failure: Exception | None = None
    try:
        for block in blocks:
            size = size_of(block, input_format)
            if chunk and total + size > most:
                yield Chunk(chunk, block)
                chunk, total = [], 0
            chunk.append(block)
            total += size
    except UNREADABLE as error:
        failure = error
    if chunk or failure:
        yield Chunk(chunk, failure=failure)


def size_of(block: Block, input_format: str) -> int:
    """Characters of a passage, words of a sentence; some number, not 0, if it is malformed."""
    if block.passage:
        return len(block.passage.text)
    if input_format == WORDS:
        return max(1, len(decode_line(block.lines[0], block.line_number, "replace").split()))
    return max(1, len(WORD_LINE.findall(b"".join(block.lines))))


def parse_blocks(
    parser: "Parser",
    files: Iterable[Iterable[Block]],
    settings: Settings,
    totals: Totals,
    skipped: Skipped | None = None,
) -> Iterator[bytes]:
    """Each sentence of all files in the output format, parsed in this process."""
    if not has_passages(settings.input_format):
        pairs = checked(files, settings.input_format, skipped=skipped)
        yield from parse_stream(parser, (sentence for _, sentence in pairs), settings, totals)
        return
    for chunk in read_chunks(chain.from_iterable(files), settings.input_format):
        sentences = chunk.sentences(settings.input_format, parser.tokenizer)
        yield from parse_stream(parser, sentences, settings, totals)


def parse_chunk(parser: "Parser", chunk: Chunk, settings: Settings) -> ParsedChunk:
    """Check and parse a chunk; of one with an error nothing is output."""
    totals, out = Totals(), io.BytesIO()
    try:
        sentences = chunk.sentences(settings.input_format, parser.tokenizer)
        pieces = parse_stream(parser, sentences, settings, totals)
        write_sentences(pieces, out, settings.output_format)
    except UNREADABLE as error:
        return ParsedChunk(missing=totals.missing, error=error)
    return ParsedChunk(out.getvalue(), totals.sentences, totals.missing)
