"""The command that trains a model again, from the options of its run."""

import json
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from omegaconf import DictConfig, OmegaConf

from dyparse.config.application import compose_options
from dyparse.config.choices import for_hydra
from dyparse.config.places import is_content_name, name_and_hash
from dyparse.errors import ConfigError

NOT_LEARNED = (  # how and where a run is trained; the seed has its own part of the name
    "output",
    "logger",
    "device",
    "threads",
    "seed",
    "compile",
    "resume",
    "checkpoint_minutes",
)
PLACES = {"encoder.pretrained": "DIR", "encoder.vectors": "FILE", "start": "DIR"}
ON_HUB = {"start": "hf://"}  # before OWNER/NAME, where a name could be that of a path or a package
CHOICES = ("system", "exploration", "loss", "encoder", "tokenizer", "treebank")


def training_command(config: DictConfig) -> str:
    """`dyparse train` with the options of a run that are not the default.

    A run knows files and directories by their content only: for these there are placeholders, and
    comments before the command that say what they were. Empty if classes of one's own took part.
    """
    options: Any = OmegaConf.to_container(config, resolve=True)
    targets = {choice: options[choice]["_target_"].split(".") for choice in CHOICES}
    if not all(path[0] == "dyparse" for path in targets.values()):
        return ""
    chosen = {choice: path[-2] for choice, path in targets.items()}
    with suppress(ConfigError):
        places = list(_take_places(options))
        command = shlex.join(["dyparse", "train", *_overrides(options, chosen)])
        return "\n".join([*places, command])
    return ""


def _take_places(options: dict[str, Any]) -> Iterator[str]:
    """Replace content by where it is to be found: a name on the Hub, or a placeholder; a comment
    for each.
    """
    for option, placeholder in PLACES.items():
        choice, _, field = option.rpartition(".")
        part = options[choice] if choice else options
        if is_content_name(value := part.get(field) or ""):
            name, digest = name_and_hash(value)
            part[field] = ON_HUB.get(option, "") + name if "/" in name else placeholder
            yield f"# {part[field]}: {name}, hash {digest}"


def _overrides(options: dict[str, Any], chosen: dict[str, str]) -> Iterator[str]:
    """The choices, all other options that differ from their default, and the seed."""
    composed = compose_options("train", [f"{choice}={name}" for choice, name in chosen.items()])
    defaults = dict(_flat(OmegaConf.to_container(composed)))
    if chosen["treebank"] == "ud":  # by its name: `dyparse download` places it where it is found
        chosen = {**chosen, "treebank": options["treebank"].pop("name")}
        del options["treebank"]["root"]
    changed = {n: value for n, value in _flat(options) if value != defaults.get(n)}
    for name, value in {**chosen, **changed, "seed": options["seed"]}.items():
        yield f"{name}={for_hydra(value) if isinstance(value, str) else json.dumps(value)}"


def _flat(options: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Options that decide what is learned, with their full names; classes are left out."""
    for name, value in options.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        elif name != "_target_" and f"{prefix}{name}".split(".")[0] not in NOT_LEARNED:
            yield f"{prefix}{name}", value
