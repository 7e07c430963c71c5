"""Pretrained models of Hugging Face `transformers`: where they are found, and how they are made.

Only numbers, known words and tensors are read (`_architecture`); no code of a model is loaded.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import torch
from torch import nn

from dyparse.config.choices import NotImportedError, may_look_outside
from dyparse.config.places import content_name
from dyparse.encoder._architecture import FAMILIES, architecture_in
from dyparse.encoder._pieces import PieceTokenizer, for_given_words
from dyparse.errors import ConfigError

CONFIG, TOKENIZER = "config.json", "tokenizer.json"
WEIGHTS = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin")
DOWNLOADED = ("*.json", "*.safetensors", "*.txt", "*.model")  # no code; without tensorflow's
UNUSED = ("pooler", "position_ids", "token_type_ids")  # weights that may be missing
VOCABULARIES = ("vocab.txt", "vocab.json", "*.model")  # of tokenizers without a tokenizer.json
LEAST_BYTES = 2  # of a weight in a file
MAKING = Lock()  # the library replaces functions of torch while it makes a model


class PretrainedDirectory(NamedTuple):
    """A directory as `save_pretrained` writes it: config.json, tokenizer, weights."""

    path: Path
    name: str  # how a model and a run call it: the last part of its path, or its name on the Hub

    @classmethod
    def find(cls, place: str) -> "PretrainedDirectory":
        """The directory of this path, or the model of this name on the Hugging Face Hub.

        ConfigError if it is not complete. A model that is loaded must have its own files: what it
        names is not looked for.
        """
        if not may_look_outside():
            raise ConfigError("the files of the encoder are missing")
        if not place:
            raise ConfigError(
                "encoder.pretrained is missing: give the directory of a pretrained model, with "
                f"{CONFIG}, {TOKENIZER} and {WEIGHTS[0]}, or its name on the Hugging Face Hub"
            )
        path = Path(place).expanduser()
        is_here = path.is_dir()
        found = cls(path, path.resolve().name) if is_here else cls(_downloaded(place), place)
        if not (found.path / CONFIG).is_file():
            raise ConfigError(f"encoder.pretrained: {place} has no {CONFIG}")
        if not any((found.path / name).is_file() for name in WEIGHTS):
            raise ConfigError(f"encoder.pretrained: {place} has no {WEIGHTS[0]}")
        return found

    def content_name(self) -> str:
        """The model's name and a hash of its config, tokenizer and weights."""
        suffixes = (".json", ".safetensors", ".bin", ".model", ".txt")
        files = sorted(p for p in self.path.iterdir() if p.is_file() and p.suffix in suffixes)
        return content_name(self.name, files)

    def architecture(self) -> dict[str, Any]:
        """The architecture; ConfigError says what is wrong with config.json."""
        try:
            return architecture_in((self.path / CONFIG).read_bytes())
        except ValueError as error:
            raise ConfigError(f"{self.path / CONFIG}: {error}") from error

    def tokenizer(self) -> PieceTokenizer:
        """The tokenizer; made from the files of a slow one where it must be."""
        path = self.path / TOKENIZER
        try:
            content = path.read_bytes() if path.is_file() else _converted(self.path)
            return PieceTokenizer(for_given_words(content))
        except ValueError as error:
            raise ConfigError(f"{path}: not a tokenizer ({error})") from error

    def model(self, architecture: dict[str, Any]) -> nn.Module:
        """The model with its pretrained weights; ConfigError if some are missing."""
        transformers = _transformers()
        self._require_bytes(architecture)
        with MAKING, quiet(transformers), torch.random.fork_rng():
            try:
                model, loaded = transformers.AutoModel.from_pretrained(
                    self.path,
                    config=_config(transformers, architecture),
                    attn_implementation=FAMILIES[architecture["model_type"]],
                    dtype=torch.float32,
                    ignore_mismatched_sizes=True,  # told below
                    local_files_only=True,
                    trust_remote_code=False,
                    output_loading_info=True,
                )
            except Exception as error:  # what readers of weights raise differs
                raise ConfigError(f"{self.path}: cannot be loaded ({_finding(error)})") from error
        wrong = [*loaded["missing_keys"], *(key for key, *_ in loaded["mismatched_keys"])]
        if lacking := [name for name in sorted(wrong) if not any(part in name for part in UNUSED)]:
            raise ConfigError(
                f"{self.path}: {len(lacking)} weights are missing or of another shape, such as "
                f"{lacking[0]}; is it the encoder of {architecture['model_type']} that "
                f"{CONFIG} describes?"
            )
        return _without_pooler(model)

    def _require_bytes(self, architecture: dict[str, Any]) -> None:
        """ConfigError if the files cannot hold the weights, for which no memory is taken then."""
        try:
            with torch.device("meta"):
                n_weights = sum(p.numel() for p in build_model(architecture).parameters())
        except ValueError as error:
            raise ConfigError(f"{self.path / CONFIG}: {error}") from error
        files = [p for kind in ("*.safetensors", "*.bin") for p in self.path.glob(kind)]
        n_bytes = sum(path.stat().st_size for path in files if path.is_file())
        if n_bytes < LEAST_BYTES * n_weights:
            raise ConfigError(
                f"{self.path}: {CONFIG} describes {n_weights:,} weights, but the files with "
                f"weights have {n_bytes:,} bytes; is it the one that was saved with them?"
            )


def build_model(architecture: dict[str, Any]) -> nn.Module:
    """A model of this architecture, for weights that are loaded later; ValueError if impossible."""
    transformers = _transformers()
    from transformers.initialization import no_init_weights

    with MAKING, quiet(transformers), no_init_weights():
        try:
            model = transformers.AutoModel.from_config(
                _config(transformers, architecture),
                attn_implementation=FAMILIES[architecture["model_type"]],
            )
        except Exception as error:  # sizes that do not fit together; what it raises differs
            raise ValueError(f"no such model ({_finding(error)})") from error
    return _without_pooler(model)


def _finding(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def _config(transformers: Any, architecture: dict[str, Any]) -> Any:
    options = {name: value for name, value in architecture.items() if name != "model_type"}
    return transformers.AutoConfig.for_model(architecture["model_type"], **options)


def _without_pooler(model: Any) -> nn.Module:
    if getattr(model, "pooler", None) is not None:
        model.pooler = None  # serves whole sentences; weights that never get a gradient
    found: nn.Module = model
    return found


def _transformers() -> Any:
    try:
        import transformers
    except ImportError as error:
        raise NotImportedError(
            f"encoder=transformer needs the library transformers ({error}): "
            "pip install 'dyparse[transformers]'"
        ) from error
    return transformers


@contextmanager
def quiet(transformers: Any) -> Iterator[None]:
    """Without the library's progress bars and remarks: what matters is checked here."""
    logging = transformers.utils.logging
    level, has_bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if has_bar:
            logging.enable_progress_bar()


def _converted(path: Path) -> bytes:
    """A tokenizer.json from the files of a tokenizer that has none."""
    remedy = "save one with the tokenizer's save_pretrained"
    if not any(found for kind in VOCABULARIES for found in path.glob(kind)):
        raise ConfigError(f"{path}: has no {TOKENIZER}; {remedy}")  # it would make an empty one
    transformers = _transformers()
    with MAKING, quiet(transformers):
        try:
            slow = transformers.AutoTokenizer.from_pretrained(
                path, local_files_only=True, trust_remote_code=False
            )
            text: str = slow.backend_tokenizer.to_str()
        except Exception as error:  # what converters need and raise differs
            raise ConfigError(
                f"{path}: has no {TOKENIZER}, and none can be made from the files there "
                f"({_finding(error)}); {remedy}"
            ) from error
    return text.encode()


def _downloaded(name: str) -> Path:
    """The directory of a model of the Hugging Face Hub, in the hub's own cache."""
    if name.count("/") > 1 or name.startswith((".", "/", "~")):
        raise ConfigError(f"encoder.pretrained: {name}: no such directory")
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise ConfigError(
            f"encoder.pretrained: {name}: no such directory, and the hub needs: "
            "pip install 'dyparse[transformers]'"
        ) from error
    try:
        found = Path(snapshot_download(name, allow_patterns=list(DOWNLOADED)))
        if not any((found / weights).is_file() for weights in WEIGHTS):
            found = Path(snapshot_download(name, allow_patterns=["pytorch_model.bin"]))
    except Exception as error:  # of the network, of the hub, of the name
        finding = " ".join(str(error).split())[:200]
        raise ConfigError(
            f"encoder.pretrained: {name}: no such directory here, and no such model could be had "
            f"from the Hugging Face Hub ({type(error).__name__}: {finding})"
        ) from error
    return found
