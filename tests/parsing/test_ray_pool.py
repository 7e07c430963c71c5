"""Ray: actors that fit, addresses that answer, and a corpus parsed on a Ray of this machine."""

from __future__ import annotations

import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import types
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from helpers.corpora import make_corpus
from helpers.parse_input import BAD, DEADLY, DIES_OF_DEADLY, UNTAGGED
from helpers.processes import needs_proc, python_path, session, until
from helpers.tiny import sample

from dyparse.errors import ConfigError
from dyparse.model.parser import Parser
from dyparse.parsing import ray_pool
from dyparse.parsing.corpus import Job
from dyparse.parsing.ray_pool import ParserActor, Pool
from dyparse.parsing.settings import Settings
from dyparse.runtime.locks import LOCK

TEXT = "".join(s.to_conllu() for s in sample("dev")[:40])
IMPORTED = "import os\nopen(f'{}/imported-{{os.getpid()}}', 'w').close()\n"
needs_ray = pytest.mark.skipif(
    find_spec("ray") is None, reason='Ray is not installed: pip install "dyparse[ray]"'
)


@pytest.fixture
def corpus(tmp_path):
    """A directory of three files to parse: one in a directory below it, one packed."""
    return make_corpus(tmp_path / "corpus", TEXT)


@pytest.fixture
def parser(model_directory):
    """The parser as the command loads it."""
    return Parser.load(model_directory, precision="auto")


@pytest.fixture
def settings(model_directory):
    return Settings(model=str(model_directory), threads=1)


def expected(parser):
    """TEXT, parsed."""
    return "".join(s.to_conllu() for s in parser.parse(sample("dev")[:40]))


def test_ray_is_asked_to_send_no_reports(monkeypatch):
    environment = {}

    def init(**_):
        environment.update(os.environ)
        raise ConnectionError("no Ray\nand more")

    monkeypatch.delenv("RAY_USAGE_STATS_ENABLED", raising=False)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    fake = types.SimpleNamespace(init=init, data=types.SimpleNamespace())
    monkeypatch.setitem(sys.modules, "ray", fake)
    monkeypatch.setitem(sys.modules, "ray.data", fake.data)
    with (
        pytest.raises(ConfigError, match=r"--address auto: Ray refuses the connection \(no Ray\)"),
        ray_pool._connected("auto"),
    ):
        pass
    assert environment["RAY_USAGE_STATS_ENABLED"] == "0"


def test_an_address_where_nobody_listens_is_an_error_at_once():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        ray_pool._require_listener(f"127.0.0.1:{port}")
        ray_pool._require_listener(f"ray://127.0.0.1:{port}")
    for address in (f"127.0.0.1:{port}", "127.0.0.1:port", "127.0.0.1:99999"):
        with pytest.raises(ConfigError, match="nobody listens there"):
            ray_pool._require_listener(address)
    ray_pool._require_listener("auto")


def test_actors_must_fit():
    def number(there, jobs=100, gpus=0, **pool):
        return ray_pool._number_of_actors(there, Pool(**pool), gpus, jobs)

    assert number({"CPU": 8.0}) == 8
    assert number({"CPU": 8.0}, threads=3) == 2
    assert number({"CPU": 8.0}, actors=4) == 4
    assert number({"CPU": 8.0}, jobs=3) == 3
    assert number({"CPU": 8.0, "GPU": 2.0}, gpus=1) == 2
    for there, pool in (({"CPU": 8.0}, {"actors": 9}), ({"CPU": 2.0}, {"threads": 3})):
        with pytest.raises(ConfigError, match="do not fit: Ray has"):
            number(there, **pool)
    with pytest.raises(ConfigError, match="and a GPU do not fit"):
        number({"CPU": 8.0}, gpus=1)


def test_an_actor_with_another_model_parses_nothing(settings, corpus, tmp_path):
    job = Job(str(corpus / "a.conllu"), str(tmp_path / "a.conllu"))
    for wrong, finding in (
        ({"digest": "other"}, "not the model that the command started with"),
        ({"model": str(tmp_path)}, "config.yaml"),
        ({"imports": ("my_nosuch",)}, "my_nosuch"),
    ):
        assert finding in ParserActor(replace(settings, **wrong)).outcome(job).error
    assert not Path(job.output).exists()


def on_local_ray(*arguments, **environment):
    """The command in a process group of its own, with a Ray of its own."""
    kept = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    return subprocess.Popen(
        [sys.executable, "-m", "dyparse", "parse-corpus", *arguments],
        env=kept | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )


@needs_ray
@needs_proc
def test_a_corpus_is_parsed_on_ray_though_a_file_kills_its_actors(
    model_directory, parser, corpus, tmp_path
):
    patch, out = tmp_path / "patch", tmp_path / "out"
    patch.mkdir()
    (patch / "sitecustomize.py").write_text(DIES_OF_DEADLY)
    (patch / "my_loss.py").write_text(IMPORTED.format(tmp_path))
    (corpus / "deadly.conllu").write_text(TEXT + DEADLY)
    (corpus / "bad.conllu").write_text(TEXT + UNTAGGED + BAD)
    path = python_path(patch)
    arguments = [model_directory, corpus, "-o", out, "--import", "my_loss"]
    process = on_local_ray(*arguments, PYTHONPATH=path)
    printed, err = process.communicate(timeout=300)
    assert process.returncode == 2, err
    assert "5 files: 3 parsed, 0 finished before, 2 failed" in printed
    assert f"failed: {corpus / 'bad.conllu'}:" in err
    assert f"failed: {corpus / 'deadly.conllu'}: 3 processes died while they parsed it" in err
    assert err.count("warning: the model reads UPOS, which the input lacks") == 1
    assert "Traceback" not in err
    importers = {int(path.name.removeprefix("imported-")) for path in tmp_path.glob("imported-*")}
    assert len(importers - {process.pid}) >= 3  # the actors that died too
    for name in ("a.conllu", "sub/c.conllu.gz"):
        opened = gzip.open if name.endswith(".gz") else open
        with opened(out / name, "rt", encoding="utf-8") as file:
            assert file.read() == expected(parser)
        record = json.loads((out / f"{name}.json").read_text())
        assert record["sentences"] == 40
    kept = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    outputs = {"a.conllu", "sub/b.conllu", "sub/c.conllu.gz"}
    assert kept == outputs | {f"{name}.json" for name in outputs} | {LOCK}
    assert until(lambda: not session(process.pid), 20)


@needs_ray
@needs_proc
@pytest.mark.slow  # Ray takes long to start
@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_ends_a_corpus_and_leaves_nothing_half_written(
    number, status, model_directory, tmp_path
):
    source, out = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    (source / "a.conllu").write_text(TEXT * 2000)
    process = on_local_ray(model_directory, source, "-o", out)
    assert until(lambda: list(out.glob(".a.conllu.*.tmp")), 120)
    process.send_signal(number)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err.splitlines()[-1]) == (
        status,
        {143: "terminated", 130: "interrupted"}[status],
    )
    assert "Traceback" not in err
    assert until(lambda: not session(process.pid), 20)
    assert [path.name for path in out.iterdir()] == [LOCK]
