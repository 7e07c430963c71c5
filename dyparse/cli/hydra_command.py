"""Commands whose options Hydra reads: `dyparse train` and `dyparse evaluate`."""

from collections.abc import Callable, Sequence
from typing import Any


def run_hydra_command(task: Callable[..., Any], name: str, arguments: Sequence[str]) -> int:
    """Run a task with the options of a command line, in which `treebank=` may name a place."""
    from dyparse.config.application import run_application  # Hydra is slow to import
    from dyparse.treebank._names import with_named_treebanks

    options = with_named_treebanks(arguments, every_split=name == "evaluate")
    run_application(task, name, options)
    return 0
