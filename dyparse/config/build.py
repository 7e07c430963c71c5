"""Configuration: from checked options to objects, and from objects to what a model remembers of
them.

Every choice is a frozen dataclass in `dyparse/<choice>/<name>.py`; its fields are the schema of
`conf/<choice>/<name>.yaml`.
"""

import dataclasses
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from hydra.utils import get_class
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException

from dyparse.config.choices import find, require_size, what_there_is
from dyparse.errors import ConfigError

NOT_HASHED = (  # how and where, or named apart
    *("output", "logger", "device", "threads", "seed", "compile", "resume", "checkpoint_minutes"),
)

ADDED_LATER = {  # not hashed where they have the value that runs before them had: same name
    "trainer.precision": "float32",
    "trainer.rollout_ahead": False,
    "network.reduced": None,
    "treebank.on_error": "stop",
}


@dataclass
class TrainOptions:
    """Schema of conf/train.yaml; the choices have schemas of their own."""

    treebank: Any
    encoder: Any
    system: Any
    exploration: Any
    loss: Any
    trainer: Any
    logger: Any
    heads: list[str]
    network: Any
    seed: int
    device: str
    threads: int | None
    compile: bool
    resume: bool
    checkpoint_minutes: float
    output: str | None

    def __post_init__(self) -> None:
        if not self.checkpoint_minutes > 0:
            raise ValueError(
                f"checkpoint_minutes is {self.checkpoint_minutes}, expected more than 0"
            )


@dataclass
class EvaluateOptions:
    """Schema of conf/evaluate.yaml."""

    model: str
    treebank: Any
    split: str
    device: str
    threads: int | None
    max_tokens_per_batch: int
    json: str | None
    conllu: str | None


def checked(config: DictConfig, schema: type) -> Any:
    """The options as an object of the schema; ConfigError names a wrong one."""
    try:
        return OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(schema), config))
    except OmegaConfBaseException as error:
        raise ConfigError(_explain("", error)) from error
    except ValueError as error:
        raise ConfigError(f"{error}; see --help for the options") from error


def build(options: dict[str, Any], choice: str) -> Any:
    """The object of a choice, from its part of the checked configuration."""
    if not isinstance(options, dict):
        raise ConfigError(f"{choice} is {options!r}, expected {choice}=NAME: see --help for names")
    given = {str(key): value for key, value in options.items() if key != "_target_"}
    try:
        target = get_class(options["_target_"])
    except (ImportError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{choice}._target_ names no class ({error})") from error
    return construct(target, given, choice)


def describe(chosen: Any) -> dict[str, Any]:
    """A choice as data: the name of its module and its fields.

    It names no code; `restore` looks the name up.
    """
    return {"name": type(chosen).__module__.rpartition(".")[2], **dataclasses.asdict(chosen)}


def restore(choice: str, described: Any) -> Any:
    """The object that `describe` described; only files of `dyparse/<choice>/` can be named."""
    if not isinstance(described, dict) or not isinstance(described.get("name"), str):
        raise ConfigError(f"{choice} is {described!r}, expected a name and options")
    try:
        target = find(choice, described["name"])
    except ValueError as error:
        raise ConfigError(str(error)) from error
    given = {key: value for key, value in described.items() if key != "name"}
    return construct(target, given, choice)


def run_directory(config: DictConfig, choices: dict[str, str], treebank_name: str) -> Path:
    """Where a run writes: `output`, or a name made of what is run.

    The same options give the same name.
    """
    if config.output:
        if HydraConfig.initialized() and HydraConfig.get().mode == RunMode.MULTIRUN:
            raise ConfigError(
                f"output is {config.output!r} for all runs of -m, each would overwrite the last; "
                "leave it out: every run gets a directory of its own"
            )
        return Path(str(config.output))
    what = what_is_run(config)
    text = OmegaConf.to_yaml(what, resolve=True, sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    parts = [choices["system"], choices["exploration"], treebank_name, f"seed{config.seed}", digest]
    return Path("outputs") / "-".join(parts)


def what_is_run(config: DictConfig) -> DictConfig:
    """The options that decide what is learnt, the seed apart."""
    what = OmegaConf.create({k: v for k, v in config.items() if k not in NOT_HASHED})
    OmegaConf.update(what, "treebank.root", None)  # where it lies does not change what is learnt
    for name, before in ADDED_LATER.items():
        part, _, key = name.partition(".")
        if OmegaConf.select(what, name) == before:
            what[part].pop(key, None)
    return what


def differences(one: DictConfig, other: DictConfig) -> list[str]:
    """Names of options that differ and decide what is learnt, the seed among them."""
    flat = [_flat(what_is_run(config)) | {"seed": config.get("seed")} for config in (one, other)]
    return sorted(name for name in {*flat[0], *flat[1]} if flat[0].get(name) != flat[1].get(name))


def _flat(config: DictConfig) -> dict[str, Any]:
    """Options with their full names."""
    parts = OmegaConf.to_container(config, resolve=True)
    assert isinstance(parts, dict)
    flat: dict[str, Any] = {}
    for name, part in parts.items():
        if isinstance(part, dict):
            flat |= {f"{name!s}.{key!s}".removesuffix("._target_"): v for key, v in part.items()}
        else:
            flat[str(name)] = part
    return flat


def construct(target: Any, given: dict[str, Any], choice: str) -> Any:
    """target(**given), with unknown names and wrong types or values told apart from the code's own
    mistakes.
    """
    try:
        if not isinstance(given, dict):
            raise ConfigError(f"{choice} is {given!r}, expected options: see --help")
        schema = OmegaConf.structured(target)
        OmegaConf.set_readonly(schema, value=False)  # the schema of a frozen dataclass is
        merged = OmegaConf.to_container(OmegaConf.merge(schema, given), throw_on_missing=True)
        assert isinstance(merged, dict)
        for key, value in merged.items():
            require_size(value, f"{choice}.{key!s}")
        return target(**{str(key): value for key, value in merged.items()})
    except OmegaConfBaseException as error:
        raise ConfigError(_explain(f"{choice}.", error)) from error
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _explain(prefix: str, error: OmegaConfBaseException) -> str:
    finding = str(error).splitlines()[0]
    key = getattr(error, "full_key", None)
    return unknown_option(error, prefix) or (f"option {prefix}{key}: {finding}" if key else finding)


def unknown_option(error: BaseException | None, prefix: str = "") -> str:
    """What to say of an option that there is not; nothing if that is not the error."""
    if not isinstance(error, ConfigKeyError | ConfigAttributeError) or error.parent_node is None:
        return ""
    name = f"{prefix}{error.full_key}"
    part, _, key = name.rpartition(".")
    known = [str(option) for option in error.parent_node if option not in ("_target_", "hydra")]
    found = f"{part} has no such option" if part else "there is no such option"
    return f"option {name}: {found}; {what_there_is(key, known)}"
