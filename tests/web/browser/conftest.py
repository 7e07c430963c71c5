"""One server and one Chromium for all browser tests of a process; a page for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.browser import Explorer, chromium, serving
from helpers.tiny import fresh_parser, sample


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="session")
def server(
    browser: Any,  # noqa: ARG001 - without Chromium there is no need for a server
    model_directory: Path,
    once: Callable[..., Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[str]:
    """The address of a server with a trained model and one with random weights."""
    pytest.importorskip("uvicorn", reason="the extra `web` is not installed")

    def make(path: Path) -> None:
        fresh_parser(sample("train")[:100], seed=7).save(path / "model", {"note": "random"})

    random = once("random", make) / "model"
    log = tmp_path_factory.mktemp("server") / "log"
    with serving(f"trained={model_directory}", f"random={random}", log=log) as address:
        yield address


@pytest.fixture
def explorer(browser: Any, server: str) -> Iterator[Explorer]:
    """A page of the server; the test fails if it asks other machines, or meets an error."""
    page = Explorer(browser, server)
    yield page
    page.close()
