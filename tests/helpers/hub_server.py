"""A local stand-in for the Hugging Face Hub, as far as models are downloaded and uploaded."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

COMMIT = "0123456789abcdef0123456789abcdef01234567"
REPOSITORY = "me/model"
AS_IT_IS = {"uploadMode": "regular", "shouldIgnore": False}
HERE = f"/api/models/{REPOSITORY}"


class HubServer(ThreadingHTTPServer):
    """Has one repository; everything about another is answered 404, or `refusal` about all."""

    daemon_threads = True

    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files = files
        self.announced: dict[str, int] = {}  # sizes that are not true
        self.refusal: int | None = None
        self.requests: list[tuple[str, str]] = []
        self.bodies: list[bytes] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def downloaded(self) -> set[str]:
        """Names of the files whose content was asked for."""
        found = (re.search(r"/resolve/[^/]+/(.+)", path) for _, path in self.requests)
        return {unquote(match[1]) for match in found if match}

    def listed(self, key: str) -> list[dict[str, Any]]:
        """All files; the name of one is under this key."""
        return [
            {"type": "file", key: name, "size": self.announced.get(name, len(content)), "oid": name}
            for name, content in self.files.items()
        ]

    def answer(self, path: str, body: bytes) -> Any:
        """The answer to a call, None if there is nothing of that name."""
        at_once = {
            "/api/repos/create": {"url": f"{self.url}/{REPOSITORY}"},
            "/api/validate-yaml": {"errors": [], "warnings": []},
        }
        if path in at_once or not path.startswith(HERE):
            return at_once.get(path)
        call, _, revision = path.removeprefix(HERE).lstrip("/").partition("/")
        if call == "commit":
            return self.commit(body)
        is_known = revision in ("", "main", "v1", COMMIT)
        info = {"id": REPOSITORY, "sha": COMMIT, "siblings": self.listed("rfilename")}
        sent = json.loads(body).get("files", []) if body else []
        return {
            "": info,
            "revision": info if is_known else None,
            "tree": self.listed("path"),
            "preupload": {"files": [{"path": f["path"], **AS_IT_IS} for f in sent]},
            "branch": {},
        }.get(call)

    def commit(self, body: bytes) -> dict[str, str]:
        """Keep the files of a commit."""
        for line in map(json.loads, body.splitlines()):
            if line["key"] == "file":
                self.files[line["value"]["path"]] = base64.b64decode(line["value"]["content"])
        return {"commitUrl": f"{self.url}/{REPOSITORY}/commit/{COMMIT}", "commitOid": COMMIT}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: HubServer

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.partition("?")[0]
        self.server.requests.append((self.command, path))
        self.server.bodies.append(body)
        file = re.fullmatch(rf"/{REPOSITORY}/resolve/{COMMIT}/(.+)", path)
        if self.server.refusal:
            self.send(self.server.refusal, b"{}")
        elif file and unquote(file[1]) in self.server.files:
            content = self.server.files[unquote(file[1])]
            self.send(200, content, ETag=f'"{hashlib.sha1(content).hexdigest()}"')
        else:
            answer = self.server.answer(path, body)
            missing = "RevisionNotFound" if REPOSITORY in path else "RepoNotFound"
            status, error = (404, {"X-Error-Code": missing}) if answer is None else (200, {})
            self.send(status, json.dumps({} if answer is None else answer).encode(), **error)

    do_HEAD = do_POST = do_GET  # noqa: N815 - the base class's names

    def send(self, status: int, content: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"X-Repo-Commit": COMMIT, **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def hub_server(files: dict[str, bytes]) -> Iterator[HubServer]:
    """A running server with these files in its repository."""
    with HubServer(files) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()


def use_hub(url: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What HF_ENDPOINT and HF_HOME do when `huggingface_hub` is imported."""
    from huggingface_hub import constants

    path = "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "ENDPOINT", url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", url + path)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(directory / "cache"))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(directory / "token"))
