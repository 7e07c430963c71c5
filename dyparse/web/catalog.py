"""The transition systems on offer: their moves and options, as plain data."""

import dataclasses
from functools import cache
from importlib.resources import files
from typing import Any

from dyparse import system as systems
from dyparse.config.help_text import comments_in
from dyparse.errors import ConfigError
from dyparse.system import System

KINDS = {bool: "bool", int: "int", str: "str"}


@cache
def names() -> list[str]:
    """The systems that come with options in a yaml file."""
    folder = files("dyparse.conf") / "system"
    found = (place.name for place in folder.iterdir())
    return sorted(name.removesuffix(".yaml") for name in found if name.endswith(".yaml"))


def load(name: str, options: dict[str, Any]) -> System:
    """A system on offer, never a class by its dotted path; ConfigError says what is wrong."""
    if name not in names():
        raise ConfigError(f"system is {name[:100]!r}, expected one of {', '.join(names())}")
    try:
        return systems.load(name, **options)
    except (ValueError, TypeError) as error:
        raise ConfigError(str(error)) from error


def options_of(system: System) -> dict[str, Any]:
    """Its options by name."""
    return {field.name: getattr(system, field.name) for field in _fields(system)}


def describe(name: str) -> dict[str, Any]:
    """A system with its moves and options."""
    system = systems.load(name)
    text = (files("dyparse.conf") / "system" / f"{name}.yaml").read_text(encoding="utf-8")
    comments = comments_in(text)
    return {
        "name": name,
        "doc": (type(system).__doc__ or "").split("\n")[0],
        "moves": list(system.moves),
        "needs": dict(system.needs),
        "slots": list(system.slots),
        "exact": system.exact,
        "trees": system.trees,
        "projective": system.trees == "projective",
        "options": [
            {
                "name": field.name,
                "type": KINDS[type(field.default)],
                "default": field.default,
                "choices": field.metadata.get("choices"),
                "doc": comments.get(field.name, ""),
            }
            for field in _fields(system)
        ],
    }


def _fields(system: System) -> "tuple[dataclasses.Field[Any], ...]":
    return dataclasses.fields(system)  # type: ignore[arg-type]  # every system is a dataclass
