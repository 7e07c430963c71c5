"""README.md and the pages of docs/: their code blocks, commands and links."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import IntervalSweep, Override

from dyparse.cli.main import command_line
from dyparse.config.build import build, checked, construct
from dyparse.config.options import EvaluateOptions, TrainOptions
from dyparse.training.run import build_model_config
from dyparse.training.settings import TrainingSettings
from dyparse.treebank._names import with_named_treebanks
from helpers.tiny import CONF


def blocks(language: str, text: str) -> list[str]:
    """The fenced blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def shell_commands(text: str) -> Iterator[list[str]]:
    """The words of every command in the `sh` blocks; pipes are split, redirections left out."""
    for line in "".join(blocks("sh", text)).replace("\\\n", "").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|>")
        lexer.whitespace_split = True
        for command in " ".join(map(shlex.quote, lexer)).split(" '|' "):
            words = shlex.split(command)
            yield words[: words.index(">")] if ">" in words else words


def commands_starting(*start: str, text: str) -> list[list[str]]:
    """The remaining words of every command that starts with these."""
    return [c[len(start) :] for c in shell_commands(text) if c[: len(start)] == list(start)]


def require_valid(words: list[str]) -> None:
    """An error if `dyparse` would refuse these words.

    Treebanks and word vectors are made in the current directory; other files need not exist.
    """
    make_treebanks(words)
    make_pretrained(words)
    make_vectors(words)
    if words[0] == "train":
        require_valid_training(words[1:])
    elif words[0] == "evaluate":
        require_valid_evaluation(words[1:])
    else:
        assert callable(command_line().parse_args(words).run)


def make_treebanks(words: list[str]) -> None:
    """Empty directories for the treebanks that words name."""
    for word in words:
        for name in word.removeprefix("treebank=").split(","):
            if re.fullmatch(r"(\w+/)?UD_[\w-]+", name):
                Path(name).mkdir(parents=True, exist_ok=True)


def make_pretrained(words: list[str]) -> None:
    """Directories for the pretrained models that words name, with nothing to load in them."""
    for word in words:
        if word.startswith("encoder.pretrained="):
            place = Path(word.partition("=")[2])
            place.mkdir(exist_ok=True)
            for name in ("config.json", "model.safetensors"):
                (place / name).touch()


def make_vectors(words: list[str]) -> None:
    """Empty files for the word vectors that words name."""
    for word in words:
        if word.startswith("encoder.vectors="):
            path = Path(word.partition("=")[2])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()


def composed(name: str, words: list[str]) -> Iterator[object]:
    """The configurations of a command line of train or evaluate: several with -m."""
    given = [word for word in words if not word.startswith(("-", "hydra"))]
    overrides = with_named_treebanks(given, every_split=name == "evaluate")
    parsed = OverridesParser.create().parse_overrides(overrides)
    assert "-m" in words or not any(override.is_sweep_override() for override in parsed), words
    alternatives = [
        _swept(o) if o.is_sweep_override() else [text]
        for o, text in zip(parsed, overrides, strict=True)
    ]
    with initialize_config_dir(version_base="1.3", config_dir=str(CONF)):
        for single in itertools.product(*alternatives):
            yield compose(config_name=name, overrides=list(single))


def _swept(override: Override) -> list[str]:
    """The values of an option, as overrides; of an interval its start."""
    value = override.value()
    if isinstance(value, IntervalSweep):
        return [f"{override.key_or_group}={value.start}"]
    return [f"{override.key_or_group}={value}" for value in override.sweep_string_iterator()]


def require_valid_evaluation(words: list[str]) -> None:
    """ConfigError if evaluate would refuse a command line."""
    for config in composed("evaluate", words):
        options = checked(config, EvaluateOptions)
        build(options.treebank, "treebank")
        assert options.model


def require_valid_training(words: list[str]) -> None:
    """ConfigError if train would refuse a command line."""
    assert {word for word in words if word.startswith("-")} <= {"-m", "--help"}
    for config in composed("train", words):
        options = checked(config, TrainOptions)
        build_model_config(options)
        construct(TrainingSettings, options.trainer, "trainer")
        for name, given in vars(options).items():
            if isinstance(given, dict) and "_target_" in given:  # a choice
                build(given, name)


def dead_links(page: Path) -> list[str]:
    """Links of a page to files that do not exist, or to headings that a page does not have."""
    text = page.read_text(encoding="utf-8")
    return [link for link in re.findall(r"\]\(([^)]+)\)", text) if not _leads(page, link)]


def _leads(page: Path, link: str) -> bool:
    if "://" in link:
        return True
    file, _, anchor = link.partition("#")
    target = page.parent / file if file else page
    return target.exists() and (not anchor or anchor in _anchors(target))


def _anchors(page: Path) -> set[str]:
    """The names that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in headings}
