"""`dyparse parse --workers`: the bytes of one process, whatever happens to the workers."""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import os
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import chain

import pytest
from helpers.parse_input import BAD, DEADLY, DIES_OF_DEADLY, ODD, UNTAGGED
from helpers.processes import needs_proc, python_path, session, until
from helpers.tiny import UD, sample

from dyparse.cli.main import main
from dyparse.errors import CheckpointError
from dyparse.model.checkpoint_files import digest_of_model
from dyparse.parsing import worker_pool
from dyparse.parsing.chunks import read_chunks
from dyparse.parsing.reading import read_files
from dyparse.parsing.settings import Settings, load_parser
from dyparse.parsing.stream import write_sentences
from dyparse.parsing.worker_pool import (
    CHUNKS_PER_WORKER,
    MOST_DEATHS,
    WorkerPool,
    threads_per_worker,
)

TEXT = "".join(s.to_conllu() for s in sample("dev"))
LINES = TEXT.count("\n")
FEW = 2000  # words of a chunk in tests, to have many chunks of little input
SMALL_CHUNKS = f"import os, sys, dyparse.parsing.chunks as c\nc.WORDS_PER_CHUNK = {FEW}\n"
DIES_AT_ONCE = "if '--multiprocessing-fork' in sys.orig_argv: os._exit(7)\n"


@pytest.fixture
def command(capfdbinary, monkeypatch):
    """command(*arguments, stdin=…) → (exit status, standard output, standard error)."""

    def call(*arguments, stdin=b""):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="ascii"))
            try:
                status = main(["parse", *map(str, arguments)])
            except SystemExit as stop:
                status = stop.code
        return status, *capfdbinary.readouterr()

    return call


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks and windows of few words: many of them in little input."""
    monkeypatch.setattr("dyparse.parsing.chunks.WORDS_PER_CHUNK", FEW)
    monkeypatch.setattr("dyparse.model.parser.WORDS_PER_WINDOW", FEW)


@pytest.fixture(scope="module")
def two_workers(model_directory):
    with WorkerPool(settings(model_directory), 2) as workers:
        yield workers
    assert not multiprocessing.active_children()


@pytest.fixture
def warm_workers(two_workers, monkeypatch):
    """Two workers for several tests, which saves the time that they take to start."""
    monkeypatch.setattr(
        "dyparse.cli.parse.WorkerPool", lambda *_: contextlib.nullcontext(two_workers)
    )


@pytest.fixture
def file(tmp_path):
    """file(name, text) → the path of a file with this text."""

    def write(name, text):
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


@pytest.fixture
def start(tmp_path_factory):
    """start(*arguments, patch=…): `dyparse parse` in a session of its own, to find its workers.

    It and its workers run the patch first, and have small chunks.
    """

    def popen(*arguments, patch=""):
        directory = tmp_path_factory.mktemp("patch")
        (directory / "sitecustomize.py").write_text(SMALL_CHUNKS + patch)
        return subprocess.Popen(
            [sys.executable, "-m", "dyparse", "parse", *map(str, arguments)],
            env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": python_path(directory)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    return popen


def settings(model_directory):
    return Settings(model=str(model_directory), threads=1)


def chunks_of(*paths, input_format="conllu"):
    blocks = chain.from_iterable(read_files(paths, input_format))
    return read_chunks(blocks, input_format)


@pytest.mark.usefixtures("warm_workers")
def test_workers_write_the_bytes_of_one_process(command, file, model_directory):
    train = "".join(s.to_conllu() for s in sample("train"))
    paths = [
        file("a", ("\ufeff" + ODD + TEXT).replace("\n", "\r\n").rstrip("\r\n")),
        file("b", train.rstrip("\n") + "\n"),
        file("c", ODD + train + "\n\n"),
    ]
    alone = command(model_directory, *paths)
    assert alone[::2] == (0, b"")
    assert len(list(chunks_of(*paths))) == 3
    assert command(model_directory, *paths, "--workers", 2) == alone


@pytest.mark.usefixtures("small_chunks", "warm_workers")
def test_the_end_of_a_file_may_be_the_end_of_a_chunk(command, file, model_directory, tmp_path):
    short = TEXT[: TEXT.index("\n\n", len(TEXT) // 3)]  # without final newline
    paths = [file(name, short) for name in "abcd"]
    out = tmp_path / "out"
    assert len(list(chunks_of(*paths))) > 2
    alone = command(model_directory, *paths)
    assert command(model_directory, *paths, "--workers", 2, "-o", out) == (0, b"", b"")
    assert out.read_bytes() == alone[1]


@pytest.mark.usefixtures("small_chunks")
def test_text_and_its_warning_come_out_as_from_one_process(command, file, model_directory):
    line = "The brave dog, who'd slept, barks at 12:30.\n \n"
    path = file("in.txt", ("\ufeff" + line * 500 + "Žák").replace("\n", "\r\n"))
    alone = command(model_directory, path, "--input=lines")
    assert alone[2].count(b"warning") == 1
    assert (
        command(model_directory, "--input=lines", "--workers", 2, stdin=path.read_bytes()) == alone
    )


@pytest.mark.usefixtures("small_chunks", "warm_workers")
def test_missing_tags_are_warned_of_once(command, file, model_directory):
    path = file("in", TEXT * 2 + UNTAGGED * FEW)  # all of the last chunks
    alone = command(model_directory, path)
    assert alone[2].startswith(b"warning: the model reads UPOS, which the input lacks")
    assert alone[2].count(b"\n") == 1
    assert command(model_directory, path, "--workers", 2) == alone


@pytest.mark.usefixtures("small_chunks")
def test_modules_are_imported_in_every_worker(
    command, file, model_directory, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    file("my_layers.py", "import os\nopen(f'imported-{os.getpid()}', 'x').close()\n")
    path = file("in", TEXT * 3)
    alone = command(model_directory, path)
    assert command(model_directory, path, "--workers", 2, "--import", "my_layers") == alone
    processes = {int(path.name.removeprefix("imported-")) for path in tmp_path.glob("imported-*")}
    assert processes
    assert os.getpid() not in processes
    status, _, err = command(model_directory, path, "--workers", 2, "--import", "my_nosuch")
    assert status == 2
    assert err.startswith(b"error: ")
    assert b"my_nosuch" in err
    assert err.count(b"\n") == 1


@pytest.mark.usefixtures("warm_workers")
def test_a_treebank_comes_out_as_from_one_process(command, model_directory, tmp_path):
    paths = sorted((UD / "UD_English-LinES").glob("*.conllu"))
    if not paths:
        pytest.skip(f"no UD_English-LinES in {UD}; DYPARSE_UD says where treebanks are")
    one, two = tmp_path / "one", tmp_path / "two"
    assert command(model_directory, *paths, "-o", one)[0] == 0
    assert command(model_directory, *paths, "-o", two, "--workers", 2)[0] == 0
    assert two.read_bytes() == one.read_bytes()


@pytest.mark.usefixtures("small_chunks", "warm_workers")
def test_errors_come_where_they_come_in_one_process(command, file, model_directory, tmp_path):
    good = file("good", TEXT * 3)
    chunks = list(chunks_of(good))
    cut = chunks[1].blocks[0].line_number - 1  # lines before the second chunk
    lines = (TEXT * 3).splitlines(keepends=True)
    first = file("first", "".join([*lines[:cut], BAD, *lines[cut:]]))
    middle = file("middle", TEXT * 2 + BAD + TEXT)
    both = file("both", TEXT * 2 + UNTAGGED + BAD + TEXT)
    for inputs, finding in (
        ([middle], f"{middle}:{2 * LINES + 2}: sentence 'bad'"),
        ([first], f"{first}:{cut + 2}: sentence 'bad'"),  # of the first chunk nothing is written
        ([both], "which the input lacks"),
        ([good, tmp_path / "none"], f"{tmp_path / 'none'}: no such file"),
    ):
        alone = command(model_directory, *inputs)
        assert alone[0] == 2
        assert finding in alone[2].decode()
        assert (len(alone[1]) == 0) == (inputs == [first])
        assert command(model_directory, *inputs, "--workers", 2) == alone


@pytest.mark.usefixtures("small_chunks")
def test_small_input_starts_no_process(command, file, model_directory, monkeypatch):
    def start(_settings):
        raise AssertionError("a process for small input")

    monkeypatch.setattr(worker_pool, "_start", start)
    path = file("in", TEXT[: TEXT.index("\n\n", len(TEXT) // 9) + 2])
    alone = command(model_directory, path)
    assert alone[0] == 0
    assert command(model_directory, path, "--workers", 4) == alone
    broken = file("broken", ODD + BAD)
    assert command(model_directory, broken, "--workers", 4) == command(model_directory, broken)
    empty = command(model_directory, "--input=lines", "--workers", 4)
    assert empty[:2] == (0, b"")


@pytest.mark.usefixtures("small_chunks")
def test_a_killed_worker_changes_nothing(command, file, model_directory, monkeypatch):
    path = file("in", TEXT * 12)
    _, alone, _ = command(model_directory, path)
    out, started, start = io.BytesIO(), [], worker_pool._start
    monkeypatch.setattr(worker_pool, "_start", lambda s: started.append(s) or start(s))

    def with_deaths(parsed):
        killed = set()
        for result in parsed:
            busy = next((w.process.pid for w in workers._workers if w.task), None)
            if busy and len(killed) < 2:  # its chunk may be in the pipe already
                os.kill(busy, signal.SIGKILL)
                killed.add(busy)
            yield result.output

    with WorkerPool(settings(model_directory), 2) as workers:
        write_sentences(with_deaths(workers.parse(chunks_of(path))), out)
    assert out.getvalue() == alone
    assert len(started) > 2
    assert not workers._workers


@pytest.mark.usefixtures("small_chunks")
def test_chunks_in_memory_are_bounded(file, two_workers):
    path = file("in", TEXT * 12)
    read = written = most = 0

    def counted():
        nonlocal read, most
        for chunk in chunks_of(path):
            read += 1
            most = max(most, read - written)
            yield chunk

    for parsed in two_workers.parse(counted()):
        assert parsed.error is None
        written += 1
    assert read == written > CHUNKS_PER_WORKER * 2
    assert 2 < most <= CHUNKS_PER_WORKER * 2


@needs_proc
@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("to_file", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_chunk_that_kills_every_worker_is_one_clear_error(
    command, start, file, model_directory, tmp_path, to_file
):
    path, out = file("in", TEXT * 3 + DEADLY + TEXT * 2), tmp_path / "out"
    out.write_text("old")
    where = ["-o", out] if to_file else []
    process = start(model_directory, path, "--workers", 2, *where, patch=DIES_OF_DEADLY)
    written, err = process.communicate(timeout=120)
    line = DEADLY.encode().splitlines(keepends=True)[0]
    (chunk,) = (s for s in chunks_of(path) if any(line in block.lines for block in s.blocks))
    assert process.returncode == 2
    assert err.decode().startswith(f"error: {chunk.place}: {MOST_DEATHS} workers were killed (SIG")
    assert err.count(b"\n") == 1
    assert until(lambda: not session(process.pid), 10)
    assert out.read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "out"]
    if not to_file:
        assert written
        assert command(model_directory, path)[1].startswith(written)


def test_workers_that_cannot_start_are_one_clear_error(start, file, model_directory):
    process = start(model_directory, file("in", TEXT * 3), "--workers", 2, patch=DIES_AT_ONCE)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (2, b"")
    assert b"3 workers in a row ended (exit status 7) before they had loaded the model" in err
    assert err.count(b"\n") == 1


@pytest.mark.usefixtures("small_chunks")
def test_a_wrong_model_device_or_number_is_the_error_of_one_process(command, file, model_directory):
    path = file("in", TEXT * 3)
    for arguments in ([path, path], [model_directory, path, "--device", "nosuch"]):
        alone = command(*arguments)
        assert alone[:2] == (2, b"")
        assert command(*arguments, "--workers", 2) == alone
    assert b"--workers is 0" in command(model_directory, path, "--workers", 0)[2]
    assert b"threads is 0" in command(model_directory, path, "--workers", 2, "--threads", 0)[2]


@needs_proc
@pytest.mark.parametrize("moment", ["loading", "parsing"])
def test_ctrl_c_ends_everything_quietly(start, file, model_directory, tmp_path, moment):
    path, out = file("in", TEXT * 40), tmp_path / "out"
    process = start(model_directory, path, "--workers", 2, "-o", out)
    if moment == "loading":  # parent, resource tracker, workers
        assert until(lambda: len(session(process.pid)) == 4)
    else:
        assert until(lambda: any(p.stat().st_size for p in tmp_path.glob(".out.*")))
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err.decode().splitlines()[-1] == "interrupted"
    assert b"Traceback" not in err
    assert until(lambda: not session(process.pid), 10)
    assert [p.name for p in tmp_path.iterdir()] == ["in"]


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals cannot be blocked")
def test_ctrl_c_while_a_worker_starts_comes_after_it(file, model_directory, monkeypatch):
    start = worker_pool._start
    started = []

    def interrupted(settings):
        signal.raise_signal(signal.SIGINT)
        started.append(start(settings))
        signal.raise_signal(signal.SIGINT)
        return started[0]

    monkeypatch.setattr(worker_pool, "_start", interrupted)
    with pytest.raises(KeyboardInterrupt), WorkerPool(settings(model_directory), 2) as workers:
        list(workers.parse(chunks_of(file("in", TEXT))))
    assert [worker.process.exitcode for worker in started] == [-signal.SIGKILL]  # ended, not left


@needs_proc
def test_a_closed_pipe_or_a_killed_parent_leaves_no_workers(start, file, model_directory):
    path = file("in", TEXT * 40)
    closed = start(model_directory, path, "--workers", 2)
    closed.stdout.readline()
    closed.stdout.close()
    assert closed.stderr.read() == b""
    assert closed.wait(30) == 141
    assert until(lambda: not session(closed.pid), 10)
    killed = start(model_directory, path, "--workers", 2)
    killed.stdout.readline()
    assert len(session(killed.pid)) == 4
    killed.kill()
    assert until(lambda: not session(killed.pid), 10)
    killed.communicate()


def test_threads_are_those_of_all_workers_together(monkeypatch):
    assert [threads_per_worker(8, k) for k in (1, 3, 8, 20)] == [8, 2, 1, 1]
    monkeypatch.setenv("OMP_NUM_THREADS", "6")
    assert threads_per_worker(None, 2) == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "abc")  # which OpenMP ignores
    assert threads_per_worker(None, 1) == worker_pool.cores()
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert threads_per_worker(None, 1) == worker_pool.cores()


def test_a_worker_does_not_take_another_model_than_the_others(saved, file):
    given = replace(settings(saved), digest="of another")
    with pytest.raises(CheckpointError, match="not the model that the command started with"):
        load_parser(given)
    with (
        pytest.raises(CheckpointError, match="not the model"),
        WorkerPool(given, 1) as workers,
    ):
        list(workers.parse(chunks_of(file("in", TEXT))))
    assert load_parser(replace(given, digest=digest_of_model(saved)))
