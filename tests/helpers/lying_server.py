"""A local web server that breaks off, stalls, trickles and lies, as it is told."""

from __future__ import annotations

import gzip
import hashlib
import io
import random
import socket
import ssl
import struct
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from dyparse.data.download.download import download
from dyparse.treebank import TreebankError, fetch

NAME = "UD_Latin-One"
LOCK = f".{NAME}.lock"  # stays in the root
PLACE = f".{NAME}.download"
SENTENCE = b"1\tw\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
GOOD = {
    f"{NAME}-r2.17/la_one-ud-train.conllu": SENTENCE * 3,
    f"{NAME}-r2.17/la_one-ud-dev.conllu": SENTENCE,
    f"{NAME}-r2.17/LICENSE.txt": b"free",
    f"{NAME}-r2.17/README.md": b"read me",
    f"{NAME}-r2.17/stats.xml": b"<no/>",
    f"{NAME}-r2.17/not-to-release/la_one-ud-train.conllu": b"secret",
    f"{NAME}-r2.17/not-to-release/{NAME}/la_one-ud-train.conllu": b"secret",
}


def archive(members: dict[str, bytes], *extra: tarfile.TarInfo) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
        for info in extra:
            tar.addfile(info)
    return gzip.compress(buffer.getvalue(), mtime=0)  # the same in every process


BODY = archive({**GOOD, f"{NAME}-r2.17/unwanted": random.Random(1).randbytes(300_000)})
SHA256 = hashlib.sha256(BODY).hexdigest()
HALF = len(BODY) // 2
TAG = {"ETag": '"one"'}


def names_in(root: Path) -> list[str]:
    """What downloads left in a root, but for the lock file."""
    return sorted({path.name for path in root.iterdir()} - {LOCK})


@dataclass(frozen=True)
class Answer:
    """How one request is answered: honestly, but for what is given here."""

    status: int | None = None
    length: int | None = None  # that is exclusive_directory; -1 claims none
    chunked: bool = False  # without the last chunk
    stop: int | None = None  # bytes of the body until `then`
    then: str = "break"  # or reset, stall, trickle nonsense, drip the rest, hold it till told
    ranges: bool = True  # whether Range is heeded
    if_range: bool = True  # whether If-Range is
    content_range: str | None = None
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    trickles_headers: bool = False


class Server(ThreadingHTTPServer):
    """Answers the first request as the first of `answers` says, and so on; the last one stays."""

    def __init__(self, body: bytes, answers: tuple[Answer, ...], headers: dict[str, str]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.body, self.answers, self.headers = body, answers or (Answer(),), headers
        self.asked: list[str] = []
        self.ranges: list[str | None] = []
        self.sent = 0
        self.go_on, self.ended = threading.Event(), threading.Event()
        self.scheme = "http"

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.server_address[1]}/{{name}}/r{{release}}.tar.gz"

    def handle_error(self, *_) -> None:
        """Clients that hang up are no trouble."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        server = self.server
        answer = server.answers[min(len(server.asked), len(server.answers) - 1)]
        server.asked.append(self.path)
        server.ranges.append(self.headers["Range"])
        self.close_connection = True
        if answer.trickles_headers:
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            self._trickle()
            return
        body = server.body if answer.body is None else answer.body
        headers = server.headers | answer.headers
        start = self._start(answer, headers)
        self.send_response(answer.status or (206 if start is not None else 200))
        self._send_headers(answer, headers, start, body)
        rest = body[start or 0 :]
        self._send(rest[: answer.stop], chunked=answer.chunked)
        if answer.stop is not None:
            self._then(answer, rest[answer.stop :])

    def _start(self, answer: Answer, headers: dict[str, str]) -> int | None:
        asked, condition = self.headers["Range"], self.headers["If-Range"]
        if not asked or not answer.ranges:
            return None
        known = (headers.get("ETag"), headers.get("Last-Modified"))
        if answer.if_range and condition and condition not in known:
            return None
        return int(asked.removeprefix("bytes=").removesuffix("-"))

    def _send_headers(
        self, answer: Answer, headers: dict[str, str], start: int | None, body: bytes
    ) -> None:
        length = len(body) - (start or 0) if answer.length is None else answer.length
        if answer.chunked:
            self.send_header("Transfer-Encoding", "chunked")
        elif length != -1:
            self.send_header("Content-Length", str(length))
        if start is not None:
            honest = f"bytes {start}-{len(body) - 1}/{len(body)}"
            self.send_header("Content-Range", answer.content_range or honest)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _send(self, data: bytes, *, chunked: bool = False) -> None:
        self.server.sent += len(data)
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data) if chunked else data)
        self.wfile.flush()

    def _then(self, answer: Answer, rest: bytes) -> None:
        if answer.then == "reset":
            option = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, option)
        elif answer.then == "stall":
            self.server.ended.wait(20)
        elif answer.then == "trickle":
            self._trickle()
        elif answer.then == "drip":
            for i in range(len(rest)):
                self.server.ended.wait(0.04)
                self._send(rest[i : i + 1])
        elif answer.then == "hold":
            self.server.go_on.wait(20)
            self._send(rest)

    def _trickle(self) -> None:
        while not self.server.ended.wait(0.02):
            self.wfile.write(b"a")

    def log_message(self, *_) -> None:
        pass


@contextmanager
def serving(
    body: bytes = b"",
    *answers: Answer,
    headers: dict[str, str] | None = None,
    context: ssl.SSLContext | None = None,
) -> Iterator[Server]:
    """A server of this file, with these headers; over https with a context."""
    server = Server(body, answers, headers or {})
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.scheme = "https"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.ended.set()
        server.go_on.set()
        server.shutdown()
        server.server_close()
        thread.join()


def assert_brought(server: Server, root: Path, **options: Any) -> None:
    """The download brings BODY, and leaves nothing beside it."""
    path = download(NAME, root=root, url=server.url, **options)
    assert f"# archive sha256 {SHA256}\n" in (path / "download.txt").read_text()
    assert (path / "la_one-ud-train.conllu").read_bytes() == SENTENCE * 3
    assert names_in(root) == [NAME]


def assert_fails(server: Server, root: Path, finding: str = "broke off", **options: Any) -> None:
    """A single try fails with this finding."""
    with patch.object(fetch, "PAUSE_SECONDS", ()), pytest.raises(TreebankError, match=finding):
        download(NAME, root=root, url=server.url, **options)
