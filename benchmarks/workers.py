"""Speed and cost of `dyparse parse`: in one process on one core, on several, and with workers.

    python benchmarks/workers.py --model MODEL --file dev.conllu --workers 2

The input is the file several times over. Each variant parses it in turn; of several rounds the
fastest counts. CPU time is that of all processes together: the cost of a parse, also on a machine
that does other work at the same time.
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
from dyparse.parsing.chunks import read_chunks
from dyparse.parsing.reading import CONLLU, read_raw


class Run(NamedTuple):
    """Time and memory of one run of `dyparse parse`."""

    seconds: float
    cpu_seconds: float
    megabytes: float  # of the largest process


def timed(model: Path, source: Path, output: Path, options: Sequence[str]) -> Run:
    """Run `dyparse parse` in a process of its own."""
    command = [sys.executable, "-m", "dyparse", "parse", str(model), str(source)]
    start = time.perf_counter()
    process = subprocess.Popen([*command, "-o", str(output), *options])
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(process.returncode)
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def fastest(runs: Sequence[Run]) -> Run:
    """The minimum of each figure."""
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
    several = str(chosen.workers)
    variants = {
        "one core": ["--threads", "1"],
        f"{several} threads": ["--threads", several],
        f"{several} workers": ["--workers", several, "--threads", several],
    }
    with tempfile.TemporaryDirectory() as directory:
        large, small, output = (Path(directory) / part for part in ("large", "small", "output"))
        large.write_bytes(chosen.file.read_bytes() * chosen.repeat)
        small.write_text(sentences[0].to_conllu(), encoding="utf-8")
        starts: dict[str, list[Run]] = {name: [] for name in variants}
        runs: dict[str, list[Run]] = {name: [] for name in variants}
        outputs = set()
        for _ in range(chosen.rounds):
            for variant, arguments in variants.items():
                starts[variant].append(timed(chosen.model, small, output, arguments))
                runs[variant].append(timed(chosen.model, large, output, arguments))
                outputs.add(output.read_bytes())
        report(len(sentences) * chosen.repeat, words, large.stat().st_size, outputs)
        reading = reading_rate(large, words)
    table(words, {name: (fastest(starts[name]), fastest(runs[name])) for name in variants})
    print_line(f"reading for all workers: {reading:,.0f} words/CPU s")


def reading_rate(path: Path, words: int) -> float:
    """Words per second that the process that reads for all workers can hand out."""
    start = time.process_time()
    for chunk in read_chunks(read_raw(path, CONLLU), CONLLU):
        pickle.loads(pickle.dumps(chunk))  # about what sending it takes, and receiving the result
    return words / (time.process_time() - start)


def report(sentences: int, words: int, size: int, outputs: set[bytes]) -> None:
    """Print the size of input and output, and whether all variants wrote the same."""
    print_line(f"{sentences:,} sentences, {words:,} words, {size:,} bytes of CoNLL-U in,")
    print_line(
        f"{len(min(outputs)):,} bytes out, {'the same' if len(outputs) == 1 else 'NOT the same'}"
    )


def table(words: int, variants: dict[str, tuple[Run, Run]]) -> None:
    """Print a line for each variant; starting is the time for one sentence."""
    first = next(iter(variants.values()))[1]
    print_line(
        f"{'':12}{'seconds':>9}{'starting':>9}{'speed':>7}{'CPU s':>8}{'words/CPU s':>13}{'MB':>6}"
    )
    for variant, (start, run) in variants.items():
        cpu = run.cpu_seconds
        rate = words / (cpu - start.cpu_seconds)
        print_line(
            f"{variant:12}{run.seconds:9.1f}{start.seconds:9.1f}{first.seconds / run.seconds:7.2f}"
            f"{cpu:8.1f}{rate:13,.0f}{run.megabytes:6.0f}"
        )


def print_line(line: str) -> None:
    """Print a line on standard output."""
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
