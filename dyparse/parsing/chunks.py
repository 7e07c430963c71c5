"""Shares: pieces of what `dyparse parse` reads, raw lines in and finished CoNLL-U out.

A share holds the sentences of one window of `Parser.parse_sentences`. Whoever parses a share, this
process or a worker, makes the same batches of it, and so the same trees. Reading shares looks for
the ends of sentences and counts words, no more; checking is left to whoever parses them. None of
it needs torch, which is slow to import.
"""

import io
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import IO, TYPE_CHECKING, NamedTuple

from dyparse.data.conllu import Block, Source, opened, read_blocks, to_sentence
from dyparse.data.malformed import STOP, Skipped
from dyparse.data.sentence import Sentence
from dyparse.errors import DyparseError, TreebankError
from dyparse.runtime.console import print_notice

if TYPE_CHECKING:  # torch is slow to import, and who reads does not parse
    from dyparse.model.parser import Parser

STDIN = "-"
WORDS_PER_CHUNK = 20_000  # those of a window of the parser
WORD_LINE = re.compile(rb"^(?:\xef\xbb\xbf)?[0-9]+\t", re.MULTILINE)  # not 1-2, nor 1.1
UNREADABLE = (DyparseError, OSError)  # what reading a file can end with


@dataclass(frozen=True)
class Chunk:
    """Sentences that are parsed together, as raw lines.

    A window ends when the next sentence has been read, and with an error if that one is malformed:
    so the next sentence belongs to a share too, to be checked.
    """

    blocks: list[Block]
    next_block: Block | None = None
    failure: Exception | None = None  # why no more could be read; nothing of the share is written

    @property
    def place(self) -> str:
        """Where a reader finds the share: `file:first-last`, or `file:first to file:last`."""
        first, last = self.blocks[0], self.blocks[-1]
        end = last.line_number + len(last.lines) - 1
        if first.path == last.path:
            return f"{first.path}:{first.line_number}-{end}"
        return f"{first.path}:{first.line_number} to {last.path}:{end}"


class Parsed(NamedTuple):
    """What became of a share."""

    output: bytes = b""  # CoNLL-U
    sentences: int = 0
    missing: tuple[str, ...] = ()  # tag columns that the model reads and a sentence lacks
    error: Exception | None = None


def read_inputs(names: Iterable[str], *, text: bool, on_error: str = STOP) -> Iterator[Block]:
    """The raw sentences of all inputs, one after the other: CoNLL-U, or lines of text.

    They are unchecked, unless malformed ones are to be left out: this has to be done before shares
    are cut, so that one process and several cut the same ones.
    """
    files = (read_raw(sys.stdin if name == STDIN else name, text=text) for name in names)
    if on_error == STOP:
        yield from chain.from_iterable(files)
        return
    skipped = Skipped(print_notice)
    for block, _ in skipped.sound_only(files, partial(sentence_of, text=text)):
        yield block
    skipped.report_counts()


def read_raw(source: Source, *, text: bool) -> Iterator[Block]:
    """The raw sentences of one input, unchecked."""
    return read_lines(source) if text else read_blocks(source)


def read_lines(source: Source) -> Iterator[Block]:
    """The lines of a text that are not blank, unchecked."""
    with opened(source) as (path, lines):
        for number, line in enumerate(lines, 1):
            if _decoded(line, number, "replace").strip():
                yield Block(path, number, [line])


def sentence_of(block: Block, *, text: bool) -> Sentence:
    """The sentence of a block, checked; TreebankError with place, finding and remedy."""
    if not text:
        return to_sentence(block, trees=False)
    from dyparse.model.parser import as_sentence

    place = f"{block.path}:{block.line_number}"
    if b"\0" in block.lines[0]:
        raise TreebankError(f"{place}: a NUL byte; expected UTF-8 text: is it UTF-16, or no text?")
    try:
        return as_sentence(_decoded(block.lines[0], block.line_number))
    except UnicodeDecodeError as error:
        raise TreebankError(
            f"{place}: not UTF-8 ({error.reason}); convert the file to UTF-8"
        ) from error


def _decoded(line: bytes, number: int, errors: str = "strict") -> str:
    return line.decode("utf-8-sig" if number == 1 else "utf-8", errors)


def count_words(block: Block, *, text: bool) -> int:
    """The words of a sentence; some number, not 0, if it is malformed."""
    if not text:
        return max(1, len(WORD_LINE.findall(b"".join(block.lines))))
    from dyparse.data.tokenizer import TOKEN

    return max(1, len(TOKEN.findall(_decoded(block.lines[0], block.line_number, "replace"))))


def read_chunks(blocks: Iterable[Block], *, text: bool) -> Iterator[Chunk]:
    """The sentences in shares, cut where `batch.windows` cuts them for the parser."""
    share: list[Block] = []
    total = 0
    failure: Exception | None = None
    try:
        for block in blocks:
            words = count_words(block, text=text)
            if share and total + words > WORDS_PER_CHUNK:
                yield Chunk(share, block)
                share, total = [], 0
            share.append(block)
            total += words
    except UNREADABLE as error:
        failure = error
    if share or failure:
        yield Chunk(share, failure=failure)


def blocks_of(share: Chunk) -> Iterator[Block]:
    """What the reading of a share has given, the failure at its end included."""
    yield from share.blocks
    if share.failure:
        raise share.failure


def parse_chunk(parser: "Parser", share: Chunk, *, text: bool, max_tokens_per_batch: int) -> Parsed:
    """Check and parse the sentences of a share."""
    sentences: list[Sentence] = []
    missing: tuple[str, ...] = ()
    try:
        for block in (*share.blocks, *filter(None, [share.next_block])):
            sentences.append(sentence_of(block, text=text))
            missing = missing or tuple(parser.missing_columns(sentences[-1]))
    except DyparseError as error:
        return Parsed(missing=missing, error=error)
    if share.failure:
        return Parsed(missing=missing, error=share.failure)
    own = sentences[: len(share.blocks)]
    out = io.BytesIO()
    write_sentences(parser.parse_sentences(own, max_tokens_per_batch=max_tokens_per_batch), out)
    return Parsed(out.getvalue(), len(own), missing)


def write_sentences(sentences: Iterable[Sentence], out: IO[bytes]) -> None:
    """Write CoNLL-U; where a file ended without a blank line, one is put before the next."""
    write_pieces((sentence.to_conllu().encode() for sentence in sentences), out)


def write_pieces(pieces: Iterable[bytes], out: IO[bytes]) -> None:
    """Write sentences, or many at a time, each of them whole, in CoNLL-U."""
    unfinished = b""
    for piece in pieces:
        out.write(unfinished + piece)
        is_complete = piece.endswith((b"\n\n", b"\n\r\n"))
        unfinished = b"" if is_complete else b"\n" if piece.endswith(b"\n") else b"\n\n"


def warner() -> Callable[[tuple[str, ...]], None]:
    """A function that warns, the first time only, of tags that the model was trained with."""
    warned = False

    def warn(missing: tuple[str, ...]) -> None:
        nonlocal warned
        if missing and not warned:
            warned = True
            sys.stderr.write(
                f"warning: the model reads {' and '.join(missing)}, which the input lacks: expect "
                "worse trees; tag the input first, or train a model without tags "
                "(encoder.features=[word,subword])\n"
            )

    return warn
