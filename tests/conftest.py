"""What many tests share: a tiny trained parser, the directory it is saved in, the command line."""

from __future__ import annotations

import functools
import io
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from filelock import FileLock  # comes with torch
from helpers.fake_wandb import FakeWandb
from helpers.small_training import AFTER_EVERY_BATCH, SMALL, outcome
from helpers.tiny import fresh_parser, plan, run, sample, trained
from hypothesis import HealthCheck, settings

from dyparse.cli.main import main
from dyparse.model.parser import Parser
from dyparse.parsing.ray_pool import Outcome, ParserActor

torch.set_num_threads(1)  # pytest -n takes the other cores
signal.signal(signal.SIGINT, signal.default_int_handler)  # also where a shell began us with &
CASES = "fuzz cases"  # a property of a test's report


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """once(name, make): a directory that make(directory) filled, one time for all workers."""
    base = tmp_path_factory.getbasetemp()
    root = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def directory(name: str, make: Callable[[Path], None]) -> Path:
        path = root / name
        with FileLock(root / f"{name}.lock"):
            if not (path / ".complete").exists():
                shutil.rmtree(path, ignore_errors=True)  # of a worker that failed
                path.mkdir()
                make(path)
                (path / ".complete").touch()
        return path

    return directory


@pytest.fixture(scope="session")
def model_directory(once: Callable[..., Path]) -> Path:
    """A saved parser that was trained for a few epochs. Read only: copy it to change it."""

    def make(path: Path) -> None:
        train = sample("train")[:100]
        parser, _ = trained(fresh_parser(train), plan(train, sample("dev")[:20]))
        parser.save(path / "model", {"note": "tiny"})

    return once("tiny", make) / "model"


@pytest.fixture(scope="session")
def tiny_pretrained(once: Callable[..., Path]) -> Callable[..., Path]:
    """tiny_pretrained(family, option=value, …): the directory of a tiny pretrained transformer with
    these options in its config. Read only: copy it to change it.
    """

    def directory(family: str = "bert", **changed: Any) -> Path:
        from helpers.tiny_transformers import write_pretrained  # imports libraries of an extra

        name = "-".join(["pretrained", family, *(f"{k}={v}" for k, v in changed.items())])
        return once(name, lambda path: write_pretrained(path / family, family, **changed)) / family

    return directory


@pytest.fixture(scope="session")
def parser(model_directory: Path) -> Parser:
    """The same parser, loaded."""
    return Parser.load(model_directory)


@pytest.fixture(scope="session")
def undisturbed(once):
    """What a training leaves that nothing disturbs, and how long it trained and wrote."""

    def make(path):
        done = run("train.py", *SMALL, "output=run", AFTER_EVERY_BATCH, cwd=path)
        assert done.returncode == 0, done.stderr

    path = once("undisturbed", make) / "run"
    first, last = ((path / name).stat().st_mtime for name in ("config.yaml", "result.json"))
    return outcome(path), last - first


@pytest.fixture
def saved(model_directory, tmp_path):
    """A copy of the tiny model that may be damaged."""
    return shutil.copytree(model_directory, tmp_path / "model")


@pytest.fixture
def dyparse_command(capsys, monkeypatch):
    """dyparse_command(*arguments, stdin=…) → (exit status, standard output, standard error)."""

    def call(*arguments, stdin=""):
        data = stdin.encode() if isinstance(stdin, str) else stdin
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="ascii"))
            try:
                status = main(list(map(str, arguments)))
            except SystemExit as stop:
                status = stop.code
        return status, *capsys.readouterr()

    return call


@pytest.fixture
def no_ray(monkeypatch):
    """`dyparse parse-corpus` parses in this process, without Ray; the names of files it parsed."""
    names = []

    def parse_here(jobs, settings, _pool):
        actor = ParserActor(settings)
        for job in jobs:
            names.append(Path(job.source).name)
            columns = actor({"source": [job.source], "output": [job.output]})
            yield Outcome(**{name: column[0] for name, column in columns.items()})

    monkeypatch.setattr("dyparse.cli.parse_corpus.parse_on_ray", parse_here)
    return names


@pytest.fixture
def fake_wandb(monkeypatch):
    """fake_wandb(key) stands in for wandb, with or without an account."""
    monkeypatch.delenv("WANDB_MODE", raising=False)

    def install(key=None):
        fake = FakeWandb(key)
        monkeypatch.setitem(sys.modules, "wandb", fake)
        return fake

    return install


@pytest.fixture
def fuzz(request, record_property):
    """fuzz(check): hypothesis tries a property as often as the test's parameter says, and counts.

    The property is a function under `given` within the test, so that it may use fixtures.
    """
    how = settings(
        max_examples=request.param,
        deadline=None,  # what is compiled or loaded first takes long
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        print_blob=True,
    )

    def run(check):
        inner, tried = check.hypothesis.inner_test, 0

        @functools.wraps(inner)
        def counting(*drawn, **named):
            nonlocal tried
            tried += 1
            return inner(*drawn, **named)

        check.hypothesis.inner_test = counting
        try:
            how(check)()
        finally:
            record_property(CASES, tried)

    return run


def pytest_terminal_summary(terminalreporter):
    """How many cases the properties under `fuzz` were tried on, in all processes together."""
    reports = terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
    called = [r for r in reports if r.when == "call"]
    if tried := [n for r in called for name, n in r.user_properties if name == CASES]:
        terminalreporter.write_line(f"{sum(tried):,} fuzz cases in {len(tried)} properties")
