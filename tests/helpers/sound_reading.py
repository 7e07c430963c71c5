"""Properties of everything read as CoNLL-U, checked independently of the reader's own code."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

from dyparse.data.conllu import Source, read_sentences
from dyparse.data.conllu_report import check_file
from dyparse.data.sentence import Sentence
from dyparse.errors import TreebankError


def outcome(source: Source, *, trees: bool) -> tuple[list[Sentence], str]:
    """The sentences read, and the error after them, or ""."""
    read: list[Sentence] = []
    try:
        read.extend(read_sentences(source, trees=trees))
    except TreebankError as error:
        return read, str(error)
    return read, ""


def assert_sound(sentences: list[Sentence], error: str, data: bytes, *, trees: bool) -> None:
    """What was read is all of the data or its beginning; an error names a line after that."""
    written = "".join(sentence.to_conllu() for sentence in sentences).encode()
    assert data.startswith(written)
    assert bool(error) == (written != data or not sentences)
    for sentence in sentences:
        columns = [line.strip("\ufeff\r\n").split("\t") for line in sentence.lines]
        words = [row for row in columns if len(row) == 10 and re.fullmatch("[0-9]+", row[0])]
        assert [row[0] for row in words] == [str(k) for k in range(1, len(sentence) + 1)]
        assert [row[1] for row in words] == sentence.form
        assert all(row[1] for row in words)
        if trees:
            assert [int(row[6]) for row in words] == sentence.head
            assert is_tree(sentence.head)
    if error and not is_blank(data):
        line = re.match(r"<stream>:([1-9][0-9]*): (sentence '.*': )?.*; .*", error)
        assert line, error
        assert written.count(b"\n") < int(line[1]) <= data.count(b"\n") + 1


def is_blank(data: bytes) -> bool:
    """Only line ends and perhaps a byte order mark."""
    return not data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").strip(b"\n")


def is_tree(head: Sequence[int]) -> bool:
    """Whether there is one root and all words descend from it."""
    reached, grown = {0}, True
    while grown:
        grown = {word for word, h in enumerate(head, 1) if h in reached} - reached
        reached |= grown
    return head.count(0) == 1 and len(reached) == len(head) + 1


def check_bytes(data: bytes) -> bool:
    """Whether the data is accepted as trees; AssertionError if a property does not hold."""
    for trees in (True, False):
        read, error = outcome(io.BytesIO(data), trees=trees)
        assert_sound(read, error, data, trees=trees)
    with_trees, error = outcome(io.BytesIO(data), trees=True)
    check = check_file(io.BytesIO(data), limit=1)
    assert check.findings == [error][: bool(error)]
    assert check.sentences >= len(with_trees)
    if not error:
        assert check.words == sum(map(len, with_trees))
    return not error


def changed_columns(one: str, other: str) -> set[int]:
    """Columns in which two texts differ; they must have as many lines and columns."""
    found: set[int] = set()
    for ours, theirs in zip(one.split("\n"), other.split("\n"), strict=True):
        columns = zip(ours.split("\t"), theirs.split("\t"), strict=True)
        found |= {k for k, (a, b) in enumerate(columns) if a != b}
    return found
