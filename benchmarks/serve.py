"""`dyparse serve` under load, against `dyparse parse` on the same sentences in the same run.

    python benchmarks/serve.py MODEL ud/UD_English-LinES/en_lines-ud-test.conllu

The server has one thread for parsing and a core of its own, if there are several; so has `dyparse
parse`. The clients are in this process, on another core: each sends a sentence and waits for its
tree. Then more clients than the server lets wait; then, with --memory, many requests while its
memory is watched. Speeds are by the clock and by CPU time, which other programs disturb less.
"""

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path

from dyparse.data.conllu import read_sentences

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Server:
    """A server in a process of its own."""

    process: "subprocess.Popen[str]"
    port: int

    @property
    def cpu_seconds(self) -> float:
        """CPU time so far."""
        cells = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(cells[11]) + int(cells[12])) / TICKS

    @property
    def megabytes(self) -> float:
        """Memory in use now."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * PAGE / 2**20


@dataclass
class Load:
    """What clients have met: a status and a time for every answer."""

    statuses: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    wrong: int = 0  # trees that are not those of `dyparse parse`
    without_retry: int = 0  # answers 503 that do not say when to come back

    def percentile(self, part: float) -> float:
        """The time, in milliseconds, in which this part of the requests was answered."""
        return (
            1000 * sorted(self.seconds)[min(int(part * len(self.seconds)), len(self.seconds) - 1)]
        )


def cores() -> tuple[set[int], set[int]]:
    """A core for the parser, and those for the clients."""
    first, *others = sorted(os.sched_getaffinity(0))
    return {first}, set(others) or {first}


@contextmanager
def serving(model: Path, *options: str) -> Iterator[Server]:
    """A server on a free port."""
    command = [
        sys.executable,
        "-m",
        "dyparse",
        "serve",
        f"model={model}",
        "--port=0",
        "--threads=1",
    ]
    process = subprocess.Popen(
        [*command, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, cores()[0]),
    )
    assert process.stdout
    try:
        found = re.search(r":(\d+) ", process.stdout.readline())
        if not found:
            raise SystemExit("the server did not start")
        yield Server(process, int(found[1]))
    finally:
        process.terminate()
        process.wait()


async def client(port: int, requests: Iterator[tuple[bytes, bytes]], load: Load) -> None:
    """Send the next request when the last one is answered, over one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for request, expected in requests:
        start = time.perf_counter()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        assert length
        body = await reader.readexactly(int(length[1]))
        status = int(head[9:12])
        load.statuses[status] += 1
        if status == 200:
            load.seconds.append(time.perf_counter() - start)
            load.wrong += body != expected
        else:
            load.without_retry += b"retry-after:" not in head
    writer.close()


async def clients(port: int, requests: Iterator[tuple[bytes, bytes]], number: int) -> Load:
    """All clients at once, until the requests end."""
    load = Load()
    await asyncio.gather(*(client(port, requests, load) for _ in range(number)))
    return load


def as_request(conllu: str) -> bytes:
    """A request to parse one sentence."""
    body = json.dumps({"conllu": conllu, "format": "conllu"}).encode()
    head = f"POST /api/parse HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n"
    return f"{head}Content-Type: application/json\r\n\r\n".encode() + body


def parsed(model: Path, source: Path, output: Path) -> tuple[float, float]:
    """Seconds and CPU seconds of `dyparse parse`."""
    command = [sys.executable, "-m", "dyparse", "parse", str(model), str(source), "--threads=1"]
    start = time.perf_counter()
    process = subprocess.Popen(
        [*command, "-o", str(output)],
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: os.sched_setaffinity(0, cores()[0]),
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit("dyparse parse failed")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime


def compare(server: Server, model: Path, inputs: Sequence[str], chosen: argparse.Namespace) -> None:
    """Print both speeds, taken in turn."""
    with tempfile.TemporaryDirectory() as directory:
        small, large, output = (Path(directory) / name for name in ("small", "large", "output"))
        small.write_text(inputs[0])
        large.write_text("".join(inputs))
        parsed(model, large, output)
        trees = re.findall(r".*?\n\n", output.read_text(), re.DOTALL)
        pairs = [(as_request(s), t.encode()) for s, t in zip(inputs, trees, strict=True)]
        asyncio.run(
            clients(server.port, iter(pairs[:200]), chosen.clients)
        )  # compiles, fills caches
        for number in range(1, chosen.rounds + 1):
            starts, ends = parsed(model, small, output), parsed(model, large, output)
            direct = [len(inputs) / (end - start) for start, end in zip(starts, ends, strict=True)]
            before, cpu = time.perf_counter(), server.cpu_seconds
            load = asyncio.run(clients(server.port, iter(pairs), chosen.clients))
            seconds, cpu = time.perf_counter() - before, server.cpu_seconds - cpu
            served = [len(inputs) / seconds, len(inputs) / cpu]
            print_line(
                f"round {number}: dyparse parse {direct[0]:,.0f} sentences/s, "
                f"{direct[1]:,.0f} per CPU second; server {served[0]:,.0f}, {served[1]:,.0f}; "
                f"ratio {served[0] / direct[0]:.2f}, {served[1] / direct[1]:.2f}; "
                f"p50 {load.percentile(0.5):.1f} ms, p99 {load.percentile(0.99):.1f} ms; "
                f"answers {dict(load.statuses)}, {load.wrong} with another tree"
            )


def overload(model: Path, inputs: Sequence[str]) -> None:
    """Print what happens to more clients than may wait."""
    with serving(model, "--max-waiting=8") as server:
        requests = ((as_request(sentence), b"") for sentence in islice(cycle(inputs), 2000))
        load = asyncio.run(clients(server.port, requests, 64))
        print_line(
            f"64 clients where 8 may wait: answers {dict(load.statuses)}, "
            f"{load.without_retry} of 503 without Retry-After"
        )


def watch_memory(server: Server, inputs: Sequence[str], total: int) -> None:
    """Print the server's memory as requests go on."""
    for done in range(0, total, total // 10):
        requests = ((as_request(s), b"") for s in islice(cycle(inputs), total // 10))
        load = asyncio.run(clients(server.port, requests, 32))
        print_line(
            f"{done + total // 10:,} requests: {server.megabytes:.1f} MB, {dict(load.statuses)}"
        )


def print_line(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    options = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    options.add_argument("model", type=Path)
    options.add_argument("file", type=Path)
    options.add_argument("--clients", type=int, default=32)
    options.add_argument("--repeat", type=int, default=2, help="copies of the file")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument(
        "--memory", type=int, default=0, metavar="N", help="requests to watch over"
    )
    chosen = options.parse_args()
    os.sched_setaffinity(0, cores()[1])
    inputs = [s.to_conllu() for s in read_sentences(chosen.file, trees=False)] * chosen.repeat
    with serving(chosen.model) as server:
        compare(server, chosen.model, inputs, chosen)
        if chosen.memory:
            watch_memory(server, inputs, chosen.memory)
    overload(chosen.model, inputs)


if __name__ == "__main__":
    main()
