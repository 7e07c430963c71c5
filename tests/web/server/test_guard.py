"""What surrounds every request: headers, sizes, names, the log; no file but those of the page."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.server import serving
from helpers.tiny import PROJECT, fresh_parser, sample

HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
}
SECRET = "a-text-that-nobody-may-see"
REQUESTS = [
    ("GET", "/", {}, 200),
    ("GET", "/openapi.json", {}, 200),
    ("GET", "/healthz", {}, 200),
    ("GET", "/metrics", {}, 200),
    ("GET", f"/{SECRET}", {}, 404),
    ("GET", f"/api/treebanks/{SECRET}/sentences", {}, 404),
    ("GET", "/api/treebanks/sample/sentences", {"params": {"search": SECRET}}, 200),
    ("DELETE", "/api/state", {}, 405),
    ("POST", "/api/parse", {"json": {"words": [SECRET]}}, 200),
    ("POST", "/api/parse", {"json": {"words": SECRET}}, 422),
    ("POST", "/api/parse", {"content": SECRET}, 415),
    ("POST", "/api/parse", {"content": "x" * 200_000}, 413),
    ("GET", "/process", {"params": {"data": SECRET, "input": "horizontal"}}, 200),
    ("POST", "/process", {"data": {"data": SECRET}}, 400),
]
opened: list[str] | None = None


def hook(event: str, arguments: tuple[object, ...]) -> None:
    if opened is not None and event == "open":
        opened.append(str(arguments[0]))


sys.addaudithook(hook)  # cannot be taken away again


@pytest.fixture(scope="module")
def small():
    return fresh_parser(sample("train")[:30])


@pytest.fixture
def files() -> Iterator[list[str]]:
    """Files that are opened during a test."""
    global opened
    opened = []
    yield opened
    opened = None


@pytest.mark.parametrize(("method", "path", "more", "status"), REQUESTS)
def test_every_answer_has_its_headers_and_a_line_of_log_without_texts(
    small, method, path, more, status
):
    lines: list[str] = []
    with serving(small, log=lines.append, characters=10_000) as client:
        origin = {"origin": "https://elsewhere.example"}
        answer = client.request(method, path, headers=origin, **more)
        assert answer.status_code == status
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'self'; ")
        assert "frame-ancestors 'none'" in policy
        assert not [name for name in answer.headers if name.startswith("access-control")]
        metrics = client.get("/metrics").text
    line = json.loads(lines[0])
    assert list(line) == ["time", "method", "route", "status", "bytes", "ms"]
    assert (line["method"], line["status"]) == (method, status)
    assert line["bytes"] == len(answer.content)
    assert SECRET not in lines[0] + metrics
    assert f'route="{line["route"]}",status="{status}"}} 1\n' in metrics


def test_a_body_without_a_length_is_cut_off_too(small):
    with serving(small, characters=1000) as client:
        pieces = (b" " * 10_000 for _ in range(20))
        kind = {"content-type": "application/json"}
        answer = client.post("/api/parse", content=pieces, headers=kind)
        assert answer.status_code == 413
        assert "larger than 106,000 bytes" in answer.json()["error"]
        for path, body in (("parse", {"text": "a" * 1001}), ("sentences", {"conllu": "a" * 1001})):
            answer = client.post(f"/api/{path}", json=body)
            assert (answer.status_code, "1,001 characters" in answer.text) == (413, True)
        assert client.post("/api/parse", json={"text": "a" * 1000}).status_code == 200
        data = {"data": "a" * 1001, "tokenizer": ""}
        assert client.post("/process", data=data).status_code == 413


def test_a_site_that_points_its_own_name_here_is_refused(small):
    with serving(small, hosts=("127.0.0.1", "localhost", "[::1]")) as client:
        for host in ("127.0.0.1:8000", "localhost", "[::1]:8000", "[::1]"):
            assert client.get("/healthz", headers={"host": host}).status_code == 200
        for host in ("evil.example", "evil.example:8000", "localhost.evil.example", ""):
            assert client.get("/healthz", headers={"host": host}).status_code == 421


def test_metrics_are_in_the_format_of_prometheus(small):
    with serving(small) as client:
        client.post("/api/parse", json={"words": ["It"]})
        lines = client.get("/metrics").text.splitlines()
    sample_line = re.compile(r'[a-z_]+\{([a-z]+="(\\.|[^"\\])*",?)+\} [\d.e+-]+')
    assert [line for line in lines if line[0] != "#" and not sample_line.fullmatch(line)] == []
    typed = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert all(any(line.startswith(name) for line in lines) for name in typed)


def test_no_request_can_name_a_file(small, files, tmp_path):
    """Neither as a page, nor as a treebank, a model, a system or a text."""
    secret = tmp_path / "secret.conllu"
    secret.write_text(f"1\t{SECRET}\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    files.clear()
    relative = "../" * 12 + str(secret).removeprefix("/")
    with serving(small) as client:
        for name in (str(secret), relative, f"file://{secret}", "pyproject.toml"):
            quoted = name.replace("/", "%2F")
            answers = [
                client.get(f"/{quoted}"),
                client.get(f"/static/..%2F{quoted}"),
                client.get(f"/{name}"),
                client.get(f"/api/treebanks/{quoted}/sentences"),
                client.post("/api/parse", json={"text": name}),
                client.post("/api/parse", json={"conllu": name}),
                client.post("/api/parse", json={"words": [name]}),
                client.post("/api/parse", json={"text": "a", "model": name}),
                client.post("/api/sentences", json={"text": name}),
                client.post("/api/sentences", json={"conllu": name}),
                client.post("/api/state", json={"words": ["a"], "system": name}),
                client.post("/api/state", json={"words": ["a"], "models": [name]}),
                client.post("/process", data={"data": name, "tokenizer": "", "model": name}),
                client.post("/process", data={"data": name, "input": name}),
                client.post("/process", files={"data": (name, name), "tokenizer": (None, "")}),
            ]
            assert SECRET not in "".join(answer.text for answer in answers)
            assert all(answer.status_code in (200, 400, 404, 422) for answer in answers)
    assert str(secret) not in files
    places = {Path(name).resolve() for name in files if not name.isdigit()}
    assert PROJECT / "pyproject.toml" not in places


def test_the_page_is_what_comes_with_the_package(small):
    folder = PROJECT / "dyparse" / "web" / "static"
    with serving(small) as client:
        for path in folder.iterdir():
            answer = client.get(f"/{path.name}")
            assert answer.content == path.read_bytes()
        assert client.get("/").content == (folder / "index.html").read_bytes()
        assert client.get("/index.html").headers["content-type"] == "text/html; charset=utf-8"
