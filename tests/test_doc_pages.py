"""The pages of docs/ are true: links lead somewhere, commands have options that exist."""

import re

import pytest
from helpers.documents import (
    commands_starting,
    dead_links,
    require_valid_training,
    shell_commands,
)
from helpers.tiny import PROJECT

from dyparse.cli.main import command_line
from dyparse.config import choices

DOCS = PROJECT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
# Commands of extend.md name classes of another repository; they are run by a test of their own.
TEXT = "".join(path.read_text(encoding="utf-8") for path in PAGES if path.name != "extend.md")
ARCHITECTURE = (DOCS / "architecture.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_to_files_and_headings(path):
    assert dead_links(path) == []


@pytest.mark.parametrize("words", commands_starting("dyparse", text=TEXT), ids=" ".join)
def test_commands_of_dyparse_have_valid_options(words):
    assert callable(command_line().parse_args(words).run)


@pytest.mark.parametrize("words", commands_starting("python", "train.py", text=TEXT), ids=" ".join)
def test_commands_of_train_have_valid_options(words):
    require_valid_training(words)


def test_scripts_in_commands_exist():
    for program, *words in shell_commands(TEXT):
        assert program in ("dyparse", "python", "bash"), program
        if program != "dyparse":
            assert (PROJECT / words[0]).is_file(), words[0]


@pytest.mark.parametrize("folder", ["exploration", "loss"])
def test_every_exploration_and_loss_is_explained(folder):
    text = (DOCS / "compare.md").read_text(encoding="utf-8")
    listed = re.findall(rf"^\| \[(\w+)\]\(\.\./dyparse/{folder}/", text, re.MULTILINE)
    assert sorted(listed) == choices.names(folder)


def test_every_test_that_a_promise_rests_on_exists():
    text = (DOCS / "reliability.md").read_text(encoding="utf-8")
    named, path = [], ""
    for found in re.finditer(r"`(?:(tests/[\w/]+\.py)|(?=::))(?:::(\w+))?`", text):
        path = found[1] or path
        named.append((path, found[2]))
    assert len(named) > 30
    missing = [
        f"{path}::{name}"
        for path, name in named
        if not (PROJECT / path).is_file()
        or (name and f"\ndef {name}(" not in (PROJECT / path).read_text(encoding="utf-8"))
    ]
    assert missing == []


# --- architecture.md -----------------------------------------------------------------------------


def packages():
    """The packages of dyparse/."""
    return {path.parent.name for path in (PROJECT / "dyparse").glob("*/__init__.py")}


@pytest.mark.parametrize("name", ["README.md", "docs/architecture.md"])
def test_every_package_is_named(name):
    text = (PROJECT / name).read_text(encoding="utf-8")
    missing = [package for package in packages() if not re.search(rf"\b{package}\b", text)]
    assert missing == []


def test_the_picture_has_all_packages_and_no_others():
    (picture,) = re.findall(r"^```text\n(.*?)^```$", ARCHITECTURE, re.MULTILINE | re.DOTALL)
    drawn = set(re.findall(r"│ (\w+)(?= {2,})", picture)) - {"no", "choices"}
    assert drawn - {"errors"} == packages()


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_files_that_are_named_exist(name):
    text = (PROJECT / name).read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+/[\w/]+\.(?:py|yaml))`", text))
    assert named
    roots = (PROJECT, PROJECT / "dyparse")
    assert [n for n in sorted(named) if not any((root / n).exists() for root in roots)] == []
