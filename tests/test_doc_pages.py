"""The pages of docs/ are true: links lead somewhere, code runs, commands have options that exist.

`MODEL` stands for the directory of a model, here and in README.md.
"""

import re
import shlex

import pytest
from helpers.documents import blocks, commands_starting, dead_links, require_valid, shell_commands
from helpers.tiny import PROJECT

DOCS = PROJECT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if path.parent.name != "results")
# Code and commands of extend.md name classes of another repository; a test of their own runs them.
TEXTS = {
    path.relative_to(PROJECT).as_posix(): path.read_text(encoding="utf-8")
    for path in (PROJECT / "README.md", *PAGES)
    if path.name != "extend.md"
}
TEXT = "".join(TEXTS.values())
COMMANDS = {shlex.join(words): words for words in commands_starting("dyparse", text=TEXT)}
CODE = [
    pytest.param(block, id=f"{name}-{number}")
    for name, text in TEXTS.items()
    for number, block in enumerate(blocks("python", text))
]
MODELS = ("MODEL", "outputs/first")
ARCHITECTURE = (DOCS / "architecture.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(DOCS).as_posix())
def test_links_lead_to_files_and_headings(path):
    assert dead_links(path) == []


@pytest.mark.parametrize("block", CODE)
def test_python_blocks_run(block, model_directory, tmp_path, monkeypatch):
    for name in MODELS:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).symlink_to(model_directory, target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "page", "exec"), {"__name__": "page"})


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_commands_have_valid_options(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    require_valid(words)


def test_every_command_is_of_a_kind_that_these_tests_check():
    known = ("dyparse", "python", "bash", "make", "pip", "cat", "echo", ".", "python3", "curl")
    for program, *words in shell_commands(TEXT):
        assert program in known, program
        if program in ("python", "bash") and words[0] != "-m":
            assert (PROJECT / words[0]).is_file(), words[0]


def test_plain_lines_do_what_make_does():
    text = (DOCS / "installation.md").read_text(encoding="utf-8")
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    recipes = dict(re.findall(r"^(train|test):.*\n\t\S+ (.*)", makefile, re.MULTILINE))
    (tested,) = commands_starting("python", "-m", "pytest", text=text)
    assert ["-m", "pytest", *tested] == shlex.split(recipes["test"])
    *_, trained = commands_starting("dyparse", "train", text=text)
    assert ["train.py", *trained] == shlex.split(recipes["train"])
    assert ["-e", ".[test]"] in commands_starting("pip", "install", text=text)


@pytest.mark.parametrize(("page", "least"), [("reliability.md", 30), ("theory.md", 15)])
def test_every_test_that_a_promise_rests_on_exists(page, least):
    text = (DOCS / page).read_text(encoding="utf-8")
    named, path = [], ""
    for found in re.finditer(r"`(?:(tests/[\w/]+\.py)|(?=::))(?:::(\w+))?`", text):
        path = found[1] or path
        named.append((path, found[2]))
    assert len(named) > least
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
