"""The options of training and evaluation by Hydra: for a command line, and for Python.

They are composed from `dyparse.conf`, which is the folder `conf` of the source tree, and from a
directory of the user's own if there is one.
"""

import json
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import hydra
from hydra import compose, initialize_config_module
from hydra.core.global_hydra import GlobalHydra
from hydra.core.singleton import Singleton
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from dyparse.config.choices import quoted_for_hydra
from dyparse.config.help_text import help_text
from dyparse.config.hydra_errors import clear_option_errors, explanation
from dyparse.errors import ConfigError

VERSION_BASE = "1.3"
PACKAGE = "dyparse.conf"
OWN_DIRECTORY = ("--config-dir", "-cd")
OTHER_DIRECTORY = ("--config-path", "-cp")
WITH_VALUE = (  # flags whose value may be the next argument
    *OWN_DIRECTORY,
    *OTHER_DIRECTORY,
    *("--config-name", "-cn", "--cfg", "-c", "--package", "-p", "--experimental-rerun"),
)
INFO = ("--info", "-i")  # it may have none


def run_application(task: Callable[[DictConfig], Any], name: str, arguments: Sequence[str]) -> None:
    """Run a task with the options that the arguments give; it exits with status 2 if one is wrong.

    The task is a function of a module, so that Hydra's launchers can run it elsewhere.
    """
    OmegaConf.register_new_resolver("dyparse.help", help_text, replace=True)
    before, sys.argv = sys.argv, [name, *_for_hydra(arguments)]  # Hydra reads it
    try:
        with clear_option_errors(task):
            hydra.main(f"pkg://{PACKAGE}", name, VERSION_BASE)(task)()
    finally:
        sys.argv = before


def compose_options(
    name: str, overrides: Sequence[str], directory: Path | None = None, **more: Any
) -> DictConfig:
    """The options that overrides give, with groups from a directory of one's own too."""
    with composing(directory) as composed:
        return composed(name, overrides, **more)


def as_overrides(overrides: Sequence[str], options: dict[str, Any]) -> list[str]:
    """Overrides, and options by name as overrides: seed=2, treebank="ud/UD_English-LinES"."""
    return [*overrides, *(f"{key}={_as_value(value)}" for key, value in options.items())]


def _as_value(value: Any) -> str:
    """A value as Hydra reads it."""
    if isinstance(value, str | Path):
        return quoted_for_hydra(str(value))
    return json.dumps(value, ensure_ascii=False, default=_as_plain)


def _as_plain(value: Any) -> Any:
    """A number of numpy or torch as Python's, a path as text."""
    return value.item() if hasattr(value, "item") else str(value)


@contextmanager
def composing(directory: Path | None = None) -> Iterator[Callable[..., DictConfig]]:
    """A function that composes options; it raises ConfigError where Hydra finds a mistake."""
    own = []
    if directory:
        require_own_names(directory)
        own = [f"hydra.searchpath=['file://{directory.resolve()}']"]

    def composed(name: str, overrides: Sequence[str], **more: Any) -> DictConfig:
        try:
            return compose(name, [*own, *overrides], **more)
        except (HydraException, OmegaConfBaseException, YAMLError, ValueError) as error:
            raise ConfigError(explanation(error)) from error

    before = Singleton.get_state()  # the program may use Hydra itself
    GlobalHydra.instance().clear()
    try:
        with initialize_config_module(PACKAGE, version_base=VERSION_BASE):
            yield composed
    finally:
        Singleton.set_state(before)


def config_files() -> dict[str, Path]:
    """The yaml files that come with the package, by their names: `encoder/bilstm.yaml`."""
    root = Path(str(files(PACKAGE)))
    return {path.relative_to(root).as_posix(): path for path in sorted(root.rglob("*.yaml"))}


def require_own_names(directory: Path) -> None:
    """ConfigError if a file in a directory has the name of one in the package, which would win."""
    if not directory.is_dir():
        raise ConfigError(f"{directory}: no such directory; expected one with groups of yaml files")
    for name in config_files():
        if (directory / name).exists():
            raise ConfigError(
                f"{directory / name}: dyparse has a {name} too, and would use that; rename yours, "
                f"or replace all files by a complete copy: --config-path {directory}"
            )


def _for_hydra(arguments: Sequence[str]) -> list[str]:
    """Arguments as Hydra reads them: options together, then flags, with directories absolute.

    It knows other starting points for paths, and takes options in one row only.
    """
    options, flags = [], []
    rest = deque(arguments)
    while rest:
        flag, sign, value = rest.popleft().partition("=")
        if not flag.startswith("-"):
            options.append(flag + sign + value)
            continue
        takes_next = flag in WITH_VALUE or (flag in INFO and rest and "=" not in rest[0])
        if not sign and takes_next and rest:
            sign, value = " ", rest.popleft()
        if flag in OWN_DIRECTORY and sign:
            require_own_names(Path(value))
        if flag in (*OWN_DIRECTORY, *OTHER_DIRECTORY) and sign and "://" not in value:
            value = os.path.abspath(value)
        flags += [flag, value] if sign == " " else [flag + sign + value]
    return [*options, *flags]
