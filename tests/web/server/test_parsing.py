"""Parsing over HTTP: the trees of the parser, together or alone, and limits."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import fields
from itertools import islice
from typing import Any

import pytest
from helpers.server import FailingParser, SlowParser, serving
from helpers.tiny import fresh_parser, sample

from dyparse.model.parser import Parser
from dyparse.web.sentences import pasted
from dyparse.web.server.explorer import all_systems

SENTENCES = sample("dev")[:24]


@pytest.fixture(scope="module")
def small() -> Parser:
    return fresh_parser(sample("train")[:30])


@pytest.fixture(scope="module")
def client(small):
    with serving(small) as found:
        yield found


def of_kind(kind: Any, parser: Parser) -> Any:
    """The same parser as one of another class."""
    return kind(**{field.name: getattr(parser, field.name) for field in fields(parser)})


@pytest.fixture
def slow(small):
    SlowParser.gate.clear()
    SlowParser.started.clear()
    yield of_kind(SlowParser, small)
    SlowParser.gate.set()


def conllu(sentences: Any) -> str:
    return "".join(sentence.to_conllu() for sentence in sentences)


def test_conllu_comes_back_byte_for_byte_as_the_parser_writes_it(client, small):
    body = {"conllu": conllu(SENTENCES), "format": "conllu"}
    answer = client.post("/api/parse", json=body)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text == conllu(small.parse(SENTENCES))


def test_json_is_that_of_the_sentence(client, small):
    answer = client.post("/api/parse", json={"conllu": conllu(SENTENCES[:2])}).json()
    parsed = [json.loads(sentence.to_json()) for sentence in small.parse(SENTENCES[:2])]
    assert answer == {"model": "a-1", "sentences": parsed}


def test_text_is_split_and_words_are_not(client):
    text = "The dog barks. It sleeps."
    (one, two) = client.post("/api/parse", json={"text": text}).json()["sentences"]
    assert [one["text"], two["text"]] == ["The dog barks.", "It sleeps."]
    words = ["The", "dog barks"]
    (only,) = client.post("/api/parse", json={"words": words}).json()["sentences"]
    assert [token["form"] for token in only["tokens"]] == words
    several = client.post("/api/parse", json={"words": [words, ["It"]]}).json()["sentences"]
    assert [len(sentence["tokens"]) for sentence in several] == [2, 1]
    assert client.post("/api/parse", json={"text": "  "}).json()["sentences"] == []


def test_confidence_is_written_if_it_is_asked_for(client):
    for wanted in (True, False):
        body = {"text": "It sleeps.", "confidence": wanted, "format": "conllu"}
        assert ("HeadConfidence=" in client.post("/api/parse", json=body).text) == wanted


def test_the_named_model_parses():
    first, second = (fresh_parser(sample("train")[:30], seed=seed) for seed in (1, 2))
    with serving(first, second) as client:
        assert [m["name"] for m in client.get("/api/models").json()] == ["a-1", "b-1"]
        body = {"conllu": conllu(SENTENCES), "format": "conllu"}
        answers = {
            name: client.post("/api/parse", json=body | {"model": name}).text
            for name in ("a-1", "b-1", None)
        }
        assert answers["a-1"] == answers[None] == conllu(first.parse(SENTENCES))
        assert answers["b-1"] == conllu(second.parse(SENTENCES)) != answers["a-1"]
        wrong = client.post("/api/parse", json=body | {"model": "../c"})
        assert wrong.json() == {"error": "no model '../c'; there is a-1, b-1"}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "got none, expected one of text, words, conllu"),
        ({"text": "a", "words": ["a"]}, "got text and words, expected one of"),
        ({"conllu": "1\tThe"}, "input:1: 2 columns"),
        ({"conllu": ""}, "input: holds no sentence"),
        ({"text": "a\0b"}, "cannot be written in CoNLL-U"),
        ({"words": ["a\tb"]}, "columns"),
        ({"words": [["a"], []]}, "a sentence without words"),
        ({"words": ["w"] * 1001}, "1,001 words, expected at most 1,000"),
        ({"text": 3}, "text: "),
        ({"format": "xml", "text": "a"}, "format: "),
    ],
)
def test_a_wrong_request_gets_one_clear_message(client, body, message):
    answer = client.post("/api/parse", json=body)
    assert (answer.status_code, list(answer.json())) == (422, ["error"]), answer.text
    assert message in answer.json()["error"]


def test_without_a_model_there_is_a_message():
    with serving() as client:
        answer = client.post("/api/parse", json={"text": "a"})
        assert "start the server with one" in answer.json()["error"]


def test_requests_that_come_together_are_parsed_together_with_the_same_trees(small, slow):
    with serving(slow) as client, ThreadPoolExecutor(len(SENTENCES)) as pool:

        def parsed(sentence: Any) -> str:
            body = {"conllu": sentence.to_conllu(), "format": "conllu"}
            found: str = client.post("/api/parse", json=body).text
            return found

        answers = [pool.submit(parsed, sentence) for sentence in SENTENCES]
        assert SlowParser.started.wait(30)
        time.sleep(0.5)  # the others come together meanwhile
        SlowParser.gate.set()
        found = "".join(answer.result() for answer in answers)
        metrics = client.get("/metrics").text
    assert found == conllu(small.parse(SENTENCES))
    counts = dict(line.rsplit(" ", 1) for line in metrics.splitlines() if line[0] != "#")
    assert float(counts['dyparse_batch_sentences_sum{model="a-1"}']) == len(SENTENCES)
    assert float(counts['dyparse_batch_sentences_count{model="a-1"}']) <= 4


def test_a_request_that_fails_takes_no_other_with_it(small):
    """Neither malformed ones nor one that the parser fails on."""
    good = {"words": ["It", "sleeps"]}
    bad = {"words": ["poison"]}
    malformed = {"conllu": "1\tThe"}
    bodies = [good, bad, good, malformed, good, bad, good] * 3
    with (
        serving(of_kind(FailingParser, small), batch_wait=0.3) as client,
        ThreadPoolExecutor(len(bodies)) as pool,
    ):
        answers = list(pool.map(lambda body: client.post("/api/parse", json=body), bodies))
        alone = client.post("/api/parse", json=good).json()
    for body, answer in zip(bodies, answers, strict=True):
        if body is good:
            assert answer.json() == alone
        else:
            assert answer.status_code == (500 if body is bad else 422)
            assert list(answer.json()) == ["error"]


def test_too_many_requests_are_told_to_come_back(slow):
    with serving(slow, waiting=3) as client, ThreadPoolExecutor(13) as pool:
        first = pool.submit(client.post, "/api/parse", json={"text": "a"})
        assert SlowParser.started.wait(30)
        posts = [pool.submit(client.post, "/api/parse", json={"text": "a"}) for _ in range(12)]
        refused = [post.result() for post in islice(as_completed(posts), 9)]
        SlowParser.gate.set()
        assert first.result().status_code == 200
        assert sorted(post.result().status_code for post in posts) == [200] * 3 + [503] * 9
        assert client.post("/api/parse", json={"text": "a"}).status_code == 200
    assert {answer.headers["retry-after"] for answer in refused} == {"1"}


def test_a_request_that_takes_too_long_is_given_up_and_the_next_one_served(slow):
    with serving(slow, seconds=0.3) as client:
        answer = client.post("/api/parse", json={"text": "a"})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "10")
        assert "longer than 0.3 s" in answer.json()["error"]
        SlowParser.gate.set()
        time.sleep(0.3)
        assert client.post("/api/parse", json={"text": "a"}).status_code == 200


def test_the_explorer_has_the_same_limits():
    with serving(waiting=0) as client:
        answer = client.get("/api/systems")
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    all_systems()  # imports them
    started, gate = threading.Event(), threading.Event()

    def wait(*_: Any) -> bytes:
        started.set()
        gate.wait(30)
        return b"[]"

    with serving(seconds=1.0) as client, pytest.MonkeyPatch.context() as patch:
        patch.setattr("dyparse.web.server.explorer.all_systems", wait)
        assert client.get("/api/systems").status_code == 503
        assert started.is_set()
        gate.set()
        patch.undo()
        assert client.get("/api/systems").status_code == 200


def test_a_broken_tree_in_the_input_does_not_matter(client, small):
    rows = ("1\tA\t_\tDET\t_\t_\t2\tdet\t_\t_", "2\tdog\t_\tNOUN\t_\t_\t1\tx\t_\t_")
    conllu = "\n".join(rows) + "\n\n"
    answer = client.post("/api/parse", json={"conllu": conllu, "format": "conllu"})
    assert answer.status_code == 200, answer.text
    assert answer.text == "".join(s.to_conllu() for s in small.parse(pasted(conllu, trees=False)))
