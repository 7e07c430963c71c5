"""benchmarks/peers/maltparser.py with a pretended Java."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path

import maltparser
import pytest
from conllu_columns import read_columns
from gold_words import GoldWords
from helpers.peers import job_in
from helpers.tiny import sample

SPLITS = ("train", "dev", "test")


JAVA = """#!{python}
import sys
from pathlib import Path

def value(flag):
    return sys.argv[sys.argv.index(flag) + 1]

if "-version" in sys.argv:
    sys.exit(print('openjdk version "17.0.1" 2021-10-19', file=sys.stderr))
with Path(value("-w"), "calls").open("a") as calls:
    calls.write(" ".join(sys.argv[sys.argv.index("-m") :]) + "\\n")
if value("-m") == "learn":
    Path(value("-w"), "model.mco").write_bytes(b"12345")
else:
    Path(value("-o")).write_bytes(Path(value("-i")).read_bytes())
"""


@pytest.fixture
def malt_job(tmp_path, monkeypatch):
    """A job, which is also the one on the command line; Java is a script that copies test."""
    GoldWords().write_inputs({split: sample(split)[:2] for split in SPLITS}, tmp_path)
    job = job_in(tmp_path, options=maltparser.ROWS[-1].options, parse_seconds=0.001)
    job.save(tmp_path / "job.json")
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(JAVA.format(python=sys.executable))
    java.chmod(0o755)
    monkeypatch.setenv("PATH", str(java.parent))
    monkeypatch.setattr(sys, "argv", ["maltparser.py", str(tmp_path / "job.json")])
    monkeypatch.setattr(maltparser, "distribution", lambda _: Namespace(locate_file=Path))
    return job


def test_maltparser_trains_once_and_parses_test_with_words_for_tags(tmp_path, malt_job):
    maltparser.main()
    learn, *parses = (tmp_path / "calls").read_text().splitlines()
    train, test = (tmp_path / f"{split}-no-tags.conllu" for split in ("train", "test"))
    options = "-if conllu -a 2planar -l liblinear -grl root"
    assert learn == f"-m learn -w {tmp_path} -c model -i {train} {options}"
    end = tmp_path / "end.conllu"
    assert parses[0] == f"-m parse -w {tmp_path} -c model -i {test} -o {end}"
    assert [s.upos for s in read_columns(end)] == [s.form for s in sample("test")[:2]]
    measured = json.loads((tmp_path / "measured.json").read_text())
    assert (measured["snapshots"], measured["end"]["complete"]) == ([], True)
    assert measured["training_words"] == malt_job.train_words
    assert (measured["model_bytes"], measured["parsing"]["conllu"] > 0) == (5, True)
    assert measured["versions"] == {"MaltParser": "1.9.2", "Java": "17.0.1"}


@pytest.mark.usefixtures("malt_job")
def test_without_java_there_is_a_clear_error(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match="MaltParser needs Java"):
        maltparser.main()


def test_the_error_of_maltparser_is_its_message_without_heading_and_frames():
    heading = "-----\n          MaltParser 1.9.2  \n-----\n"
    message = "The input file cannot be found. "
    program = (
        f"import sys; sys.stderr.write({heading + message!r} + '\\n\\tat x.y\\n'); sys.exit(1)"
    )
    with pytest.raises(RuntimeError, match=r"^The input file cannot be found\.$"):
        maltparser.output_of([sys.executable, "-c", program])
