"""Reads CoNLL-U: every sentence is checked, and its raw lines are kept."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any, NamedTuple, TypeAlias

from dyparse.data.columns.cells import FIELDS
from dyparse.data.columns.rows import BYTE_ORDER_MARK
from dyparse.data.conllu_rules import MalformedError, check_columns, tree_heads, word_indices
from dyparse.data.sentence import COLUMN, NONE, Sentence
from dyparse.errors import EmptyFileError, TreebankError

Source: TypeAlias = "str | os.PathLike[str] | IO[str] | IO[bytes]"

BLANK = (b"\n", b"\r\n")
BLANK_AT_START = tuple(BYTE_ORDER_MARK.encode() + end for end in (b"", *BLANK))
BLANK_LINES = ("", "\n", "\r\n")
LINE_END = "\n"  # between the cells of two lines, where no cell can be it
PERIOD = len(FIELDS) + 1  # cells from one line to the next
SENT_ID = re.compile(r"#\s*sent_id\s*=\s*(.*\S)")


class Block(NamedTuple):
    """The raw lines of one sentence, including the blank lines after it; or a passage of text."""

    path: str
    line_number: int
    lines: list[bytes]
    passage: Any = None  # of raw text, see `dyparse.parsing.reading`; then the lines are empty


def read_sentences(source: Source, *, trees: bool) -> Iterator[Sentence]:
    """Reads the sentences of a file or stream one at a time; TreebankError at the first fault.

    With `trees=False` HEAD, DEPREL and DEPS may be anything: they stay in the lines, and the
    sentence has no heads and no labels.
    """
    for block in read_blocks(source):
        yield to_sentence(block, trees=trees)


def read_blocks(source: Source) -> Iterator[Block]:
    """Splits a file or stream into the lines of each sentence, without checking them."""
    with opened(source) as (path, raw_lines):
        lines: list[bytes] = []
        line_number, has_content, is_complete = 1, False, False
        for line in raw_lines:
            is_blank = line in BLANK or (not lines and line in BLANK_AT_START and line_number == 1)
            if is_blank:
                is_complete = has_content
            elif is_complete:
                yield Block(path, line_number, lines)
                line_number += len(lines)
                lines, is_complete = [], False
            lines.append(line)
            has_content = has_content or not is_blank
        if not has_content:
            raise EmptyFileError(f"{path}: holds no sentence; expected CoNLL-U: is the path right?")
        yield Block(path, line_number, lines)


@contextmanager
def opened(source: Source) -> Iterator[tuple[str, Iterable[bytes]]]:
    """The name of a source for messages, and its lines as bytes.

    Standard input is read below its text layer, whose encoding and line ends depend on the system.
    """
    if source is None:  # sys.stdin, if standard input is closed
        raise TreebankError("<stdin>: standard input is closed; name a file to read")
    if source is sys.stdin:
        yield "<stdin>", _as_bytes(getattr(source, "buffer", source), "<stdin>")
    elif not isinstance(source, (str, os.PathLike)):
        path = str(getattr(source, "name", "<stream>"))
        yield path, _as_bytes(source, path)
    else:
        path = os.fspath(source)
        try:
            with open(path, "rb") as file:
                yield path, file
        except FileNotFoundError:
            raise TreebankError(f"{path}: no such file; check the path") from None
        except IsADirectoryError:
            raise TreebankError(f"{path}: is a directory; name a file inside it") from None
        except OSError as error:
            reason = error.strerror or error
            raise TreebankError(
                f"{path}: cannot be read ({reason}); check the path and its permissions"
            ) from None


def _as_bytes(stream: Iterable[str] | Iterable[bytes], path: str) -> Iterator[bytes]:
    try:
        for line in stream:
            yield line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line
    except UnicodeDecodeError as error:
        raise TreebankError(f"{path}: {error}; expected UTF-8: convert the input") from None


def to_sentence(block: Block, *, trees: bool) -> Sentence:
    """Checks a block and makes it a sentence; TreebankError with place, finding and remedy."""
    lines = _decoded(block)
    plain = [lines[0].removeprefix(BYTE_ORDER_MARK), *lines[1:]]
    start, end = _span_of_tokens(plain)
    index_of: Sequence[int] = range(start, len(lines) + 1)
    try:
        cells = _cells(plain[start:end], trees=trees)
        words = word_indices(cells[::PERIOD])
        index_of = word_lines = [start + word for word in words]
        columns = [cells[number::PERIOD] for number in COLUMN.values()]
        if len(words) < len(columns[0]):
            columns = [[of_lines[word] for word in words] for of_lines in columns]
        form, lemma, upos, xpos, feats, heads, label = columns
        head = tree_heads(heads, label) if trees else [NONE] * len(words)
    except MalformedError as fault:
        raise _error(block, index_of[fault.index], str(fault)) from None
    return Sentence(
        form=form,
        lemma=lemma,
        upos=upos,
        xpos=xpos,
        feats=feats,
        head=head,
        label=label if trees else ["_"] * len(words),
        lines=lines,
        word_lines=word_lines,
        sent_id=_sent_id(plain[:start]),
        path=block.path,
        line_number=block.line_number,
    )


def _cells(lines: list[str], *, trees: bool) -> list[str]:
    """The cells of all lines, with a LINE_END between lines; MalformedError unless each has ten.

    Not with `conllu`, which is slow, strips values and also splits at double spaces. All lines are
    split at once, which is faster than one after the other; only if something is wrong is the line
    looked for.
    """
    if not lines:
        return []
    text = "".join(lines)
    if "\r" in text:
        text = LINE_END.join(line.rstrip("\r\n") for line in lines)
    text = text.removesuffix(LINE_END)
    cells = text.replace(LINE_END, f"\t{LINE_END}\t").split("\t")
    ends = cells[len(FIELDS) :: PERIOD]
    are_ten = len(cells) == PERIOD * len(lines) - 1 and ends.count(LINE_END) == len(lines) - 1
    if not are_ten or "" in cells:
        check_columns([line.rstrip("\r\n") for line in lines], trees=trees)
    return cells


def _span_of_tokens(lines: list[str]) -> tuple[int, int]:
    """Start and end of the token lines, between comments and blank lines."""
    start, end = 0, len(lines)
    while end and lines[end - 1] in BLANK_LINES:
        end -= 1
    while start < end and (lines[start] in BLANK_LINES or lines[start][0] == "#"):
        start += 1
    return start, end


def _sent_id(comments: Iterable[str]) -> str:
    for comment in comments:
        if "sent_id" in comment and (match := SENT_ID.match(comment)):
            return match[1]
    return ""


def _decoded(block: Block) -> list[str]:
    try:
        text = b"".join(block.lines).decode()
    except UnicodeDecodeError:
        raise _undecodable(block) from None
    if "\0" in text:
        raise _undecodable(block)
    lines = text.splitlines(keepends=True)
    if len(lines) == len(block.lines):
        return lines
    return [line.decode() for line in block.lines]  # some have characters that end lines elsewhere


def _undecodable(block: Block) -> TreebankError:
    """The error at the first line that is not text in UTF-8."""
    for index, line in enumerate(block.lines):
        if b"\0" in line:
            return _error(
                block, index, "a NUL byte; expected UTF-8 text: is it UTF-16, or not text?"
            )
        try:
            line.decode()
        except UnicodeDecodeError as error:
            finding = f"byte 0x{line[error.start]:02x} at position {error.start + 1} is not UTF-8"
            remedy = "expected UTF-8; convert the file, for instance with iconv -f latin1 -t utf-8"
            return _error(block, index, f"{finding}; {remedy}")
    raise AssertionError("some line did not decode")


def _error(block: Block, index: int, message: str) -> TreebankError:
    """An error at one line of a block: `file:line: sentence 'id': message`."""
    comments = (line.decode(errors="replace") for line in block.lines if line.startswith(b"#"))
    sent_id = _sent_id(comments)
    sentence = f"sentence {sent_id!r}: " if sent_id else ""
    line = block.line_number + min(index, len(block.lines) - 1)  # a word may be missing at the end
    return TreebankError(f"{block.path}:{line}: {sentence}{message}")
