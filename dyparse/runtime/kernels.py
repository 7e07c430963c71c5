"""Numba without reference counts; kernels found by type; compiled code kept on disk.

A *kernel* is a compiled function that several choices implement under one name: `legal`, `cost`,
`follow`, …. Generic code, such as the rollout, calls the declared kernel; compiled or not, the call
reaches the function of that name in the module that defines the class of the first argument. So a
new system needs no registration, inside the package or outside.
"""

import functools
import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import numba
from numba.extending import overload, register_jitable

from dyparse.errors import DyparseError
from dyparse.runtime.kernel_cache import KernelCache
from dyparse.runtime.kernel_sources import hash_of_sources

ARRAYS = "numba.np.arraymath"
F = TypeVar("F", bound=Callable[..., Any])

# No reference counts, which took most of the time of small functions over tuples of arrays. Such a
# function can neither allocate nor keep an array; numba has the option, but does not document it.
# And no wrappers for calls from Python, which take time to compile.
ONE_ROW: Any = {"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def kernel(declared: F) -> F:
    """Turn a declaration into a call of its namesake in the module of the first argument's class.

    DyparseError if that module has none.
    """
    return _kernel(declared, None)


def optional_kernel(declared: F) -> F:
    """As `kernel`; where the module has no namesake, the declaration's own body is what is done."""
    return _kernel(declared, declared)


def _kernel(declared: F, default: F | None) -> F:
    name = declared.__name__

    def implementation(cls: type) -> Any:
        found = getattr(sys.modules[cls.__module__], name, default)
        if found is None:
            raise DyparseError(
                f"{cls.__module__} has no kernel {name}, which {cls.__name__} needs; write it as "
                f"declared in {declared.__module__}"
            )
        return found

    @functools.wraps(declared)
    def call(options: Any, *arguments: Any) -> Any:
        return implementation(type(options))(options, *arguments)

    # Not strict: the implementation's parameters are its own affair.
    @overload(call, strict=False, jit_options=ONE_ROW)
    def find(options: Any, *arguments: Any) -> Any:  # noqa: ARG001 - numba calls it with types
        found = implementation(options.instance_class)
        return getattr(found, "py_func", found)  # of one that was made by numba.njit

    call.is_kernel = True  # type: ignore[attr-defined]  # a mark that hash_of_sources looks for
    return cast(F, call)


def njit(function: F) -> F:
    """For functions about one row, kernels and what they call: they allocate nothing.

    Compiled where compiled code calls it, plain Python where Python does.
    """
    return register_jitable(**ONE_ROW)(function)


def cached_njit(function: F) -> F:
    """For functions that Python calls: `numba.njit(nogil=True)`, compiled code kept on disk."""
    settings: Any = numba.config  # its names are made at run time
    return function if settings.DISABLE_JIT else cast(F, CompiledFunction(function))


class CompiledFunction:
    """A function with a numba dispatcher for each set of NamedTuple classes it is called with.

    The classes decide which kernels are compiled in. So no two sets of kernels share a dispatcher,
    nor files in the cache.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self._dispatchers: dict[tuple[type, ...], Any] = {}

    def __call__(self, *arguments: Any) -> Any:
        found: list[type] = []
        collect_tuple_classes(arguments, found)
        classes = tuple(found)
        dispatcher = self._dispatchers.get(classes)
        if dispatcher is None:  # of two threads that get here at once, one makes it for both
            dispatcher = self._dispatchers.setdefault(classes, self._dispatcher(classes))
        return dispatcher(*arguments)

    def _dispatcher(self, classes: Sequence[type]) -> Any:
        import_arrays()
        options: Any = {"nogil": True, "fastmath": {"reassoc", "contract"}, "error_model": "numpy"}
        dispatcher: Any = numba.njit(**options)(self.py_func)
        if key := hash_of_sources(self.py_func, classes):
            dispatcher._cache = KernelCache(self.__name__, key)
        for cls in classes:
            name_apart(cls)
        return dispatcher


def import_arrays() -> None:
    """Import what numba knows of arrays, without scipy.

    Numba imports scipy, if it is installed, to see whether it can have BLAS for the inner products
    of covariances; without it, it writes loops. Products of matrices import scipy when compiled.
    """
    if ARRAYS in sys.modules:
        return
    try:
        linear: Any = importlib.import_module("numba.np.linalg")
        find_blas = linear.ensure_blas
    except (ImportError, AttributeError):  # of another version, which is as it is
        return
    linear.ensure_blas = _without_blas
    try:
        importlib.import_module(ARRAYS)
    finally:
        linear.ensure_blas = find_blas


def _without_blas() -> None:
    raise ImportError("not looked for")


def collect_tuple_classes(values: tuple[Any, ...], found: list[type]) -> None:
    """Append the classes of all tuples among the values, and inside these, in order."""
    for value in values:
        if isinstance(value, tuple):
            found.append(type(value))
            collect_tuple_classes(value, found)


_named: dict[Any, type] = {}


def name_apart(cls: type) -> None:
    """Add ~1, ~2, … to the name of a class if numba has met another one with its name and fields.

    By these a dispatcher recognises an argument; where two classes share them, every call would
    take the slow way through Python to find out that the other one was not meant.
    """
    name = cls.__name__
    for number in range(1, sys.maxsize):
        if _named.setdefault((cls.__name__, getattr(cls, "_fields", ())), cls) is cls:
            return
        cls.__name__ = f"{name}~{number}"
