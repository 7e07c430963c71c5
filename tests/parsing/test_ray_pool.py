"""`dyparse parse-corpus`: many files, some of them hopeless, on a Ray of this machine."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import types
from collections import deque
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from helpers.tiny import sample
from test_workers import BAD, DEADLY, DIES_OF_DEADLY, needs_proc, python_path, session, until

from dyparse.cli.main import main
from dyparse.errors import ConfigError, DyparseError, TreebankError
from dyparse.model.checkpoint_files import digest_of_model
from dyparse.parsing import ray_pool as on_ray
from dyparse.parsing.corpus import (
    MOST_ATTEMPTS,
    Job,
    find_jobs,
    is_finished,
    parse_file,
)
from dyparse.parsing.ray_pool import Outcome, ParserActor, Pool
from dyparse.parsing.worker_pool import Settings
from dyparse.runtime.locks import LOCK, exclusive_directory

TEXT = "".join(s.to_conllu() for s in sample("dev")[:40])
needs_ray = pytest.mark.skipif(
    find_spec("ray") is None, reason='Ray is not installed: pip install "dyparse[ray]"'
)


@pytest.fixture
def corpus(tmp_path):
    """A directory of three files: one below it, one packed."""
    directory = tmp_path / "corpus"
    (directory / "sub").mkdir(parents=True)
    (directory / "a.conllu").write_text(TEXT)
    (directory / "sub" / "b.conllu").write_text(TEXT[: TEXT.index("\n\n") + 2])
    (directory / "sub" / "c.conllu.gz").write_bytes(gzip.compress(TEXT.encode()))
    (directory / "README.md").write_text("no corpus")
    return directory


@pytest.fixture
def parser(parser):
    """As the command loads it."""
    return replace(parser, precision="auto")


@pytest.fixture
def settings(model_directory):
    return Settings(str(model_directory), "cpu", 1, text=False, max_tokens_per_batch=2000)


@pytest.fixture
def command(capsys):
    """command(*arguments) → (exit status, standard output, standard error)."""

    def call(*arguments):
        try:
            status = main(["parse-corpus", *map(str, arguments)])
        except SystemExit as stop:
            status = stop.code
        return status, *capsys.readouterr()

    return call


@pytest.fixture
def here(monkeypatch):
    """Files are parsed by an actor in this process; the jobs that were given to it."""
    given = []

    def parse_here(jobs, model, settings, _pool):
        actor = ParserActor(model, settings)
        for job in jobs:
            given.append(Path(job.source).name)
            columns = actor({"source": [job.source], "output": [job.output]})
            yield Outcome(**{name: column[0] for name, column in columns.items()})

    monkeypatch.setattr("dyparse.cli.parse_corpus.parse_on_ray", parse_here)
    return given


def expected(parser):
    """TEXT, parsed."""
    return "".join(s.to_conllu() for s in parser.parse(sample("dev")[:40]))


def test_jobs_keep_the_names_below_a_directory(corpus, tmp_path):
    out = corpus / "parsed"  # what was parsed before is no input
    out.mkdir()
    (out / "a.conllu").write_text(TEXT)
    jobs = find_jobs([str(corpus)], out, text=False)
    names = ["a.conllu", "sub/b.conllu", "sub/c.conllu.gz"]
    assert [job.source for job in jobs] == [str(corpus / name) for name in names]
    assert [job.output for job in jobs] == [str(out / name) for name in names]
    (corpus / "d.txt").write_text("A dog.")
    (job,) = find_jobs([str(corpus)], out, text=True)
    assert job.output == str(out / "d.conllu")
    same = find_jobs([str(corpus / "a.conllu"), str(corpus)], out, text=False)
    assert same == jobs
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(corpus / "a.conllu", other)
    with pytest.raises(ConfigError, match="would both be written to"):
        find_jobs([str(corpus), str(other)], out, text=False)
    with pytest.raises(ConfigError, match="would overwrite"):
        find_jobs([str(corpus)], corpus, text=False)
    deep = corpus / "sub" / "b.conllu"  # an input that is where another's output will be
    (other / "sub").mkdir()
    shutil.copy(deep, other / "sub")
    with pytest.raises(ConfigError, match=r"would overwrite .*b\.conllu"):
        find_jobs([str(other), str(deep)], corpus, text=False)
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "a.conllu").symlink_to(corpus / "a.conllu")
    with pytest.raises(ConfigError, match=r"would overwrite .*corpus/a\.conllu"):
        find_jobs([str(corpus / "a.conllu")], tmp_path / "links", text=False)
    with pytest.raises(TreebankError, match=r"no file in it ends in \.txt"):
        find_jobs([str(other)], out, text=True)
    with pytest.raises(TreebankError, match="no such file"):
        find_jobs([str(corpus / "none")], out, text=False)


def test_a_file_is_finished_until_model_options_input_or_output_change(
    parser, settings, corpus, tmp_path
):
    model = digest_of_model(settings.model)
    job = Job(str(corpus / "a.conllu"), str(tmp_path / "out" / "a.conllu"))
    assert not is_finished(job, model, settings)
    record = parse_file(parser, job, model, settings)
    assert (record.sentences, record.words) == (40, sum(map(len, sample("dev")[:40])))
    assert Path(job.output).read_text() == expected(parser)
    assert is_finished(job, model, settings)
    assert not is_finished(job, "another model", settings)
    assert not is_finished(job, model, settings._replace(text=True))
    assert not is_finished(job, model, settings._replace(max_tokens_per_batch=100))
    assert not is_finished(job, model, settings._replace(precision="float32"))
    os.utime(job.source)  # touched, not changed
    assert is_finished(job, model, settings)
    Path(job.source).write_text(TEXT.swapcase())  # the same size
    assert not is_finished(job, model, settings)
    Path(job.source).write_text(TEXT)
    assert is_finished(job, model, settings)
    Path(job.output).write_text("half of it")
    assert not is_finished(job, model, settings)
    parse_file(parser, job, model, settings)
    job.record.write_text("[]")
    assert not is_finished(job, model, settings)


def test_an_output_whose_record_could_not_be_written_is_not_finished(
    parser, settings, corpus, tmp_path, monkeypatch
):
    job = Job(str(corpus / "a.conllu"), str(tmp_path / "out" / "a.conllu"))
    parse_file(parser, job, "one", settings)
    monkeypatch.setattr("dyparse.parsing.corpus.write", full)
    with pytest.raises(OSError, match="full"):
        parse_file(parser, job, "two", settings)  # an output of the same size, of another model
    assert not is_finished(job, "one", settings)


def full(*_):
    raise OSError("full")


def test_a_file_that_changes_while_it_is_parsed_leaves_the_old_output(
    parser, settings, corpus, tmp_path, monkeypatch
):
    job = Job(str(corpus / "a.conllu"), str(tmp_path / "out" / "a.conllu"))
    parse_file(parser, job, "one", settings)
    before = Path(job.output).read_bytes()

    def write_and_change(sentences, _out):
        deque(sentences, maxlen=0)
        Path(job.source).write_text(TEXT * 2)

    monkeypatch.setattr("dyparse.parsing.corpus.write_sentences", write_and_change)
    with pytest.raises(TreebankError, match="changed while it was parsed"):
        parse_file(parser, job, "one", settings)
    assert Path(job.output).read_bytes() == before


def test_the_digest_of_a_model_is_that_of_its_parts(model_directory, tmp_path):
    copy = shutil.copytree(model_directory, tmp_path / "copy")
    assert digest_of_model(copy) == digest_of_model(model_directory)
    (copy / "metrics.json").write_text("{}")
    assert digest_of_model(copy) == digest_of_model(model_directory)
    with (copy / "config.yaml").open("a") as file:
        file.write("# changed\n")
    assert digest_of_model(copy) != digest_of_model(model_directory)


def test_packed_files_stay_packed_and_damaged_ones_are_told(parser, settings, corpus, tmp_path):
    job = Job(str(corpus / "sub" / "c.conllu.gz"), str(tmp_path / "c.conllu.gz"))
    parse_file(parser, job, "m", settings)
    once = Path(job.output).read_bytes()
    assert gzip.decompress(once).decode() == expected(parser)
    parse_file(parser, job, "m", settings)
    assert Path(job.output).read_bytes() == once
    packed = Path(job.source).read_bytes()
    for damaged in (packed[:-30], b"no gzip", packed[:50] + b"\0\0\0\0" + packed[54:]):
        Path(job.source).write_bytes(damaged)
        with pytest.raises(TreebankError, match=r"c\.conllu\.gz: damaged"):
            parse_file(parser, job, "m", settings)
        assert Path(job.output).read_bytes() == once
        assert not job.attempts.exists()


def test_a_file_that_kills_is_given_up_after_some_attempts(parser, settings, corpus, tmp_path):
    job = Job(str(corpus / "a.conllu"), str(tmp_path / "a.conllu"))
    left_over = tmp_path / ".a.conllu.12345.tmp"
    left_over.write_text("half of it")
    job.attempts.write_text(str(MOST_ATTEMPTS))
    with pytest.raises(DyparseError, match="3 processes died while they parsed it"):
        parse_file(parser, job, "m", settings)
    assert not any(path.exists() for path in (left_over, job.attempts, Path(job.output)))
    job.attempts.write_text(str(MOST_ATTEMPTS - 1))
    parse_file(parser, job, "m", settings)
    assert not job.attempts.exists()


def test_failures_are_listed_and_the_rest_is_parsed_once(
    command, here, parser, model_directory, corpus, tmp_path
):
    out = tmp_path / "out"
    bad = corpus / "bad.conllu"
    bad.write_text(TEXT + BAD)
    status, told, err = command(model_directory, corpus, "-o", out)
    assert status == 2
    assert told == f"4 files: 3 parsed, 0 finished before, 1 failed; in {out}\n"
    assert f"failed: {bad}:{TEXT.count(chr(10)) + 2}: sentence 'bad'" in err
    assert (out / "a.conllu").read_text() == expected(parser)
    assert not [path for path in out.rglob("*") if "bad" in path.name]
    bad.write_text(TEXT)
    here.clear()
    status, told, _ = command(model_directory, corpus, "-o", out)
    assert (status, here) == (0, ["bad.conllu"])
    assert "1 parsed, 3 finished before, 0 failed" in told
    again = command(model_directory, corpus, "-o", out)
    assert "0 parsed, 4 finished before" in again[1]
    assert here == ["bad.conllu"]


def test_a_corpus_that_another_process_parses_is_left_alone(
    command, model_directory, corpus, tmp_path
):
    with exclusive_directory(tmp_path / "out"):
        status, _, err = command(model_directory, corpus, "-o", tmp_path / "out")
    assert status == 2
    assert (
        "another process is parsing there; wait for it, or choose another place with --output"
        in err
    )
    assert [path.name for path in (tmp_path / "out").iterdir()] == [LOCK]


def test_text_becomes_conllu(command, here, parser, model_directory, tmp_path):
    (tmp_path / "in.txt").write_text("A dog barks.\n\nCats sleep.\n")
    out = tmp_path / "out"
    assert command(model_directory, tmp_path / "in.txt", "--text", "-o", out)[0] == 0
    wanted = "".join(s.to_conllu() for s in parser.parse(["A dog barks.", "Cats sleep."]))
    assert (out / "in.conllu").read_text() == wanted
    assert here == ["in.txt"]


def test_what_cannot_be_started_is_one_message(command, model_directory, corpus, tmp_path):
    out = tmp_path / "out"
    for arguments, finding in (
        ([tmp_path, corpus, "-o", out], "config.yaml"),
        ([model_directory, tmp_path / "none", "-o", out], "no such file"),
        ([model_directory, corpus, "-o", corpus / "a.conllu"], "a file; expected a directory"),
        ([model_directory, corpus, "-o", out, "--actors", 0], "--actors is 0"),
        ([model_directory, corpus, "-o", out, "--threads-per-actor", 0], "--threads-per-actor"),
    ):
        status, told, err = command(*arguments)
        assert (status, told) == (2, "")
        assert finding in err
        assert err.count("\n") == 1
    assert not out.exists()


def test_without_ray_the_message_says_what_to_install(
    command, model_directory, corpus, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "ray", None)
    status, _, err = command(model_directory, corpus, "-o", tmp_path / "out")
    assert status == 2
    assert 'pip install "dyparse[ray]"' in err
    assert err.count("\n") == 1


def test_ray_is_told_to_send_no_reports(monkeypatch):
    told = {}

    def init(**_):
        told.update(os.environ)
        raise ConnectionError("no Ray\nand more")

    monkeypatch.delenv("RAY_USAGE_STATS_ENABLED", raising=False)
    monkeypatch.setattr(os, "environ", dict(os.environ))
    fake = types.SimpleNamespace(init=init, data=types.SimpleNamespace())
    monkeypatch.setitem(sys.modules, "ray", fake)
    monkeypatch.setitem(sys.modules, "ray.data", fake.data)
    with (
        pytest.raises(ConfigError, match=r"--address auto: Ray does not let us in \(no Ray\)"),
        on_ray._connected("auto"),
    ):
        pass
    assert told["RAY_USAGE_STATS_ENABLED"] == "0"


def test_an_address_where_nobody_listens_is_told_at_once():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        on_ray._require_listener(f"127.0.0.1:{port}")
        on_ray._require_listener(f"ray://127.0.0.1:{port}")
    for address in (f"127.0.0.1:{port}", "127.0.0.1:port", "127.0.0.1:99999"):
        with pytest.raises(ConfigError, match="nobody listens there"):
            on_ray._require_listener(address)
    on_ray._require_listener("auto")


def test_actors_must_fit():
    def number(there, jobs=100, gpus=0, **pool):
        return on_ray._number_of_actors(there, Pool(**pool), gpus, jobs)

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
    for actor, finding in (
        (ParserActor("other", settings), "not the model that the command began with"),
        (ParserActor("m", settings._replace(model=str(tmp_path))), "config.yaml"),
    ):
        assert finding in actor.outcome(job).error
    assert not Path(job.output).exists()


def on_local_ray(*arguments, **environment):
    """The command in a process group of its own, with a Ray of its own."""
    kept = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    return subprocess.Popen(
        [sys.executable, "-m", "dyparse.cli.main", "parse-corpus", *arguments],
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
    (patch / "sitecustomize.py").write_text(
        f"import os, dyparse.parsing.chunks as shares{DIES_OF_DEADLY}"
    )
    (corpus / "deadly.conllu").write_text(TEXT + DEADLY)
    (corpus / "bad.conllu").write_text(TEXT + BAD)
    path = python_path(patch)
    process = on_local_ray(model_directory, corpus, "-o", out, PYTHONPATH=path)
    told, err = process.communicate(timeout=300)
    assert process.returncode == 2, err
    assert "5 files: 3 parsed, 0 finished before, 2 failed" in told
    assert f"failed: {corpus / 'bad.conllu'}:" in err
    assert f"failed: {corpus / 'deadly.conllu'}: 3 processes died while they parsed it" in err
    assert "Traceback" not in err
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
