"""A minute of coverage-guided fuzzing of the reader."""

import os
import re
import shutil
import sys

import pytest
from helpers.tiny import PROJECT, run

pytest.importorskip("atheris", reason='needs `pip install -e ".[test,fuzz]"`, on Linux')

SECONDS = 60
FEWEST_RUNS = 30_000  # on a busy machine
CHECK = "    _check_no_cycle(head)\n"

pytestmark = pytest.mark.slow


def fuzz_reader(tmp_path, *options, **environment):
    """Exit status and output of a run of the fuzz target, which writes only to tmp_path."""
    options = (*options, f"-artifact_prefix={tmp_path}/", tmp_path / "corpus")
    path = [environment.pop("PYTHONPATH", ""), str(PROJECT / "tests")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, path))
    done = run("tests/helpers/fuzz_reader.py", *options, cwd=tmp_path, **environment)
    return done.returncode, done.stdout + done.stderr


def test_the_reader_withstands_a_minute_of_guided_fuzzing(tmp_path, capsys):
    status, output = fuzz_reader(tmp_path, f"-max_total_time={SECONDS}")
    assert status == 0, output
    runs = int(re.search(r"^Done (\d+) runs", output, re.MULTILINE)[1])
    covered = re.findall(r"cov: (\d+) ft: (\d+)", output)
    with capsys.disabled():
        sys.stdout.write(f"\n{runs:,} runs of the reader, from cov {covered[0]} to {covered[-1]}\n")
    assert runs > FEWEST_RUNS
    assert int(covered[-1][0]) >= int(covered[0][0])


def test_the_target_finds_cycles_if_the_reader_does_not(tmp_path):
    shutil.copytree(PROJECT / "dyparse", tmp_path / "dyparse")
    module = tmp_path / "dyparse/data/conllu_rules.py"
    assert CHECK in module.read_text(encoding="utf-8")
    module.write_text(module.read_text(encoding="utf-8").replace(CHECK, ""), encoding="utf-8")
    status, output = fuzz_reader(tmp_path, "-runs=200000", "-seed=1", PYTHONPATH=str(tmp_path))
    assert status != 0
    assert "assert is_tree(sentence.head)" in output
    assert list(tmp_path.glob("crash-*"))
