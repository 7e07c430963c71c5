"""Chunks of large input: cut where the parser cuts its windows, and checked where parsed."""

from __future__ import annotations

import random

import pytest
from helpers.parse_input import BAD, ODD, UNTAGGED
from helpers.tiny import sample

from dyparse.data.conllu import Block
from dyparse.data.sampler import windows
from dyparse.errors import TreebankError
from dyparse.model.parser import WORDS_PER_WINDOW
from dyparse.parsing.chunks import WORDS_PER_CHUNK, Chunk, parse_chunk, read_chunks, size_of
from dyparse.parsing.reading import CONLLU, WORDS, read_raw, sentence_of
from dyparse.parsing.settings import Settings

GOOD, OTHER, BARE, MALFORMED = (
    Block(name, 7, text.encode().splitlines(keepends=True))
    for name, text in (("good", ODD), ("other", ODD), ("bare", UNTAGGED), ("bad", BAD))
)


def test_chunks_are_cut_as_the_parser_cuts_its_windows(tmp_path):
    assert WORDS_PER_CHUNK == WORDS_PER_WINDOW
    generator = random.Random(1)
    for most in (3, 1000, 30_000):
        sizes = [generator.randint(1, most) for _ in range(60_000 // most + 60)]
        text = "".join("".join(f"{k}\tw{10 * chr(9)}"[:-1] + "\n" for k in range(1, n + 1)) + "\n"
                       for n in sizes)  # fmt: skip
        (tmp_path / "in").write_text(text)
        chunks = list(read_chunks(read_raw(tmp_path / "in", CONLLU), CONLLU))
        found = [[size_of(block, CONLLU) for block in chunk.blocks] for chunk in chunks]
        assert found == list(windows(sizes, int, WORDS_PER_WINDOW))
        nexts = [chunk.next_block for chunk in chunks]
        assert nexts == [*(chunk.blocks[0] for chunk in chunks[1:]), None]


def test_words_are_counted_as_the_checked_sentence_has_them():
    blocks = [Block("x", s.line_number, [x.encode() for x in s.lines]) for s in sample("dev")]
    odd = ODD.replace("\n", "\r\n").encode().splitlines(keepends=True)
    marked = Block("x", 1, ["\ufeff".encode() + odd[0], *odd[1:]])
    bare = Block("x", 1, [b"\xef\xbb\xbf1\ta\t_\t_\t_\t_\t_\t_\t_\t_"])
    for block in (*blocks, marked, bare):
        assert size_of(block, CONLLU) == len(sentence_of(block, input_format=CONLLU))
    for line in ("\ufeffA dog's life, isn't it?", "12:30 ... U.S.\r\n", "“Žák”"):
        block = Block("x", 1, [line.encode()])
        assert size_of(block, WORDS) == len(sentence_of(block, input_format=WORDS))
    assert size_of(Block("x", 1, [b"nothing\n"]), CONLLU) == 1  # or a chunk would never end


@pytest.fixture
def settings(model_directory):
    return Settings(model=str(model_directory))


def test_the_sentence_after_a_chunk_is_checked_but_not_parsed(parser, settings):
    alone = parse_chunk(parser, Chunk([GOOD]), settings)
    assert (alone.sentences, alone.missing, alone.error) == (1, (), None)
    assert parse_chunk(parser, Chunk([GOOD], next_block=OTHER), settings) == alone
    before_bad = parse_chunk(parser, Chunk([GOOD], next_block=MALFORMED), settings)
    assert before_bad.output == b""
    assert str(before_bad.error).startswith("bad:8: sentence 'bad'")


def test_of_several_errors_the_first_in_the_input_counts(parser, settings):
    broken = TreebankError("the disk is broken")
    for chunk, message in (
        (Chunk([GOOD, MALFORMED], failure=broken), "bad:8: "),
        (Chunk([GOOD, MALFORMED], next_block=BARE), "bad:8: "),
        (Chunk([GOOD], failure=broken), "the disk"),
    ):
        parsed = parse_chunk(parser, chunk, settings)
        assert (parsed.output, parsed.sentences) == (b"", 0)
        assert str(parsed.error).startswith(message)


def test_missing_tags_are_noted_also_before_an_error(parser, settings):
    assert parse_chunk(parser, Chunk([GOOD, BARE]), settings).missing == ("UPOS",)
    parsed = parse_chunk(parser, Chunk([BARE, MALFORMED]), settings)
    assert parsed.missing == ("UPOS",)
    assert parsed.error


def test_a_chunk_is_named_by_its_first_and_last_line():
    assert Chunk([GOOD]).place == "good:7-13"
    assert Chunk([GOOD, OTHER]).place == "good:7 to other:13"
