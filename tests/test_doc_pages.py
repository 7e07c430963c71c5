"""The pages beside the README are true: links lead somewhere, commands have options that exist."""

import re

import pytest
from helpers.tiny import PROJECT
from test_readme import CHOICES, commands_starting, composed, shell_commands

from dyparse.cli.main import command_line
from dyparse.config import choices as choice
from dyparse.config.build import build, checked
from dyparse.config.options import TrainOptions

PAGES = sorted((PROJECT / "docs").glob("*.md"))
TEXT = "".join(path.read_text(encoding="utf-8") for path in PAGES)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_to_files_and_headings(path):
    text = path.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in headings}
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    assert links
    for link in links:
        file, _, anchor = link.partition("#")
        assert (path.parent / file).exists(), link
        assert file or anchor in anchors, link


@pytest.mark.parametrize("words", commands_starting("dyparse", text=TEXT), ids=" ".join)
def test_commands_of_dyparse_have_valid_options(words):
    assert callable(command_line().parse_args(words).run)


@pytest.mark.parametrize("words", commands_starting("python", "train.py", text=TEXT), ids=" ".join)
def test_commands_of_train_have_valid_options(words):
    for config in composed("train", words):
        options = checked(config, TrainOptions)
        for name in CHOICES:
            build(getattr(options, name), name)


def test_scripts_in_commands_are_there():
    for program, *words in shell_commands(TEXT):
        assert program in ("dyparse", "python", "bash"), program
        if program != "dyparse":
            assert (PROJECT / words[0]).is_file(), words[0]


@pytest.mark.parametrize("folder", ["exploration", "loss"])
def test_every_exploration_and_loss_is_explained(folder):
    text = (PROJECT / "docs" / "compare.md").read_text(encoding="utf-8")
    listed = re.findall(rf"^\| \[(\w+)\]\(\.\./dyparse/{folder}/", text, re.MULTILINE)
    assert sorted(listed) == choice.names(folder)


def test_every_test_that_a_promise_rests_on_is_there():
    text = (PROJECT / "docs" / "reliability.md").read_text(encoding="utf-8")
    named, path = [], ""
    for found in re.finditer(r"`(?:(tests/\w+\.py)|(?=::))(?:::(\w+))?`", text):
        path = found[1] or path
        named.append((path, found[2]))
    assert len(named) > 30
    for path, name in named:
        content = (PROJECT / path).read_text(encoding="utf-8")
        assert not name or f"\ndef {name}(" in content, f"{path}::{name}"
