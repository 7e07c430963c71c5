"""Choices by name: the modules of a folder, and the dataclass in each, with options in text."""

import dataclasses
import difflib
import importlib
import pkgutil
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from dyparse.errors import ConfigError

MOST_OF_COMPILED = 2**31 - 1  # whole numbers, in code that numba has compiled


def names(folder: str) -> list[str]:
    """The alternatives in `dyparse/<folder>/`: its modules whose names have no underscore first."""
    package = importlib.import_module(f"dyparse.{folder}")
    modules = (module.name for module in pkgutil.iter_modules(package.__path__))
    return sorted(name for name in modules if not name.startswith("_"))


def import_modules(modules: Iterable[str]) -> None:
    """Import modules by name, also from the current directory; ConfigError if one cannot be."""
    for name in modules:
        if "" not in sys.path:
            sys.path.insert(0, "")
        try:
            importlib.import_module(name)
        except Exception as error:
            raise ConfigError(
                f"cannot import {name} ({type(error).__name__}: {error}); expected a module in the "
                "current directory, on PYTHONPATH or installed"
            ) from error


def find(folder: str, name: str) -> Any:
    """The dataclass of an alternative; ValueError if there is none of this name."""
    if name not in names(folder):
        raise ValueError(f"no {folder} {name!r}; {what_there_is(name, names(folder))}")
    module = importlib.import_module(f"dyparse.{folder}.{name}")
    return next(
        member
        for member in vars(module).values()
        if dataclasses.is_dataclass(member) and getattr(member, "__module__", "") == module.__name__
    )


def what_there_is(name: str, known: Sequence[str]) -> str:
    """What could have been meant by a name that is not known."""
    near = difflib.get_close_matches(name, known, 1)
    return f"there are {', '.join(known)}" + (f"; did you mean {near[0]!r}?" if near else "")


def load(folder: str, text: str, **options: Any) -> Any:
    """The alternative that `NAME` or `NAME:KEY=VALUE,…` means, with more options by name."""
    name, _, listed = text.partition(":")
    target = find(folder, name)
    defaults = {field.name: field.default for field in dataclasses.fields(target)}
    options = {**options_in_text(listed, defaults), **options}
    if unknown := sorted(set(options) - set(defaults)):
        takes = f"it takes {', '.join(sorted(defaults))}" if defaults else "it takes none"
        raise ValueError(f"{folder} {name!r} has no option {unknown[0]!r}; {takes}")
    for key, value in options.items():
        require_size(value, key)
    return target(**options)


def require_size(value: Any, name: str) -> None:
    """ValueError if it is a whole number that compiled code cannot take."""
    if isinstance(value, int) and abs(value) > MOST_OF_COMPILED:
        raise ValueError(f"{name} is {str(value)[:30]}, expected at most {MOST_OF_COMPILED:,}")


def options_in_text(listed: str, defaults: dict[str, Any]) -> dict[str, Any]:
    """`key=value,key=value` as options, values of the types of the defaults."""
    options: dict[str, Any] = {}
    for option in filter(None, listed.split(",")):
        key, sign, value = option.partition("=")
        if not sign:
            raise ValueError(f"{option!r} is no option, expected key=value")
        options[key] = _value_like(defaults.get(key), value, key)
    return options


def _value_like(default: Any, text: str, key: str) -> Any:
    """The text as a value of the default's type; without a default, a number where it is one."""
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(text.lower(), text)
    kinds = {int: (int,), float: (float,), type(None): (int, float)}.get(type(default), ())
    for kind in kinds:
        try:
            return kind(text)
        except ValueError:
            continue
    if isinstance(default, int | float):
        expected = "a whole number" if isinstance(default, int) else "a number"
        raise ValueError(f"{key} is {text!r}, expected {expected}")
    return text


def text_of(chosen: Any) -> str:
    """What `load` takes: `NAME`, or `NAME:KEY=VALUE,…` with the options that are not default."""
    name = type(chosen).__module__.rpartition(".")[2]
    changed = [f"{key}={_shown(value)}" for key, value in options_given(chosen)]
    return f"{name}:{','.join(changed)}" if changed else name


def options_given(chosen: Any) -> list[tuple[str, Any]]:
    """Names and values of the options that are not default."""
    values = [(field, getattr(chosen, field.name)) for field in dataclasses.fields(chosen)]
    return [(field.name, value) for field, value in values if value != field.default]


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def for_hydra(value: str) -> str:
    """A text as an override has it: Hydra's grammar gives some signs a sense unless quoted."""
    if re.fullmatch(r"[\w/.+-]+", value, re.ASCII):
        return value
    quoted = re.sub(r"(\\*)('|$)", lambda found: found[1] * 2 + "\\'" * bool(found[2]), value)
    return f"'{quoted}'"
