"""Greedy neural dependency parsing with exact dynamic oracles.

parser = dyparse.load("outputs/…/model")
print(parser.parse(["The dog barks."])[0].to_conllu())
"""

from pathlib import Path
from typing import TYPE_CHECKING

from dyparse.version import __version__

if TYPE_CHECKING:
    from dyparse.model.parser import Parser

__all__ = ["__version__", "load"]


def load(directory: str | Path, device: str = "cpu") -> "Parser":
    """The parser saved in a model directory.

    `dyparse.errors.CheckpointError` says what is wrong with one.
    """
    from dyparse.runtime.entry import limit_shape_caches

    limit_shape_caches()  # before torch is imported
    from dyparse.model.parser import Parser  # only here: `import dyparse.system` needs no torch

    return Parser.load(directory, device)
