"""A hash of everything that compiled code is made from.

Numba freezes into machine code what a function reaches through its globals: other functions, the
kernels of the classes among its arguments, constants. They are followed here as they are in memory,
so that a file edited after it was imported cannot put old code under the hash of new code. The
source files of all of them count too, for what code objects do not show, such as the options of a
decorator.
"""

import dis
import enum
import functools
import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from types import BuiltinFunctionType, CodeType, EllipsisType, FunctionType, ModuleType, NoneType
from typing import Any

import numba
import numpy as np
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic

COMPILER = ("builtins", "numba", "numpy", "llvmlite")
PLAIN = (bool, int, float, complex, str, bytes, NoneType, EllipsisType)
GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME")  # instructions whose argument is the name of a global
CODE = ("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_flags")
COUNTS = ("co_argcount", "co_posonlyargcount", "co_kwonlyargcount")


class UnknownSourceError(Exception):
    """Compiled code depends on something that another process would not find again."""


def hash_of_sources(function: Any, classes: Sequence[type]) -> str | None:
    """A name for the code that is compiled for a function with arguments of these classes.

    None where compiled code cannot be kept: a class is defined in `__main__`, in a notebook or in a
    function, or a global is neither code nor a constant.
    """
    sources = _Sources()
    try:
        sources.add(function, classes)
    except UnknownSourceError:
        return None
    settings: Any = numba.config  # its names are made at run time
    versions = (sys.version, *(version(name) for name in ("numba", "llvmlite", "numpy")))
    arguments = [_name(cls) for cls in classes]
    lines = [f"{versions} {settings.BOUNDSCHECK} {arguments}", *sorted(sources.lines)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


class _Sources:
    """Lines about everything that was reached; their order does not matter."""

    def __init__(self) -> None:
        self.lines: set[str] = set()
        self._seen: set[Any] = set()
        self._kernels: set[str] = set()
        self._modules: set[str] = set()  # where kernels are looked for

    def add(self, function: Any, classes: Sequence[type]) -> None:
        """A function, the classes of its arguments, and the kernels of these classes."""
        for value in (function, *classes):
            self.text_of(value)
        done: set[tuple[str, str]] = set()
        while waiting := {(m, k) for m in self._modules for k in self._kernels} - done:
            for module, kernel in waiting:  # which may reach more modules and kernels
                namesake = getattr(sys.modules[module], kernel, None)
                if isinstance(namesake, ModuleType):  # such as dyparse.exploration.static
                    namesake = None
                self.lines.add(f"kernel {module}.{kernel} = {self.text_of(namesake)}")
            done |= waiting

    def text_of(self, value: Any) -> str:
        """A constant in full; the name of a function or class, whose content is added."""
        constant = self._constant(value)
        if constant is not None:
            return constant
        if isinstance(value, CodeType):
            return self._code(value)
        return self._class(value) if isinstance(value, type) else self._function(value)

    def _constant(self, value: Any) -> str | None:
        if isinstance(value, enum.Enum):
            text = f"{self._class(type(value))}.{value.name}"
        elif isinstance(value, tuple | frozenset):
            parts = [self.text_of(part) for part in value]
            text = (
                f"{self._class(type(value))} {parts if isinstance(value, tuple) else sorted(parts)}"
            )
        elif isinstance(value, PLAIN):
            text = f"{type(value).__name__} {value!r}"
        elif isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
            text = f"array {value.dtype!r} {value.shape} {_digest(value.tobytes())}"
        elif isinstance(value, numba.types.Type | np.dtype):
            text = f"type {value!r}"
        else:
            return None
        return text

    def _class(self, cls: type) -> str:
        """Compiled code knows NamedTuples, enumerations and exceptions."""
        name = _name(cls)
        if not _is_library(cls.__module__) and self._is_new(cls):
            module = sys.modules.get(cls.__module__)
            if (
                not getattr(module, "__spec__", None)
                or _member(module, cls.__qualname__) is not cls
            ):
                raise UnknownSourceError(name)
            self._add_file(getattr(module, "__file__", ""))
            if issubclass(cls, tuple):
                self._modules.add(cls.__module__)
                self.lines.add(f"{name} {getattr(cls, '_fields', ())}")
            elif issubclass(cls, enum.Enum):
                self.lines.add(f"{name} {[(m.name, self.text_of(m.value)) for m in cls]}")
            elif not issubclass(cls, BaseException):
                raise UnknownSourceError(name)
        return name

    def _function(self, value: Any) -> str:
        if getattr(value, "is_kernel", False):
            self._kernels.add(value.__name__)
            value = value.__wrapped__
        if isinstance(value, _Intrinsic):
            return self._intrinsic(value._defn)
        function = value.py_func if isinstance(value, Dispatcher) else value
        if isinstance(function, np.ufunc):
            return f"ufunc {function.__name__}"
        if not isinstance(function, FunctionType | BuiltinFunctionType):
            raise UnknownSourceError(repr(value))
        name = _name(function)
        if not _is_library(function.__module__) and self._is_new(function):
            if isinstance(function, BuiltinFunctionType):  # of another compiled module
                raise UnknownSourceError(name)
            self._add_function(name, function)
        return name

    def _intrinsic(self, function: FunctionType) -> str:
        """A function that writes LLVM: its file, and the constants that its definition closes over.

        Its globals are objects of llvmlite, which are made in that file.
        """
        code = function.__code__
        self._add_file(code.co_filename)
        cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
        closed = [f"{variable} = {self.text_of(cell.cell_contents)}" for variable, cell in cells]
        return f"intrinsic {_name(function)} {closed}"

    def _add_function(self, name: str, function: FunctionType) -> None:
        code = function.__code__
        self._add_file(code.co_filename)
        defaults = (function.__defaults__, *sorted((function.__kwdefaults__ or {}).items()))
        self.lines.add(f"{name} {self._code(code)} {self.text_of(defaults)}")
        for variable, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            self.lines.add(f"{name}.{variable} = {self.text_of(cell.cell_contents)}")
        for variable in sorted(_globals_used(code)):
            if variable in function.__globals__:
                self._add_global(f"{name}.{variable}", function.__globals__[variable], code)

    def _add_global(self, name: str, value: Any, code: CodeType) -> None:
        """What a function has under a global name; of a module, the members it may have meant."""
        if not isinstance(value, ModuleType):
            self.lines.add(f"{name} = {self.text_of(value)}")
        elif not _is_library(value.__name__):
            for member in sorted(_names(code)):
                if member in vars(value):
                    self._add_global(f"{name}.{member}", vars(value)[member], code)

    def _code(self, code: CodeType) -> str:
        parts = [getattr(code, name) for name in (*CODE, *COUNTS)]
        return _digest(repr([*parts, *map(self.text_of, code.co_consts)]).encode())

    def _add_file(self, path: str) -> None:
        if self._is_new(path) and Path(path).is_file():
            self.lines.add(f"file {_digest(Path(path).read_bytes())}")

    def _is_new(self, value: Any) -> bool:
        is_new = value not in self._seen
        self._seen.add(value)
        return is_new


def _name(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"


def _member(module: Any, qualified: str) -> Any:
    """What a module has under a dotted name, or None."""
    for name in qualified.split("."):
        module = getattr(module, name, None)
    return module


@functools.cache
def _is_library(module: str | None) -> bool:
    """Whether a module comes with Python or numba: then their versions say what is in it."""
    top = str(module).partition(".")[0]
    if top in COMPILER or top not in sys.stdlib_module_names:
        return top in COMPILER
    path = Path(getattr(sys.modules.get(top), "__file__", None) or os.__file__)
    return path.is_relative_to(Path(os.__file__).parent) and "site-packages" not in path.parts


def _nested(code: CodeType) -> Iterator[CodeType]:
    """A code object and those of the functions defined in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _names(code: CodeType) -> set[str]:
    """All names of globals and attributes."""
    return {name for part in _nested(code) for name in part.co_names}


@functools.cache
def _globals_used(code: CodeType) -> frozenset[str]:
    instructions = (i for part in _nested(code) for i in dis.get_instructions(part))
    return frozenset(i.argval for i in instructions if i.opname in GLOBAL)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
