"""Parsing with compiled kernels beside parsing with torch: speed, accuracy, start and memory.

    python benchmarks/precisions.py MODEL FILE.conllu

Precisions take turns in one process, on one thread; times are CPU seconds, medians of the rounds.
Start and memory are those of a process of its own that parses one sentence.
"""

import argparse
import io
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

from dyparse.data.conllu import read_sentences
from dyparse.evaluation.attachment_scores import attachment_scores
from dyparse.model.parser import Parser
from dyparse.parsing.chunks import parse_blocks
from dyparse.parsing.reading import read_files
from dyparse.parsing.settings import Settings, load_parser
from dyparse.parsing.stream import Totals, write_sentences
from dyparse.runtime.console import print_line

PRECISIONS = ("float32", "mixed", "bfloat16", "int8")  # mixed: auto before there were kernels
ALONE = 200  # sentences that are parsed one at a time
PROGRAM = """
import os, sys, time
os.environ["OMP_NUM_THREADS"] = "1"
import dyparse
parser = dyparse.load(sys.argv[1], precision=sys.argv[2])
parser(["A", "dog", "barks"])
(peak,) = (line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(time.process_time(), peak)
"""


def main() -> None:
    """Print a table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("model")
    arguments.add_argument("file")
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--precisions", nargs="+", default=PRECISIONS)
    options = arguments.parse_args()
    torch.set_num_threads(1)
    gold = list(read_sentences(options.file, trees=True))
    words = sum(map(len, gold))
    settings = [Settings(model=options.model, threads=1, precision=p) for p in options.precisions]
    parsers = {how.precision: load_parser(how) for how in settings}
    measured: dict[str, dict[str, list[float]]] = {name: {} for name in parsers}
    for _ in range(options.rounds + 1):
        for name, parser in parsers.items():
            tasks: dict[str, Callable[[], object]] = {
                "in memory": lambda parser=parser: list(parser.parse_sentences(gold)),  # type: ignore[misc]  # bound here
                "CoNLL-U": lambda parser=parser: parse_file(parser, options.file),  # type: ignore[misc]  # the same
                "alone": lambda parser=parser: [parser.parse_batch([s]) for s in gold[:ALONE]],  # type: ignore[misc]  # the same
            }
            for task, run in tasks.items():
                start = time.process_time()
                run()
                measured[name].setdefault(task, []).append(time.process_time() - start)
    print_line("precision  words/s in memory  CoNLL-U  ms/sentence alone   LAS  start, CPU s   MB")
    for name, parser in parsers.items():
        times = {task: statistics.median(found[1:]) for task, found in measured[name].items()}
        las = attachment_scores(gold, list(parser.parse_sentences(gold))).las
        start, memory = alone(options.model, name)
        print_line(
            f"{name:9}  {words / times['in memory']:17,.0f}  {words / times['CoNLL-U']:7,.0f}  "
            f"{1000 * times['alone'] / min(ALONE, len(gold)):17.2f}  {las:5.2f}  {start:12.2f}  "
            f"{memory:4.0f}"
        )


def parse_file(parser: Parser, path: str) -> int:
    """From CoNLL-U to CoNLL-U, as `dyparse parse` does it; the number of bytes."""
    settings = Settings(model="")
    out = io.BytesIO()
    pieces = parse_blocks(parser, read_files([path], "conllu"), settings, Totals(), None)
    write_sentences(pieces, out)
    return len(out.getvalue())


def alone(model: str, precision: str) -> tuple[float, float]:
    """CPU seconds and megabytes of a process that parses one sentence; the better of two."""
    command = [sys.executable, "-c", PROGRAM, str(Path(model).resolve()), precision]
    root = Path(__file__).parents[1]
    runs = [
        subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.split()
        for _ in range(2)
    ]
    return min(float(run[0]) for run in runs), min(float(run[1]) for run in runs) / 1024


if __name__ == "__main__":
    main()
