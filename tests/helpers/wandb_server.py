"""A local stand-in for wandb's server, as far as a training needs it; it can fail on purpose."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "0123456789abcdef" * 2 + "01234567"
ENTITY = "somebody"
VIEWER = {"id": "1", "entity": ENTITY, "username": ENTITY, "flags": "{}", "teams": {"edges": []}}


class WandbServer(ThreadingHTTPServer):
    """Keeps the history of runs by name; its fault, if any, starts with the first figures.

    breaks_off: hangs up and is gone. fails: answers with status 500. stalls: accepts everything and
    never answers. nonsense: answers with an empty object.
    """

    daemon_threads = True

    def __init__(self, fault: str | None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.fault = fault
        self.received: list[tuple[str, bytes]] = []
        self.history: dict[str, list[str]] = {}
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def environment(self) -> dict[str, str]:
        """Variables that send wandb here, with an account."""
        return {"WANDB_API_KEY": KEY, "WANDB_BASE_URL": self.url}

    def epochs(self) -> list[list[int]]:
        """The epochs of each run, in the order they arrived."""
        lines = [[json.loads(line) for line in run] for run in self.history.values()]
        return [[line["epoch"] for line in run if "dev_las" in line] for run in lines]

    def handle_error(self, *_: object) -> None:
        """Print nothing when a killed client hangs up."""

    def has_fault(self) -> bool:
        return self.fault is not None and any("file_stream" in path for path, _ in self.received)

    def answer(self, path: str, body: bytes) -> dict[str, Any]:
        if path.endswith("/file_stream"):
            run = path.split("/")[-2]
            history = json.loads(body).get("files", {}).get("wandb-history.jsonl")
            if history:
                known = self.history.setdefault(run, [])
                known[history["offset"] :] = history["content"]
            return {}
        if path != "/graphql":
            return {}
        asked = json.loads(body)
        return {"data": self.data(asked["query"], asked.get("variables", {}))}

    def data(self, query: str, variables: dict[str, Any]) -> dict[str, Any]:
        """The answer to a GraphQL query, as far as a training asks."""
        if "query RunResumeStatus" in query:
            return {"model": self.project() | {"bucket": self.known_run(variables["name"])}}
        if "mutation UpsertBucket" in query:
            bucket = self.run(variables.get("name") or variables["id"])
            return {"upsertBucket": {"bucket": bucket, "inserted": True}}
        if "mutation CreateRunFiles" in query:
            files = [{"name": n, "uploadUrl": f"{self.url}/upload/{n}"} for n in variables["files"]]
            return {"createRunFiles": {"runID": "1", "uploadHeaders": [], "files": files}}
        if "mutation CreateArtifact" in query:
            sequence = {"id": "1", "latestArtifact": None}
            artifact = {"id": "1", "state": "COMMITTED", "artifactSequence": sequence}
            return {"createArtifact": {"artifact": artifact}}
        return {"viewer": VIEWER, "project": None}

    def project(self) -> dict[str, Any]:
        return {"id": "1", "name": "dyparse", "entity": {"id": "1", "name": ENTITY}}

    def run(self, name: str) -> dict[str, Any]:
        lines = len(self.history.get(name, []))
        bare = {"id": "1", "name": name, "displayName": name, "config": "{}"}
        return bare | {"historyLineCount": lines, "project": self.project()}

    def known_run(self, name: str) -> dict[str, Any] | None:
        if name not in self.history:
            return None
        last = self.history[name][-1]
        lines = {"logLineCount": 0, "eventsLineCount": 0, "eventsTail": "[]"}
        tail = {"summaryMetrics": last, "historyTail": json.dumps([last])}
        return self.run(name) | lines | tail | {"tags": [], "notes": "", "wandbConfig": '{"t": 1}'}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: WandbServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.received.append((self.path, body))
        fault = self.server.fault if self.server.has_fault() else None
        if fault == "breaks_off":
            self.server.socket.close()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        elif fault == "stalls":
            self.server.over.wait()
            self.close_connection = True
        else:
            self.send_json({} if fault else self.server.answer(self.path, body), fault)

    do_GET = do_PUT = do_POST  # noqa: N815 - the base class's names

    def send_json(self, answer: dict[str, Any], fault: str | None) -> None:
        body = json.dumps(answer).encode()
        self.send_response(500 if fault == "fails" else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def wandb_server(fault: str | None = None) -> Iterator[WandbServer]:
    """A running server, with a fault or without."""
    with WandbServer(fault) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()
