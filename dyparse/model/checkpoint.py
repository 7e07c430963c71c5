"""Models on disk: a directory of data, never of code.

model.safetensors   the weights
config.yaml         system, encoder and sizes, by name; versions of format and code
vocabulary.json     what the training sentences hold
metrics.json        how good it is
manifest.sha256     the sha256 of each of them
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

from dyparse.config.build import construct, describe, restore
from dyparse.config.choices import NotImportedError, no_new_imports
from dyparse.data.vocabulary import Vocabulary
from dyparse.encoder import EncoderChoice
from dyparse.errors import CheckpointError, ConfigError
from dyparse.model.checkpoint_files import (
    CONFIG,
    MANIFEST,
    METRICS,
    MOST_BYTES,
    VOCABULARY,
    WEIGHTS,
    ModelFiles,
    damaged,
    read_file,
    require_directory,
    rewrite_file,
    write_files,
)
from dyparse.model.network import Model, unfilled_model
from dyparse.model.plain_yaml import load_plain_yaml
from dyparse.model.sizes import ScorerSizes
from dyparse.system import System
from dyparse.version import __version__

FORMAT_VERSION = 3
PARTS = ("format_version", "dyparse", "torch", "system", "encoder", "network")  # of the config
MOST_HEADER_BYTES = 16 << 20  # names and shapes before the weights
NO_TENSORS = (  # what reading tensors raises, about the file, about shapes and types in it
    *(SafetensorError, KeyError, ValueError, TypeError),
    *(RuntimeError, OverflowError, AssertionError, MemoryError),
)


@dataclass(frozen=True)
class ModelParts:
    """All there is to a model."""

    system: System
    encoder: EncoderChoice
    network: ScorerSizes
    vocabulary: Vocabulary
    model: Model


def write_checkpoint(directory: Path, checkpoint: ModelParts, metrics: dict[str, Any]) -> None:
    """Write a model.

    Whenever this is cut short, the directory holds the old model, the new one, or what
    `read_checkpoint` refuses.
    """
    config = {
        "format_version": FORMAT_VERSION,
        "dyparse": __version__,
        "torch": str(torch.__version__),
        "system": describe(checkpoint.system),
        "encoder": describe(checkpoint.encoder),
        "network": asdict(checkpoint.network),
    }
    weights = {
        name: tensor.detach().to("cpu", torch.float32).contiguous()
        for name, tensor in checkpoint.model.state_dict().items()
    }
    if wrong := _not_finite(weights):
        raise CheckpointError(
            f"{directory / WEIGHTS}: not saved, for {wrong} holds numbers that are not finite; "
            "lower trainer.learning_rate"
        )
    try:
        checkpoint.vocabulary.check()
    except ValueError as error:
        raise CheckpointError(
            f"{directory / VOCABULARY}: not saved, for {error}; clean the treebank"
        ) from error
    contents = {
        CONFIG: yaml.safe_dump(config, sort_keys=False).encode(),
        VOCABULARY: checkpoint.vocabulary.to_json().encode(),
        WEIGHTS: save_tensors(weights),
        METRICS: _as_json(metrics),
    }
    write_files(directory, contents)


def write_metrics(directory: Path, metrics: dict[str, Any]) -> None:
    """Say anew how good a model is."""
    rewrite_file(directory, METRICS, _as_json(metrics))


def read_checkpoint(directory: str | Path) -> ModelParts:
    """The model that `write_checkpoint` wrote, of this format or an earlier one.

    CheckpointError says what is wrong with the directory.
    """
    path = require_directory(directory) / CONFIG
    content = read_file(path, MOST_BYTES[CONFIG])
    config = _config(path, content)
    files = ModelFiles.open(directory)
    files.require_same(CONFIG, content)
    if config["format_version"] >= 3 and files.checksums is None:
        raise damaged(files.directory / MANIFEST, "it is missing: was saving interrupted?")
    try:
        system: System = restore("system", config["system"])
        encoder: EncoderChoice = restore("encoder", config["encoder"])
        network: ScorerSizes = construct(ScorerSizes, config["network"], "network")
    except NotImportedError as error:
        raise CheckpointError(f"{directory}: {error}") from error
    except ConfigError as error:
        raise damaged(path, str(error)) from error
    vocabulary = _read_vocabulary(files)
    try:
        with no_new_imports():
            model = unfilled_model(system, encoder, network, vocabulary)
    except (RuntimeError, TypeError) as error:  # more numbers than can be counted
        raise damaged(path, str(error)) from error
    weights = _read_weights(files, model.state_dict(), config["format_version"])
    if files.checksums is not None:
        files.read(METRICS)
    model.load_state_dict(weights, assign=True)
    return ModelParts(system, encoder, network, vocabulary, model)


def read_metrics(directory: str | Path) -> dict[str, Any]:
    """What `save` was told about the model."""
    files = ModelFiles.open(directory)
    try:
        metrics = json.loads(files.read(METRICS))
        if not isinstance(metrics, dict):
            raise ValueError("no object")
    except (ValueError, RecursionError) as error:
        raise damaged(files.directory / METRICS, str(error)) from error
    return metrics


def _as_json(metrics: dict[str, Any]) -> bytes:
    return (json.dumps(metrics, indent=2) + "\n").encode()


def _config(path: Path, content: bytes) -> dict[str, Any]:
    """The parts of a config, if it is of a format that can be read."""
    if b"${" in content:
        raise damaged(path, "interpolations; a model's options are plain values")
    try:
        config = load_plain_yaml(content)
    except ValueError as error:
        raise damaged(path, str(error)) from error
    if not isinstance(config, dict) or "format_version" not in config:
        raise damaged(path, "no format_version")
    version = config["format_version"]
    if type(version) is not int or not 1 <= version <= FORMAT_VERSION:
        raise _of_another_format(path, config)
    if set(config) != set(PARTS):
        raise damaged(path, f"{', '.join(config)}; expected {', '.join(PARTS)}")
    return config


def _of_another_format(path: Path, config: dict[str, Any]) -> CheckpointError:
    version, writer = (
        ascii(config.get(key, "unknown"))[:40] for key in ("format_version", "dyparse")
    )
    return CheckpointError(
        f"{path}: format_version {version}, but dyparse {__version__} reads 1 to {FORMAT_VERSION}; "
        f"use the dyparse that wrote it ({writer}) or train again"
    )


def _read_vocabulary(files: ModelFiles) -> Vocabulary:
    try:
        return Vocabulary.from_json(files.read(VOCABULARY).decode())
    except (ValueError, RecursionError, MemoryError) as error:
        raise damaged(files.directory / VOCABULARY, str(error)) from error


def _read_weights(files: ModelFiles, shapes: dict[str, Tensor], version: int) -> dict[str, Tensor]:
    """Finite weights of these names and shapes; a file of another size is not even read."""
    path = files.directory / WEIGHTS
    size = sum(tensor.numel() for tensor in shapes.values()) * torch.float32.itemsize
    content = files.read(WEIGHTS, size + MOST_HEADER_BYTES)
    try:
        # Cloned into memory that torch aligned: products do not depend on where the file put them.
        tensors = {name: tensor.clone() for name, tensor in load_tensors(content).items()}
        weights = upgraded(tensors, version)
    except NO_TENSORS as error:
        raise damaged(path, str(error)) from error
    _require_shapes(path, weights, shapes)
    if wrong := _not_finite(weights):
        raise damaged(path, f"{wrong} holds numbers that are not finite")
    return weights


def _require_shapes(path: Path, weights: dict[str, Tensor], shapes: dict[str, Tensor]) -> None:
    for name in sorted(weights.keys() ^ shapes.keys()):
        raise damaged(path, f"tensor {name} is {'missing' if name in shapes else 'one too many'}")
    for name, tensor in weights.items():
        found, expected = list(tensor.shape), list(shapes[name].shape)
        if found != expected or tensor.dtype != torch.float32:
            raise damaged(
                path, f"{name} is {found} of {tensor.dtype}, expected {expected} of torch.float32"
            )


def _not_finite(weights: dict[str, Tensor]) -> str:
    """The name of a tensor with a number that is not finite, or an empty one."""
    return next((name for name, tensor in weights.items() if not tensor.isfinite().all()), "")


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
