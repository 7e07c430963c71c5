"""Input as raw sentences, blocks of CoNLL-U or lines of text; and the check of each of them.

Finding where sentences end is cheap and does not need torch; the process that reads for all
workers does no more than that.
"""

import codecs
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain

from dyparse.data.conllu import Block, Source, opened, read_blocks, to_sentence
from dyparse.data.malformed import Skipped
from dyparse.data.sentence import BYTE_ORDER_MARK, Sentence
from dyparse.errors import DyparseError, TreebankError

PIECE = 2**16  # bytes of a text that are read at once
UNREADABLE = (DyparseError, OSError)  # errors that reading can end with


def read_files(sources: Iterable[Source], *, text: bool) -> Iterator[Iterator[Block]]:
    """The raw sentences of each input; a file is opened when its first sentence is asked for."""
    return (read_raw(source, text=text) for source in sources)


def read_raw(source: Source, *, text: bool) -> Iterator[Block]:
    """The raw sentences of one input, unchecked."""
    return read_lines(source) if text else read_blocks(source)


def read_lines(source: Source) -> Iterator[Block]:
    """The lines of a text that are not blank, unchecked."""
    with opened(source) as (path, lines):
        for number, line in enumerate(lines, 1):
            if decode_line(line, number, "replace").strip():
                yield Block(path, number, [line])


def checked(
    files: Iterable[Iterable[Block]], *, text: bool, skipped: Skipped | None = None
) -> Iterator[tuple[Block, Sentence]]:
    """Raw sentences, each with the sentence that it holds.

    A malformed one is skipped and noted if there is a `skipped`, else it is an error.
    """
    check = partial(sentence_of, text=text)
    if skipped is not None:
        yield from skipped.sound_only(files, check)
        return
    for blocks in files:
        for block in blocks:
            yield block, check(block)


def blocks_to_cut(
    files: Iterable[Iterable[Block]], *, text: bool, skipped: Skipped | None = None
) -> Iterator[Block]:
    """Raw sentences to be cut into chunks: unchecked, unless malformed ones are to be skipped.

    These have to be out before the cut: then chunks are the windows that one process has.
    """
    if skipped is None:
        return chain.from_iterable(files)
    return (block for block, _ in checked(files, text=text, skipped=skipped))


def sentence_of(block: Block, *, text: bool) -> Sentence:
    """The sentence of a block, checked; TreebankError with place, finding and remedy."""
    if not text:
        return to_sentence(block, trees=False)
    place = f"{block.path}:{block.line_number}"
    if b"\0" in block.lines[0]:
        raise TreebankError(f"{place}: a NUL byte; expected UTF-8 text: is it UTF-16, or no text?")
    try:
        return Sentence.from_text(decode_line(block.lines[0], block.line_number))
    except UnicodeDecodeError as error:
        raise TreebankError(
            f"{place}: not UTF-8 ({error.reason}); convert the file to UTF-8"
        ) from error


def read_text(source: Source) -> Iterator[str]:
    """The text of one input in pieces, with its line ends and without a byte order mark.

    TreebankError if it is not UTF-8, or has NUL.
    """
    with opened(source) as (path, lines):
        read = getattr(lines, "read", None)  # a line may be as long as the file
        pieces = iter(partial(read, PIECE), b"") if read else iter(lines)
        decoder = codecs.getincrementaldecoder("utf-8")()  # "utf-8-sig" accepts half a mark
        line_number, is_start = 1, True
        for piece in chain(pieces, [b""]):
            try:
                text = decoder.decode(piece, final=not piece)
            except UnicodeDecodeError as error:
                before = error.object[: error.start].count(b"\n")
                raise TreebankError(
                    f"{path}:{line_number + before}: not UTF-8 ({error.reason}); convert the file "
                    "to UTF-8"
                ) from error
            if "\0" in text:
                at = line_number + text[: text.index("\0")].count("\n")
                raise TreebankError(
                    f"{path}:{at}: a NUL byte; expected UTF-8 text: is it UTF-16, or no text?"
                )
            line_number += text.count("\n")
            yield text.removeprefix(BYTE_ORDER_MARK) if is_start else text
            is_start = is_start and not text


def decode_line(line: bytes, number: int, errors: str = "strict") -> str:
    """A line of text; the first one may start with a byte order mark."""
    return line.decode("utf-8-sig" if number == 1 else "utf-8", errors)
