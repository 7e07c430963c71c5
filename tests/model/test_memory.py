"""Memory is bounded by the batch, not by the input: streams, and very long sentences."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from helpers.tiny import fresh_parser, sample

from dyparse import system as systems
from dyparse.data.sentence import Sentence
from dyparse.errors import TreebankError
from dyparse.model import parser as parsers

LONG = 10_000
TRAIN = sample("train")[:20]


@pytest.mark.parametrize("name", ["arc_eager", "attardi"])
def test_a_sentence_of_ten_thousand_words_is_parsed(name):
    words = list(itertools.islice(itertools.cycle(w for s in TRAIN for w in s.form), LONG))
    parser = fresh_parser(TRAIN, system=systems.load(name), features=["word"])
    (parsed,) = parser.parse([Sentence.from_words(words)])
    assert len(parsed) == LONG
    here = np.array([0, *parsed.head])
    for _ in range(LONG.bit_length()):  # twice as high each time
        here = here[here]
    assert (here == 0).all()


@pytest.fixture
def threads():
    """Sets torch's threads; one again afterwards, as in all tests."""
    yield torch.set_num_threads
    torch.set_num_threads(1)


@pytest.mark.parametrize("number", [1, 3])
def test_a_stream_is_read_a_few_windows_ahead_at_most(number, threads, monkeypatch):
    monkeypatch.setattr(parsers, "WORDS_PER_WINDOW", 200)
    threads(number)
    parser = fresh_parser(TRAIN)
    read = []

    def endless():
        for sentence in itertools.cycle(TRAIN):
            read.append(sentence)
            yield sentence

    stream = parser.parse_sentences(endless(), max_tokens_per_batch=60)
    written = ahead = 0
    for sentence in itertools.islice(stream, 400):
        written += len(sentence)
        ahead = max(ahead, sum(map(len, read)) - written)
    stream.close()
    assert ahead <= 3 * 200 + 2 * max(map(len, TRAIN))


def test_threads_side_by_side_give_the_trees_of_one_in_order(threads):
    parser = fresh_parser(TRAIN)
    sentences = list(itertools.islice(itertools.cycle(TRAIN), 150))
    alone = list(parser.parse_sentences(sentences, max_tokens_per_batch=50))
    threads(4)
    together = list(parser.parse_sentences(sentences, max_tokens_per_batch=50))
    assert [s.head for s in together] == [s.head for s in alone]
    assert [s.form for s in together] == [s.form for s in sentences]
    assert torch.get_num_threads() == 4
    with ThreadPoolExecutor(1) as later:
        assert later.submit(torch.get_num_threads).result() == 4


def test_an_error_on_one_of_several_threads_reaches_the_caller(monkeypatch, threads):
    parser = fresh_parser(TRAIN)
    threads(2)
    real = parsers.Parser.parse_batch

    def failing(self, sentences):
        if any(len(s) == max(map(len, TRAIN)) for s in sentences):
            raise MemoryError("no room")
        return real(self, sentences)

    monkeypatch.setattr(parsers.Parser, "parse_batch", failing)
    with pytest.raises(MemoryError, match="no room"):
        list(parser.parse_sentences(TRAIN, max_tokens_per_batch=40))


def test_sentences_before_a_fault_are_parsed_before_it_is_raised(monkeypatch):
    monkeypatch.setattr(parsers, "WORDS_PER_WINDOW", 60)
    parser = fresh_parser(TRAIN)

    def faulty():
        yield from TRAIN[:12]
        raise TreebankError("file:7: a fault")

    parsed: list[Sentence] = []
    with pytest.raises(TreebankError, match="a fault"):
        parsed.extend(parser.parse_sentences(faulty()))
    assert len(parsed) >= 12 - 60 // min(map(len, TRAIN))
    whole = sum(map(len, TRAIN[: len(parsed) + 1]))
    assert whole > sum(map(len, TRAIN[:12])) - 60
