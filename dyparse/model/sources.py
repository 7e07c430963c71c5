"""Where a model comes from: a directory, an installed package, or the Hugging Face Hub.

A package names its model with an entry point of the group `dyparse.models`, whose value is the
folder that the model is in. The entry point is not loaded, and no code of the package is run: the
folder is found among the files that pip has recorded.
"""

import os
import re
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from dyparse.errors import CheckpointError
from dyparse.model.checkpoint_files import MANIFEST
from dyparse.model.hub import HubModel, download

GROUP = "dyparse.models"
NAME = re.compile(r"[A-Z0-9]|[A-Z0-9][A-Z0-9._-]*[A-Z0-9]", re.ASCII | re.IGNORECASE)  # PEP 508


def find_model(model: str | Path) -> str | Path:
    """The directory that a name stands for; models of the Hub are downloaded.

    `hf://OWNER/NAME` and `hf://OWNER/NAME@REVISION` are on the Hub. Anything else is a path, which
    is given back as it is; if there is nothing at it, it may be the name of an installed package.
    CheckpointError if there is no such model.
    """
    text = os.fspath(model)
    if on_hub := HubModel.named(text):
        return download(on_hub)
    if not NAME.fullmatch(text) or os.path.lexists(text):
        return model
    installed = {normalized(found.name): found for found in entry_points(group=GROUP)}
    if found := installed.get(normalized(text)):
        return _folder(found)
    there = ", ".join(sorted(installed))
    raise CheckpointError(
        f"{text}: no such model directory, nor an installed package with a model of this name "
        f"({f'there is {there}' if there else 'there is none'}); training prints where it saves a "
        f"model, pip installs packages, and hf://OWNER/NAME is a model on the Hugging Face Hub"
    )


def normalized(name: str) -> str:
    """The name of a package as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _folder(found: EntryPoint) -> Path:
    """The folder of a model among the files of its package."""
    package = found.dist
    for file in (package and package.files) or []:
        if file.as_posix() == f"{found.value}/{MANIFEST}":
            return Path(str(file.locate())).parent
    raise CheckpointError(
        f"{found.name}: the package {package.name if package else found.name} names a model in "
        f"{found.value!r}, but has no {found.value}/{MANIFEST}; install it again"
    )
