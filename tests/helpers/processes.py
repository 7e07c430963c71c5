"""Processes that tests start: which of them are alive, and what they import first."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")


def python_path(first: Path) -> str:
    """A PYTHONPATH with this directory before all others."""
    return os.pathsep.join([str(first), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)


def session(leader: int) -> list[int]:
    """The processes of a session that are alive."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            _, rest = path.read_text().rsplit(")", 1)
        except OSError:  # it has ended
            continue
        state, _, _, leader_of_it = rest.split()[:4]
        if int(leader_of_it) == leader and state != "Z":
            found.append(int(path.parent.name))
    return found


def until(holds: Callable[[], object], seconds: float = 60.0) -> bool:
    """Wait until something holds; whether it came to hold."""
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    return bool(holds())
