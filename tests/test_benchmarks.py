"""The benchmarks run, and say what they promise."""

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


def test_throughput_tells_ratios_and_where_the_time_goes_and_writes_a_trace(tmp_path):
    trace = tmp_path / "trace.json"
    told = run(
        "benchmarks/throughput.py",
        *("--seconds", 1, "--threads", 1, "--device", "cpu", "--profile", trace),
        *("--only", "training", "parsing"),
        cwd=tmp_path,
    )
    assert told.returncode == 0, told.stderr
    for what in ("training", "parsing"):
        line = rf"{what} +[\d,]+ tokens/s +encoder alone +[\d,]+ +ratio (\d\.\d\d)"
        assert 0.2 < float(re.search(line, told.stdout)[1]) < 1.5
    for stage in ("encoding", "backward", "optimizer", "oracle", "walk: scores", "walk: features"):
        assert re.search(rf"^  {stage} +[\d.]+ +[\d.]+%$", told.stdout, re.MULTILINE), stage
    shares = [float(share) for share in re.findall(r"([\d.]+)%$", told.stdout, re.MULTILINE)]
    assert sum(shares) == pytest.approx(200, abs=3)  # of two tables
    names = {event.get("name") for event in json.loads(trace.read_text())["traceEvents"]}
    assert {"encoding", "backward", "walk"} <= names


@pytest.mark.parametrize("length", [1, 10, 57])
def test_sentences_of_a_length_are_trees_of_exactly_that_many_words(growth, length):
    made = growth.sentences_of_length(sample("train")[:50], length, words=600)
    assert sum(map(len, made)) >= 600
    for sentence in made:
        assert len(sentence) == length
        assert are_trees(np.array([[0, *sentence.head]])).all()
        assert sentence.head.count(0) == 1
