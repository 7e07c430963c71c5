"""A pretrained transformer over pieces of words, fine-tuned or frozen, and a BiLSTM on top."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding_bag, layer_norm

from dyparse.config.places import is_content_name
from dyparse.data.batch import Batch
from dyparse.data.sentence import Sentence
from dyparse.encoder import ParameterGroup, ReadsTags
from dyparse.encoder._architecture import architecture_in, n_positions
from dyparse.encoder._bilstm_network import BiLSTMEncoder, Embedder
from dyparse.encoder._pieces import Pieces, PieceSequences, PieceTokenizer
from dyparse.encoder._pretrained import PretrainedDirectory, build_model
from dyparse.encoder._state_store import PooledStates, StateStore
from dyparse.encoder.bilstm import FEATURE_WIDTHS, BiLSTM
from dyparse.feature import Feature
from dyparse.tensors.dropout import WORDS, dropped_places, keys_below

ARCHITECTURE, TOKENIZER = "architecture.json", "tokenizer.json"
POOLING = ("mean", "first")
GIGABYTE = 1e9
SAVED_IN = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


@dataclass(frozen=True)
class Transformer(ReadsTags):
    """The encoder of a pretrained language model, from Hugging Face `transformers`.

    A token's vector is the mean over its pieces of a learned mix of the model's last layers
    (Peters et al. 2018), beside which embeddings of other features may stand.
    """

    pretrained: str = ""  # a directory, or a name on the Hugging Face Hub
    features: list[str] = field(default_factory=lambda: ["subword"])
    widths: dict[str, int] = field(default_factory=lambda: dict(FEATURE_WIDTHS))
    pooling: str = "mean"
    mixed_layers: int = 4
    frozen: str = "embeddings"
    rate: float = 0.1
    layer_decay: float = 1.0
    hidden: int = 200
    layers: int = 1
    input_dropout: float = 0.33
    layer_dropout: float = 0.5
    word_dropout: float = 0.0
    overlap: int = 64
    recompute: bool = False
    kept_gigabytes: float = 8.0
    saved_in: str = "float32"

    extras: ClassVar[tuple[str, ...]] = ("transformers",)

    def __post_init__(self) -> None:
        self.on_top()  # checks what they share
        if self.pooling not in POOLING:
            raise ValueError(f"encoder.pooling is {self.pooling!r}, expected mean or first")
        if not self.frozen.isdecimal() and self.frozen not in ("none", "embeddings", "all"):
            raise ValueError(
                f"encoder.frozen is {self.frozen!r}, expected none, embeddings, all, or a number: "
                "the embeddings and so many of the lowest layers"
            )
        if self.saved_in not in SAVED_IN:
            raise ValueError(
                f"encoder.saved_in is {self.saved_in!r}, expected one of {', '.join(SAVED_IN)}"
            )
        bounds = {"mixed_layers": 1, "layers": 0, "overlap": 0, "rate": 0, "kept_gigabytes": 0}
        for name, least in bounds.items():
            if not least <= getattr(self, name) < math.inf:
                raise ValueError(
                    f"encoder.{name} is {getattr(self, name)}, expected {least} or more"
                )
        if not 0 < self.layer_decay <= 1:
            raise ValueError(f"encoder.layer_decay is {self.layer_decay}, expected 0 < x <= 1")

    def on_top(self) -> BiLSTM:
        """The BiLSTM on top, and the embeddings beside the pretrained vectors, as options."""
        return BiLSTM(
            features=self.features or ["word"],  # it demands one; `parts` is given the real ones
            widths=self.widths,
            hidden=self.hidden,
            layers=max(self.layers, 1),
            input_dropout=self.input_dropout,
            layer_dropout=self.layer_dropout,
            word_dropout=self.word_dropout,
        )

    def without_places(self) -> "Transformer":
        """The same options with the pretrained model named by its content."""
        return replace(self, pretrained=self._content_name)

    @cached_property
    def _content_name(self) -> str:
        """Found once: whatever happens to the directory, a training can save what it learned."""
        if is_content_name(self.pretrained):
            return self.pretrained
        return PretrainedDirectory.find(self.pretrained).content_name()

    def build(
        self, features: Sequence[Feature], files: Mapping[str, bytes], fed_width: int = 0
    ) -> "TransformerEncoder":
        if files:  # of a saved model: its weights come later
            architecture = architecture_in(_file(files, ARCHITECTURE))
            tokenizer = PieceTokenizer(_file(files, TOKENIZER))
            model = build_model(architecture)
        else:
            found = PretrainedDirectory.find(self.pretrained)
            assert self._content_name  # of what is read now
            architecture, tokenizer = found.architecture(), found.tokenizer()
            model = found.model(architecture)
        pieces = PieceSequences(
            tokenizer,
            positions=n_positions(architecture),
            overlap=self.overlap,
            pooling=self.pooling,
        )
        vectors = PretrainedVectors(model, pieces, self)
        if self.frozen == "all" and self.kept_gigabytes and not files:
            pieces.store = StateStore(self.kept_gigabytes * GIGABYTE)
        own_files = {
            ARCHITECTURE: json.dumps(architecture, indent=2).encode(),
            TOKENIZER: tokenizer.content,
        }
        return TransformerEncoder(self, vectors, features, own_files, fed_width)


def _file(files: Mapping[str, bytes], name: str) -> bytes:
    if name not in files:
        raise ValueError(f"no {name} among the files of the encoder")
    return files[name]


class PretrainedVectors(nn.Module):
    """Vectors of tokens from the last layers of a pretrained model."""

    def __init__(self, model: nn.Module, pieces: PieceSequences, options: Transformer) -> None:
        super().__init__()
        config: Any = model.config
        self.model, self.pieces = model, pieces
        self.width: int = config.hidden_size
        n_layers: int = config.num_hidden_layers
        if pieces.tokenizer.largest >= config.vocab_size:
            raise ValueError(
                f"the tokenizer has pieces up to number {pieces.tokenizer.largest}, the model "
                f"{config.vocab_size} of them"
            )
        if options.mixed_layers > n_layers + 1:
            raise ValueError(
                f"encoder.mixed_layers is {options.mixed_layers}, expected at most {n_layers + 1}: "
                "the model's layers and its embeddings"
            )
        self.mix = nn.Parameter(torch.zeros(options.mixed_layers))
        self.scale = nn.Parameter(torch.ones(()))
        self.rate, self.layer_decay = options.rate, options.layer_decay
        self.word_dropout = options.word_dropout
        self.is_frozen = options.frozen == "all"
        self.groups = layer_groups(model, n_layers)  # embeddings first
        n_frozen = {"none": 0, "embeddings": 1, "all": len(self.groups)}.get(options.frozen)
        if n_frozen is None:
            n_frozen = 1 + int(options.frozen)
        if n_frozen > len(self.groups):
            raise ValueError(
                f"encoder.frozen is {options.frozen}, expected at most {len(self.groups) - 1}: the "
                "layers of the model"
            )
        for group in self.groups[:n_frozen]:
            for parameter in group:
                parameter.requires_grad_(False)  # noqa: FBT003 - torch's signature
        if options.recompute:
            enable: Any = model.gradient_checkpointing_enable
            enable(gradient_checkpointing_kwargs={"use_reentrant": False})

    def train(self, mode: bool = True) -> "PretrainedVectors":  # noqa: FBT001, FBT002 - torch's signature
        """Frozen parts stay as they are in parsing: they drop nothing."""
        super().train(mode)
        for module in self.model.modules() if mode else ():
            parameters = list(module.parameters())
            if parameters and not any(p.requires_grad for p in parameters):
                module.eval()
        return self

    def forward(self, batch: Batch) -> Tensor:
        """batch → [B, N, width]"""
        given: Any = batch.features[PieceSequences.name]
        weights = self.scale * torch.softmax(self.mix, 0)
        if isinstance(given, PooledStates):
            return torch.einsum("bnld,l->bnd", given.states.to(weights.dtype), weights)
        mixed = sum(w * state for w, state in zip(weights, self.states(given, batch), strict=True))
        return self.pooled(given, mixed).view(*batch.shape, self.width)

    def states(self, pieces: Pieces, batch: Batch) -> list[Tensor]:
        """The last layers' states of every piece, normalized.  [S, P, width] each

        Dropout inside the model draws from torch's generator, which starts from the batch's key: so
        a training that is resumed draws what an undisturbed one would have drawn.
        """
        ids = self.read(pieces, batch)
        mask = torch.arange(ids.shape[1], device=ids.device) < pieces.lengths.unsqueeze(1)
        draws = self.model.training and batch.seed is not None
        with (
            torch.set_grad_enabled(torch.is_grad_enabled() and not self.is_frozen),
            torch.random.fork_rng([ids.device] if ids.is_cuda else [], enabled=draws),
        ):
            if draws:
                torch.manual_seed(batch.seed)
            found = self.model(
                input_ids=ids, attention_mask=mask.long(), output_hidden_states=True
            ).hidden_states
        return [layer_norm(state, (self.width,)) for state in found[-len(self.mix) :]]

    def read(self, pieces: Pieces, batch: Batch) -> Tensor:
        """The pieces that the model reads: in training, those of some words are masked.  [S, P]"""
        if not self.model.training or self.word_dropout == 0 or batch.keys is None:
            return pieces.ids
        keys = keys_below(batch.keys, WORDS)
        dropped = dropped_places(keys, batch.shape[1], self.word_dropout)  # [B, N]
        place = torch.arange(dropped.shape[1], device=dropped.device)
        dropped &= (place > 0) & (place < batch.length.unsqueeze(1))  # neither root nor padding
        return pieces.masked(dropped, self.pieces.tokenizer.mask)

    def pooled(self, pieces: Pieces, states: Tensor) -> Tensor:
        """The mean over the pieces of every token.  [S, P, width] → [B·N, width]"""
        flat = states.reshape(-1, self.width)
        return embedding_bag(pieces.places, flat, pieces.offsets, mode="mean")

    def keep_states(self, sentences: Sequence[Sentence], batch: Batch) -> None:
        """Keep the states of sentences, which frozen layers give again and again."""
        assert self.pieces.store is not None
        given: Any = batch.features[PieceSequences.name]
        if isinstance(given, PooledStates):
            return  # sentences with the same words
        states = [self.pooled(given, state) for state in self.states(given, batch)]
        stacked = torch.stack(states, 1).view(*batch.shape, len(self.mix), self.width)
        for sentence, row in zip(sentences, stacked.half().cpu().numpy(), strict=True):
            self.pieces.store.add(sentence, row[: len(sentence) + 1])

    def parameter_groups(self) -> list[ParameterGroup]:
        """The layers to train, the higher the faster, and the mix of them."""
        groups = [ParameterGroup([self.mix, self.scale])]
        for height, parameters in enumerate(self.groups):
            rate = self.rate * self.layer_decay ** (len(self.groups) - 1 - height)
            trained = [p for p in parameters if p.requires_grad]
            groups += [ParameterGroup(trained, rate)] if trained else []
        return groups


def layer_groups(model: nn.Module, n_layers: int) -> list[list[nn.Parameter]]:
    """The parameters of a model: its embeddings, then those of every layer, from below.

    Positions that layers share, and what embeddings pass on their way to the layers, are among the
    embeddings. What belongs to none of these, such as a last normalization, goes with the uppermost
    layer. A model whose layers share their weights has one layer here.
    """
    lists = [module for module in model.modules() if isinstance(module, nn.ModuleList)]
    layers = next((found for found in lists if len(found) == n_layers), lists[0])
    groups = [list(layer.parameters()) for layer in layers]
    within = {parameter for group in groups for parameter in group}
    outside = [(name, p) for name, p in model.named_parameters() if p not in within]
    below = {name: p for name, p in outside if "embed" in name or "relative" in name}
    groups[-1] += [p for name, p in outside if name not in below]
    return [list(below.values()), *groups]


class TransformerEncoder(BiLSTMEncoder):
    """A pretrained model's vectors beside embeddings of features, and BiLSTM layers over both."""

    gains_from_bfloat16 = True

    def __init__(
        self,
        options: Transformer,
        vectors: PretrainedVectors,
        features: Sequence[Feature],
        own_files: dict[str, bytes],
        fed_width: int,
    ) -> None:
        top, pretrained = options.on_top(), Embedder(vectors, vectors.width)
        embedders = {PieceSequences.name: pretrained, **top.embedders(features)}
        super().__init__(top.parts(embedders, options.layers, fed_width))
        self.own_files, self.saved_in = own_files, SAVED_IN[options.saved_in]

    @property
    def vectors(self) -> PretrainedVectors:
        """The pretrained part."""
        found = self.embedders[PieceSequences.name]
        assert isinstance(found, PretrainedVectors)
        return found

    def own_features(self) -> Sequence[Feature]:
        return [self.vectors.pieces]

    def files(self) -> dict[str, bytes]:
        return self.own_files

    @property
    def keeps_states(self) -> bool:
        return self.vectors.pieces.store is not None

    def keep_states(self, sentences: Sequence[Sentence], batch: Batch) -> None:
        self.vectors.keep_states(sentences, batch)

    def parameter_groups(self) -> list[ParameterGroup]:
        pretrained = set(self.vectors.parameters())
        others = [p for p in self.parameters() if p not in pretrained and p.requires_grad]
        return [ParameterGroup(others), *self.vectors.parameter_groups()]
