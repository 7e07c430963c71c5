"""A million words: memory does not grow with the input, and a killed worker changes no byte."""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from helpers.tiny import sample

from dyparse.data.sentence import DEPREL, HEAD

LARGE, SMALL = 1_000_000, 100_000  # words
MOST_GROWTH = 1.1  # of the peak memory, from small to large
NEW_FORMS = 0.02  # of the words, as names and numbers in real text
SPAWNED = b"--multiprocessing-fork"  # in the command line of a worker

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks into /proc"),
]


@dataclass(frozen=True)
class Measured:
    """Time and memory of a command."""

    seconds: float
    peak: int  # bytes: the peaks of all processes that are alive at the same time, added up
    killed: int  # workers that the test killed


def sentences(words: int) -> Iterator[str]:
    """CoNLL-U with this many words in all: varied sentences of the sample treebank."""
    generator = random.Random(1)
    original = [sentence.lines for sentence in sample("train")]
    left, number = words, 0
    while left > 0:
        number += 1
        parts = generator.choices(original, k=40 if number % 500 == 0 else 1)
        rows = [line.rstrip("\n").split("\t") for lines in parts for line in lines if "\t" in line]
        rows = rows[:left]
        left -= len(rows)
        yield f"# sent_id = s{number}\n" + _varied(generator, rows)


def _varied(generator: random.Random, rows: list[list[str]]) -> str:
    """Words numbered again, some of them new, with ranges, empty nodes and other comments."""
    text = generator.choice(["", "# text = Žák\n", "# a\n#\n"])
    for word, row in enumerate(rows, 1):
        if word % 9 == 1 and word < len(rows) and generator.random() < 0.2:
            text += f"{word}-{word + 1}\tx{7 * (chr(9) + '_')}\tSpaceAfter=No\n"
        form = f"{row[1]}{generator.getrandbits(40)}" if generator.random() < NEW_FORMS else row[1]
        text += "\t".join([str(word), form, *row[2:]]) + "\n"
        if generator.random() < 0.01:
            text += f"{word}.1\tempty{6 * (chr(9) + '_')}\t1:x\t_\n"
    return text + "\n"


def write_words(path: Path, words: int) -> Path:
    """A file of this many words."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(sentences(words))
    return path


def parse(model: Path, source: Path, out: Path, *options: str, kills: int = 0) -> Measured:
    """Run `dyparse parse`, and measure its processes meanwhile.

    Workers are killed at even intervals of the output: a single one, in the middle.
    """
    command = [sys.executable, "-m", "dyparse", "parse", str(model), str(source), *options]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    peak, killed, start = 0, 0, time.monotonic()
    with out.open("wb") as file, subprocess.Popen(command, stdout=file, env=environment) as process:
        while process.poll() is None:
            workers = workers_of(process.pid)
            peak = max(peak, sum(map(peak_memory, (process.pid, *workers))))
            if killed < kills and is_written(out, (killed + 1) / (kills + 1), source) and workers:
                os.kill(workers[0], signal.SIGKILL)
                killed += 1
            time.sleep(0.05)
    assert process.returncode == 0
    return Measured(time.monotonic() - start, peak, killed)


def is_written(out: Path, fraction: float, source: Path) -> bool:
    """Whether this fraction of the output is written; it is about as long as the input."""
    return out.stat().st_size > fraction * source.stat().st_size


def workers_of(parent: int) -> list[int]:
    """The workers of a process, oldest first."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [int(pid) for pid in children if SPAWNED in command_line(pid)]


def command_line(pid: str) -> bytes:
    """The arguments of a process; nothing if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def peak_memory(pid: int) -> int:
    """The most memory a process has had so far, in bytes; 0 if it has ended.

    (The peak that wait4 returns includes that of the process that forked it.)
    """
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)


def differing_columns(one: Path, other: Path) -> set[int]:
    """Numbers of the columns in which two files differ, line by line."""
    differing: set[int] = set()
    with one.open("rb") as first, other.open("rb") as second:
        for ours, theirs in itertools.zip_longest(first, second, fillvalue=b""):
            if ours != theirs:
                columns = zip(ours.split(b"\t"), theirs.split(b"\t"), strict=True)
                differing |= {k for k, (a, b) in enumerate(columns) if a != b}
    return differing


def same_bytes(one: Path, other: Path) -> bool:
    """Whether two files are equal, read a piece at a time."""
    with one.open("rb") as first, other.open("rb") as second:
        while piece := first.read(1 << 20):
            if piece != second.read(1 << 20):
                return False
        return not second.read(1)


def summary(name: str, run: Measured) -> str:
    """One line of figures."""
    return f"{name}: {run.seconds:.0f} s, peak {run.peak / 1e6:.0f} MB, {run.killed} killed"


def test_a_million_words_take_the_memory_of_a_tenth_and_a_killed_worker_changes_no_byte(
    model_directory, tmp_path, capsys
):
    small = write_words(tmp_path / "small", SMALL)
    large = write_words(tmp_path / "large", LARGE)
    alone, several = tmp_path / "alone", tmp_path / "several"
    runs = {
        "small, alone": parse(model_directory, small, alone),
        "small, 2 workers": parse(model_directory, small, several, "--workers", "2"),
        "large, alone": parse(model_directory, large, alone),
        "large, 2 workers": parse(model_directory, large, several, "--workers", "2", kills=1),
    }
    with capsys.disabled():
        sys.stdout.write("\n" + "\n".join(itertools.starmap(summary, runs.items())) + "\n")
    assert runs["large, 2 workers"].killed == 1
    assert same_bytes(alone, several)
    assert differing_columns(large, alone) == {HEAD, DEPREL}
    for how in ("alone", "2 workers"):
        assert runs[f"large, {how}"].peak < MOST_GROWTH * runs[f"small, {how}"].peak
