"""Numba without reference counts and with a cache that cannot go stale; kernels found by type.

A *kernel* is a compiled function that several choices implement under one name: `legal`, `cost`,
`follow`, …. Generic code, such as the walk, calls the declared kernel; compiled or not, the call
reaches the function of that name in the module that defines the class of the first argument. That
class needs a name of its own, because numba tells NamedTuples apart by name and fields, not by
module. So the walk is one ordinary cached function, not a closure made anew for every system, and a
new system needs no registration.
"""

import functools
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.extending import overload, register_jitable

F = TypeVar("F", bound=Callable[..., Any])

_PACKAGE = Path(__file__).parents[1]

# No reference counts, which took most of the time of small functions over tuples of arrays. Such a
# function can neither allocate nor keep an array; numba has the option, but does not document it.
# And no wrappers for calls from Python, which take time to compile.
ONE_ROW: Any = {"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def kernel(declared: F) -> F:
    """Turn a declaration into a call of its namesake in the module of the first argument's class.

    Where that module has none, the declaration's own body is what is done.
    """
    name = declared.__name__

    @functools.wraps(declared)
    def call(options: Any, *arguments: Any) -> Any:
        module = sys.modules[type(options).__module__]
        return getattr(module, name, declared)(options, *arguments)

    # Not strict: the implementation's parameters are its own affair.
    @overload(call, strict=False, jit_options=ONE_ROW)
    def find(options: Any, *arguments: Any) -> Any:  # noqa: ARG001 - numba calls it with types
        found = getattr(sys.modules[options.instance_class.__module__], name, declared)
        return getattr(found, "py_func", found)  # of one that was made by numba.njit

    return cast(F, call)


def njit(function: F) -> F:
    """For functions about one row, kernels and what they call: they allocate nothing.

    Compiled where compiled code calls it, plain Python where Python does.
    """
    return register_jitable(**ONE_ROW)(function)


def cached_njit(function: F) -> F:
    """`numba.njit(nogil=True)`, cached on disk under a key of all kernels of the package.

    Numba's own cache looks only at the file of the function and misses changes in the kernels it
    calls. Where no cache directory can be written, every process compiles for itself.
    """
    dispatcher = numba.njit(nogil=True, fastmath={"reassoc", "contract"}, error_model="numpy")(
        function
    )
    if not hasattr(dispatcher, "enable_caching"):  # NUMBA_DISABLE_JIT=1
        return function
    directory = _cache_directory()
    if directory is None:
        return cast(F, dispatcher)
    settings: Any = numba.config  # its names are made at run time
    previous, settings.CACHE_DIR = settings.CACHE_DIR, str(directory)
    try:
        dispatcher.enable_caching()
    finally:
        settings.CACHE_DIR = previous
    return cast(F, dispatcher)


@functools.cache
def _cache_directory() -> Path | None:
    """Where compiled kernels of exactly these sources lie; `DYPARSE_CACHE` moves it.

    None if it cannot be written: numba would then use a directory of its own, with stale kernels.
    """
    folders = ("system", "exploration", "rollout", "runtime", "evaluation", "data")
    sources = sorted(path for name in folders for path in (_PACKAGE / name).glob("*.py"))
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for source in sources:
        digest.update(source.read_bytes())
    name = f"kernels-{digest.hexdigest()[:16]}"
    try:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        directory = Path(os.environ.get("DYPARSE_CACHE") or cache / "dyparse") / name
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return directory
    except (OSError, RuntimeError):  # RuntimeError: nobody's home
        return None
