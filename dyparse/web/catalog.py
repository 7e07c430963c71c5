"""The transition systems on offer: their moves and options, as plain data."""

import dataclasses
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from dyparse import system as systems
from dyparse.config.help_text import comments_in
from dyparse.errors import ConfigError
from dyparse.system import System

MOST_AWAY = 8  # arcs that have to change for a projective tree, where a system searches
MOST_SEARCHED = 50  # words of a sentence with a gold tree, there too
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


def require_near(system: System, gold: Sequence[int]) -> None:
    """ConfigError if the oracle of this system would search for too long for a gold tree."""
    if not system.searches:
        return
    if len(gold) > MOST_SEARCHED:
        raise ConfigError(
            f"gold: {len(gold)} words, and this system finds costs by a search that may take too "
            f"long above {MOST_SEARCHED}; choose another system"
        )
    projective = systems.load("arc_hybrid", single_root=False)
    nearest = projective.best_heads(projective.start([len(gold)]), [[0, *gold]])[0, 1:]
    if (away := int(np.count_nonzero(nearest != gold))) > MOST_AWAY:
        raise ConfigError(
            f"gold: {away} arcs have to change for a projective tree, and this system finds costs "
            f"by a search that takes too long above {MOST_AWAY}; choose another system"
        )


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
