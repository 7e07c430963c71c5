"""The wheel and the sdist are complete, and the Makefile sets up, trains, tests and builds."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from email.parser import Parser as HeaderParser
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path

import pytest
from helpers.distributions import build_distributions
from helpers.tiny import CONF, PROJECT

import dyparse
from dyparse.__main__ import main

SHIPPED = (
    "py.typed",
    "comparison/report/page.html.j2",
    "comparison/report/page.css",
    "comparison/report/page.js",
    "treebank/sample_data/train.conllu",
    "treebank/sample_data/dev.conllu",
    "treebank/sample_data/test.conllu",
)

# Stands in for python: logs its calls, copies itself into a new venv, fails on calls like $FAIL.
FAKE_PYTHON = """#!/bin/sh
echo "$@" >> "$LOG"
if [ "$2" = venv ]; then mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; fi
case "$*" in "$FAIL"*) exit 1;; esac
"""


@pytest.fixture(scope="module")
def distributions(once: Callable[..., Path]) -> Path:
    """Directory of a wheel and an sdist, built offline from a copy of the sources."""

    return once("distributions", build_distributions)


def test_wheel_has_types_data_licence_and_every_module(distributions: Path) -> None:
    with zipfile.ZipFile(next(distributions.glob("*.whl"))) as wheel:
        names = set(wheel.namelist())
    modules = {path.relative_to(PROJECT).as_posix() for path in (PROJECT / "dyparse").rglob("*.py")}
    options = {path.relative_to(PROJECT).as_posix() for path in CONF.rglob("*.yaml")}
    assert names >= modules | {f"dyparse/{name}" for name in (*SHIPPED, *options)}
    information = f"dyparse-{dyparse.__version__}.dist-info"
    assert f"{information}/licenses/LICENSE" in names
    assert {name.partition("/")[0] for name in names} == {"dyparse", information}


def test_sdist_has_types_and_data(distributions: Path) -> None:
    with tarfile.open(next(distributions.glob("*.tar.gz"))) as sdist:
        names = set(sdist.getnames())
    assert names >= {f"dyparse-{dyparse.__version__}/dyparse/{name}" for name in SHIPPED}
    assert f"dyparse-{dyparse.__version__}/conf/trainer/debug.yaml" in names


def test_wheel_states_its_requirements(distributions: Path) -> None:
    information = f"dyparse-{dyparse.__version__}.dist-info"
    with zipfile.ZipFile(next(distributions.glob("*.whl"))) as wheel:
        metadata = HeaderParser().parsestr(wheel.read(f"{information}/METADATA").decode())
        scripts = wheel.read(f"{information}/entry_points.txt").decode()
    assert metadata["Version"] == dyparse.__version__
    assert metadata["Requires-Python"] == ">=3.10"
    assert metadata["License-Expression"] == "MIT"
    needs = [need for need in metadata.get_all("Requires-Dist", []) if "extra ==" not in need]
    names = {re.split(r"[<>=]", need)[0] for need in needs}
    small = {"conllu", "filelock", "omegaconf", "pyyaml", "safetensors", "tqdm"}
    assert names == {"numpy", "numba"} | small
    extras = [need for need in metadata.get_all("Requires-Dist", []) if "torch" in need]
    assert 'torch<2.14,>=2.10; extra == "torch"' in extras
    assert "dyparse = dyparse.__main__:main" in scripts
    assert "[spacy_factories]\ndyparse = dyparse.integration.spacy_component:" in scripts


@pytest.mark.parametrize("name", SHIPPED)
def test_installed_package_has_its_data(name: str) -> None:
    assert files("dyparse").joinpath(name).is_file()


def test_console_script_is_installed() -> None:
    (script,) = entry_points(group="console_scripts", name="dyparse")
    assert script.load() is main
    command = [Path(sys.executable).with_name("dyparse"), "--version"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True)
    assert printed.stdout == f"dyparse {dyparse.__version__}\n"


class Clone:
    """The Makefile and what it depends on, beside a python that only logs its calls."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        for name in ("Makefile", "pyproject.toml"):
            shutil.copy(PROJECT / name, directory)
        (directory / "fake_python").write_text(FAKE_PYTHON)
        (directory / "fake_python").chmod(0o755)
        os.utime(directory / "pyproject.toml", (1, 1))  # older than any stamp

    def make(self, target: str, *, fail: str = "nothing") -> tuple[int, list[str]]:
        """Exit status of make, and the arguments of every call of python."""
        log = self.directory / "log"
        log.write_text("")
        result = subprocess.run(
            ["make", "PYTHON=./fake_python", target],
            cwd=self.directory,
            env={"PATH": os.environ["PATH"], "LOG": str(log), "FAIL": fail},
            capture_output=True,
            check=False,
        )
        return result.returncode, log.read_text().splitlines()


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    if not shutil.which("make"):
        pytest.skip("make is not installed")
    return Clone(tmp_path)


VENV = "-m venv .venv"
INSTALL, INSTALL_TEST = "-m pip install -e .[train]", "-m pip install -e .[test]"
INSTALL_SLOW = "-m pip install -e .[test,fuzz]"
TRAIN, TEST = "train.py trainer.epochs=10", "-m pytest -n auto"
LINT = ["-m ruff check .", "-m ruff format --check .", "-m mypy"]


def test_make_train_sets_up_once_and_trains_every_time(clone: Clone) -> None:
    assert clone.make("train") == (0, [VENV, INSTALL, TRAIN])
    assert clone.make("train") == (0, [TRAIN])


def test_make_test_sets_up_once_and_adds_the_extra_to_what_train_installed(clone: Clone) -> None:
    clone.make("train")
    assert clone.make("test") == (0, [INSTALL_TEST, TEST])
    assert clone.make("test") == (0, [TEST])


def test_make_train_needs_nothing_more_after_make_test(clone: Clone) -> None:
    assert clone.make("test") == (0, [VENV, INSTALL_TEST, TEST])
    assert clone.make("train") == (0, [TRAIN])


def test_make_slowtest_installs_the_fuzzer_and_make_test_needs_nothing_more(clone: Clone) -> None:
    clone.make("test")
    assert clone.make("slowtest") == (0, [INSTALL_SLOW, f"{TEST} -m slow"])
    assert clone.make("slowtest") == (0, [f"{TEST} -m slow"])
    assert clone.make("test") == (0, [TEST])


def test_make_installs_again_if_pyproject_toml_has_changed(clone: Clone) -> None:
    clone.make("train")
    later = (clone.directory / ".venv/installed").stat().st_mtime + 10
    os.utime(clone.directory / "pyproject.toml", (later, later))
    assert clone.make("train") == (0, [INSTALL, TRAIN])


@pytest.mark.parametrize(
    ("fail", "before", "after"),
    [
        ("-m venv", [VENV], [VENV, INSTALL, TRAIN]),
        ("-m pip", [VENV, INSTALL], [INSTALL, TRAIN]),
    ],
)
def test_make_repeats_a_set_up_that_failed(
    clone: Clone, fail: str, before: list[str], after: list[str]
) -> None:
    status, calls = clone.make("train", fail=fail)
    assert (status != 0, calls) == (True, before)
    assert clone.make("train") == (0, after)


@pytest.mark.parametrize("fails", ["nothing", *LINT])
def test_make_lint_checks_style_format_and_types_and_stops_at_the_first_failure(
    clone: Clone, fails: str
) -> None:
    status, calls = clone.make("lint", fail=fails)
    done = LINT[: LINT.index(fails) + 1] if fails in LINT else LINT
    assert (status != 0, calls) == (fails in LINT, [VENV, INSTALL_TEST, *done])


def test_make_dist_builds_and_checks_without_installing_dyparse(clone: Clone) -> None:
    status, calls = clone.make("dist")
    assert status == 0
    assert calls == [
        VENV,
        "-m pip install build twine",
        "-m build",
        "-m twine check --strict dist/*",
    ]


def test_make_fails_if_the_tests_fail(clone: Clone) -> None:
    status, calls = clone.make("test", fail="-m pytest")
    assert (status != 0, calls[-1]) == (True, TEST)
