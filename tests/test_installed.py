"""Installed from the wheel, in an empty directory, everything works; and it starts quickly."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.distributions import build_distributions

SMALL = ("trainer=debug", "trainer.max_sentences=12", "encoder.hidden=8", "network.hidden=8")
EXPLORATIONS = ("--exploration", "static", "--exploration", "explore")
SOURCE_TREE = re.compile(r"source tree|train\.py|evaluate\.py")


@pytest.fixture(scope="module")
def environment(once: Callable[..., Path]) -> Path:
    """A virtual environment with nothing but the wheel, and the packages that it requires."""

    def make(path: Path) -> None:
        (wheel,) = once("distributions", build_distributions).glob("*.whl")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", path], check=True)
        python = path / "bin" / "python"
        packages = next((path / "lib").glob("python*/site-packages"))
        # Only the packages: the link to the source tree, a .pth in there, is not followed.
        (packages / "required.pth").write_text(sysconfig.get_path("purelib"))
        install = ["-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel]
        subprocess.run([sys.executable, *install], check=True, capture_output=True)

    return once("environment", make)


@pytest.fixture(scope="module")
def dyparse(
    environment: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., tuple[str, str]]:
    """dyparse(*arguments) → standard output and error of the command, in one empty directory."""
    directory = tmp_path_factory.mktemp("empty")

    def call(*arguments: str, program: str = "dyparse") -> tuple[str, str]:
        variables = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        done = subprocess.run(
            [environment / "bin" / program, *arguments],
            cwd=directory,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    return call


@pytest.fixture(scope="module")
def model(dyparse: Callable[..., tuple[str, str]]) -> str:
    """The model that `dyparse train` prints."""
    out, _ = dyparse("train", *SMALL)
    assert not SOURCE_TREE.search(out)
    found = re.search(r"^model +(\S+)", out, re.MULTILINE)
    assert found
    return found[1]


def test_the_package_is_the_installed_one(environment, dyparse):
    program = "import dyparse, dyparse.conf; print(dyparse.__file__, dyparse.conf.__file__)"
    out, _ = dyparse("-c", program, program="python")
    assert all(path.startswith(str(environment)) for path in out.split())


def test_it_evaluates_and_parses(dyparse, model):
    out, _ = dyparse("evaluate", f"model={model}", "split=dev", "json=scores.json")
    assert "LAS" in out
    out, _ = dyparse("draw", "sample")
    assert out.startswith("<svg")
    program = (
        "import dyparse, json\n"
        f"parser = dyparse.load({model!r})\n"
        "sentence = parser([('The', 'DET'), ('dog', 'NOUN'), ('barks', 'VERB')])\n"
        "open('one.conllu', 'w').write(sentence.to_conllu())\n"
        "print(json.dumps([token.head for token in sentence]))"
    )
    heads = json.loads(dyparse("-c", program, program="python")[0])
    parsed, _ = dyparse("parse", model, "one.conllu")
    assert [int(line.split("\t")[6]) for line in parsed.splitlines() if "\t" in line] == heads


def test_it_compares_and_reports(dyparse):
    grid = ("--treebank", "sample", *EXPLORATIONS, "--seeds", "1", "--experiment", "none")
    out, _ = dyparse("compare", *grid, *SMALL, "--jobs", "1")
    assert "explore" in out
    assert not SOURCE_TREE.search(out)
    out, _ = dyparse("report", "compare", "-o", "report")
    assert re.search(r"report/report\.html", out)


def test_optuna_maximizes_dev_las_and_the_sweep_ends_with_a_table(dyparse):
    two = ("hydra.sweeper.n_trials=2", "hydra.sweeper.sampler.seed=1")  # of different widths
    sweep = ("hydra/sweeper=optuna", *two, "encoder.hidden=range(6,40)")
    out, _ = dyparse("train", "-m", *sweep, *SMALL[:2])
    best = re.search(r"Best value: ([\d.]+)", out)
    assert best
    table = out[out.index("Best value") :]
    assert "encoder.hidden" in table
    assert f"{float(best[1]):.2f}" in table
    assert "Directions: ['maximize']" in out


def test_torchrun_runs_the_module(dyparse):
    launch = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")
    out, _ = dyparse(*launch, "-m", "dyparse", "train", *SMALL, "seed=2", program="python")
    assert "2 processes" in out


def test_it_starts_quickly(dyparse):
    """Against `import torch`, in turn with it: seconds depend on the machine."""

    def seconds(*arguments: str, program: str = "python") -> float:
        start = time.perf_counter()
        dyparse(*arguments, program=program)
        return time.perf_counter() - start

    commands = {
        "nothing": ["-c", "pass"],
        "torch": ["-c", "import torch"],
        "dyparse": ["-c", "import dyparse"],
        "help": ["-m", "dyparse", "--help"],
    }
    rounds = [{name: seconds(*command) for name, command in commands.items()} for _ in range(3)]
    least = {name: min(times[name] for times in rounds) for name in commands}
    print({name: round(value, 3) for name, value in least.items()})  # noqa: T201 - shown with -s
    assert least["dyparse"] - least["nothing"] < 0.1 * least["torch"]
    assert least["help"] < 0.4 * least["torch"]
