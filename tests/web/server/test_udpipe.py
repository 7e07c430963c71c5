"""UDPipe's REST form: its parameters, answers and messages."""

from __future__ import annotations

import json
import time
from email import policy
from email.mime.multipart import MIMEMultipart
from email.mime.nonmultipart import MIMENonMultipart
from typing import Any
from urllib.parse import quote

import pytest
from helpers.documents import commands_starting
from helpers.server import serving
from helpers.tiny import PROJECT, fresh_parser, sample

from dyparse.version import __version__

SENTENCES = sample("dev")[:3]
DATA = "".join(sentence.to_conllu() for sentence in SENTENCES)
HEADER = f"# generator = dyparse {__version__}\n# udpipe_model = a-1\n"


@pytest.fixture(scope="module")
def tagger():
    return fresh_parser(sample("train")[:30], heads=["labels", "upos"], features=["word"])


@pytest.fixture(scope="module")
def client(tagger):
    with serving(tagger, fresh_parser(sample("train")[:30])) as found:
        yield found


def multipart(parameters: dict[str, str]) -> tuple[bytes, str]:
    """A body as UDPipe's own client writes it (udpipe2_client.py), and its type."""
    message = MIMEMultipart("form-data", policy=policy.HTTP)
    for name, value in parameters.items():
        part = MIMENonMultipart("text", "plain")
        part.add_header("Content-Disposition", f'form-data; name="{name}"')
        part.add_header("Content-Transfer-Encoding", "8bit")
        part.set_payload(value, charset="utf-8")
        message.attach(part)
    return message.as_bytes().split(b"\r\n\r\n", maxsplit=1)[1], message["Content-Type"]


def columns(result: str, *numbers: int) -> list[list[str]]:
    rows = [line.split("\t") for line in result.splitlines() if line[:1].isdigit()]
    return [[row[number] for number in numbers] for row in rows]


def test_the_form_the_address_and_its_own_client_get_the_same_answer(client, tagger):
    parameters = {"data": DATA, "tagger": "", "parser": "", "input": "conllu", "output": "conllu"}
    body, kind = multipart(parameters)
    answers = [
        client.get("/process", params=parameters),
        client.post("/process", data=parameters),
        client.post("/process", content=body, headers={"content-type": kind}),
        client.post("/process", files={k: (None, v) for k, v in parameters.items()}),
    ]
    found = answers[0].json()
    assert list(found) == ["model", "acknowledgements", "result"]
    expected = "".join(sentence.to_conllu() for sentence in tagger.parse(SENTENCES))
    assert (found["model"], found["result"]) == ("a-1", HEADER + expected)
    assert [answer.json() for answer in answers] == [found] * 4
    assert answers[0].headers["content-type"] == "application/json"


def test_text_in_other_scripts_survives_its_client(client):
    text = "Žluťoučký kůň úpí. 日本語。"
    body, kind = multipart({"data": text, "tokenizer": "", "output": "plaintext"})
    answer = client.post("/process", content=body, headers={"content-type": kind})
    assert answer.json()["result"] == text


def test_models_are_listed_with_what_they_can_do(client):
    listed = {"a-1": ["tokenizer", "tagger", "parser"], "b-1": ["tokenizer", "parser"]}
    expected = {"models": listed, "default_model": "a-1"}
    assert client.get("/models").json() == client.post("/models").json() == expected


def test_only_what_is_asked_for_is_predicted(client, tagger):
    parsed = "".join(sentence.to_conllu() for sentence in tagger.parse(SENTENCES))
    predicted, given = columns(parsed, 3, 6, 7), columns(DATA, 3, 6, 7)
    for asked in ({}, {"tagger": ""}, {"parser": ""}, {"tagger": "", "parser": ""}):
        result = client.post("/process", data={"data": DATA, **asked}).json()["result"]
        for found, new, old in zip(columns(result, 3, 6, 7), predicted, given, strict=True):
            tag = new[0] if "tagger" in asked else old[0]
            assert found == [tag, *(new[1:] if "parser" in asked else old[1:])]


def test_the_tokenizer_splits_and_gives_ranges_if_asked(client):
    text = "The dog barks. It\nsleeps."

    def result(tokenizer: str) -> str:
        parameters = {"data": text, "tokenizer": tokenizer}
        found: str = client.post("/process", data=parameters).json()["result"]
        return found

    assert columns(result(""), 1, 9)[:4] == [
        ["The", "_"],
        ["dog", "_"],
        ["barks", "SpaceAfter=No"],
        [".", "_"],
    ]
    assert columns(result("ranges"), 9)[:2] == [["TokenRange=0:3"], ["TokenRange=4:7"]]
    assert result("").count("# text") == 2
    assert result("presegmented").count("# text = ") == 2
    assert "# text = The dog barks. It\n" in result("presegmented")


@pytest.mark.parametrize(
    ("source", "data"),
    [("horizontal", "It sleeps .\nNew\xa0York\n"), ("vertical", "It\nsleeps\n.\n\nNew York\n\n")],
)
def test_other_formats_come_in_and_go_out(client, source, data):
    request = {"data": data, "input": source, "parser": ""}
    words = columns(client.post("/process", data=request).json()["result"], 1)
    assert words == [["It"], ["sleeps"], ["."], ["New York"]]
    assert client.post("/process", data={**request, "output": source}).json()["result"] == data


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "The parameter 'data' is required.\n"),
        ({"data": "", "model": "c"}, "The requested model 'c' does not exist.\n"),
        ({"data": "", "output": "matxin"}, "Unknown output format 'matxin'.\n"),
        ({"data": "", "input": "epe"}, "Cannot parse the input in 'epe' format.\n"),
        ({"data": "", "model": "b", "tagger": ""}, "does not contain a tagger!\n"),
        ({"data": "1\tx"}, "Cannot parse the input in 'conllu' format.\ninput:1: 2 columns"),
    ],
)
def test_errors_are_lines_of_text(client, parameters, message):
    for answer in (
        client.get("/process", params=parameters),
        client.post("/process", data=parameters),
    ):
        assert answer.status_code == 400
        assert answer.headers["content-type"].startswith("text/plain")
        assert message in answer.text


def test_a_body_of_another_kind_is_refused(client):
    answer = client.post("/process", json={"data": "a"})
    assert answer.text == "Unsupported payload Content-Type 'application/json'.\n"
    bad = {"content-type": "application/x-www-form-urlencoded"}
    assert "Cannot parse" in client.post("/process", content=b"data=\xff", headers=bad).text
    kind = {"content-type": "multipart/form-data; boundary=x"}
    assert client.post("/process", content=b"nonsense", headers=kind).status_code == 400


def test_a_name_may_be_shortened_and_nothing_is_no_sentence(client):
    for name in ("b", "b-1"):
        answer = client.get("/process", params={"data": "", "model": name}).json()
        assert answer["model"] == "b-1"
        assert columns(answer["result"], 1) == []


def test_no_model_serves_nothing():
    with serving() as client:
        assert client.get("/models").json() == {"models": {}, "default_model": ""}
        assert client.get("/process", params={"data": "a"}).status_code == 400


def test_answers_are_indented_json_in_utf8(client: Any):
    text = client.post("/process", data={"data": "", "tokenizer": ""}).text
    assert text == json.dumps(json.loads(text), indent=1) + "\n"


def curl(client: Any, address: str, *options: str) -> Any:
    """The answer to a command of curl with data."""
    pairs = list(zip(options[::2], options[1::2], strict=True))
    assert {name for name, _ in pairs} <= {"-H", "-d", "--data-urlencode"}
    headers = dict(value.split(": ") for name, value in pairs if name == "-H")
    encoded = {"--data-urlencode": lambda text: "=".join(map(quote, text.split("=", 1)))}
    body = "&".join(encoded.get(name, str)(value) for name, value in pairs if name != "-H")
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    return client.post(address, content=body, headers=kind | headers)


def test_the_commands_of_the_docs_are_answered(client):
    page = (PROJECT / "docs" / "serve.md").read_text(encoding="utf-8")
    commands = commands_starting("curl", text=page)
    assert len(commands) == 2
    for address, *options in commands:
        path = address.removeprefix("http://127.0.0.1:8000")
        answer = curl(client, path, *options)
        assert answer.status_code == 200, answer.text
        assert "barks" in answer.text


def test_long_headers_of_a_part_are_refused_at_once(client):
    head = 'Content-Disposition: form-data; name="data"' + ";a=b" * 200_000
    body = f"--x\r\n{head}\r\n\r\nA dog.\r\n--x--\r\n"
    start = time.perf_counter()
    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    answer = client.post("/process", content=body, headers=kind)
    assert answer.status_code == 400
    assert time.perf_counter() - start < 5
