"""Random damage to sound CoNLL-U, such as editors, scripts and broken disks do to a file."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from hypothesis import strategies as st

from dyparse.treebank.sample import Sample
from helpers.random_conllu import files

SEPARATORS = [b"\t", b"\t\t", b"\n", b"\r\n", b"\r", b"\n\n", b" ", b"\n \n", b"\n\t\n"]
OTHER_WHITE_SPACE = [b"\xc2\x85", b"\xe2\x80\xa8", b"\xc2\xa0", b"\x0b", b"\x0c", b"\x1c"]
IDS = "0 1 2 -1 01 1-2 2-1 1-1 1.1 0.1 1.01 ١ ² １".encode().split()
LONG_IDS = [b"9" * 5000, b"1-" + b"9" * 5000, b"0." + b"9" * 5000]
NOT_UTF8 = [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80"]
CONTROL = [b"\0", b"\x1a", b"\x1b", b"\xef\xbb\xbf"]
COMMENTS = [b"#", b"# sent_id = x\n", b"# sent_id =\n", b"#\n"]
ODD = SEPARATORS + OTHER_WHITE_SPACE + IDS + LONG_IDS + NOT_UTF8 + CONTROL + COMMENTS + [b"_", b""]


@cache
def short_sentences() -> list[str]:
    """Short sentences of the sample treebank, so that a change may hit anything."""
    return [sentence.to_conllu() for sentence in Sample().read("dev") if len(sentence) < 9]


def sound_files() -> st.SearchStrategy[bytes]:
    """Random files and real sentences."""
    real = st.lists(st.deferred(lambda: st.sampled_from(short_sentences())), min_size=1, max_size=3)
    return st.one_of(files(), real.map("".join)).map(str.encode)


@st.composite
def damaged_files(draw: st.DrawFn) -> bytes:
    """A sound file with a few changes, mostly one."""
    data = draw(sound_files())
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        data = draw(st.sampled_from(CHANGES))(draw, data)
    return data


def _place(draw: st.DrawFn, parts: bytes | list[bytes]) -> int:
    return draw(st.integers(0, max(0, len(parts) - 1)))


def flip(draw: st.DrawFn, data: bytes) -> bytes:
    """One byte becomes another."""
    place = _place(draw, data)
    return data[:place] + bytes([draw(st.integers(0, 255))]) + data[place + 1 :]


def insert(draw: st.DrawFn, data: bytes) -> bytes:
    """Something odd is inserted, or overwrites what is there."""
    place, odd = _place(draw, data), draw(st.sampled_from(ODD))
    return data[:place] + odd + data[place + draw(st.sampled_from([0, 0, 1, len(odd)])) :]


def cut(draw: st.DrawFn, data: bytes) -> bytes:
    """Some bytes are missing, or the whole rest."""
    place = _place(draw, data)
    return data[:place] + data[draw(st.sampled_from([place + 1, place + 9, len(data)])) :]


def move_lines(draw: st.DrawFn, data: bytes) -> bytes:
    """A line is missing, repeated or moved."""
    lines = data.splitlines(keepends=True) or [b""]
    line = lines.pop(_place(draw, lines))
    for _ in range(draw(st.integers(0, 2))):
        lines.insert(draw(st.integers(0, len(lines))), line)
    return b"".join(lines)


def move_columns(draw: st.DrawFn, data: bytes) -> bytes:
    """A column of one line is missing, repeated, moved or replaced."""
    lines = data.split(b"\n")
    number = _place(draw, lines)
    columns = lines[number].split(b"\t")
    column = columns.pop(_place(draw, columns))
    for value in draw(st.lists(st.sampled_from([column, *ODD]), max_size=2)):
        columns.insert(draw(st.integers(0, len(columns))), value)
    lines[number] = b"\t".join(columns)
    return b"\n".join(lines)


def renumber(draw: st.DrawFn, data: bytes) -> bytes:
    """Another ID or HEAD in one line; mostly a number."""
    lines = data.split(b"\n")
    places = [k for k, line in enumerate(lines) if line.count(b"\t") == 9]
    if places:
        columns = lines[k := draw(st.sampled_from(places))].split(b"\t")
        number = st.integers(0, len(places) + 1).map(b"%d".__mod__)
        value = draw(st.one_of(number, number, st.sampled_from(ODD)))
        columns[draw(st.sampled_from([0, 6, 6, 6]))] = value
        lines[k] = b"\t".join(columns)
    return b"\n".join(lines)


def splice(draw: st.DrawFn, data: bytes) -> bytes:
    """The beginning of one file, the end of another."""
    other = draw(sound_files())
    return data[: _place(draw, data)] + other[_place(draw, other) :]


def recode(draw: st.DrawFn, data: bytes) -> bytes:
    """Saved in another encoding, or with other line ends."""
    text, encoding = data.decode(errors="replace"), draw(st.sampled_from(["utf-16", "latin-1"]))
    recoded = [text.encode(encoding, "replace"), data.replace(b"\n", b"\r")]
    return draw(st.sampled_from([*recoded, data.replace(b"\r\n", b"\n"), data + data]))


CHANGES: list[Callable[[st.DrawFn, bytes], bytes]] = [
    flip,
    insert,
    cut,
    move_lines,
    move_columns,
    renumber,
    renumber,  # twice as often
    splice,
    recode,
]
