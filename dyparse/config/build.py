"""Objects from checked options, and options from objects.

`build` makes what a training was asked for: it imports the class that `_target_` names. `describe`
and `restore` are for files that are handed on, such as a model's config.yaml: they hold names and
plain values, and restoring them never imports code.
"""

import dataclasses
import sys
from typing import Any

import yaml
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException

from dyparse.config.choices import (
    find,
    find_class,
    name_of,
    no_new_imports,
    require_size,
    suggestion,
    why_unfit,
)
from dyparse.errors import ConfigError


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
    target = options.get("_target_")
    if not isinstance(target, str) or "." not in target:
        raise ConfigError(f"{choice}._target_ names no class: it is {target!r}")
    try:
        cls = find_class(choice, target)
    except ValueError as error:
        raise ConfigError(f"{choice}._target_: {error}") from error
    try:
        return construct(cls, given, choice)
    except ConfigError as error:
        key = getattr(error.__cause__, "full_key", "")
        if not unknown_option(error.__cause__) or target.startswith("dyparse."):
            raise
        raise ConfigError(
            f"{error}; if it is from the yaml of another class, leave it out with ~{choice}.{key}"
        ) from error


def without_places(chosen: Any) -> Any:
    """The options of a choice with places named by their content, if it has any."""
    return chosen.without_places() if hasattr(chosen, "without_places") else chosen


def describe(chosen: Any) -> dict[str, Any]:
    """A choice as data: its name and its options. `restore` makes it again.

    Files and directories of the user are named by their content (`dyparse.config.places`).
    """
    chosen = without_places(chosen)
    options = dataclasses.asdict(chosen)
    if "name" in options:
        raise ConfigError(f"{name_of(chosen)}: an option of it cannot be called name; rename it")
    return {"name": name_of(chosen), **options}


def restore(choice: str, described: Any) -> Any:
    """The object that `describe` described; of modules that the program has imported already.

    ConfigError if it cannot be made, NotImportedError if its class is not there.
    """
    if not isinstance(described, dict) or not isinstance(described.get("name"), str):
        raise ConfigError(f"{choice} is {described!r}, expected a name and options")
    given = {key: value for key, value in described.items() if key != "name"}
    with no_new_imports():
        try:
            target = find(choice, described["name"])
        except ValueError as error:
            raise ConfigError(str(error)) from error
        return construct(target, given, choice)


def require_loadable(choice: str, chosen: Any) -> None:
    """ConfigError if a model with this choice could not be loaded by another program."""
    cls = type(chosen)
    if reason := why_not_importable(cls) or why_unfit(choice, cls):
        raise ConfigError(
            f"{choice}: a model could not be loaded again, for {name_of(cls)} {reason}"
        )
    try:
        same = restore(choice, yaml.safe_load(yaml.safe_dump(describe(chosen))))
    except (ConfigError, yaml.YAMLError, TypeError) as error:
        finding = " ".join(str(error).split())
    else:
        finding = "they come back changed" if same != without_places(chosen) else ""
    if finding:
        raise ConfigError(
            f"{choice}: a model could not be loaded again, for the options of {name_of(cls)} "
            f"cannot be written to a file ({finding}); make them numbers, texts, or lists of these"
        )


def why_not_importable(cls: type) -> str:
    """Why no other program could import a class; empty if it could."""
    if "." in cls.__qualname__:
        return "is defined inside a function or class; define it in a module"
    if cls.__module__ in ("__main__", "__mp_main__"):
        return "is defined in the program that runs; define it in a module that this one imports"
    parent = cls.__module__.rpartition(".")[0]
    path = getattr(sys.modules.get(parent), "__path__", None)
    specs = (finder.find_spec(cls.__module__, path) for finder in sys.meta_path)
    if next(filter(None, specs), None) is None:
        return "is in a module that cannot be imported; install it, or run where it is"
    if getattr(sys.modules.get(cls.__module__), cls.__name__, None) is not cls:
        return f"is not what {cls.__module__} has under this name"
    return ""


def construct(target: Any, given: dict[str, Any], choice: str) -> Any:
    """target(**given); ConfigError for unknown names and wrong types or values, which leaves the
    code's own mistakes as they are.
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
    """Message for an unknown option; empty for other errors."""
    if not isinstance(error, ConfigKeyError | ConfigAttributeError) or error.parent_node is None:
        return ""
    name = f"{prefix}{error.full_key}"
    part, _, key = name.rpartition(".")
    known = [str(option) for option in error.parent_node if option not in ("_target_", "hydra")]
    found = f"{part} has no such option" if part else "there is no such option"
    if name == "experiment":  # only its file can have put it there
        return "option experiment: its yaml file must begin with the line `# @package _global_`"
    if inside := [] if part else _parts_with(key, error.parent_node):
        return f"option {name}: {found}; did you mean {' or '.join(inside)}?"
    return f"option {name}: {found}; {suggestion(key, known)}"


def _parts_with(key: str, options: Any) -> list[str]:
    """Full names of options of this name in the parts of a configuration."""
    parts: Any = OmegaConf.to_container(options)
    return [
        f"{name}.{key}"
        for name, part in parts.items()
        if name != "hydra" and isinstance(part, dict) and key in part
    ]
