"""Reads CoNLL-U: every sentence is checked, and its raw lines are kept."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any, NamedTuple, TypeAlias

from dyparse.data.conllu_rules import MalformedError, check_columns, tree_heads, word_indices
from dyparse.data.sentence import BYTE_ORDER_MARK, NONE, Sentence
from dyparse.errors import EmptyFileError, TreebankError

Source: TypeAlias = "str | os.PathLike[str] | IO[str] | IO[bytes]"

BLANK = (b"\n", b"\r\n")
BLANK_AT_START = tuple(BYTE_ORDER_MARK.encode() + end for end in (b"", *BLANK))
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
            if is_complete and not is_blank:
                yield Block(path, line_number, lines)
                line_number += len(lines)
                lines, has_content = [], False
            lines.append(line)
            has_content = has_content or not is_blank
            is_complete = has_content and is_blank
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
    bare = [line.rstrip("\r\n") for line in lines]
    bare[0] = bare[0].removeprefix(BYTE_ORDER_MARK)
    start, end = _span_of_tokens(bare)
    tokens = bare[start:end]
    index_of: Sequence[int] = range(start, len(lines) + 1)
    try:
        check_columns(tokens, trees=trees)
        # not with `conllu`, which is slow, strips values and also splits at double spaces
        rows = [line.split("\t") for line in tokens]
        words = word_indices([row[0] for row in rows])
        index_of = word_lines = [start + word for word in words]
        _, form, lemma, upos, xpos, feats, heads, label, *_ = map(
            list, zip(*(rows[word] for word in words), strict=True)
        )
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
        sent_id=_sent_id(bare[:start]),
        path=block.path,
        line_number=block.line_number,
    )


def _span_of_tokens(bare: list[str]) -> tuple[int, int]:
    """Start and end of the token lines, between comments and blank lines."""
    start, end = 0, len(bare)
    while end and not bare[end - 1]:
        end -= 1
    while start < end and (not bare[start] or bare[start][0] == "#"):
        start += 1
    return start, end


def _sent_id(comments: Iterable[str]) -> str:
    return next((match[1] for match in map(SENT_ID.match, comments) if match), "")


def _decoded(block: Block) -> list[str]:
    for index, line in enumerate(block.lines):
        if b"\0" in line:
            raise _error(
                block, index, "a NUL byte; expected UTF-8 text: is it UTF-16, or not text?"
            )
    try:
        return [line.decode() for line in block.lines]
    except UnicodeDecodeError:
        pass
    for index, line in enumerate(block.lines):
        try:
            line.decode()
        except UnicodeDecodeError as error:
            finding = f"byte 0x{line[error.start]:02x} at position {error.start + 1} is not UTF-8"
            remedy = "expected UTF-8; convert the file, for instance with iconv -f latin1 -t utf-8"
            raise _error(block, index, f"{finding}; {remedy}") from None
    raise AssertionError("some line did not decode")


def _error(block: Block, index: int, message: str) -> TreebankError:
    """An error at one line of a block: `file:line: sentence 'id': message`."""
    comments = (line.decode(errors="replace") for line in block.lines if line.startswith(b"#"))
    sent_id = _sent_id(comments)
    sentence = f"sentence {sent_id!r}: " if sent_id else ""
    line = block.line_number + min(index, len(block.lines) - 1)  # a word may be missing at the end
    return TreebankError(f"{block.path}:{line}: {sentence}{message}")
