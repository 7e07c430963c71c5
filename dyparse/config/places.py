"""Files and directories that options name: what a run or a model keeps is their content, not where
they are.

A choice with such an option has a method `without_places`, which gives the same options with every
place replaced by `content_name`. So models, results and loggers hold no path of the user's machine,
and a run is identified by what it reads: the same content under the same name elsewhere is the same
run, other content in the same place another one.
"""

import dataclasses
import functools
import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from dyparse.config.build import build, without_places

CHUNK = 1 << 20
NAMED = re.compile(r"(?:[\w.-]+/)?[^/\\]+@[0-9a-f]{16}")  # OWNER/NAME on the Hugging Face Hub


def content_name(name: str, files: Iterable[Path]) -> str:
    """`NAME@SHA256`: a name that is no place, and the start of a hash over its files."""
    digest = hashlib.sha256()
    for path in files:
        about = path.stat()
        digest.update(_sha256(path, about.st_mtime_ns, about.st_size))
    return f"{name}@{digest.hexdigest()[:16]}"


def is_content_name(text: str) -> bool:
    """Whether a text is a name by `content_name`, as the options of saved models have it."""
    return bool(NAMED.fullmatch(text))


def content_names(choice: Any) -> dict[str, tuple[str, str]]:
    """The files and directories that a choice was made from: name and hash, by option."""
    values = {field.name: getattr(choice, field.name) for field in dataclasses.fields(choice)}
    return {
        option: name_and_hash(value)
        for option, value in values.items()
        if isinstance(value, str) and is_content_name(value)
    }


def name_and_hash(text: str) -> tuple[str, str]:
    """The two parts of a name by `content_name`."""
    name, _, digest = text.rpartition("@")
    return name, digest


def with_content_names(config: DictConfig) -> DictConfig:
    """The configuration of a training with places of its encoder named by their content."""
    encoder: Any = build(OmegaConf.to_container(config.encoder, resolve=True), "encoder")  # type: ignore[arg-type]  # a DictConfig gives a dict
    named = without_places(encoder)
    if named is encoder:
        return config
    changed = {
        field.name: getattr(named, field.name)
        for field in dataclasses.fields(named)
        if getattr(named, field.name) != getattr(encoder, field.name)
    }
    return OmegaConf.merge(config, {"encoder": changed})  # type: ignore[return-value]  # of a DictConfig it is one


@functools.lru_cache(maxsize=64)
def _sha256(path: Path, _changed: int, _size: int) -> bytes:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.digest()
