"""The strict rules for one sentence: ten columns, ids in order, and HEAD one tree with one root.

The rules for ids are those of the UD validator's level 1
(https://universaldependencies.org/format.html).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice

from dyparse.data.columns.cells import FIELDS, word_ids
from dyparse.data.sentence import NONE

RANGE = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")  # int() refuses thousands of digits
EMPTY_NODE = re.compile(r"(0|[1-9][0-9]*)\.([1-9][0-9]*)")
TREE_FIELDS = ("head", "deprel", "deps")
LONGEST_QUOTE = 40
MOST_LISTED = 10


class MalformedError(Exception):
    """A fault in a sentence: the index of the line, what is wrong and how to fix it."""

    def __init__(self, index: int, finding: str, remedy: str) -> None:
        super().__init__(f"{finding}; {remedy}")
        self.index = index


def quote(text: str) -> str:
    """Text of the file for a message: shortened, with unusual characters escaped."""
    return ascii(text if len(text) <= LONGEST_QUOTE else text[: LONGEST_QUOTE - 3] + "...")


def check_columns(lines: Sequence[str], *, trees: bool) -> None:
    """Checks for ten tab-separated columns, none empty; without trees, TREE_FIELDS may be."""
    for index, line in enumerate(lines):
        if line.count("\t") != len(FIELDS) - 1:
            raise _wrong_columns(index, line)
        if "\t\t" in line or line[0] == "\t" or line[-1] == "\t":
            values = dict(zip(FIELDS, line.split("\t"), strict=True))
            empty = [field for field in FIELDS if not values[field]]
            if trees or not set(empty) <= set(TREE_FIELDS):
                raise MalformedError(
                    index,
                    f"column {empty[0].upper()} is empty",
                    'expected a value, or "_" for none; fill it in',
                )


def _wrong_columns(index: int, line: str) -> MalformedError:
    if line.startswith("#"):
        return MalformedError(
            index,
            f"comment {quote(line)} comes after a word",
            "expected comments before the first word only; move it up",
        )
    if not line.strip():
        return MalformedError(
            index,
            "the line is not empty but has only white space",
            "expected an empty line between sentences; delete the white space",
        )
    found = line.count("\t") + 1
    remedy = f"expected {len(FIELDS)} columns separated by single tabs"
    if found == 1 and not line[0].isdigit():
        remedy += "; if this is plain text: dyparse parse MODEL FILE --input text"
    elif found == 1 and len(line.split()) > 1:
        remedy += "; replace the spaces between columns by tabs"
    elif "\r" in line:
        remedy += "; the line contains carriage returns: save the file with LF or CRLF line ends"
    else:
        remedy += '; write "_" for each missing value, or put an empty line between sentences'
    return MalformedError(index, f"{found} column{'s' * (found > 1)} in {quote(line)}", remedy)


def word_indices(ids: list[str]) -> list[int]:
    """Indices of the lines that are words, once all ids are in order: 1 2-3 2 3 3.1 4 ..."""
    if ids and ids == word_ids(len(ids)):
        return list(range(len(ids)))
    words: list[int] = []
    range_index, range_end, empty_nodes = 0, 0, 0
    for index, token_id in enumerate(ids):
        if token_id == str(len(words) + 1):
            words.append(index)
            empty_nodes = 0
        elif match := RANGE.fullmatch(token_id):
            range_index, range_end = index, _end_of_range(index, match, len(words), range_end)
            empty_nodes = 0
        elif token_id == f"{len(words)}.{empty_nodes + 1}" and not _opens_range(ids, index):
            empty_nodes += 1
        else:
            raise _wrong_id(index, token_id, len(words), empty_nodes)
    if range_end > len(words):
        raise MalformedError(
            range_index,
            f"range {ids[range_index]} ends after the last word, {len(words)}",
            "expected a range within the sentence; correct its end or add the missing words",
        )
    if not words:
        raise MalformedError(
            0,
            "no word in the sentence",
            "expected at least one; add it, or delete the stray empty line or comments",
        )
    return words


def _opens_range(ids: Sequence[str], index: int) -> bool:
    """Whether the line before an empty node is a range, which its first word must follow."""
    return index > 0 and "-" in ids[index - 1]


def _end_of_range(index: int, match: re.Match[str], last_word: int, range_end: int) -> int:
    start, end = int(match[1]), int(match[2])
    if end < start:
        problem, remedy = "runs backwards", f"write {end}-{start}"
    elif start <= range_end:
        problem, remedy = f"overlaps one that ends at {range_end}", "correct its start"
    elif start != last_word + 1:
        problem, remedy = f"comes after word {last_word}", f"put it directly before word {start}"
    else:
        return end
    raise MalformedError(
        index,
        f"range {match[0]} {problem}",
        f"expected ranges start-end that do not overlap, each before its first word; {remedy}",
    )


def _wrong_id(index: int, token_id: str, last_word: int, empty_nodes: int) -> MalformedError:
    remedy = f"expected {last_word + 1}; number words 1, 2, 3, ... without gaps"
    if EMPTY_NODE.fullmatch(token_id):
        remedy = (
            f"expected empty nodes in order after their word, here {last_word}.{empty_nodes + 1}, "
            "and before the range that follows; move or renumber it"
        )
    elif token_id == "1":
        remedy += "; is an empty line missing between two sentences?"
    return MalformedError(index, f"id {quote(token_id)} follows word {last_word}", remedy)


def tree_heads(heads: Sequence[str], labels: Sequence[str]) -> list[int]:
    """HEAD as numbers; MalformedError unless they form one tree with one root.

    The index of the error counts words, from 0.
    """
    number = {str(n): n for n in range(len(heads) + 1)}
    head = [number.get(text, NONE) for text in heads]
    if NONE in head:
        raise _wrong_head(head.index(NONE), heads)
    if "_" in labels:
        word = labels.index("_") + 1
        raise MalformedError(
            word - 1, f"word {word} has a head but no label", "expected a DEPREL; fill it in"
        )
    _check_no_own_head(head)
    _check_one_root(head)
    _check_no_cycle(head)
    return head


def _wrong_head(index: int, heads: Sequence[str]) -> MalformedError:
    text, expected = heads[index], f"expected a number in 0..{len(heads)}"
    if text == "_":
        return MalformedError(
            index,
            f"word {index + 1} has no head",
            f"{expected}; annotate it, or use the file only as input for parsing",
        )
    if re.fullmatch(r"[1-9][0-9]*", text):
        return MalformedError(
            index,
            f"head {quote(text)} of word {index + 1} is outside the sentence",
            f"{expected}; correct HEAD, or look for a missing word or a wrong sentence boundary",
        )
    return MalformedError(
        index,
        f"head {quote(text)} of word {index + 1} is not a number",
        f"{expected} in plain digits; is HEAD the seventh column?",
    )


def _check_no_own_head(head: list[int]) -> None:
    for word, its_head in enumerate(head, 1):
        if word == its_head:
            raise MalformedError(
                word - 1,
                f"word {word} is its own head",
                "expected the head to be another word, or 0 for the root; correct HEAD",
            )


def _check_one_root(head: list[int]) -> None:
    roots = head.count(0)
    if roots == 1:
        return
    if not roots:
        raise MalformedError(
            0, "no word has head 0", "expected exactly one root; give the sentence's root head 0"
        )
    second = head.index(0, head.index(0) + 1)
    listed = ", ".join(_first(str(word) for word, h in enumerate(head, 1) if h == 0))
    raise MalformedError(
        second,
        f"{roots} words have head 0 ({listed})",
        "expected exactly one root; attach the others to it, or split the sentence",
    )


def _check_no_cycle(head: list[int]) -> None:
    visited_from = [0] * (len(head) + 1)
    visited_from[0] = NONE
    for start in range(1, len(head) + 1):
        word = start
        while not visited_from[word]:
            visited_from[word] = start
            word = head[word - 1]
        if visited_from[word] == start:
            raise _cycle(word, head)


def _first(items: Iterable[str]) -> list[str]:
    """As many items as a message has room for."""
    several = list(islice(items, MOST_LISTED + 2))
    return several if len(several) <= MOST_LISTED + 1 else [*several[:MOST_LISTED], "..."]


def _cycle(word: int, head: list[int]) -> MalformedError:
    cycle = [word]
    while head[cycle[-1] - 1] != word:
        cycle.append(head[cycle[-1] - 1])
    listed = " -> ".join(_first(map(str, [*cycle, word])))
    return MalformedError(
        word - 1,
        f"heads form a cycle: {listed}",
        "expected a tree, where following heads leads to 0; correct one of these heads",
    )
