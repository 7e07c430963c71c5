"""Models on disk: a directory of data, never of code.

model.safetensors   the weights
config.yaml         system, encoder, heads, sizes, projectivity; calibration of confidences;
                    versions of format and code
vocabulary.json     what the training sentences hold, by feature and by head
metrics.json        how good it is
encoder/            files of the encoder, such as a language model's pieces, if it has any
tokenizer/          files of the tokenizer, if it was learned
manifest.sha256     the sha256 of each of them
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from safetensors import SafetensorError

from dyparse.config.build import construct, describe, restore
from dyparse.config.choices import NotImportedError, no_new_imports, outside_modules
from dyparse.config.extras import is_installed, require_libraries
from dyparse.data.vocabulary import Vocabulary
from dyparse.errors import CheckpointError, ConfigError
from dyparse.head._analyses import Analyses
from dyparse.head._lexicon import require_lemmas
from dyparse.model.checkpoint_files import (
    CONFIG,
    ENCODER,
    METRICS,
    MOST_BYTES,
    TOKENIZER,
    VOCABULARY,
    WEIGHTS,
    ModelFiles,
    damaged,
    read_file,
    require_directory,
    rewrite_file,
    shortened,
    with_manifest,
    write_files,
)
from dyparse.model.confidence import Calibration
from dyparse.model.parts import ModelConfig, ModelParts, Network
from dyparse.model.plain_yaml import load_plain_yaml
from dyparse.model.sizes import ScorerSizes
from dyparse.tokenizer import Tokenizer
from dyparse.version import __version__

if TYPE_CHECKING:  # slow to import, and not every model is read with it
    import torch
    from torch import Tensor

    from dyparse.model.network import Model

FORMAT_VERSION = 9
CHOICES = ("system", "encoder", "tokenizer", "heads", "network", "projectivity")
PARTS = ("format_version", "dyparse", "torch", *CHOICES, "calibration")
MOST_HEADER_BYTES = 16 << 20  # names and shapes before the weights
NO_TENSORS = (  # raised by readers of tensors, about the file or about shapes and types in it
    SafetensorError,
    KeyError,
    ValueError,
    TypeError,
    RuntimeError,
    OverflowError,
    AssertionError,
    MemoryError,
)


def write_checkpoint(directory: Path, parts: ModelParts, metrics: dict[str, Any]) -> None:
    """Write a model.

    Whenever this is cut short, the directory holds the old model, the new one, or something that
    `read_checkpoint` refuses.
    """
    from safetensors.torch import save as save_tensors

    weights = {
        name: tensor.detach().to("cpu", saved_type(name, tensor, parts.model)).contiguous().clone()
        for name, tensor in parts.model.state_dict().items()  # cloned: shared ones apart
    }
    if wrong := _not_finite(weights):
        raise CheckpointError(
            f"{directory / WEIGHTS}: not saved, for {wrong} holds numbers that are not finite; "
            "lower trainer.learning_rate"
        )
    own_files = {ENCODER: parts.model.encoder.files(), TOKENIZER: parts.tokenizer.files()}
    contents = {
        CONFIG: _config_of(parts),
        VOCABULARY: parts.vocabulary.to_json().encode(),
        WEIGHTS: save_tensors(weights),
        METRICS: _as_json(metrics),
        **{f"{part}/{name}": own for part in own_files for name, own in own_files[part].items()},
    }
    write_files(directory, contents)


def in_half_precision(contents: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of a model, with its weights in float16."""
    from safetensors.torch import load as load_tensors
    from safetensors.torch import save as save_tensors

    weights = {
        name: tensor.half() if tensor.is_floating_point() else tensor
        for name, tensor in load_tensors(contents[WEIGHTS]).items()
    }
    if wrong := _not_finite(weights):
        raise CheckpointError(f"{WEIGHTS}: {wrong} has numbers beyond float16; leave out --half")
    return with_manifest({**contents, WEIGHTS: save_tensors(weights)})


def write_config(directory: Path, parts: ModelParts) -> None:
    """Replace the config of a model, when its calibration has changed."""
    rewrite_file(directory, CONFIG, _config_of(parts))


def _config_of(parts: ModelParts) -> bytes:
    chosen = parts.config
    config = {
        "format_version": FORMAT_VERSION,
        "dyparse": __version__,
        "torch": version("torch"),
        "system": describe(chosen.system),
        "encoder": describe(chosen.encoder),
        "tokenizer": describe(chosen.tokenizer),
        "heads": [describe(head) for head in chosen.heads],
        "network": asdict(chosen.sizes),
        "projectivity": chosen.projectivity,
        "calibration": asdict(parts.calibration),
    }
    return yaml.safe_dump(config, sort_keys=False).encode()


def write_metrics(directory: Path, metrics: dict[str, Any]) -> None:
    """Replace the metrics of a model."""
    rewrite_file(directory, METRICS, _as_json(metrics))


@dataclass(frozen=True)
class OpenedModel:
    """A model directory without its weights, which are read with the network."""

    files: ModelFiles
    config: ModelConfig
    calibration: Calibration
    vocabulary: Vocabulary
    own_files: Mapping[str, Mapping[str, bytes]]  # by part and name
    tokenizer: Tokenizer


def open_model(directory: str | Path) -> OpenedModel:
    """What `write_checkpoint` wrote, without weights; CheckpointError says what is wrong."""
    path = require_directory(directory) / CONFIG
    config = _config(path, read_file(path, MOST_BYTES[CONFIG]))
    files = ModelFiles.open(directory)
    files.read(CONFIG)
    vocabulary, own_files = _read_vocabulary(files), files.read_own_files()
    with explaining_choices(files):
        chosen = _restored(config)
        calibration = construct(Calibration, config["calibration"], "calibration")
        tokenizer = _tokenizer(chosen, own_files[TOKENIZER], files)
    return OpenedModel(files, chosen, calibration, vocabulary, own_files, tokenizer)


@contextmanager
def explaining_choices(files: ModelFiles) -> Iterator[None]:
    """Errors about the choices of a model, as CheckpointErrors; nothing new is imported."""
    try:
        with no_new_imports():
            yield
    except NotImportedError as error:
        raise CheckpointError(f"{files.directory}: {shortened(str(error))}") from error
    except ConfigError as error:
        raise damaged(files.directory / CONFIG, str(error)) from error


def read_checkpoint(directory: str | Path) -> ModelParts:
    """The model that `write_checkpoint` wrote; CheckpointError says what is wrong with it."""
    require_torch(directory)
    opened = open_model(directory)
    with explaining_choices(opened.files):
        network = _network(opened)
    return finished(opened, network, network.encoder.files())


def read_on_device(directory: str | Path, device: str) -> ModelParts:
    """A model with torch's network, on a device."""
    require_torch(directory)
    from dyparse.runtime.device import find_device

    found = find_device(device)
    parts = read_checkpoint(directory)
    parts.model.to(found).eval()
    return parts


def require_torch(directory: str | Path) -> None:
    """ConfigError or CheckpointError if torch, which this model is to be run with, is missing."""
    if not is_installed("torch"):
        open_model(directory)  # its encoder may need more, and says so
    require_libraries(f"{directory}: this encoder, precision or device", "torch", "torch")


def finished(
    opened: OpenedModel, network: Network, encoder_files: Mapping[str, bytes]
) -> ModelParts:
    """The model with its network, after all its files were looked at."""
    files = opened.files
    if set(encoder_files) != set(opened.own_files[ENCODER]):
        raise damaged(files.directory / ENCODER, "other files than the encoder has")
    files.read(METRICS)
    parts = ModelParts(opened.config, opened.vocabulary, network, opened.tokenizer)
    return replace(parts, calibration=opened.calibration)


def _restored(config: dict[str, Any]) -> ModelConfig:
    """The choices that a config names; ConfigError if they cannot be made."""
    try:
        return ModelConfig(
            restore("system", config["system"]),
            restore("encoder", config["encoder"]),
            [restore("head", head) for head in _as_list(config["heads"])],
            construct(ScorerSizes, config["network"], "network"),
            restore("tokenizer", config["tokenizer"]),
            config["projectivity"],
        )
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _network(opened: OpenedModel) -> "Model":
    """The network with its weights; their shapes are found without memory, however large."""
    import torch

    from dyparse.model.network import WithoutDrawing

    chosen, vocabulary, files = opened.config, opened.vocabulary, opened.files
    of_encoder = opened.own_files[ENCODER]
    try:
        network = chosen.empty_network(vocabulary, of_encoder)
        Analyses(vocabulary.analyses, vocabulary.heads)  # refuses tags that no head has
        require_lemmas(vocabulary.lemmas, vocabulary.heads)
    except (ValueError, LookupError) as error:
        raise unfit_vocabulary(files, error) from error
    except (RuntimeError, TypeError) as error:  # more numbers than can be counted
        raise damaged(files.directory / CONFIG, str(error)) from error
    weights = _read_weights(files, network.state_dict())
    if outside_modules([chosen.encoder, *chosen.heads]):  # may hold more than weights
        with torch.random.fork_rng():
            network = chosen.network(vocabulary, of_encoder)
    network.load_state_dict(weights, assign=True)
    if any(buffer.is_meta for buffer in network.buffers()):  # computed ones, which are not saved
        with torch.random.fork_rng(), WithoutDrawing():
            network = chosen.network(vocabulary, of_encoder)
        network.load_state_dict(weights, assign=True)
    return network


def unfit_vocabulary(files: ModelFiles, error: Exception) -> CheckpointError:
    """The error for a vocabulary that no network can be made for."""
    return damaged(files.directory / VOCABULARY, f"or files of the encoder: {error}")


def _tokenizer(chosen: ModelConfig, own_files: Mapping[str, bytes], files: ModelFiles) -> Tokenizer:
    try:
        return chosen.tokenizer.build(own_files)
    except ValueError as error:
        raise damaged(files.directory / TOKENIZER, str(error)) from error


def saved_type(name: str, tensor: "Tensor", network: "Model") -> "torch.dtype":
    """How a tensor is kept on disk: weights in float32 unless the encoder chooses otherwise, whole
    numbers and truth values as they are.
    """
    if not tensor.is_floating_point():
        return tensor.dtype
    import torch

    return network.encoder.saved_in if name.startswith("encoder.") else torch.float32


def _as_list(described: Any) -> list[Any]:
    if not isinstance(described, list):
        raise ConfigError(f"heads are {described!r}, expected a list")
    return described


def read_metrics(directory: str | Path) -> dict[str, Any]:
    """The metrics that were saved with a model."""
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
    """The parts of a config, if it is of this format."""
    if b"${" in content:
        raise damaged(path, "interpolations; a model's options are plain values")
    try:
        config = load_plain_yaml(content)
    except ValueError as error:
        raise damaged(path, str(error)) from error
    if not isinstance(config, dict) or "format_version" not in config:
        raise damaged(path, "no format_version")
    if type(config["format_version"]) is not int or config["format_version"] != FORMAT_VERSION:
        version, writer = (
            ascii(config.get(key, "unknown"))[:40] for key in ("format_version", "dyparse")
        )
        raise CheckpointError(
            f"{path}: format_version {version}, but dyparse {__version__} reads {FORMAT_VERSION}; "
            f"use the dyparse that wrote it ({writer}) or train again"
        )
    if set(config) != set(PARTS):
        raise damaged(path, f"{', '.join(config)}; expected {', '.join(PARTS)}")
    return config


def _read_vocabulary(files: ModelFiles) -> Vocabulary:
    try:
        return Vocabulary.from_json(files.read(VOCABULARY).decode())
    except (ValueError, RecursionError, MemoryError) as error:
        raise damaged(files.directory / VOCABULARY, str(error)) from error


def _read_weights(files: ModelFiles, shapes: dict[str, "Tensor"]) -> dict[str, "Tensor"]:
    """Finite weights of these names and shapes, in float32 whatever the file has them in; a file of
    another size is not even read.
    """
    import torch
    from safetensors.torch import load as load_tensors

    path = files.directory / WEIGHTS
    size = sum(tensor.numel() * max(tensor.itemsize, 4) for tensor in shapes.values())
    content = files.read(WEIGHTS, size + MOST_HEADER_BYTES)
    try:
        # Cloned into memory that torch aligned: products do not depend on where the file put them.
        weights = {name: tensor.clone() for name, tensor in load_tensors(content).items()}
    except NO_TENSORS as error:
        raise damaged(path, str(error)) from error
    floats = (torch.float32, torch.float16, torch.bfloat16)
    types = {n: floats if t.is_floating_point() else (t.dtype,) for n, t in shapes.items()}
    require_shapes(path, weights, shapes, types)
    if wrong := _not_finite(weights):
        raise damaged(path, f"{wrong} holds numbers that are not finite")
    return {n: t.float() if t.is_floating_point() else t for n, t in weights.items()}


def require_shapes(
    path: Path,
    weights: Mapping[str, Any],
    shapes: Mapping[str, Any],
    types: Mapping[str, tuple[Any, ...]],
) -> None:
    """CheckpointError unless tensors or arrays have these names, shapes and one of these types, of
    which the first is the usual one.
    """
    for name in sorted(weights.keys() ^ shapes.keys()):
        raise damaged(path, f"tensor {name} is {'missing' if name in shapes else 'one too many'}")
    for name, tensor in weights.items():
        found, expected = list(tensor.shape), list(shapes[name].shape)
        if found != expected or tensor.dtype not in types[name]:
            raise damaged(
                path,
                f"{name} is {found} of {tensor.dtype}, expected {expected} of {types[name][0]}",
            )


def _not_finite(weights: dict[str, "Tensor"]) -> str:
    """The name of a tensor with a number that is not finite, or an empty one."""
    return next((name for name, tensor in weights.items() if not tensor.isfinite().all()), "")
