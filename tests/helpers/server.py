"""The server in the process of a test, and parsers that are slow or fail."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from starlette.testclient import TestClient

from dyparse.model.parser import Parser
from dyparse.web.models import LoadedModel, Models
from dyparse.web.sentences import treebanks
from dyparse.web.server.app import make_app
from dyparse.web.server.limits import Limits


@contextmanager
def serving(
    *parsers: Parser,
    log: Callable[[str], object] | None = None,
    hosts: tuple[str, ...] = (),
    **limits: Any,
) -> Iterator[TestClient]:
    """A client of a server with these models, which are called a-1, b-1, …"""
    names = [f"{letter}-1" for letter in "abc"]
    models = Models([LoadedModel(*pair) for pair in zip(names, parsers, strict=False)])
    app = make_app(models, treebanks([]), Limits(**limits), log, hosts)
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


class SlowParser(Parser):
    """A parser that waits until its gate is open."""

    gate, started = threading.Event(), threading.Event()

    def parse_sentences(self, sentences: Any, **options: Any) -> Any:
        given = list(sentences)
        self.started.set()
        self.gate.wait(60)
        return super().parse_sentences(given, **options)


class FailingParser(Parser):
    """A parser that fails on the word `poison`."""

    def parse_sentences(self, sentences: Any, **options: Any) -> Any:
        given = list(sentences)
        if any("poison" in sentence.form for sentence in given):
            raise RuntimeError("a fault")
        return super().parse_sentences(given, **options)
