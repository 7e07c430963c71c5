"""Virtual environments, one for each peer, in a cache outside the source tree."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

CACHE = Path("~/.cache/dyparse/peers").expanduser()
STAMP = "installed.json"
Steps = Sequence[Sequence[str]]  # arguments of `pip install`, one call after the other


class InstallError(Exception):
    """A peer cannot be installed here."""


def python_of(name: str, requirements: Steps, cache: Path) -> Path:
    """The Python of a peer's environment, which is created unless it exists as required."""
    if not requirements:
        return Path(sys.executable)
    steps = filled_in(requirements)
    directory = cache / name
    stamp, python = directory / STAMP, directory / "bin" / "python"
    if stamp.exists() and json.loads(stamp.read_text(encoding="utf-8")) == steps:
        return python
    shutil.rmtree(directory, ignore_errors=True)
    call([sys.executable, "-m", "venv", str(directory)])
    for step in steps:
        call([str(python), "-m", "pip", "install", *step])
    stamp.write_text(json.dumps(steps), encoding="utf-8")
    return python


def filled_in(requirements: Steps) -> list[list[str]]:
    """The requirements with our version of torch, so that all peers use the same."""
    torch = version("torch").split("+")[0]
    return [[part.format(torch=torch) for part in step] for step in requirements]


def call(command: list[str]) -> None:
    """Run a command; InstallError with its last line if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise InstallError(f"{' '.join(command[2:])}: {lines[-1] if lines else 'no message'}")
