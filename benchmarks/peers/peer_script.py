"""Running the script of a peer on one core, with one thread, and finding its error message."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from measurement import MEASURED

THREADS = ("OMP", "MKL", "OPENBLAS", "NUMEXPR", "NUMBA", "BLIS", "VECLIB_MAXIMUM")
WALL_PER_CPU = 8  # a script that takes this many times its minutes, plus an hour, hangs
HOUR = 3600
LONGEST_MESSAGE = 200  # characters


class RunError(Exception):
    """The script of a peer failed."""


def run_script(command: list[str], directory: Path, minutes: float) -> None:
    """Run a script with one thread; RunError with its message if it fails."""
    log = directory / "log.txt"
    seconds = WALL_PER_CPU * 60 * minutes + HOUR
    with log.open("wb") as out:
        try:
            done = subprocess.run(
                command,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise RunError(f"did not end within {seconds:.0f} s") from error
    if done.returncode or not (directory / MEASURED).exists():
        message = error_message(log.read_text(encoding="utf-8", errors="replace"))
        raise RunError(f"exit status {done.returncode}: {message}")


def error_message(log: str) -> str:
    """The message of the last traceback in a log, or else its last line."""
    _, traceback, after = log.rpartition("Traceback (most recent call last):\n")
    lines = [line for line in after.split("\n") if line.strip()] or ["no message"]
    if traceback:  # its frames are indented, and further lines may follow its message
        lines = [line for line in lines if not line[0].isspace()][:1] or lines
    return lines[-1].strip()[:LONGEST_MESSAGE]


def environment() -> dict[str, str]:
    """One thread for every library, no downloads, no progress bars."""
    one_thread = {f"{library}_NUM_THREADS": "1" for library in THREADS}
    quiet = {"TQDM_DISABLE": "1", "HF_HUB_OFFLINE": "1", "PYTHONHASHSEED": "0"}
    return {**os.environ, **one_thread, **quiet}


def pinned(core: int | None) -> list[str]:
    """The start of a command that pins it to one core; empty if the system has none."""
    if not shutil.which("taskset"):
        return []
    return ["taskset", "-c", str(max(os.sched_getaffinity(0)) if core is None else core)]
