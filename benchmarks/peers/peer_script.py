"""Running the script of a peer: on one core, with one thread, with its last words kept."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from measurement import MEASURED

THREADS = ("OMP", "MKL", "OPENBLAS", "NUMEXPR", "NUMBA", "BLIS", "VECLIB_MAXIMUM")
WALL_PER_CPU = 8  # a script that takes so many times its minutes, and an hour, hangs
HOUR = 3600
MOST_WORDS = 200  # characters of a message


class RunError(Exception):
    """The script of a peer failed."""


def run_script(command: list[str], directory: Path, minutes: float) -> None:
    """Run a script with one thread; RunError with its last words if it fails."""
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
        words = last_words(log.read_text(encoding="utf-8", errors="replace"))
        raise RunError(f"exit status {done.returncode}: {words}")


def last_words(log: str) -> str:
    """The message of the last traceback, or the last line there is."""
    _, traceback, after = log.rpartition("Traceback (most recent call last):\n")
    lines = [line for line in after.split("\n") if line.strip()] or ["no message"]
    if traceback:  # its frames are indented, and further lines may follow its message
        lines = [line for line in lines if not line[0].isspace()][:1] or lines
    return lines[-1].strip()[:MOST_WORDS]


def environment() -> dict[str, str]:
    """One thread for every library, no downloads, no progress bars."""
    one_thread = {f"{library}_NUM_THREADS": "1" for library in THREADS}
    quiet = {"TQDM_DISABLE": "1", "HF_HUB_OFFLINE": "1", "PYTHONHASHSEED": "0"}
    return {**os.environ, **one_thread, **quiet}


def pinned(core: int | None) -> list[str]:
    """The command that keeps another on one core, where the system has one."""
    if not shutil.which("taskset"):
        return []
    return ["taskset", "-c", str(max(os.sched_getaffinity(0)) if core is None else core)]
