"""Parsing of any words, text and bytes: trees of the same words, or one clear error."""

from __future__ import annotations

import io
import sys
from unittest import mock

import pytest
from helpers.fuzz_cases import cases
from helpers.random_damage import ODD, damaged_files
from helpers.sound_reading import changed_columns, outcome
from helpers.trees import assert_tree
from hypothesis import event, given
from hypothesis import strategies as st

from dyparse.cli.main import main
from dyparse.data.sentence import Sentence
from dyparse.data.word_rules import word_spans
from dyparse.errors import TreebankError
from dyparse.model.parser import Parser

pytestmark = pytest.mark.filterwarnings("ignore:the model reads UPOS")
CHARACTERS = st.one_of(
    st.sampled_from("ab1-.,' #\t\n\r\0\v\f\x1c\x85\xa0\u2028\u3000\u200b\ufeff\ufffe\ud800\udcff"),
    st.characters(),  # of all planes, lone surrogates too
)
PLAIN = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8)
ODD_WORDS = st.sampled_from(
    ["\0", "\ud800", "\udcff", "a\tb", "\r", "\u2028", "", " ", "_", "#", "1-2"]
)
WORDS = st.one_of(PLAIN, PLAIN, PLAIN, PLAIN, ODD_WORDS, st.text(CHARACTERS, max_size=4))


@pytest.fixture
def command(parser):
    """command(arguments, stdin) → (status, standard output, standard error); no model is loaded."""

    def call(arguments: list[str], stdin: bytes) -> tuple[int, bytes, str]:
        streams = {name: io.TextIOWrapper(io.BytesIO(), "utf-8") for name in ("stdout", "stderr")}
        streams["stdin"] = io.TextIOWrapper(io.BytesIO(stdin), "ascii")
        loaded = mock.patch("dyparse.cli.parse.load_parser", return_value=parser)
        with mock.patch.multiple(sys, **streams), loaded:
            try:
                status = main(arguments)
            except SystemExit as stop:
                status = stop.code
            streams["stderr"].flush()
            out, err = (streams[name].buffer.getvalue() for name in ("stdout", "stderr"))
        return status, out, err.decode()

    return call


def assert_refused(status: int, out: bytes, err: str) -> None:
    """Status 2, one line of error, and no partial sentence in the output."""
    assert status == 2
    *warnings, message = err.splitlines()
    assert message.startswith("error: ")
    assert all(line.startswith("warning: ") for line in warnings)
    assert not out or not outcome(io.BytesIO(out), trees=True)[1]


def words_of(text: str) -> list[str]:
    return [text[start:end] for start, end in word_spans(text)]


def attempt(parser: Parser, inputs: list[str | list[str]]) -> tuple[list[Sentence], str]:
    """The sentences parsed, or the error."""
    try:
        return parser.parse(inputs), ""
    except (TreebankError, ValueError) as error:  # ValueError: the words of one sentence?
        return [], str(error)


@cases(few=60, many=15_000)
def test_any_words_give_trees_of_these_words_or_one_clear_error(fuzz, parser):
    @given(st.lists(st.one_of(WORDS, st.lists(WORDS, max_size=6)), min_size=1, max_size=4))
    def check(inputs):
        parsed, error = attempt(parser, inputs)
        event("refused" if error else "parsed")
        assert error.isprintable()
        if error:
            return
        for given_words, sentence in zip(inputs, parsed, strict=True):
            assert_tree(sentence)
            is_text = isinstance(given_words, str)
            assert sentence.form == (words_of(given_words) if is_text else given_words)
        data = "".join(sentence.to_conllu() for sentence in parsed).encode()
        read, error = outcome(io.BytesIO(data), trees=True)
        assert not error
        assert [(s.form, s.head) for s in read] == [(s.form, s.head) for s in parsed]

    fuzz(check)


@cases(few=200, many=60_000)
def test_any_text_is_cut_into_words_that_make_it_up(fuzz):
    @given(st.text(CHARACTERS, max_size=60))
    def check(text):
        spans = word_spans(text)
        assert all(start < end for start, end in spans)
        assert "".join(words_of(text)) == "".join(text.split())
        assert not any(character.isspace() for word in words_of(text) for character in word)

    fuzz(check)


@cases(few=60, many=15_000)
def test_any_bytes_are_parsed_as_text_or_refused_with_one_line(fuzz, command):
    pieces = st.lists(st.one_of(st.sampled_from(ODD), WORDS.map(as_bytes)), max_size=12)

    @given(st.one_of(st.binary(max_size=80), pieces.map(b"".join)))
    def check(data):
        status, out, err = command(["parse", "./MODEL", "--input=lines"], data)
        event(f"status {status}")
        if status:
            assert_refused(status, out, err)
        elif out:
            parsed, error = outcome(io.BytesIO(out), trees=True)
            assert not error
            assert "".join(form for s in parsed for form in s.form) == letters(data)
        else:
            assert letters(data) == ""

    fuzz(check)


def as_bytes(text: str) -> bytes:
    """UTF-8, also of lone surrogates."""
    return text.encode("utf-8", "surrogatepass")


def letters(data: bytes) -> str:
    """All characters but white space and a byte order mark at the start."""
    return "".join(data.decode("utf-8-sig").split())


@cases(few=60, many=10_000)
def test_any_bytes_are_parsed_as_conllu_or_refused_with_one_line(fuzz, command):
    @given(st.one_of(damaged_files(), st.binary(max_size=80)))
    def check(data):
        status, out, err = command(["parse", "./MODEL"], data)
        read, error = outcome(io.BytesIO(data), trees=False)
        event(f"status {status}")
        if error:
            assert_refused(status, out, err)
            assert error.replace("<stream>", "<stdin>", 1) in err
        else:
            assert status == 0
            assert changed_columns(data.decode(), out.decode()) <= {6, 7}
            parsed, _ = outcome(io.BytesIO(out), trees=False)
            assert [s.form for s in parsed] == [s.form for s in read]

    fuzz(check)
