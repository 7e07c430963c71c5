"""With what `pip install dyparse` brings and no more: it parses, and says what else needs what.

Nothing is installed here: Python runs without the libraries that an installation does not bring.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable
from email.parser import Parser as HeaderParser
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path
from typing import TypeAlias

import pytest
from helpers.distributions import build_distributions
from helpers.tiny import PROJECT, sample
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

Installed: TypeAlias = Callable[..., tuple[int, str, str]]

NEEDS_MORE = {  # commands, and the extras that they name
    "train": ("trainer=debug", "train"),
    "evaluate": ("model=model", "train"),
    "compare": ("--seeds=1", "train"),
    "report": (".", "train"),
    "conf": ("train", "train"),
    "download": ("UD_English-LinES", "train"),
    "package": ("model --name=some-model", "train"),
    "push": ("model someone/model", "train,hub"),
    "parse": ("hf://someone/model", "hub"),
    "serve": ("", "web"),
    "trajectories": ("arc_eager sample -o x.parquet", "parquet"),
}
FUNCTIONS = {
    "train": "dyparse.train()",
    "evaluate": "dyparse.evaluate('model')",
    "compare": "dyparse.compare()",
}


def brought_by(needs: Iterable[str], extras: Iterable[str] = ()) -> set[str]:
    """Distributions that pip installs for requirements of dyparse, with extras of it."""
    found: set[str] = set()
    waiting = [(need, ("", *extras)) for need in needs]
    while waiting:
        text, asked = waiting.pop()
        need = Requirement(text)
        if need.marker and not any(need.marker.evaluate({"extra": extra}) for extra in asked):
            continue
        if need.name == "dyparse":  # an extra that includes others
            if new := need.extras - set(extras):
                extras = [*extras, *new]
                waiting += [(other, ("", *new)) for other in needs]
            continue
        name = canonicalize_name(need.name)
        if name in found and not need.extras:
            continue
        found.add(name)
        try:
            waiting += [(other, ("", *need.extras)) for other in requires(name) or []]
        except PackageNotFoundError:  # an extra that the tests go without
            continue
    return found


@pytest.fixture(scope="module")
def installed(
    once: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Installed]:
    """installed(*extras)(*arguments) → status, output and error of Python with these extras."""
    (wheel,) = once("distributions", build_distributions).glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        (name,) = (name for name in files.namelist() if name.endswith(".dist-info/METADATA"))
        needs = HeaderParser().parsestr(files.read(name).decode()).get_all("Requires-Dist", [])
    owners = packages_distributions()

    def with_extras(*extras: str) -> Installed:
        directory = tmp_path_factory.mktemp("installed")
        there = {"dyparse", *brought_by(needs, extras)}
        hidden = [m for m, of in owners.items() if not there & set(map(canonicalize_name, of))]
        program = f"import sys\nsys.modules.update(dict.fromkeys({hidden!r}))\n"
        (directory / "sitecustomize.py").write_text(program)

        def call(*arguments: str | Path) -> tuple[int, str, str]:
            done = subprocess.run(
                [sys.executable, *arguments],
                cwd=directory,
                env={**os.environ, "PYTHONPATH": f"{directory}{os.pathsep}{PROJECT}"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                timeout=300,
            )
            return done.returncode, done.stdout, done.stderr

        return call

    return with_extras


@pytest.fixture(scope="module")
def minimal(installed: Callable[..., Installed]) -> Installed:
    """minimal(*arguments) → status, output and error of Python without extras."""
    return installed()


@pytest.fixture(scope="module")
def model(once: Callable[..., Path]) -> Path:
    """A model with the default parts, trained with everything installed."""

    def train(path: Path) -> None:
        options = ["trainer=debug", "trainer.max_sentences=12", "threads=1", f"output={path}/run"]
        command = [sys.executable, "-m", "dyparse", "train", *options]
        subprocess.run(command, check=True, capture_output=True, cwd=path)

    return once("minimal", train) / "run" / "model"


@pytest.fixture(scope="module")
def transformer(once: Callable[..., Path], tiny_pretrained: Callable[..., Path]) -> Path:
    """A model with a pretrained encoder."""

    def save(path: Path) -> None:
        from helpers.tiny_transformers import tiny_options, tiny_parser

        parser = tiny_parser(tiny_options(tiny_pretrained(), features=[]), sample("train")[:5])
        parser.save(path / "model", {})

    return once("minimal_transformer", save) / "model"


def require_one_line(result: tuple[int, str, str], *parts: str) -> None:
    status, out, err = result
    assert (status, out, len(err.splitlines())) == (2, "", 1), err
    assert [part for part in parts if part not in err] == [], err


def test_only_libraries_for_parsing_are_there(minimal):
    names = ("torch", "hydra", "wandb", "matplotlib", "jinja2", "requests", "packaging", "spacy")
    program = f"from importlib.util import find_spec; print(*filter(find_spec, {names}), 'numba')"
    assert minimal("-c", program) == (0, "numba\n", "")


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["parse", "--help"]])
def test_it_answers_without_a_model(minimal, arguments):
    status, out, err = minimal("-m", "dyparse", *arguments)
    assert (status, "dyparse" in out, err) == (0, True, "")


def test_it_parses_files_and_text(minimal, model, tmp_path):
    (tmp_path / "a.txt").write_text("The dog barks. It sleeps.\n")
    status, out, err = minimal("-m", "dyparse", "parse", model, tmp_path / "a.txt")
    assert (status, "# text = The dog" in out, err) == (0, True, "")
    (tmp_path / "a.conllu").write_text(out)
    status, again, err = minimal("-m", "dyparse", "parse", model, tmp_path / "a.conllu")
    assert (status, len(again.splitlines()), err) == (0, len(out.splitlines()), "")


@pytest.mark.parametrize(
    "arguments",
    ["check sample", "draw sample", "oracle sample", "trajectories arc_eager sample -o x.npz"],
)
def test_what_needs_no_network_works(minimal, arguments):
    status, out, err = minimal("-m", "dyparse", *arguments.split())
    assert (status, bool(out), err) == (0, True, "")


def test_python_loads_and_parses_and_says_what_saving_needs(minimal, model):
    program = (
        "import dyparse\n"
        f"parser = dyparse.load({str(model)!r})\n"
        "print(len(parser(['It', 'sleeps', '.'])))\n"
        "parser.save('copy', {})"
    )
    status, out, err = minimal("-c", program)
    assert (status, out) == (1, "3\n"), err
    assert err.splitlines()[-1] == (
        "dyparse.errors.ConfigError: saving a model needs torch, which is not installed; install "
        'it: pip install "dyparse[torch]"'
    )


@pytest.mark.parametrize("command", NEEDS_MORE)
def test_a_command_that_needs_more_says_which_extra(minimal, command):
    arguments, extra = NEEDS_MORE[command]
    result = minimal("-m", "dyparse", command, *arguments.split())
    require_one_line(result, f'pip install "dyparse[{extra}]"')


def test_parsing_a_corpus_says_which_extra(minimal, model, tmp_path):
    (tmp_path / "a.conllu").write_text("1\tIt\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    result = minimal("-m", "dyparse", "parse-corpus", model, tmp_path, "-o", tmp_path / "parsed")
    require_one_line(result, 'pip install "dyparse[ray]"')


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_that_needs_more_says_which_extra(minimal, name):
    status, _, err = minimal("-c", f"import dyparse; {FUNCTIONS[name]}")
    last = err.splitlines()[-1]
    assert status == 1
    assert last.startswith(f"dyparse.errors.ConfigError: dyparse.{name} needs hydra, torch"), err
    assert last.endswith('pip install "dyparse[train]"')


@pytest.mark.parametrize("option", ["--precision=float32", "--device=cuda"])
def test_parsing_with_torch_says_which_extra(minimal, model, option):
    result = minimal("-m", "dyparse", "parse", model, option)
    require_one_line(result, "precision or device needs torch", 'pip install "dyparse[torch]"')


@pytest.mark.parametrize("option", ["--precision=auto", "--precision=float32"])
def test_a_pretrained_encoder_says_which_extra(minimal, transformer, option):
    result = minimal("-m", "dyparse", "parse", transformer, option)
    require_one_line(result, "encoder transformer", "pip install 'dyparse[transformers]'")


def test_the_extra_torch_is_enough_for_parsing_with_it(installed, model, tmp_path):
    (tmp_path / "a.txt").write_text("The dog barks.\n")
    arguments = ("parse", model, tmp_path / "a.txt", "--precision=float32")
    status, out, err = installed("torch")("-m", "dyparse", *arguments)
    assert (status, "1\tThe\t" in out, err) == (0, True, "")
