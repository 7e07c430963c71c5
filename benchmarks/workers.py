"""How fast `dyparse parse` is, in one process on one core and with workers, and what it costs.

    python benchmarks/workers.py --model MODEL --file dev.conllu --workers 2

Each way parses the file, repeated, in turn; of several rounds the fastest counts. Processor time is
that of all processes together, and says what a parse costs on a machine that is busy otherwise.
"""

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from dyparse.data.conllu import read_sentences
from dyparse.parsing.chunks import read_chunks, read_inputs


class Run(NamedTuple):
    """What one run of `dyparse parse` took."""

    seconds: float
    processor_seconds: float
    megabytes: float  # of the largest process


def timed(model: Path, source: Path, output: Path, options: Sequence[str]) -> Run:
    """Run `dyparse parse` in a process of its own."""
    command = [sys.executable, "-m", "dyparse.cli.main", "parse", str(model), str(source)]
    start = time.perf_counter()
    process = subprocess.Popen([*command, "-o", str(output), *options])
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(process.returncode)
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def fastest(runs: Sequence[Run]) -> Run:
    """The least of each figure."""
    return Run(*map(min, zip(*runs, strict=True)))


def main() -> None:
    options = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    options.add_argument("--model", type=Path, required=True)
    options.add_argument("--file", type=Path, required=True)
    options.add_argument("--repeat", type=int, default=10, help="copies of the file in the input")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--workers", type=int, default=2)
    chosen = options.parse_args()
    sentences = list(read_sentences(chosen.file, trees=False))
    words = sum(map(len, sentences)) * chosen.repeat
    ways = {
        "one core": ["--threads", "1"],
        f"{chosen.workers} threads": ["--threads", str(chosen.workers)],
        f"{chosen.workers} workers": [
            *("--workers", str(chosen.workers), "--threads", str(chosen.workers)),
        ],
    }
    with tempfile.TemporaryDirectory() as name:
        large, small, output = (Path(name) / part for part in ("large", "small", "output"))
        large.write_bytes(chosen.file.read_bytes() * chosen.repeat)
        small.write_text(sentences[0].to_conllu(), encoding="utf-8")
        starts: dict[str, list[Run]] = {way: [] for way in ways}
        runs: dict[str, list[Run]] = {way: [] for way in ways}
        outputs = set()
        for _ in range(chosen.rounds):
            for way, arguments in ways.items():
                starts[way].append(timed(chosen.model, small, output, arguments))
                runs[way].append(timed(chosen.model, large, output, arguments))
                outputs.add(output.read_bytes())
        report(len(sentences) * chosen.repeat, words, large.stat().st_size, outputs)
        reading = reading_rate(large, words)
    table(words, {way: (fastest(starts[way]), fastest(runs[way])) for way in ways})
    print_line(f"reading for all workers: {reading:,.0f} words/CPU s")


def reading_rate(path: Path, words: int) -> float:
    """Words that the one process that reads for all workers can give out, a second."""
    start = time.process_time()
    for share in read_chunks(read_inputs([str(path)], text=False), text=False):
        pickle.loads(pickle.dumps(share))  # about what it takes to send it, and to get it back
    return words / (time.process_time() - start)


def report(sentences: int, words: int, size: int, outputs: set[bytes]) -> None:
    """What was parsed."""
    print_line(f"{sentences:,} sentences, {words:,} words, {size:,} bytes of CoNLL-U in,")
    print_line(
        f"{len(min(outputs)):,} bytes out, {'the same' if len(outputs) == 1 else 'NOT the same'}"
    )


def table(words: int, ways: dict[str, tuple[Run, Run]]) -> None:
    """A line for each way; starting is the time for one sentence."""
    first = next(iter(ways.values()))[1]
    print_line(
        f"{'':12}{'seconds':>9}{'starting':>9}{'speed':>7}{'CPU s':>8}{'words/CPU s':>13}{'MB':>6}"
    )
    for way, (start, run) in ways.items():
        cpu = run.processor_seconds
        rate = words / (cpu - start.processor_seconds)
        print_line(
            f"{way:12}{run.seconds:9.1f}{start.seconds:9.1f}{first.seconds / run.seconds:7.2f}"
            f"{cpu:8.1f}{rate:13,.0f}{run.megabytes:6.0f}"
        )


def print_line(line: str) -> None:
    """A line for whoever waits."""
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
