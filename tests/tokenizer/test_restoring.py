"""The text of sentences is restored, character for character, also from CoNLL-U."""

from __future__ import annotations

import io

import pytest
from helpers.fuzz_cases import cases
from helpers.random_text import TEXTS
from helpers.tiny import UD, sample
from hypothesis import event, given
from hypothesis import strategies as st

from dyparse.data.conllu import read_sentences
from dyparse.data.sentence import Sentence
from dyparse.errors import TreebankError
from dyparse.parsing.reading import read_text
from dyparse.tokenizer import Tokenizer, restored_text, tokenize, tokenize_lines
from dyparse.tokenizer._restored import text_with_tokens, unescaped
from dyparse.tokenizer._sentences import escaped
from dyparse.tokenizer.plain import Plain


def written_and_read(sentences: list[Sentence]) -> list[Sentence]:
    data = "".join(sentence.to_conllu() for sentence in sentences).encode()
    return list(read_sentences(io.BytesIO(data), trees=False)) if sentences else []


def assert_restored(text: str, sentences: list[Sentence]) -> None:
    """All of the text is in the sentences, and what they say about it is true."""
    assert all(sentences)
    if not text.strip():
        assert not sentences
        return
    again = written_and_read(sentences)
    assert [s.form for s in again] == [s.form for s in sentences]
    assert [s.lines for s in again] == [s.lines for s in sentences]
    assert restored_text(again) == text
    for sentence in again:
        surface = ""
        for line in sentence.lines:
            cells = line.rstrip("\n").split("\t")
            if "TokenRange=" in cells[-1]:
                start, end = map(int, cells[-1].rpartition("TokenRange=")[2].split(":"))
                assert " ".join(text[start:end].split()) == cells[1] != ""
                surface += cells[1] + " " * ("SpaceAfter=No" not in cells[-1])
        assert f"# text = {surface.rstrip(' ')}\n" in sentence.lines


@cases(few=150, many=50_000)
def test_any_text_is_restored(fuzz, tokenizer: Tokenizer) -> None:
    @given(TEXTS)
    def check(text: str) -> None:
        sentences = list(tokenize(tokenizer, text))
        event(f"{min(3, len(sentences))} sentences or more")
        assert_restored(text, sentences)

    fuzz(check)


@cases(few=50, many=25_000)
def test_any_lines_are_restored_as_one_sentence_each(fuzz, tokenizer: Tokenizer) -> None:
    @given(TEXTS)
    def check(text: str) -> None:
        lines = text.split("\n")
        given_lines = [line + "\n" for line in lines[:-1]] + lines[-1:]
        sentences = list(tokenize_lines(tokenizer, given_lines))
        assert len(sentences) == sum(bool(line.strip()) for line in lines)
        assert_restored(text, sentences)

    fuzz(check)


@cases(few=50, many=25_000)
def test_any_bytes_are_restored_or_refused_with_one_line(fuzz, tokenizer: Tokenizer) -> None:
    parts = st.one_of(st.binary(max_size=4), TEXTS.map(str.encode), TEXTS.map(str.encode))

    @given(st.lists(parts, max_size=3).map(b"".join))
    def check(data: bytes) -> None:
        sentences, error = outcome(tokenizer, data)
        event("refused" if error else "restored")
        assert error.isprintable()
        if error:
            assert "NUL" in error or "not UTF-8" in error
        else:
            assert_restored(data.decode("utf-8-sig"), sentences)

    fuzz(check)


def outcome(tokenizer: Tokenizer, data: bytes) -> tuple[list[Sentence], str]:
    """The sentences of a file, or the error."""
    try:
        return list(tokenize(tokenizer, read_text(io.BytesIO(data)))), ""
    except TreebankError as error:
        return [], str(error)


@pytest.mark.parametrize("data", [b"\xef", b"\xef\xbb", b"a\n\xff", b"a\n\0", b"ab\xc3"])
def test_half_a_character_is_refused_with_its_line(data: bytes) -> None:
    with pytest.raises(TreebankError, match=rf"^<stream>:{1 + data.count(10)}: "):
        list(read_text(io.BytesIO(data)))


def test_a_byte_order_mark_is_left_out_only_at_the_start() -> None:
    pieces = [b"", b"\xef", b"\xbb\xbf", b"\xef\xbb\xbfa", b"\xef\xbb\xbf"]
    assert "".join(read_text(iter(pieces))) == "\ufeffa\ufeff"  # type: ignore[arg-type]  # any lines


@given(TEXTS)
def test_what_is_escaped_is_unescaped(text: str) -> None:
    assert unescaped(escaped(text)) == text
    assert unescaped(escaped("\\u00A0" + text)) == "\\u00A0" + text


def test_white_space_is_written_as_udpipe_does() -> None:
    (first, second) = tokenize(Plain(), "\t Hi  you!\r\nYes|\n")
    assert first.to_conllu().splitlines() == [
        "# newdoc",
        "# newpar",
        "# text = Hi you!",
        "1\tHi\t_\t_\t_\t_\t_\t_\t_\tSpacesAfter=\\s\\s|SpacesBefore=\\t\\s|TokenRange=2:4",
        "2\tyou\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No|TokenRange=6:9",
        "3\t!\t_\t_\t_\t_\t_\t_\t_\tSpacesAfter=\\r\\n|TokenRange=9:10",
        "",
    ]
    assert second.lines[-2] == "2\t|\t_\t_\t_\t_\t_\t_\t_\tSpacesAfter=\\n|TokenRange=15:16\n"


def test_paragraphs_begin_after_blank_lines() -> None:
    text = "One. Two.\nStill.\n \nThree.\r\n\r\nFour.\u2029Five."
    sentences = list(tokenize(Plain(), text))
    marked = [s.form[0] for s in sentences if "# newpar\n" in s.lines]
    assert [s.form[0] for s in sentences] == ["One", "Two", "Still", "Three", "Four", "Five"]
    assert marked == ["One", "Three", "Four", "Five"]
    assert [s.form[0] for s in sentences if "# newdoc\n" in s.lines] == ["One"]


def test_lines_are_paragraphs_after_blank_ones() -> None:
    sentences = list(tokenize_lines(Plain(), ["\n", "One. Two.\n", "Three.\n", "  \n", "Four."]))
    assert [s.text for s in sentences] == ["One. Two.", "Three.", "Four."]
    assert ["# newpar\n" in s.lines for s in sentences] == [True, False, True]


def test_the_raw_text_of_a_treebank_has_its_paragraphs_and_tokens() -> None:
    train = sample("train")
    text, tokens = text_with_tokens(train)
    assert text == restored_text(train)
    assert [s.text for s in train] == [
        " ".join(text[s[0].start : s[-1].end].split()) for s in tokens
    ]
    assert [w for s in train for w in s.form] == [
        word
        for sentence in tokens
        for token in sentence
        for word in token.words or [text[token.start : token.end]]
    ]


@pytest.mark.parametrize(
    ("misc", "white"),
    [
        ("SpacesAfter=\\u00A0", "\xa0"),  # as in UD_English-EWT
        ("SpacesAfter=\\n\\s", "\n "),
        ("SpacesAfter=oops", " "),
        ("SpacesAfter=", " "),
        ("SpaceAfter=No", ""),
        ("_", " "),
    ],
)
def test_white_space_of_treebanks_is_understood(misc: str, white: str) -> None:
    rows = [f"{n}\t{form}" + "\t_" * 7 + f"\t{m}" for n, form, m in ((1, "a", misc), (2, "b", "_"))]
    data = ("\n".join(rows) + "\n\n").encode()
    sentences = read_sentences(io.BytesIO(data), trees=False)
    assert restored_text(sentences) == f"a{white}b "


@pytest.mark.parametrize("odd", ["a\0b", "a\ud800b"])
def test_a_text_that_conllu_cannot_hold_is_refused(tokenizer: Tokenizer, odd: str) -> None:
    with pytest.raises(TreebankError, match="cannot be written in CoNLL-U"):
        list(tokenize(tokenizer, odd))
    with pytest.raises(TreebankError, match="cannot be written in CoNLL-U"):
        list(tokenize_lines(tokenizer, [odd]))


@pytest.mark.skipif(not UD.is_dir(), reason=f"no UD treebanks at {UD}; set DYPARSE_UD")
def test_raw_texts_of_treebanks_are_restored() -> None:
    for path in sorted(UD.glob("UD_*/*-ud-dev.conllu")):
        text = restored_text(list(read_sentences(path, trees=False))[:300])
        assert restored_text(tokenize(Plain(), text)) == text
