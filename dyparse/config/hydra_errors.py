"""Messages for wrong options of training and evaluation that Hydra itself finds."""

import os
import shlex
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from dyparse.config.build import unknown_option
from dyparse.config.choices import quoted_for_hydra, remedy
from dyparse.runtime.entry import print_error, require_streams


@contextmanager
def clear_option_errors(task: Callable[..., Any]) -> Iterator[None]:
    """Print what Hydra finds wrong in the command line as one message; exit status 2.

    Errors of the task, which runs when the options have been read, are raised.
    """
    require_streams()
    os.environ.setdefault("HYDRA_FULL_ERROR", "1")  # Hydra raises, rather than prints and exits
    try:
        yield
    except (HydraException, OmegaConfBaseException, YAMLError, ValueError, OSError) as error:
        if isinstance(error, BrokenPipeError) or _is_raised_in(task, error):
            raise
        sys.exit(print_error(explanation(error)))


def _is_raised_in(task: Callable[..., Any], error: BaseException) -> bool:
    """Whether an error comes from a function, or from what it has called.

    An error of another process has lost its frames; Hydra raises it when it looks at the result.
    """
    codes = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    return task.__code__ in codes or any(code.co_name == "return_value" for code in codes)


def _as_option(override: str) -> str:
    """How an override that Hydra cannot read would be written."""
    key, sign, value = override.partition("=")
    if sign and value and not value.startswith(("[", "{", "'", '"')):
        option = f"{key}={quoted_for_hydra(value)}"
        is_plain = not set('"$`\\!') & set(option)  # within double quotes of a shell
        return "with quotes it can: " + (f'"{option}"' if is_plain else shlex.quote(option))
    return "expected key=value, such as treebank=sample: see --help"


def explanation(error: Exception) -> str:
    """The error in one line, with a remedy."""
    if isinstance(error, MissingConfigException) and error.missing_cfg_file and error.options:
        choice, _, name = str(error.missing_cfg_file).rpartition("/")
        found = remedy(choice, name, error.options)
        if choice == "treebank":  # of which some are found by their places
            listed = ", ".join(name for name in error.options if name not in ("files", "ud"))
            places = "the directory of a UD treebank, or a CoNLL-U file"
            known = f"there are {', '.join(error.options)}"
            found = found.replace(known, f"expected {listed}, {places}")
        return f"there is no {choice} {name!r}; {found}"
    if isinstance(error, OverrideParseException):
        return f"{error.override!r} cannot be read as an option; {_as_option(str(error.override))}"
    finding = " ".join(str(error).split())
    return unknown_option(error) or unknown_option(error.__cause__) or f"{finding}; see --help"
