"""Messages for wrong options of train.py and evaluate.py that Hydra itself finds."""

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf.errors import OmegaConfBaseException

from dyparse.config.build import unknown_option
from dyparse.config.choices import suggestion
from dyparse.runtime.entry import print_error, require_streams


@contextmanager
def clear_option_errors() -> Iterator[None]:
    """Print what Hydra finds wrong in the command line as one message; exit status 2."""
    require_streams()
    os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # Hydra raises, rather than prints and exits
    try:
        yield
    except (HydraException, OmegaConfBaseException, ValueError, OSError) as error:
        if _is_of_the_program(error):
            raise
        sys.exit(print_error(explanation(error)))


def _is_of_the_program(error: BaseException) -> bool:
    """Whether it was raised after the options had been read, and so is a bug."""
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    modules = {str(frame.f_globals.get("__name__")) for frame in frames} - {__name__}
    return any(name.startswith("dyparse.") for name in modules)


def explanation(error: Exception) -> str:
    """The error in one line, with a remedy."""
    if isinstance(error, MissingConfigException) and error.missing_cfg_file and error.options:
        choice, _, name = str(error.missing_cfg_file).rpartition("/")
        return f"there is no {choice} {name!r}; {suggestion(name, error.options)}"
    if isinstance(error, OverrideParseException):
        return f"{error.override!r} cannot be read as an option; expected key=value: see --help"
    finding = " ".join(str(error).split())
    return unknown_option(error) or unknown_option(error.__cause__) or f"{finding}; see --help"
