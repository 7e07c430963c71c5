"""Libraries that parsing goes without, and the extras of dyparse that bring them."""

import sys
from importlib.util import find_spec

from dyparse.errors import ConfigError


def is_installed(library: str) -> bool:
    """Whether a library can be imported, found out without importing it."""
    if library in sys.modules:
        return sys.modules[library] is not None
    return find_spec(library) is not None


def require_libraries(what: str, extra: str, *libraries: str) -> None:
    """ConfigError if something needs libraries that are not installed; none is imported."""
    if missing := [name for name in libraries if not is_installed(name)]:
        are, them = ("is", "it") if len(missing) == 1 else ("are", "them")
        raise ConfigError(
            f"{what} needs {', '.join(missing)}, which {are} not installed; install {them}: "
            f'pip install "dyparse[{extra}]"'
        )


def require_training(what: str, *libraries: str) -> None:
    """ConfigError if something of the extra `train` needs libraries that are not installed."""
    require_libraries(what, "train", *libraries)
