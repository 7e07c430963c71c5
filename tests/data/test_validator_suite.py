"""`dyparse check` and `dyparse parse` on the test suite of the official UD validator."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path

import pytest
from helpers.malformed import without_trees

CASES = "tests/test-cases/"
NUMBERS = {  # files in each directory of the suite of 0.2.9: all, and those that check accepts
    "valid": (9, 8),
    "invalid-level1": (40, 6),
    "invalid-level2": (37, 31),
    "invalid-level3": (8, 8),
    "invalid-level4-5": (2, 2),
    "invalid-functions": (20, 7),
    "eval": (2, 2),
}
REFUSED_THOUGH_VALID = {"empty-file.conllu": "without a sentence there is nothing to do"}
ACCEPTED_OF_LEVEL_1 = {
    "columns-format-minimal.conllu": "spaces in a column are kept",
    "extra-empty-line.conllu": "two blank lines end a sentence as one does",
    "missing-final-line.conllu": "the end of the file ends a sentence",
    "mwt-nonempty-field.conllu": "the other columns of a range are kept, not read",
    "non-unix-newline.conllu": "CRLF is kept",
    "unicode-normalization.conllu": "characters are kept as they are",
}


@pytest.fixture(scope="module")
def suite(once):
    """The directory of the validator's test cases, from the source distribution of udtools."""

    def make(path: Path) -> None:
        options = ["--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--retries", "1"]
        command = ["pip", "download", f"udtools=={version('udtools')}", *options, "-d", str(path)]
        done = subprocess.run([sys.executable, "-m", *command], capture_output=True, check=False)
        if done.returncode:
            return
        (archive,) = path.glob("udtools-*.tar.gz")
        with tarfile.open(archive) as tar:
            for member in tar.getmembers():
                _, _, name = member.name.partition(CASES)
                if content := name.endswith(".conllu") and tar.extractfile(member):
                    target = path / "cases" / Path(name).parent.name / Path(name).name
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(content.read())

    cases = once("validator_suite", make) / "cases"
    if not cases.is_dir():
        pytest.skip("the source distribution of udtools cannot be downloaded")
    return cases


@pytest.fixture
def outcomes(suite, dyparse_command):
    """outcomes(command, …): status, standard output and error for every file of the suite."""
    return lambda *given: {
        path: dyparse_command(*given, path) for path in sorted(suite.rglob("*.conllu"))
    }


def accepted_in(outcomes: dict[Path, tuple], directory: str) -> set[str]:
    found = (path for path, result in outcomes.items() if result[0] == 0)
    return {path.name for path in found if path.parent.name == directory}


def test_check_accepts_what_is_valid_and_reports_what_is_not(outcomes):
    checked = outcomes("check")
    assert len(checked) >= 118
    for path, (status, out, err) in checked.items():
        assert (status, err) in ((0, ""), (2, "")), path
        *findings, summary = out.splitlines()
        assert summary.startswith(f"{path}: {'sound' if status == 0 else len(findings)}"), path
        for finding in findings:
            assert finding.startswith(f"{path}:"), path
            assert "expected" in finding, path
    valid = {path.name for path in checked if path.parent.name == "valid"}
    assert valid - accepted_in(checked, "valid") == set(REFUSED_THOUGH_VALID)
    assert accepted_in(checked, "invalid-level1") == set(ACCEPTED_OF_LEVEL_1)
    if version("udtools") == "0.2.9":
        numbers = {}
        for name in NUMBERS:
            files = [path for path in checked if path.parent.name == name]
            numbers[name] = (len(files), len(accepted_in(checked, name)))
        assert numbers == NUMBERS


def test_parse_changes_heads_and_labels_only_or_refuses_clearly(outcomes, model_directory):
    parsed = outcomes("parse", model_directory)
    statuses = {0: 0, 2: 0}
    for path, (status, out, err) in parsed.items():
        statuses[status] += 1
        lines = [line for line in err.splitlines() if not line.startswith("warning: the model")]
        if status == 0:
            assert lines == [], path
            assert without_trees(out.encode()) == without_trees(path.read_bytes()), path
        else:
            assert out == "", path
            assert len(lines) == 1, path
            assert lines[0].startswith(f"error: {path}:"), path
            assert "expected" in lines[0], path
    assert min(statuses.values()) > 20
