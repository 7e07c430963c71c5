"""Continuous integration runs make targets that exist, with the tools and versions of make lint."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers.tiny import PROJECT

from dyparse.version import __version__

FOLDER = PROJECT / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.glob("*.yml"))
PYPROJECT = (PROJECT / "pyproject.toml").read_text(encoding="utf-8")

# Stands in for make: logs its target and VENV, fails on the target $FAIL.
FAKE_MAKE = """#!/bin/sh
echo "$2" >> "$LOG"
echo "$1" | sed 's/^VENV=//' >> "$LOG.venv"
[ "$2" != "$FAIL" ]
"""


def loaded(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content


def commands(workflow: dict[str, Any]) -> list[str]:
    """The `run` lines of all steps of all jobs."""
    steps = [step for job in workflow["jobs"].values() for step in job.get("steps", [])]
    return [line for step in steps for line in step.get("run", "").splitlines()]


def make_targets(lines: list[str]) -> set[str]:
    """The targets that shell lines make; words with = in them are variables."""
    made = [line.split()[1:] for line in lines if line.split()[:1] == ["make"]]
    return {word for words in made for word in words if "=" not in word}


def test_workflows_run_targets_of_the_makefile() -> None:
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    there = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    used = {path.stem: make_targets(commands(loaded(path))) for path in WORKFLOWS}
    assert used == {
        "checks": {"lint", "docs", "results", "test"},
        "slow": {"slowtest"},
        "release": {"dist"},
    }
    assert set.union(*used.values()) <= there


def test_pull_requests_are_checked_as_the_script_for_ci_checks() -> None:
    script = (PROJECT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert make_targets(commands(loaded(FOLDER / "checks.yml"))) == make_targets(script)


def test_imitation_is_tested_in_the_versions_that_the_docs_name() -> None:
    job = loaded(FOLDER / "slow.yml")["jobs"]["imitation"]
    install, test = commands({"jobs": {"imitation": job}})
    page = (PROJECT / "docs" / "trajectories.md").read_text(encoding="utf-8")
    (named,) = re.findall(r"\[imitation\]\S+ ([\d.]+) \(gymnasium ([\d.]+), .*3 ([\d.]+)\)", page)
    libraries = ("imitation", "gymnasium", "stable-baselines3")
    assert set(re.findall(r"(\S+)==(\S+)", install)) == {*zip(libraries, named, strict=True)}
    path = PROJECT / "tests" / "env" / "test_imitation.py"
    assert path.relative_to(PROJECT).as_posix() in test.split()
    assert path.is_file()


def test_every_supported_python_is_tested_from_the_oldest_on() -> None:
    (oldest,) = re.findall(r'requires-python = ">=3\.(\d+)"', PYPROJECT)
    matrix = loaded(FOLDER / "checks.yml")["jobs"]["test"]["strategy"]["matrix"]
    tested = [int(version.removeprefix("3.")) for version in matrix["python-version"]]
    assert tested == list(range(int(oldest), tested[-1] + 1))


def test_only_checked_builds_are_published_and_without_a_token() -> None:
    release = loaded(FOLDER / "release.yml")
    assert release["jobs"]["checks"]["uses"] == "./.github/workflows/checks.yml"
    assert release["jobs"]["build"]["needs"] == "checks"
    assert release["jobs"]["publish"]["needs"] == "build"
    assert release["jobs"]["publish"]["permissions"] == {"id-token": "write"}
    for path in WORKFLOWS:
        assert "secrets." not in path.read_text(encoding="utf-8")
        assert loaded(path)["permissions"] == {"contents": "read"}


@pytest.mark.parametrize(("tag", "fits"), [("v{}", True), ("v{}.1", False), ("v0{}", False)])
def test_a_tag_must_be_the_version(tag: str, fits: bool) -> None:  # noqa: FBT001 - from pytest
    release = loaded(FOLDER / "release.yml")
    (check,) = [line for line in commands(release) if "GITHUB_REF_NAME" in line]
    environment = {**os.environ, "GITHUB_REF_NAME": tag.format(__version__)}
    ran = subprocess.run(["bash", "-c", check], cwd=PROJECT, env=environment, check=False)
    assert (ran.returncode == 0) == fits


def test_hooks_before_a_commit_are_those_of_make_lint() -> None:
    ruff, local = loaded(PROJECT / ".pre-commit-config.yaml")["repos"]
    assert [hook["id"] for hook in ruff["hooks"]] == ["ruff-check", "ruff-format"]
    assert f'"ruff=={ruff["rev"].removeprefix("v")}"' in PYPROJECT
    (mypy,) = local["hooks"]
    assert mypy["entry"] == ".venv/bin/python -m mypy"
    assert re.search(r'"mypy==[\d.]+"', PYPROJECT)


@pytest.mark.parametrize(
    ("fail", "targets"),
    [
        ("nothing", ["lint", "docs", "results", "test"]),
        ("lint", ["lint"]),
        ("docs", ["lint", "docs"]),
        ("results", ["lint", "docs", "results"]),
        ("test", ["lint", "docs", "results", "test"]),
    ],
)
def test_the_script_for_ci_works_in_a_new_place_and_stops_at_the_first_failure(
    fail: str, targets: list[str], tmp_path: Path
) -> None:
    (tmp_path / "make").write_text(FAKE_MAKE)
    (tmp_path / "make").chmod(0o755)
    log = tmp_path / "log"
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "LOG": str(log), "FAIL": fail}
    done = subprocess.run(["./.ci/run"], cwd=PROJECT, env=environment, check=False)
    assert (done.returncode == 0) == (fail == "nothing")
    assert log.read_text().splitlines() == targets
    places = set((tmp_path / "log.venv").read_text().splitlines())
    assert len(places) == 1
    assert not Path(places.pop()).parent.exists(), "the scratch directory is removed"
