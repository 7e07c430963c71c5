"""README.md, CHANGELOG.md and CITATION.cff are true: code runs, commands and links are valid.

In the README `MODEL` stands for the directory of a model; the code runs beside a MODEL that is one.
"""

from __future__ import annotations

import inspect
import itertools
import re
import shlex
from collections.abc import Iterator
from importlib.metadata import metadata
from pathlib import Path

import pytest
import yaml
from helpers.tiny import CONF, PROJECT
from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser

import dyparse
import dyparse.system
from dyparse.cli.main import command_line
from dyparse.config.build import build, checked, construct
from dyparse.config.options import EvaluateOptions, TrainOptions
from dyparse.model.sizes import ScorerSizes

README = (PROJECT / "README.md").read_text(encoding="utf-8")
CHOICES = ("treebank", "encoder", "system", "exploration", "loss", "trainer", "logger")


def blocks(language: str, text: str = README) -> list[str]:
    """The fenced blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def shell_commands(text: str = README) -> Iterator[list[str]]:
    """The words of every command in the shell blocks; pipes taken apart, redirections left out."""
    for line in "".join(blocks("sh", text)).replace("\\\n", "").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|>")
        lexer.whitespace_split = True
        for command in " ".join(map(shlex.quote, lexer)).split(" '|' "):
            words = shlex.split(command)
            yield words[: words.index(">")] if ">" in words else words


def commands_starting(*start: str, text: str = README) -> list[list[str]]:
    """What follows the start, of every command that starts so."""
    return [c[len(start) :] for c in shell_commands(text) if c[: len(start)] == list(start)]


def inline_options(script: str) -> list[list[str]]:
    """Options of commands in running text and tables, but for those with a <gap>."""
    found = re.findall(rf"`python {re.escape(script)} ([^`<]*)`", README)
    return [shlex.split(options) for options in found]


def composed(name: str, words: list[str]) -> Iterator[object]:
    """The configurations that a command line asks for: several with -m."""
    overrides = [word for word in words if not word.startswith(("-", "hydra"))]
    parsed = OverridesParser.create().parse_overrides(overrides)
    assert "-m" in words or not any(override.is_sweep_override() for override in parsed), words
    alternatives = [
        [f"{o.key_or_group}={value}" for value in o.sweep_string_iterator()]
        if o.is_sweep_override()
        else [text]
        for o, text in zip(parsed, overrides, strict=True)
    ]
    with initialize_config_dir(version_base="1.3", config_dir=str(CONF)):
        for single in itertools.product(*alternatives):
            yield compose(config_name=name, overrides=list(single))


@pytest.mark.parametrize("block", blocks("python"))
def test_python_blocks_run(
    block: str, model_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "MODEL").symlink_to(model_directory, target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "README.md", "exec"), {"__name__": "readme"})


@pytest.mark.parametrize(
    "words", [*commands_starting("python", "train.py"), *inline_options("train.py")], ids=" ".join
)
def test_commands_of_train_have_valid_options(words: list[str]) -> None:
    assert {word for word in words if word.startswith("-")} <= {"-m", "--help"}
    for config in composed("train", words):
        options = checked(config, TrainOptions)
        construct(ScorerSizes, options.network, "network")
        for choice in CHOICES:
            build(getattr(options, choice), choice)


@pytest.mark.parametrize("words", commands_starting("python", "evaluate.py"), ids=" ".join)
def test_commands_of_evaluate_have_valid_options(words: list[str]) -> None:
    for config in composed("evaluate", words):
        options = checked(config, EvaluateOptions)
        build(options.treebank, "treebank")
        assert options.model == "MODEL"


@pytest.mark.parametrize("words", commands_starting("dyparse"), ids=" ".join)
def test_commands_of_dyparse_have_valid_options(words: list[str]) -> None:
    assert callable(command_line().parse_args(words).run)


def test_make_targets_exist() -> None:
    targets = re.findall(r"^([a-z]+):", (PROJECT / "Makefile").read_text(), re.MULTILINE)
    used = [words[0] for words in commands_starting("make")]
    assert used[:2] == ["train", "test"], "the two commands come first"
    assert set(used) <= set(targets)


def test_plain_lines_do_what_make_does() -> None:
    lines = [["-m", "pytest", *words] for words in commands_starting("python", "-m", "pytest")]
    recipe = re.search(r"^test:.*\n\t\S+ (.*)", (PROJECT / "Makefile").read_text(), re.MULTILINE)
    assert recipe
    assert lines == [shlex.split(recipe[1])]
    (installs,) = commands_starting("pip", "install")
    assert installs == ["-e", ".[test]"]
    assert "test" in (metadata("dyparse").get_all("Provides-Extra") or [])


def test_every_command_is_one_that_these_tests_look_at() -> None:
    known = (
        *("train.py", "evaluate.py", "scripts/make_results.py"),
        *("benchmarks/throughput.py", "benchmarks/oracle.py", "-m"),
    )
    for program, *words in shell_commands():
        assert program in ("make", "dyparse", "pip", "cat", ".", "bash", "python", "python3")
        if program == "bash":
            assert (PROJECT / words[0]).is_file()
        if program == "python":
            assert words[0] in known
            assert words[0] == "-m" or (PROJECT / words[0]).is_file()


def test_links_to_files_lead_somewhere() -> None:
    text = README + (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    assert links
    assert [link for link in links if not (PROJECT / link).exists()] == []


def test_table_of_kernels_is_complete_and_has_their_parameters() -> None:
    listed = dict(re.findall(r"^\| `(\w+)(\([\w, ]+\))` \|", README, re.MULTILINE))
    declared = {
        name: str(inspect.signature(kernel))
        for name, kernel in vars(dyparse.system).items()
        if inspect.isfunction(kernel) and hasattr(kernel, "__wrapped__")  # by @kernel
    }
    assert declared
    assert listed == declared


def test_readme_has_no_unfinished_words_and_no_paths_of_a_machine() -> None:
    assert re.findall(r"TODO|FIXME|/work/|/home/|/tmp/", README) == []


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
