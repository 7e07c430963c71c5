"""README, CONTRIBUTING, CHANGELOG and CITATION are true: code runs, commands and links are valid.

In the README `MODEL` stands for the directory of a model; its code runs in a directory with one.
"""

from __future__ import annotations

import inspect
import re
import shlex
from importlib.metadata import metadata
from pathlib import Path

import pytest
import yaml
from helpers.documents import (
    blocks,
    commands_starting,
    composed,
    dead_links,
    require_valid_training,
    shell_commands,
)
from helpers.tiny import PROJECT

import dyparse
import dyparse.system
from dyparse.cli.main import command_line
from dyparse.config.build import build, checked
from dyparse.config.options import EvaluateOptions

README = (PROJECT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MAKEFILE = (PROJECT / "Makefile").read_text(encoding="utf-8")


def inline_options(script: str) -> list[list[str]]:
    """Options of a script's commands in running text and tables, but not those with a <gap>."""
    found = re.findall(rf"`python {re.escape(script)} ([^`<]*)`", README)
    return [shlex.split(options) for options in found]


@pytest.mark.parametrize("block", blocks("python", README))
def test_python_blocks_run(
    block: str, model_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "MODEL").symlink_to(model_directory, target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "README.md", "exec"), {"__name__": "readme"})


@pytest.mark.parametrize(
    "words",
    [*commands_starting("python", "train.py", text=README), *inline_options("train.py")],
    ids=" ".join,
)
def test_commands_of_train_have_valid_options(words: list[str]) -> None:
    require_valid_training(words)


@pytest.mark.parametrize(
    "words", commands_starting("python", "evaluate.py", text=README), ids=" ".join
)
def test_commands_of_evaluate_have_valid_options(words: list[str]) -> None:
    for config in composed("evaluate", words):
        options = checked(config, EvaluateOptions)
        build(options.treebank, "treebank")
        assert options.model == "MODEL"


@pytest.mark.parametrize("words", commands_starting("dyparse", text=README), ids=" ".join)
def test_commands_of_dyparse_have_valid_options(words: list[str]) -> None:
    assert callable(command_line().parse_args(words).run)


def test_make_targets_exist() -> None:
    targets = re.findall(r"^([a-z]+):", MAKEFILE, re.MULTILINE)
    used = [words[0] for words in commands_starting("make", text=README)]
    assert used[:2] == ["train", "test"], "the two commands come first"
    used += [words[0] for words in commands_starting("make", text=CONTRIBUTING)]
    assert set(used) <= set(targets)


def test_plain_lines_do_what_make_does() -> None:
    ran = commands_starting("python", "-m", "pytest", text=README)
    recipe = re.search(r"^test:.*\n\t\S+ (.*)", MAKEFILE, re.MULTILINE)
    assert recipe
    assert [["-m", "pytest", *words] for words in ran] == [shlex.split(recipe[1])]
    (installed,) = commands_starting("pip", "install", text=README)
    assert installed == ["-e", ".[test]"]
    assert "test" in (metadata("dyparse").get_all("Provides-Extra") or [])


def test_every_command_is_of_a_kind_that_these_tests_check() -> None:
    scripts = (
        "train.py",
        "evaluate.py",
        "scripts/make_results.py",
        "benchmarks/throughput.py",
        "benchmarks/oracle.py",
    )
    for program, *words in shell_commands(README):
        assert program in ("make", "dyparse", "pip", "cat", ".", "bash", "python", "python3")
        if program == "bash":
            assert (PROJECT / words[0]).is_file()
        if program == "python":
            assert words[0] in (*scripts, "-m")
            assert words[0] == "-m" or (PROJECT / words[0]).is_file()


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(name: str) -> None:
    assert dead_links(PROJECT / name) == []


def test_table_of_kernels_is_complete_and_has_their_parameters() -> None:
    listed = dict(re.findall(r"^\| `(\w+)(\([\w, ]+\))` \|", CONTRIBUTING, re.MULTILINE))
    declared = {
        name: str(inspect.signature(kernel))
        for name, kernel in vars(dyparse.system).items()
        if inspect.isfunction(kernel) and hasattr(kernel, "__wrapped__")  # by @kernel
    }
    assert declared
    assert listed == declared


@pytest.mark.parametrize("text", [README, CONTRIBUTING], ids=["README", "CONTRIBUTING"])
def test_there_are_no_unfinished_words_and_no_paths_of_a_machine(text: str) -> None:
    assert re.findall(r"TODO|FIXME|/work/|/home/|/tmp/", text) == []


def test_versions_agree() -> None:
    changelog = (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")
    releases = re.findall(r"^## \[([^\]]+)\]", changelog, re.MULTILINE)
    newest = next(release for release in releases if release != "Unreleased")
    citation = yaml.safe_load((PROJECT / "CITATION.cff").read_text(encoding="utf-8"))
    (in_readme,) = re.findall(r"^ *version += \{(.*)\}", README, re.MULTILINE)
    assert {newest, citation["version"], in_readme} == {dyparse.__version__}


def test_citation_has_what_its_format_requires() -> None:
    citation = yaml.safe_load((PROJECT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert citation.keys() >= {"message", "title", "authors", "license", "type"}
    assert citation["references"]
    for reference in citation["references"]:
        assert reference.keys() >= {"type", "title", "authors", "year"}
        assert reference.keys() & {"url", "doi"}
        assert all(
            {"family-names", "given-names"} <= author.keys() for author in reference["authors"]
        )
