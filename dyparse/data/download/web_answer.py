"""Answers of web servers that nobody vouches for: over http and https only, and never for ever."""

from __future__ import annotations

import http.client
import re
import socket
import ssl
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from email.message import Message
from email.utils import format_datetime, parsedate_to_datetime
from typing import Any
from urllib.parse import urljoin, urlsplit

from dyparse.errors import TreebankError

TIMEOUT_SECONDS = 30.0  # without a single byte
WINDOW_SECONDS, WINDOW_BYTES = 60.0, 1 << 15  # fewer bytes in a window are too few
CHUNK_BYTES = 1 << 16
MOST_REDIRECTS = 10

REDIRECTS = (301, 302, 303, 307, 308)
PASSING = (408, 429, 500, 502, 503, 504)
RANGE_NOT_SATISFIABLE = 416


class DroppedError(TreebankError):
    """The file did not come, or not all of it; another try may bring it."""


class UnreachableError(DroppedError):
    """There was no connection at all."""


class MisfitError(DroppedError):
    """The server's answer does not fit what came before; another try must begin anew."""


class Watch(threading.Thread):
    """Cuts a connection over which fewer than WINDOW_BYTES come in WINDOW_SECONDS.

    The time limit of a socket alone would let a server send a byte now and then for ever, also in
    the headers and between the chunks of an answer.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.received = 0
        self.has_cut = False
        self.socket: socket.socket | None = None
        self._ended = threading.Event()

    def run(self) -> None:
        before = 0
        while not self._ended.wait(WINDOW_SECONDS):
            if self.socket is not None and self.received - before < WINDOW_BYTES:
                self.has_cut = True
                with suppress(OSError):  # closed meanwhile
                    socket.socket.shutdown(self.socket, socket.SHUT_RDWR)  # wakes who reads
            before = self.received

    def end(self) -> None:
        self._ended.set()


class Answer:
    """Status and headers of an answer, and its body as it comes."""

    def __init__(self, address: str, response: http.client.HTTPResponse, watch: Watch) -> None:
        self.status, self.headers, self.length = response.status, response.headers, response.length
        self._address, self._response, self._watch = address, response, watch

    def chunks(self) -> Iterator[bytes]:
        """The body piece by piece; DroppedError where the connection fails."""
        with _failures_as_dropped(self._address, self._watch):
            while chunk := self._response.read1(CHUNK_BYTES):
                self._watch.received += len(chunk)
                yield chunk
        if self._watch.has_cut:
            raise _dropped(self._address, self._watch, "")


@contextmanager
def ask(address: str, headers: dict[str, str]) -> Iterator[Answer]:
    """What the server at an address answers with 2xx, after redirects; closed after the block."""
    watch = Watch()
    watch.start()
    try:
        with _follow(address, headers, watch) as response:
            yield Answer(address, response, watch)
    finally:
        watch.end()


def validator_of(headers: Message) -> str | None:
    """What tells versions of a file apart for certain, as If-Range wants it (RFC 9110, 13.1.5).

    A strong ETag; without any ETag, a Last-Modified well before the answer: a file may change twice
    within a second.
    """
    tag = headers.get("ETag")
    if tag is not None:
        return tag if re.fullmatch(r'"[\x21\x23-\x7e]+"', tag) else None
    try:
        modified = parsedate_to_datetime(headers["Last-Modified"])
        is_strong = parsedate_to_datetime(headers["Date"]) - modified >= timedelta(minutes=1)
        text = format_datetime(modified, usegmt=True)
    except (TypeError, ValueError):  # none, or no sound date
        return None
    return text if is_strong and text == headers["Last-Modified"] else None


class _Connection(http.client.HTTPConnection):
    watch: Watch

    def connect(self) -> None:
        super().connect()
        self.watch.socket = self.sock


class _SecureConnection(_Connection, http.client.HTTPSConnection):
    pass


class _Handler(urllib.request.AbstractHTTPHandler):
    """Opens http and https; their connections are watched."""

    http_request = https_request = urllib.request.AbstractHTTPHandler.do_request_

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch = watch

    def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self._open(_Connection, request)

    def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self._open(_SecureConnection, request)

    def _open(
        self, kind: type[_Connection], request: urllib.request.Request
    ) -> http.client.HTTPResponse:
        def watched(host: str, **options: Any) -> _Connection:
            connection = kind(host, **options)
            connection.watch = self.watch
            return connection

        return self.do_open(watched, request)


def _follow(address: str, headers: dict[str, str], watch: Watch) -> http.client.HTTPResponse:
    """The answer at the end of the redirects.

    urllib's own handling of them would read their bodies, however long, and go on to ftp:.
    """
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.UnknownHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _Handler(watch),
    ):
        opener.add_handler(handler)
    place = address
    for _ in range(MOST_REDIRECTS + 1):
        try:
            with _failures_as_dropped(address, watch):
                request = urllib.request.Request(place, headers=headers)
                response: http.client.HTTPResponse = opener.open(request, timeout=TIMEOUT_SECONDS)
                return response
        except urllib.error.HTTPError as error:
            error.close()
            location = error.headers.get("Location")
            if error.code not in REDIRECTS or location is None:
                raise _refused(address, error.code) from None
            place = _redirected(address, place, location)
    raise TreebankError(
        f"{address}: redirected more than {MOST_REDIRECTS} times; check the address"
    )


def _redirected(address: str, place: str, location: str) -> str:
    """Where a redirect leads; never to anything but the web, and never back from https to http."""
    try:
        new = urljoin(place, location)
        scheme = urlsplit(new).scheme
    except ValueError:
        new, scheme = location, ""
    allowed = ("https",) if urlsplit(place).scheme == "https" else ("http", "https")
    if scheme not in allowed:
        raise TreebankError(
            f"{address}: redirected to {new!r}; expected {' or '.join(allowed)}: check the address"
        )
    return new


@contextmanager
def _failures_as_dropped(address: str, watch: Watch) -> Iterator[None]:
    """Every way in which a connection fails, as an error that says so."""
    try:
        yield
    except urllib.error.HTTPError:
        raise
    except urllib.error.URLError as error:
        finding = f"{address}: cannot be reached ({error.reason})"
        if isinstance(error.reason, ssl.SSLCertVerificationError):
            raise TreebankError(f"{finding}; check the address and the certificates") from None
        raise UnreachableError(finding) from None
    except (http.client.InvalidURL, ValueError) as error:
        raise TreebankError(f"{address}: not a web address ({error}); check it") from None
    except (http.client.HTTPException, OSError) as error:
        raise _dropped(address, watch, str(error) or type(error).__name__) from None


def _dropped(address: str, watch: Watch, reason: str) -> DroppedError:
    if watch.has_cut:
        return DroppedError(
            f"{address}: the server is too slow (fewer than {WINDOW_BYTES} bytes in "
            f"{WINDOW_SECONDS:g} seconds)"
        )
    return DroppedError(f"{address}: the connection broke off ({reason})")


def _refused(address: str, code: int) -> TreebankError:
    finding = f"{address}: the server answers {code} {http.client.responses.get(code, '')}".rstrip()
    if code == RANGE_NOT_SATISFIABLE:
        return MisfitError(finding)
    if code in PASSING:
        return DroppedError(finding)
    hint = "check the name and --release" if code in (404, 410) else "check the address"
    return TreebankError(f"{finding}; {hint}")
