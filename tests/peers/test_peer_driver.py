"""The driver of benchmarks/peers with a fake peer, and its environments."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import dyparse_itself
import pytest
import run as driver
import spacy_arc_eager
from environments import InstallError, call, filled_in, python_of
from helpers.peers import PEERS
from helpers.tiny import PROJECT, sample
from measurement import Row
from peer_script import environment, error_message
from table import markdown

from dyparse.errors import ConfigError
from dyparse.evaluation.attachment_scores import attachment_scores

ROW = Row("fake", "a fake parser", "words")
FAKE = """
import sys
from pathlib import Path
sys.path.insert(0, {peers!r})
from measurement import Measurement, OutOfTimeError, read_job, versions

job = read_job()
with Path({calls!r}).open("a") as calls:
    calls.write(job.row + "\\n")
{before}
measurement = Measurement(job)
parse = lambda path: path.write_bytes(Path(job.test).read_bytes())
measurement.start()
try:
    while True:
        measurement.updated(100, parse)
except OutOfTimeError:
    measurement.out_of_time()
Path(job.directory, "model").write_bytes(b"12345")
measurement.parsed(parse, {{"conllu": lambda: parse(Path(job.directory, "timed"))}})
measurement.finish(Path(job.directory, "model"), versions("pip"))
"""


def fake_peer(tmp_path: Path, before: str = "") -> driver.Peer:
    script = tmp_path / "fake.py"
    calls = str(tmp_path / "calls")
    script.write_text(FAKE.format(peers=str(PEERS), calls=calls, before=before), encoding="utf-8")
    return driver.Peer("fake", script, (), (ROW,))


def test_the_result_of_a_peer_is_scored_and_saved(tmp_path, options):
    found = driver.Run(options).result(fake_peer(tmp_path), ROW)
    assert json.loads((tmp_path / "out" / "all" / "fake.json").read_text()) == found
    gold = sample("test")[:5]
    chains = [s.with_tree(range(len(s)), ["root"] + ["dep"] * (len(s) - 1)) for s in gold]
    assert found["end"]["uas"] == attachment_scores(gold, chains).uas
    assert found["end"]["reason"] == "stopped after 0.001 CPU minutes"
    assert found["training_words"] >= 100
    assert found["parsing"]["conllu"] > 0
    assert found["model_bytes"] == 5
    assert 1_000_000 < found["peak_bytes"] < 500_000_000


def test_a_result_names_its_commit_machine_and_command(tmp_path, options):
    found = driver.Run(options).result(fake_peer(tmp_path), ROW)
    assert all(found[name] for name in ("commit", "sources", "machine"))
    program, *words = shlex.split(found["command"])[1:]
    again = driver.command_line().parse_args(words)
    assert (PROJECT / program).samefile(driver.__file__)
    assert (again.root, str(again.output)) == ("ud", "all.json")  # no place on this machine
    assert (again.name, again.rows, again.minutes) == ("UD_Fake-Tiny", ["fake"], 0.001)
    assert not any(option in words for option in ("--seed", "--core", "--environments"))
    assert not any(str(tmp_path) in word for word in words)


def test_options_become_words_of_a_command_line():
    words = ["--root", "ud", "--output", "o.json", "--quick", "--task", "text", "--minutes", "2"]
    words += ["--dyparse", "fast", "finetuned encoder.pretrained=/a/b/model", "--models", "/c/d"]
    given = driver.command_line().parse_args(words)
    found = list(driver.words_of(vars(given)))
    expected = ["fast", "finetuned encoder.pretrained=model", Path("d")]
    again = driver.command_line().parse_args(found)
    assert [*again.dyparse, *again.models] == expected
    assert (again.quick, again.minutes, again.task) == (True, 2, "text")


def test_a_line_may_have_minutes_of_its_own(tmp_path, options):
    options.budget = ["other=7", "fake=0.002"]
    found = driver.Run(options).result(fake_peer(tmp_path), ROW)
    assert found["end"]["reason"] == "stopped after 0.002 CPU minutes"
    assert "--minutes 0.002" in found["command"]
    assert "--budget" not in found["command"]
    for wrong in ("fake", "fake=nan", "fake=-1"):
        with pytest.raises(ConfigError, match=f"--budget has {wrong}, expected LINE=MINUTES"):
            driver.budget(wrong)


def test_a_saved_result_is_not_measured_again(tmp_path, options):
    peer = fake_peer(tmp_path)
    first = driver.Run(options).result(peer, ROW)
    assert driver.Run(options).result(peer, ROW) == first
    assert (tmp_path / "calls").read_text() == "fake\n"


def test_a_result_with_other_options_is_not_reused(tmp_path, options):
    peer = fake_peer(tmp_path)
    driver.Run(options).result(peer, ROW)
    options.minutes = 0.002
    with pytest.raises(ConfigError, match="other options"):
        driver.Run(options).result(peer, ROW)


def test_the_failure_of_a_peer_is_recorded_and_tried_again(tmp_path, options):
    broken = fake_peer(tmp_path, before="raise ValueError('no such parser')")
    failed = driver.Run(options).result(broken, ROW)
    assert failed["failed"] == "exit status 1: ValueError: no such parser"
    assert "no such parser" in markdown([failed])
    assert "failed" not in driver.Run(options).result(fake_peer(tmp_path), ROW)


def test_a_run_with_a_failed_line_prints_the_others_and_is_an_error(
    tmp_path, options, monkeypatch, capsys
):
    broken = fake_peer(tmp_path, before="raise ValueError('no such parser')")
    monkeypatch.setattr(driver, "word_peers", lambda _: [broken])
    given = ["--root", options.root, "--name", options.name, "--output", str(options.output)]
    monkeypatch.setattr(sys, "argv", ["run.py", *given])
    with pytest.raises(SystemExit) as stop:
        driver.main()
    assert stop.value.code == 2
    out, err = capsys.readouterr()
    assert "| a fake parser |" in out
    assert "failed: fake; run again to try them again" in err
    assert json.loads(options.output.read_text())["rows"][0]["row"] == "fake"


def test_a_failed_installation_of_a_peer_is_recorded(tmp_path, options, monkeypatch):
    def fail(*_: object) -> None:
        raise InstallError("pip install fake: no such package")

    monkeypatch.setattr(driver, "python_of", fail)
    failed = driver.Run(options).result(fake_peer(tmp_path), ROW)
    assert failed["failed"] == "pip install fake: no such package"


@pytest.mark.parametrize(
    ("log", "message"),
    [
        ("", "no message"),
        ("reading\nkilled\n\n", "killed"),
        ("Traceback (most recent call last):\n  File x\nE: no\nmore\n", "E: no"),
        (
            "a\nTraceback (most recent call last):\n  File x\nE: one\n\nthen\n"
            "Traceback (most recent call last):\n  File y\n    f()\nx.F: two\n\tsee\n",
            "x.F: two",
        ),
    ],
)
def test_the_error_message_is_that_of_the_last_traceback(log, message):
    assert error_message(log) == message


def test_scripts_run_with_one_thread():
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    assert {environment()[name] for name in names} == {"1"}


def test_the_output_is_a_json_file(options):
    options.output = options.output.with_suffix("")
    with pytest.raises(ConfigError, match=r"ends in \.json"):
        driver.Run(options)


def test_every_line_has_its_own_name_and_every_experiment_a_line():
    rows = [row for peer in driver.PEERS.values() for row in peer.rows]
    rows += dyparse_itself.rows(["default", "fast"])
    assert len({row.name for row in rows}) == len({row.title for row in rows}) == len(rows)
    assert [row.options["overrides"] for row in rows[-2:]] == [[], ["experiment=fast"]]


def test_lines_are_chosen_by_name():
    peers = list(driver.PEERS.values())
    assert [row.name for _, row in driver.chosen(peers, ["uuparser", "spacy"])] == [
        "spacy",
        "uuparser",
    ]
    assert len(driver.chosen(peers, None)) == sum(len(peer.rows) for peer in peers)
    with pytest.raises(ConfigError, match="--rows has nothing; expected any of udpipe-static, "):
        driver.chosen(peers, ["nothing", "spacy"])
    with pytest.raises(ConfigError, match="--budget has supr; expected any of "):
        driver.require_known(peers, {"supr": 60.0, "spacy": 5.0}, "--budget")


def test_spacy_is_trained_and_parses_test(options, treebank):
    pytest.importorskip("spacy", reason="spaCy is not installed")
    text = "".join(s.to_conllu() for s in sample("train")[:300])  # it drops labels that are rare
    (treebank / "UD_Fake-Tiny" / "x-ud-train.conllu").write_text(text, encoding="utf-8")
    line = spacy_arc_eager.ROWS[0]
    peer = driver.Peer("spacy", PEERS / "spacy_arc_eager.py", (), (line,))
    found = driver.Run(options).result(peer, line)
    assert "failed" not in found, found
    assert found["training_words"] > 0


def test_dyparse_runs_where_the_driver_runs(tmp_path):
    assert python_of("dyparse", (), tmp_path) == Path(sys.executable)


def test_peers_use_our_version_of_torch():
    import torch

    ((step,),) = filled_in((("torch=={torch}",),))
    assert step == f"torch=={torch.__version__.split('+')[0]}"


def test_an_environment_is_created_once(tmp_path, monkeypatch):
    calls: list[list[str]] = []

    def pretend(command: list[str]) -> None:
        calls.append(command)
        (tmp_path / "peer").mkdir(exist_ok=True)

    monkeypatch.setattr("environments.call", pretend)
    for _ in range(2):
        assert python_of("peer", (("a==1", "b"),), tmp_path) == tmp_path / "peer/bin/python"
    assert [command[1:4] for command in calls] == [
        ["-m", "venv", calls[0][3]],
        ["-m", "pip", "install"],
    ]
    python_of("peer", (("a==2", "b"),), tmp_path)
    assert calls[-1][-2:] == ["a==2", "b"]
    assert len(calls) == 4


def test_a_failed_command_is_an_error_with_its_last_line():
    with pytest.raises(InstallError, match="no such package"):
        call([sys.executable, "-c", "import sys; sys.exit('no such package')"])
