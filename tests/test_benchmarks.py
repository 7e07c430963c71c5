"""The benchmarks run and print what they promise."""

import importlib.util
import json
import re
import sys

import numpy as np
import pytest
from helpers.tiny import PROJECT, run, sample

from dyparse.evaluation.exhaustive import are_trees

FOLDER = PROJECT / "benchmarks"


@pytest.fixture
def growth(monkeypatch):
    """benchmarks/growth.py as a module."""
    monkeypatch.syspath_prepend(str(FOLDER))
    spec = importlib.util.spec_from_file_location("growth", FOLDER / "growth.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "growth", module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow  # measures for a minute
def test_throughput_prints_ratios_and_stages_and_writes_a_trace(tmp_path):
    trace = tmp_path / "trace.json"
    printed = run(
        "benchmarks/throughput.py",
        "--seconds=1",
        "--threads=1",
        "--device=cpu",
        f"--profile={trace}",
        "--only",
        "training",
        "parsing",
        cwd=tmp_path,
    )
    assert printed.returncode == 0, printed.stderr
    for what in ("training", "parsing"):
        line = rf"{what} +[\d,]+ tokens/s +encoder alone +[\d,]+ +ratio (\d\.\d\d)"
        assert 0.2 < float(re.search(line, printed.stdout)[1]) < 1.5
    stages = ["encoding", "backward", "optimizer", "oracle", "rollout: scores", "decoding: scores"]
    for stage in stages:
        assert re.search(rf"^  {stage} +[\d.]+ +[\d.]+%$", printed.stdout, re.MULTILINE), stage
    percents = [float(number) for number in re.findall(r"([\d.]+)%$", printed.stdout, re.MULTILINE)]
    assert sum(percents) == pytest.approx(200, abs=3)  # two tables
    names = {event.get("name") for event in json.loads(trace.read_text())["traceEvents"]}
    assert {"encoding", "backward", "rollout", "decoding"} <= names


@pytest.mark.slow  # compiles all of them
def test_explorations_prints_a_line_for_each(tmp_path):
    options = ("sample", "--sentences=40", "--epochs=1")
    printed = run("benchmarks/explorations.py", *options, cwd=tmp_path)
    assert printed.returncode == 0, printed.stderr
    lines = re.findall(r"^(.+?) +([\d.]+) +([\d.]+) +([\d,]+)$", printed.stdout, re.MULTILINE)
    assert [name for name, *_ in lines][0::2] == [
        "explore",
        "aggrevate",
        "lols",
        "lols, all states",
    ]
    assert all(float(seconds) > 0 for _, seconds, _, _ in lines)
    learned = {name: int(states.replace(",", "")) for name, _, _, states in lines}
    assert learned["aggrevate"] > 1.5 * learned["explore"] > learned["lols"] > 100


@pytest.mark.slow  # starts processes
def test_same_trees_prints_a_line_for_a_model(model_directory, tmp_path):
    path = tmp_path / "dev.conllu"
    path.write_text("".join(s.to_conllu() for s in sample("dev")[:200]), encoding="utf-8")
    printed = run("benchmarks/same_trees.py", str(model_directory), str(path), cwd=tmp_path)
    assert printed.returncode == 0, printed.stderr
    assert re.search(r" 0 / \d+ of \d+  none  arc_eager dev$", printed.stdout.rstrip())


@pytest.mark.parametrize("length", [1, 10, 57])
def test_sentences_of_a_length_are_trees_of_exactly_that_many_words(growth, length):
    made = growth.sentences_of_length(sample("train")[:50], length, words=600)
    assert sum(map(len, made)) >= 600
    for sentence in made:
        assert len(sentence) == length
        assert are_trees(np.array([[0, *sentence.head]])).all()
        assert sentence.head.count(0) == 1
