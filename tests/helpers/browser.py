"""The server in a process of its own, and a page of it in Chromium."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest

from dyparse import system as systems

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",  # else Chromium asks for hosts of its own
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 20_000  # milliseconds
PROJECTIVE = ("She ate hot soup", [2, 0, 4, 2])
CROSSING = ("Who are you talking to", [4, 4, 4, 0, 1])


@contextmanager
def serving(*arguments: str, log: Path) -> Iterator[str]:
    """The address of `dyparse serve` with these arguments; kernels are not compiled."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "dyparse", "serve", *arguments, "--port", str(port)]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "OMP_NUM_THREADS": "1"}
    with log.open("w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env=environment)
        try:
            address = f"http://127.0.0.1:{port}/"
            for _ in range(600):
                if process.poll() is not None or answers(address):
                    break
                time.sleep(0.1)
            assert process.poll() is None, log.read_text()
            yield address
        finally:
            process.terminate()
            process.wait(timeout=30)


def answers(address: str) -> bool:
    """Whether a server is there."""
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@contextmanager
def chromium() -> Iterator[Any]:
    """Chromium without a window; the test is skipped where it is missing."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


class Explorer:
    """A page of the explorer, and what one does with it."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.address = address
        self.context = browser.new_context(
            **({"viewport": {"width": 1280, "height": 900}, "accept_downloads": True} | options)
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.requests: list[str] = []
        self.faults: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on(
            "console",
            lambda said: self.faults.append(said.text) if said.type in ("error", "warning") else 0,
        )

    def open(self, sentence: tuple[str, list[int]] | None = None, **shown: Any) -> Explorer:
        """Show a sentence with its gold heads, and what else an address says."""
        if sentence:
            shown |= {"words": sentence[0], "heads": ",".join(map(str, sentence[1]))}
        self.page.goto("about:blank")
        self.page.goto(f"{self.address}#{urlencode(shown)}")
        self.page.wait_for_selector("body[data-ready]")
        return self

    def panel(self, index: int = 0) -> Any:
        """A derivation."""
        return self.page.locator(f"[data-panel='{index}']")

    def take(self, move: str, panel: int = 0) -> None:
        """Click a move, and wait for the state after it."""
        at = self.at(panel)
        self.panel(panel).locator(f"button[data-move='{move}']").click()
        self.wait_for(at + 1, panel)

    def wait_for(self, at: int, panel: int = 0) -> None:
        """Wait for the state after this many moves."""
        self.panel(panel).locator(f".step.here[data-key='step {at}']").wait_for()

    def at(self, panel: int = 0) -> int:
        """The number of moves taken."""
        key = self.panel(panel).locator(".step.here").get_attribute("data-key")
        return int(str(key).split()[1])

    def costs(self, panel: int = 0) -> dict[str, int]:
        """The costs that the page shows."""
        found = self.panel(panel).evaluate(
            """panel => [...panel.querySelectorAll("button[data-move]")].map(b =>
            [b.dataset.move, b.querySelector(".cost").lastChild.textContent, b.matches(".best")])"""
        )
        costs = {name: int(cost) for name, cost, _ in found}
        marked = {name for name, _, is_best in found if is_best}
        assert marked == {name for name in costs if costs[name] == min(costs.values())}
        return costs

    def arcs(self, kind: str, panel: int = 0) -> set[tuple[int, int]]:
        """The arcs of a kind that are drawn: (head, dependent)."""
        texts = self.panel(panel).evaluate(
            "(panel, kind) => [...panel.querySelectorAll('.arc.' + kind)].map(a => a.dataset.arc)",
            kind,
        )
        return {(int(head), int(word)) for head, word in (text.split("-") for text in texts)}

    def close(self) -> None:
        """Close it; AssertionError if it asked another machine for anything, or met an error."""
        self.context.close()
        inside = (self.address, "about:", "blob:", "data:")
        assert [url for url in self.requests if not url.startswith(inside)] == []
        assert self.faults == []


class Follower:
    """The same derivation in Python: what the page must show."""

    def __init__(self, name: str, heads: list[int]) -> None:
        self.system = systems.load(name)
        self.states = self.system.start([len(heads)])
        self.gold = np.array([[0, *heads]])

    def costs(self) -> dict[str, int]:
        """The costs of legal moves."""
        legal = self.system.legal(self.states)[0]
        costs = self.system.cost(self.states, self.gold)[0].tolist()
        named = zip(self.system.moves, costs, legal, strict=True)
        return {move: cost for move, cost, is_legal in named if is_legal}

    def lost(self, move: str) -> set[tuple[int, int]]:
        """The gold arcs that a move loses."""
        lost = self.system.lost(self.states, self.gold, [self.system.moves.index(move)])
        return {(int(self.gold[0, word]), int(word)) for word in np.flatnonzero(lost.arcs[0])}

    def static(self) -> str:
        """The canonical move."""
        return self.system.moves[int(self.system.static(self.states, self.gold)[0])]

    def take(self, move: str) -> None:
        """Take a move."""
        self.system.step(self.states, [self.system.moves.index(move)])

    def is_final(self) -> bool:
        """Whether no move is left."""
        return bool(self.system.finished(self.states)[0])
