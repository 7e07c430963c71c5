"""The answer to `--help`: options as one writes them, explained by the comments in yaml files.

Hydra composes the options first, so that `system=buffer --help` explains those of `buffer`.
"""

import itertools
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from dyparse.config.options import as_written, flat_options

WIDTH = 80
INDENT = 34  # of explanations
OPTION = re.compile(r"( *)(?:- )?(\w+):[^#]*(?:# *(.*))?")  # a line of a yaml file
TEXT = """\
usage: dyparse {name} [CHOICE=NAME]... [KEY=VALUE]... [FLAG]...

examples:
{examples}

options, with their defaults; those of a choice follow it, indented:
{options}

CHOICE=NAME --help explains the options of another alternative. They are in yaml
files: `dyparse conf` lists these, and `dyparse conf CHOICE/NAME` prints one.

flags:
  -m, --multirun                  one run for each of several values: seed=1,2,3
  --config-dir DIR                add alternatives of your own, in files such as
                                  DIR/experiment/NAME.yaml
  --cfg job                       print the options of a run, and run nothing
  --help, --hydra-help            print this, or what else Hydra can do"""


def help_text(*, _root_: DictConfig) -> str:
    """The help of a command whose options are composed, as a template of Hydra's."""
    config: Any = OmegaConf.to_container(_root_)
    hydra = config.pop("hydra")
    name, chosen = hydra["job"]["config_name"], hydra["runtime"]["choices"]
    choices = {key: chosen[key] for key in reversed(chosen) if not key.startswith("hydra/")}
    directories = [_directory(**source) for source in hydra["runtime"]["config_sources"]]
    known = [place for place in directories if place]
    main = "".join(path.read_text(encoding="utf-8") for path in _files(known, f"{name}.yaml"))
    comments = comments_in(main) | _comments_of_choices(known, choices)
    text = TEXT.format(
        name=name,
        examples="\n".join(f"  {line[2:]}" for line in _first_comment(main)),
        options="\n".join(_option_lines(config, choices, comments)),
    )
    return text.replace("$", "$$")


def comments_in(text: str) -> dict[str, str]:
    """The comments beside the options of a yaml file, by their full names."""
    found: dict[str, str] = {}
    parents: list[tuple[int, str]] = []  # with their indentation
    for match in filter(None, map(OPTION.fullmatch, text.splitlines())):
        indentation, key, comment = match.groups()
        parents = [parent for parent in parents if parent[0] < len(indentation)]
        parents.append((len(indentation), key))
        if comment:
            found[".".join(name for _, name in parents)] = comment
    return found


def _comments_of_choices(
    directories: Sequence[Path], choices: Mapping[str, str | None]
) -> dict[str, str]:
    """The comments of chosen alternatives, which may build on others, and what else there is."""
    found: dict[str, str] = {}
    for choice, chosen in choices.items():
        paths = _files(directories, f"{choice}/*.yaml")
        for path in sorted(paths, key=lambda path: path.stem == chosen):
            comments = comments_in(path.read_text(encoding="utf-8"))
            found |= {f"{choice}.{key}": comment for key, comment in comments.items()}
        others = [path.stem for path in paths if path.stem != chosen]
        found[choice] = f"or {', '.join(others)}" if others else ""
    return found


def _directory(path: str, schema: str, **_: str) -> Path | None:
    """Where Hydra looks for yaml files of dyparse or of the user; None if it is no directory."""
    if (path, schema) == ("dyparse.conf", "pkg"):
        return Path(str(files(path)))
    return Path(path) if schema == "file" else None


def _files(directories: Sequence[Path], pattern: str) -> list[Path]:
    return [path for directory in directories for path in sorted(directory.glob(pattern))]


def _first_comment(text: str) -> Iterator[str]:
    """The comment at the top of a file, which has examples."""
    return itertools.takewhile(lambda line: line.startswith("#"), text.splitlines())


def _option_lines(
    config: Mapping[str, Any], choices: Mapping[str, str | None], comments: Mapping[str, str]
) -> Iterator[str]:
    """Choices, each followed by its options, then all others; with their explanations."""
    for choice, chosen in choices.items():
        about = [comments.get(f"defaults.{choice}", ""), comments[choice]]
        yield from _in_columns(f"  {choice}={as_written(chosen)}", "; ".join(filter(None, about)))
        for key, value in flat_options({choice: config.get(choice, {})}):
            if not key.endswith("._target_"):
                yield from _in_columns(f"    {key}={as_written(value)}", comments.get(key, ""))
    for key, value in flat_options({key: config[key] for key in config if key not in choices}):
        yield from _in_columns(f"  {key}={as_written(value)}", comments.get(key, ""))


def _in_columns(option: str, explanation: str) -> Iterator[str]:
    """Lines with the option on the left and its explanation on the right."""
    lines = textwrap.wrap(explanation, WIDTH - INDENT, break_on_hyphens=False)
    fits = lines and len(option) + 2 <= INDENT
    yield f"{option:{INDENT}}{lines.pop(0)}" if fits else option
    yield from (" " * INDENT + line for line in lines)
