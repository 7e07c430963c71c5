"""What surrounds every request: its size, the headers of its answer, a line in the log, counts."""

import json
import sys
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any

from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from dyparse.web.server.limits import TooLargeError
from dyparse.web.server.metrics import Metrics

HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-cache",
}
ENCODED = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
OTHER = "other"  # the route of requests that no route serves, in logs and counts


class Guard:
    """The application, with limits and headers around it, and a line of log for each request.

    The log has the route and never the path or the query, in which a text may be.
    """

    def __init__(
        self,
        app: Starlette,
        most_bytes: int,
        metrics: Metrics,
        log: Callable[[str], object] | None = None,
        hosts: Collection[str] = (),
    ) -> None:
        self.app, self.most_bytes, self.metrics, self.log = app, most_bytes, metrics, log
        self.paths = {
            route.endpoint: route.path for route in app.routes if isinstance(route, Route)
        }
        self.hosts = set(hosts)  # names in the header Host that are served; empty for any

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status, sent = time.perf_counter(), 500, 0

        async def guarded(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message["headers"], *ENCODED]}
            else:
                sent += len(message.get("body", b""))
            await send(message)

        try:
            if refusal := self._refusal(scope):
                await refusal(scope, receive, guarded)
            elif _names_its_size(scope):  # which is small enough
                await self.app(scope, receive, guarded)
            else:
                await self._within_size(scope, receive, guarded)
        finally:
            self._note(scope, status, sent, time.perf_counter() - start)

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        """The answer to a request that is not served at all."""
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1")
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        if self.hosts and name not in self.hosts:
            problem = f"this server is called {', '.join(sorted(self.hosts))}; see --host"
            return JSONResponse({"error": problem}, 421)
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > self.most_bytes:
            return self._too_large()
        return None

    def _too_large(self) -> JSONResponse:
        problem = f"the request is larger than {self.most_bytes:,} bytes; send less at a time"
        return JSONResponse({"error": problem}, 413, {"connection": "close"})

    async def _within_size(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request whose body may turn out to be too large."""
        received, has_started = 0, False

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self.most_bytes:
                raise TooLargeError
            return message

        async def noted(message: Message) -> None:
            nonlocal has_started
            if received <= self.most_bytes:
                has_started = True
                await send(message)

        with suppress(TooLargeError):
            await self.app(scope, counted, noted)
        if received > self.most_bytes and not has_started:
            await self._too_large()(scope, receive, send)

    def _note(self, scope: Scope, status: int, sent: int, seconds: float) -> None:
        route = self.paths.get(scope.get("endpoint", ""), OTHER)
        self.metrics.request(route, status, seconds)
        if self.log:
            line: dict[str, Any] = {
                "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "method": scope["method"],
                "route": route,
                "status": status,
                "bytes": sent,
                "ms": round(1000 * seconds, 1),
            }
            self.log(json.dumps(line))


def log_to_stderr(line: str) -> None:
    """Write a line of the log."""
    if sys.stderr is not None:
        sys.stderr.write(f"{line}\n")


def _names_its_size(scope: Scope) -> bool:
    """Whether a request has a length, and nothing that takes precedence over it."""
    names = {name for name, _ in scope["headers"]}
    return b"content-length" in names and b"transfer-encoding" not in names
