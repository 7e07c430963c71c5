"""Compiled code on disk: one file for each function, set of sources, signature and processor.

A file is named by the hash of all of them, and there is no index. So no file is ever out of date,
no process opens one that names classes it does not use, and any number of processes may write at
once.
"""

import hashlib
import os
import pickle
import re
from pathlib import Path
from typing import Any

from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from dyparse.runtime.atomic_files import write


class KernelCache(NullCache):
    """What a numba dispatcher asks for compiled code before it compiles.

    Numba's own cache looks only at the file of the function, and misses changes in the kernels that
    it calls; its index names classes that another process may not be able to import.
    """

    def __init__(self, name: str, key: str) -> None:
        self.name = name
        self.key = key

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for these argument types, if there is any."""
        target_context.refresh()
        try:
            content = self._path(sig, target_context.codegen()).read_bytes()
        except (OSError, RuntimeError):  # RuntimeError: no home directory
            return None
        result: Any = CompileResult
        loaded = result._rebuild(target_context, *pickle.loads(content))
        return loaded if loaded.signature.args == sig else None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code; where nothing can be written, every process compiles for itself."""
        if data.library.has_dynamic_globals:  # addresses of this process
            return
        try:
            path = self._path(sig, data.codegen)
            path.parent.mkdir(parents=True, exist_ok=True)
            write(path, dumps(data._reduce()))  # type: ignore[no-untyped-call]  # numba has no types
        except (OSError, RuntimeError):
            return

    def _path(self, sig: Any, codegen: Any) -> Path:
        types = re.sub(r"~\d+", "", str(sig))  # without the marks of dyparse.runtime.kernels
        what = f"{self.key} {types} {codegen.magic_tuple()}"
        digest = hashlib.sha256(what.encode()).hexdigest()[:32]
        return cache_directory() / f"{self.name}-{digest}.nbc"


def cache_directory() -> Path:
    """Where compiled kernels are kept; `DYPARSE_CACHE` moves it."""
    given = os.environ.get("DYPARSE_CACHE")
    user = os.environ.get("XDG_CACHE_HOME")
    root = Path(given) if given else Path(user or Path.home() / ".cache") / "dyparse"
    return root / "kernels"
