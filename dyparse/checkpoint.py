"""Models on disk: a directory of data, never of code.

model.safetensors   the weights
config.yaml         system, encoder and sizes, by name; versions of format and code
vocabulary.json     what the training sentences hold
metrics.json        how good it is
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
import yaml
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor

from dyparse.config import construct, describe, restore
from dyparse.encoder import EncoderChoice
from dyparse.errors import CheckpointError, ConfigError
from dyparse.network import Network
from dyparse.output_file import write
from dyparse.system import System
from dyparse.version import __version__
from dyparse.vocabulary import Vocabulary

FORMAT_VERSION = 2
WEIGHTS, CONFIG, VOCABULARY, METRICS = (
    "model.safetensors",
    "config.yaml",
    "vocabulary.json",
    "metrics.json",
)


@dataclass(frozen=True)
class Checkpoint:
    """All there is to a model."""

    system: System
    encoder: EncoderChoice
    network: Network
    vocabulary: Vocabulary
    weights: dict[str, Tensor]


def write_checkpoint(directory: Path, checkpoint: Checkpoint, metrics: dict[str, Any]) -> None:
    """Write a model; a file is either the old one or the new one, never half of it."""
    config = {
        "format_version": FORMAT_VERSION,
        "dyparse": __version__,
        "torch": str(torch.__version__),
        "system": describe(checkpoint.system),
        "encoder": describe(checkpoint.encoder),
        "network": asdict(checkpoint.network),
    }
    weights = {
        name: tensor.detach().cpu().contiguous() for name, tensor in checkpoint.weights.items()
    }
    directory.mkdir(parents=True, exist_ok=True)
    write(directory / WEIGHTS, save_tensors(weights))
    write(directory / VOCABULARY, checkpoint.vocabulary.to_json().encode())
    write(directory / METRICS, (json.dumps(metrics, indent=2) + "\n").encode())
    write(directory / CONFIG, yaml.safe_dump(config, sort_keys=False).encode())


def read_checkpoint(directory: str | Path) -> Checkpoint:
    """The model that `write_checkpoint` wrote.

    CheckpointError says what is wrong with the directory.
    """
    path = Path(directory)
    if not path.is_dir():
        raise CheckpointError(
            f"{path}: no such model directory; train.py prints where it saves a model"
        )
    config = _read_config(path / CONFIG)
    try:
        system: System = restore("system", config["system"])
        encoder: EncoderChoice = restore("encoder", config["encoder"])
        network: Network = construct(Network, config["network"], "network")
    except (ConfigError, KeyError) as error:
        raise damaged(path / CONFIG, str(error)) from error
    return Checkpoint(
        system,
        encoder,
        network,
        _read_vocabulary(path / VOCABULARY),
        upgraded(_read_weights(path / WEIGHTS), config["format_version"]),
    )


def read_metrics(directory: str | Path) -> dict[str, Any]:
    """What `save` was told about the model."""
    path = Path(directory) / METRICS
    try:
        metrics: dict[str, Any] = json.loads(_read(path))
    except ValueError as error:
        raise damaged(path, str(error)) from error
    return metrics


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        reason = error.strerror or "cannot be read"
        raise CheckpointError(
            f"{path}: {reason}; a model directory holds "
            f"{WEIGHTS}, {CONFIG}, {VOCABULARY} and {METRICS}"
        ) from error


def _read_config(path: Path) -> dict[str, Any]:
    content = _read(path)
    if b"${" in content:
        raise damaged(path, "interpolations; a model's options are plain values")
    try:
        config = yaml.safe_load(content)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise damaged(path, "not YAML") from error
    if not isinstance(config, dict) or "format_version" not in config:
        raise damaged(path, "no format_version")
    version = config["format_version"]
    if version not in range(1, FORMAT_VERSION + 1) or version is True:
        raise CheckpointError(
            f"{path}: format_version {version!r}, but dyparse {__version__} "
            f"reads 1 to {FORMAT_VERSION}; "
            f"use the dyparse that wrote it ({config.get('dyparse', 'unknown')}) or train again"
        )
    return config


def _read_vocabulary(path: Path) -> Vocabulary:
    try:
        return Vocabulary.from_json(_read(path).decode())
    except (ValueError, RecursionError) as error:
        raise damaged(path, str(error)) from error


def _read_weights(path: Path) -> dict[str, Tensor]:
    try:
        return load_tensors(_read(path))
    except (SafetensorError, KeyError, ValueError, TypeError) as error:
        raise damaged(path, str(error)) from error


def upgraded(weights: dict[str, Tensor], version: int) -> dict[str, Tensor]:
    """The weights as this version names them.

    Version 1 had an LSTM for each direction, `forwards` and `backwards`, where there is one now.
    """
    if version > 1:
        return weights
    renamed = {}
    for name, tensor in weights.items():
        name = name.replace(".forwards.", ".lstm.")
        if ".backwards." in name:
            name = name.replace(".backwards.", ".lstm.") + "_reverse"
        renamed[name] = tensor
    return renamed


def damaged(path: Path, finding: str) -> CheckpointError:
    """The error for a file that is there but cannot be used."""
    return CheckpointError(
        f"{path}: damaged or of another model ({finding}); copy it anew or train again"
    )
