"""Choices by name: `arc_eager` is a module of the package, `mylab.systems.Mine` a class outside it.

An alternative of the package is known by the name of its module in `dyparse/<folder>/`, any other
class by its dotted path. Options may follow in text: `arc_eager:root=first,single_root=false`.
"""

import contextlib
import dataclasses
import difflib
import importlib
import inspect
import pkgutil
import re
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType
from typing import Any

from dyparse.errors import ConfigError

MOST_OF_COMPILED = 2**31 - 1  # whole numbers, in code that numba has compiled
LONGEST_PATH = 200
PATH = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")
REMEDIES = {  # for names that people expect
    ("exploration", "dynamic"): "training with a dynamic oracle is dagger_replay, which is the "
    "default, explore, dagger, sample or curriculum",
    **{
        (choice, name): f"{name} is an exploration and a loss: experiment={name}"
        for choice in ("exploration", "loss")
        for name in ("aggrevate", "aggrevated", "policy_gradient")
    },
    ("encoder", "transformer"): "install it: pip install 'dyparse[transformers]'",
    ("hydra/sweeper", "optuna"): "install it: pip install 'dyparse[optuna]'",
    ("hydra/launcher", "joblib"): "install it: pip install 'dyparse[joblib]'",
    ("hydra/launcher", "submitit_slurm"): "install it: pip install 'dyparse[submitit]'",
    ("hydra/launcher", "submitit_local"): "install it: pip install 'dyparse[submitit]'",
}

_may_import = ContextVar("may_import", default=True)


class NotImportedError(ConfigError):
    """A class is needed whose module the program has not imported."""


def names(folder: str) -> list[str]:
    """The alternatives in `dyparse/<folder>/`: its modules whose names have no underscore first."""
    package = importlib.import_module(f"dyparse.{folder}")
    modules = (module.name for module in pkgutil.iter_modules(package.__path__))
    return sorted(name for name in modules if not name.startswith("_"))


def find(folder: str, name: str) -> Any:
    """The dataclass of an alternative, by its name or dotted path; ValueError if there is none.

    A path is imported, from the current directory too, unless within `no_new_imports`.
    """
    if PATH.fullmatch(name) and len(name) <= LONGEST_PATH:
        return find_class(folder, name)
    if name not in names(folder):
        found = remedy(folder, name, names(folder))
        raise ValueError(f"no {folder} {name[:LONGEST_PATH]!r}; {found}")
    return _alternative(folder, _own_module(folder, name))


def _own_module(folder: str, name: str) -> ModuleType:
    """The module of an alternative; NotImportedError if it needs a library that is not there."""
    try:
        return importlib.import_module(f"dyparse.{folder}.{name}")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("dyparse."):  # no library, but a fault of the package
            raise
        install = REMEDIES.get((folder, name), "install it: pip install 'dyparse[train]'")
        raise NotImportedError(
            f"{folder} {name} needs {error.name}, which is not installed; {install}"
        ) from error


def find_class(folder: str, path: str) -> Any:
    """The class of a dotted path, if it can serve as this choice; ValueError says why not."""
    module_name, _, class_name = path.rpartition(".")
    if _may_import.get():
        module = import_module(module_name)
    elif module_name in sys.modules:
        module = sys.modules[module_name]
    else:
        raise NotImportedError(
            f"this model needs {path}; import {module_name} before loading it, or name it: "
            f"dyparse parse --import {module_name} …, dyparse evaluate 'imports=[{module_name}]' …"
        )
    # A package that loads lazily imports in its __getattr__.
    found = getattr(module, class_name, None) if _may_import.get() else vars(module).get(class_name)
    if not isinstance(found, type):
        raise ValueError(f"no {folder} {path!r}: {module_name} has no class {class_name!r}")
    if reason := why_unfit(folder, found):
        raise ValueError(f"{path} {reason}, so it cannot be a {folder}")
    return found


@contextlib.contextmanager
def no_new_imports() -> Iterator[None]:
    """For names that come from a file: only modules are used that the program has imported."""
    token = _may_import.set(False)
    try:
        yield
    finally:
        _may_import.reset(token)


def may_look_outside() -> bool:
    """Whether names may lead to modules, directories or the network: not if a file gave them."""
    return _may_import.get()


def import_modules(module_names: Iterable[str]) -> None:
    """Import modules that the user has named; ConfigError if one cannot be imported."""
    for name in module_names:
        try:
            import_module(name)
        except ValueError as error:
            raise ConfigError(str(error)) from error


def import_module(name: str) -> ModuleType:
    """A module by its name, also from the current directory; ValueError if it has an error."""
    here = str(Path.cwd())
    if not {"", here} & set(sys.path):
        sys.path.append(here)
    try:
        return importlib.import_module(name)
    except Exception as error:  # a module of the user may raise anything
        frames = traceback.extract_tb(error.__traceback__)
        own = [f for f in frames if f.filename != __file__ and "importlib" not in f.filename]
        place = f", {own[-1].filename}:{own[-1].lineno}" if own else ""
        finding = " ".join(f"{type(error).__name__}: {error}".split())
        raise ValueError(
            f"cannot import {name} ({finding}{place}); expected a module in the current directory, "
            "on PYTHONPATH or installed"
        ) from error


def _alternative(folder: str, module: ModuleType) -> Any:
    """The dataclass of a module that can serve as the choice.

    Of several, the one that is named as the module is.
    """
    members = [member for member in vars(module).values() if isinstance(member, type)]
    own = [member for member in members if member.__module__ == module.__name__]
    fit = [member for member in own if not why_unfit(folder, member)]
    name = module.__name__.rpartition(".")[2]
    if len(fit) > 1:
        fit = [member for member in fit if member.__name__.lower() == name.replace("_", "")]
    if len(fit) != 1:
        raise ValueError(f"{module.__name__} has no single dataclass that can be a {folder}")
    return fit[0]


def why_unfit(folder: str, cls: type) -> str:
    """Why a class cannot serve as the choice; empty if it can.

    What it must have is declared in `dyparse/<folder>/__init__.py`.
    """
    if not dataclasses.is_dataclass(cls) or not cls.__dataclass_params__.frozen:  # type: ignore[attr-defined]  # every dataclass has them
        return "is not a dataclass with frozen=True"
    declared = _declaration(folder)
    if not getattr(declared, "_is_protocol", False) and not issubclass(cls, declared):
        return f"is not derived from {declared.__module__}.{declared.__name__}"
    has = {*dir(cls), *(field.name for field in dataclasses.fields(cls))}
    missing = [member for member in _members(declared) if member not in has]
    return f"has no {missing[0]!r}" if missing else ""


def _declaration(folder: str) -> type:
    """The protocol or base class of a choice, which its package declares."""
    package = importlib.import_module(f"dyparse.{folder}")
    name = folder.capitalize()
    declared = f"{name}Choice" if hasattr(package, f"{name}Choice") else name
    found: type = getattr(package, declared, object)
    return found


def _members(declared: type) -> list[str]:
    """Names that a class or protocol declares, with or without a value."""
    classes = declared.__mro__[:-1]
    parts = [part for c in classes for part in (vars(c), inspect.get_annotations(c))]
    found = dict.fromkeys(name for part in parts for name in part)
    return [name for name in found if not name.startswith("_") or name == "__call__"]


def name_of(chosen: Any) -> str:
    """The name that `find` takes for an object or class: bare in the package, else a path."""
    cls = chosen if isinstance(chosen, type) else type(chosen)
    package, *inside = cls.__module__.split(".")
    if package == "dyparse" and len(inside) == 2:
        with contextlib.suppress(ValueError):  # of a class that is no alternative
            if find(*inside) is cls:
                return inside[1]
    return f"{cls.__module__}.{cls.__qualname__}"


def outside_modules(chosen: Iterable[Any]) -> list[str]:
    """Modules of those objects whose classes are not part of the package."""
    modules = dict.fromkeys(type(one).__module__ for one in chosen)
    return [name for name in modules if not name.startswith("dyparse.")]


def load(folder: str, text: str, **options: Any) -> Any:
    """The alternative that `NAME` or `NAME:KEY=VALUE,…` means, with more options by name."""
    name, _, listed = text.partition(":")
    target = find(folder, name)
    defaults = {field.name: _default(field) for field in dataclasses.fields(target) if field.init}
    options = {**options_in_text(listed, defaults), **options}
    if unknown := sorted(set(options) - set(defaults)):
        takes = f"it takes {', '.join(sorted(defaults))}" if defaults else "it takes none"
        raise ValueError(f"{folder} {name!r} has no option {unknown[0]!r}; {takes}")
    for key, value in options.items():
        require_size(value, key)
    return target(**options)


def text_of(chosen: Any) -> str:
    """The text that `load` takes: `NAME:KEY=VALUE,…` with the options that are not default."""
    changed = [f"{key}={_shown(value)}" for key, value in options_given(chosen)]
    return f"{name_of(chosen)}:{','.join(changed)}" if changed else name_of(chosen)


def options_given(chosen: Any) -> list[tuple[str, Any]]:
    """Names and values of the options that are not default."""
    values = [(field, getattr(chosen, field.name)) for field in dataclasses.fields(chosen)]
    return [(field.name, value) for field, value in values if value != _default(field)]


def _default(field: "dataclasses.Field[Any]") -> Any:
    """The default of an option; MISSING if it has none."""
    factory = field.default_factory
    return field.default if factory is dataclasses.MISSING else factory()


def options_in_text(listed: str, defaults: dict[str, Any]) -> dict[str, Any]:
    """`key=value,key=value` as options, values of the types of the defaults."""
    options: dict[str, Any] = {}
    for option in filter(None, listed.split(",")):
        key, sign, value = option.partition("=")
        if not sign:
            raise ValueError(f"{option!r} is not an option, expected key=value")
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


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def require_size(value: Any, name: str) -> None:
    """ValueError if it is a whole number that compiled code cannot take."""
    if isinstance(value, int) and abs(value) > MOST_OF_COMPILED:
        raise ValueError(f"{name} is {str(value)[:30]}, expected at most {MOST_OF_COMPILED:,}")


def remedy(choice: str, name: str, known: Sequence[str]) -> str:
    """What to write instead of an unknown name."""
    return REMEDIES.get((choice, name)) or suggestion(name, known)


def suggestion(name: str, known: Sequence[str]) -> str:
    """A hint about an unknown name: the known ones, and the nearest."""
    near = difflib.get_close_matches(name, known, 1)
    if not known:
        return "there are none"
    return f"there are {', '.join(known)}" + (f"; did you mean {near[0]!r}?" if near else "")


def for_hydra(value: str) -> str:
    """A text as an override has it: Hydra's grammar gives some signs a sense unless quoted."""
    if re.fullmatch(r"[\w/.+-]+", value, re.ASCII):
        return value
    return quoted_for_hydra(value)


def quoted_for_hydra(value: str) -> str:
    """The same in quotes: a text also where it looks like a number, null or a truth value."""
    quoted = re.sub(r"(\\*)('|$)", lambda found: found[1] * 2 + "\\'" * bool(found[2]), value)
    return f"'{quoted}'"
