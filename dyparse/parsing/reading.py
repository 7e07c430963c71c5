"""Input as blocks: sentences of CoNLL-U, lines of words, passages of raw text.

Finding where blocks end is cheap and does not need torch; the process that reads for all workers
does no more than that. A block of CoNLL-U or of words holds one sentence, which is checked here.
Passages are split into sentences where they are parsed, by the tokenizer of the model.
"""

import codecs
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain

from dyparse.data.columns.rows import BYTE_ORDER_MARK
from dyparse.data.conllu import Block, Source, opened, read_blocks, to_sentence
from dyparse.data.malformed import Skipped
from dyparse.data.sentence import Sentence
from dyparse.errors import ConfigError, DyparseError, TreebankError
from dyparse.tokenizer._passages import line_passages, passages

PIECE = 2**16  # bytes of a text that are read at once
UNREADABLE = (DyparseError, OSError)  # errors that reading can end with
CONLLU, TEXT, LINES, WORDS = FORMATS = ("conllu", "text", "lines", "words")
AUTO = "auto"  # by the names of files
TEXT_ENDINGS = (".txt", ".txt.gz")


def format_of(names: Iterable[str], chosen: str) -> str:
    """The format of files: the chosen one, or if that is `auto` text for .txt, else CoNLL-U."""
    if chosen != AUTO:
        return chosen
    are_text = {name.lower().endswith(TEXT_ENDINGS) for name in names}
    if len(are_text) > 1:
        raise ConfigError(
            "some files end in .txt and some do not; parse them apart, or say what they are: "
            f"--input {', '.join(FORMATS)}"
        )
    return TEXT if are_text == {True} else CONLLU


def has_passages(input_format: str) -> bool:
    """Whether the tokenizer of the model is needed to find sentences and words."""
    return input_format in (TEXT, LINES)


def read_files(
    sources: Iterable[Source], input_format: str, *, skipped: Skipped | None = None
) -> Iterator[Iterator[Block]]:
    """The blocks of each input; a file is opened when its first block is asked for."""
    return (read_raw(source, input_format, skipped=skipped) for source in sources)


def read_raw(
    source: Source, input_format: str, *, skipped: Skipped | None = None
) -> Iterator[Block]:
    """The blocks of one input: sentences unchecked, lines of text that cannot be read skipped and
    noted if there is a `skipped`.
    """
    if has_passages(input_format):
        return read_passages(source, input_format, skipped)
    return read_lines(source) if input_format == WORDS else read_blocks(source)


def read_lines(source: Source) -> Iterator[Block]:
    """The lines of a text that are not blank, unchecked."""
    with opened(source) as (path, lines):
        for number, line in enumerate(lines, 1):
            if decode_line(line, number, "replace").strip():
                yield Block(path, number, [line])


def read_passages(source: Source, input_format: str, skipped: Skipped | None) -> Iterator[Block]:
    """The passages of a text."""
    with opened(source) as (path, lines):
        check = partial(checked_line, path)
        if skipped is not None:
            texts = skipped.sound_lines(lines, check)
        elif input_format == TEXT:
            texts = decoded_pieces(path, lines)
        else:
            texts = (check(line, number) for number, line in enumerate(lines, 1))
        number = 1
        for passage in (passages if input_format == TEXT else line_passages)(texts):
            n_lines = passage.text.count("\n")
            yield Block(path, number, [b""] * max(n_lines, 1), passage)
            number += n_lines


def checked(
    files: Iterable[Iterable[Block]], input_format: str, *, skipped: Skipped | None = None
) -> Iterator[tuple[Block, Sentence]]:
    """Blocks of CoNLL-U or of words, each with the sentence that it holds.

    A malformed one is skipped and noted if there is a `skipped`, else it is an error.
    """
    check = partial(sentence_of, input_format=input_format)
    if skipped is not None:
        yield from skipped.sound_only(files, check)
        return
    for blocks in files:
        for block in blocks:
            yield block, check(block)


def blocks_to_cut(
    files: Iterable[Iterable[Block]], input_format: str, *, skipped: Skipped | None = None
) -> Iterator[Block]:
    """Blocks to be cut into chunks: unchecked, unless malformed ones are to be skipped.

    These have to be out before the cut: then chunks are the windows that one process has.
    """
    if skipped is None or has_passages(input_format):
        return chain.from_iterable(files)
    return (block for block, _ in checked(files, input_format, skipped=skipped))


def sentence_of(block: Block, *, input_format: str) -> Sentence:
    """The sentence of a block, checked; TreebankError with place, finding and remedy."""
    if input_format == CONLLU:
        return to_sentence(block, trees=False)
    text = checked_line(block.path, block.lines[0], block.line_number)
    return Sentence.from_words(text.split(), text=text)


def checked_line(path: str, line: bytes, number: int) -> str:
    """A line of text; TreebankError with its place if it is none."""
    place = f"{path}:{number}"
    if b"\0" in line:
        raise TreebankError(f"{place}: a NUL byte; expected UTF-8 text: is it UTF-16, or no text?")
    try:
        return decode_line(line, number)
    except UnicodeDecodeError as error:
        raise TreebankError(
            f"{place}: not UTF-8 ({error.reason}); convert the file to UTF-8"
        ) from error


def read_text(source: Source) -> Iterator[str]:
    """The text of one input in pieces, with its line ends and without a byte order mark.

    TreebankError if it is not UTF-8, or has NUL.
    """
    with opened(source) as (path, lines):
        yield from decoded_pieces(path, lines)


def decoded_pieces(path: str, lines: Iterable[bytes]) -> Iterator[str]:
    """Lines, or a file, as pieces of text of bounded size."""
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
