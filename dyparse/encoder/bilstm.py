"""A BiLSTM over word, subword or character, and tag embeddings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, embedding_bag
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from dyparse.data.batch import Batch
from dyparse.data.sentence import Sentence
from dyparse.data.vocabulary import PADDING, RESERVED, UNKNOWN
from dyparse.encoder import Encoder, ReadsTags, Tag, _vectors
from dyparse.feature import (
    Feature,
    TokenBags,
    TokenIds,
    TokenNumbers,
    TokenSequences,
    load_features,
)
from dyparse.tensors.dropout import WORDS, Dropout, dropped_places, keys_below
from dyparse.tensors.mirrored_lstm import mirrored_positions, one_way, reorder
from dyparse.tensors.transfer import to_device

MOST_LAYERS = 100
FEATURE_WIDTHS = {
    "word": 100,
    "subword": 100,
    "character": 64,
    "upos": 32,
    "xpos": 32,
    "feats": 32,
}
WIDTHS = {**FEATURE_WIDTHS, _vectors.NAME: 100}  # vectors: of their projection
OTHER_WIDTH = 32


@dataclass(frozen=True)
class BiLSTM(ReadsTags):
    """Kiperwasser & Goldberg (2016), with hashed subwords beside the words."""

    features: list[str] = field(
        default_factory=lambda: ["word", "subword:buckets=20000", "character"]
    )
    widths: dict[str, int] = field(default_factory=lambda: dict(WIDTHS))  # of embeddings
    hidden: int = 200
    layers: int = 2
    input_dropout: float = 0.33
    layer_dropout: float = 0.5
    word_dropout: float = 0.33
    vectors: str | None = None  # file of pretrained word vectors
    vectors_use: str = "projected"
    vectors_scale: float = 1.0  # their mean norm
    vectors_words: int = 100_000  # kept beside those of the treebank
    vectors_subwords: int = 200_000  # kept, if there are at most so many

    def __post_init__(self) -> None:
        names = [feature.name for feature in load_features(self.features, "encoder.features")]
        if not names:
            raise ValueError("encoder.features is [], expected one or more")
        if unknown := sorted(set(self.widths) - {*WIDTHS, *names}):
            raise ValueError(
                f"encoder.widths has {unknown[0]!r}, which is no feature; "
                f"expected some of {', '.join(dict.fromkeys([*names, *WIDTHS]))}"
            )
        for name in ("input_dropout", "layer_dropout", "word_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"encoder.{name} is {getattr(self, name)}, expected 0 <= x < 1")
        sizes = {"hidden": self.hidden, "layers": self.layers}
        for name, size in (sizes | {f"widths.{k}": w for k, w in self.widths.items()}).items():
            if size < 1:
                raise ValueError(f"encoder.{name} is {size}, expected 1 or more")
        if self.layers > MOST_LAYERS:
            raise ValueError(f"encoder.layers is {self.layers}, expected 1 to {MOST_LAYERS}")
        _vectors.require_options(self.vectors_use, self.vectors_scale)
        for name in ("vectors_words", "vectors_subwords"):
            if getattr(self, name) < 0:
                raise ValueError(f"encoder.{name} is {getattr(self, name)}, expected 0 or more")

    def without_places(self) -> "BiLSTM":
        """The same options with the file of vectors named by its content."""
        if not self.vectors:
            return self
        return replace(self, vectors=_vectors.named_by_content(self.vectors))

    def new_files(self, sentences: Sequence[Sentence]) -> dict[str, bytes]:
        """The vectors that the training sentences need, from the user's file."""
        if not self.vectors:
            return {}
        n_words, n_subwords = self.vectors_words, self.vectors_subwords
        return _vectors.read_new(
            self.vectors, sentences, scale=self.vectors_scale, first=n_words, buckets=n_subwords
        )

    def build(
        self, features: Sequence[Feature], files: Mapping[str, bytes], fed_width: int = 0
    ) -> "BiLSTMEncoder":
        embedders = self.embedders(features)
        if self.vectors:
            vectors = self._vector_embedder(files)
            embedders[_vectors.NAME] = Embedder(vectors, vectors.width)
        return BiLSTMEncoder(self.parts(embedders, self.layers, fed_width))

    def embedders(self, features: Sequence[Feature]) -> dict[str, "Embedder"]:
        """Embedders of the features, by name."""
        return {f.name: Embedder(self._embedder(f), self._width(f.name)) for f in features}

    def parts(self, embedders: Mapping[str, "Embedder"], n_layers: int, fed_width: int) -> "Parts":
        """The parts of an encoder; without layers it is as wide as the embedders together."""
        widths = [sum(e.width for e in embedders.values())] + [2 * self.hidden] * n_layers
        tag_width = widths[0] + (widths[-2] if n_layers > 1 else 0)
        widths[-2:-1] = [width + fed_width for width in widths[-2:-1]]
        return Parts(
            nn.ModuleDict({name: embedder.module for name, embedder in embedders.items()}),
            nn.ModuleList(BiLSTMLayer(w, self.hidden) for w in widths[:-1]),
            (self.input_dropout, self.layer_dropout),
            width=widths[-1],
            tag_width=tag_width,
        )

    def _vector_embedder(self, files: Mapping[str, bytes]) -> _vectors.VectorEmbedder:
        return _vectors.VectorEmbedder(files, self.vectors_use, self._width(_vectors.NAME))

    def _width(self, name: str) -> int:
        return self.widths.get(name, WIDTHS.get(name, OTHER_WIDTH))

    def _embedder(self, feature: Feature) -> nn.Module:
        for kind, embedder in EMBEDDERS.items():
            if isinstance(feature, kind):
                return embedder(feature, self._width(feature.name), self.word_dropout)
        raise ValueError(
            f"encoder.features has {feature.name!r}, which the BiLSTM cannot embed; expected a "
            "feature of one number, a bag or a sequence of numbers per token (dyparse.feature)"
        )


class Embedder(NamedTuple):
    """A module that gives every token a vector, and how wide it is."""

    module: nn.Module  # batch → [B, N, width]
    width: int


class Parts(NamedTuple):
    """The parts of a BiLSTM encoder."""

    embedders: nn.ModuleDict
    layers: nn.ModuleList
    dropouts: tuple[float, float]  # of the embeddings, of every layer's output
    width: int
    tag_width: int


class BiLSTMEncoder(Encoder):
    """Embeddings, then BiLSTM layers, with variational dropout before each and at the end.

    Tags are predicted from the embeddings and from the last layer but one; the last one reads them.
    """

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self.embedders, self.layers, dropouts, self.width, self.tag_width = parts
        self.input_dropout, self.layer_dropout = map(Dropout, dropouts)

    def forward(self, batch: Batch, tag: Tag | None = None) -> Tensor:
        """batch → [B, N, width]"""
        embedded = torch.cat([embed(batch) for embed in self.embedders.values()], dim=-1)
        first = x = self.input_dropout(embedded.transpose(0, 1), _keys(batch, 0))  # [N, B, ·]
        order = reading_order(batch, x)
        for number, layer in enumerate(self.layers, 1):
            if tag and number == len(self.layers):
                x = with_tags(x, first, tag)
            x = self.layer_dropout(layer(x, order), _keys(batch, number))  # [N, B, width]
        if tag and not self.layers:
            tag(x.transpose(0, 1))
        return x.transpose(0, 1)  # type: ignore[no-any-return]  # torch modules are called untyped

    def own_features(self) -> Sequence[Feature]:
        vectors = self._vectors()
        return [vectors.feature()] if vectors else []

    def files(self) -> dict[str, bytes]:
        vectors = self._vectors()
        return {_vectors.WORDS: vectors.table.to_json()} if vectors else {}

    def _vectors(self) -> _vectors.VectorEmbedder | None:
        found = (e for e in self.embedders.values() if isinstance(e, _vectors.VectorEmbedder))
        return next(found, None)


def with_tags(x: Tensor, first: Tensor, tag: Tag) -> Tensor:
    """A layer's input and the tags predicted from it and from the embeddings.

    [N, B, ·], [N, B, ·] → [N, B, · + fed_width]
    """
    seen = x if x is first else torch.cat([first, x], dim=-1)
    tags = tag(seen.transpose(0, 1))
    return x if tags is None else torch.cat([x, tags.transpose(0, 1)], dim=-1)


def _keys(batch: Batch, layer: int) -> Tensor | None:
    """[B]: one for all words of a sentence, which therefore lose the same components (variational
    dropout, Gal & Ghahramani 2016).
    """
    return None if batch.keys is None else keys_below(batch.keys, layer)


class Mirror(NamedTuple):
    """Where the words are in the mirrored sentences: what a CPU needs."""

    positions: Tensor  # [N, B]


class ByLength(NamedTuple):
    """The sentences sorted by length: what packing needs.

    Sorted here, on the host: when torch's packing sorts, it waits for the device.
    """

    tokens: Tensor  # [B]  of the sorted sentences, falling; on the host
    order: Tensor  # [B]  which sentence is where, sorted
    back: Tensor  # [B]  where each sentence is then

    @classmethod
    def of(cls, batch: Batch, device: torch.device) -> "ByLength":
        order = torch.from_numpy(np.argsort(-batch.words, kind="stable"))
        tokens = torch.from_numpy(batch.words.astype(np.int64) + 1)[order]
        return cls(tokens, *to_device([order, torch.argsort(order)], device))


def reading_order(batch: Batch, x: Tensor) -> Mirror | ByLength:
    """How a layer is to read sentences both ways, chosen by the device of x.

    On a CPU two one-way LSTMs over mirrored sentences are faster, see `mirrored_lstm`; on a GPU one
    call of a packed two-way LSTM does both directions at a time.
    """
    if x.device.type == "cpu":
        return Mirror(mirrored_positions(batch.length, x.shape[0]))
    return ByLength.of(batch, x.device)


class BiLSTMLayer(nn.Module):
    """One LSTM in reading order, one from the end of each sentence."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.lstm = _lstm(width, hidden)

    def forward(self, x: Tensor, order: Mirror | ByLength) -> Tensor:
        """[N, B, width] → [N, B, 2·hidden]"""
        if isinstance(order, ByLength):
            return self.packed(x, order)
        mirror = order.positions
        ahead = one_way(self.lstm, x)
        back = one_way(self.lstm, reorder(x, mirror), "_reverse")
        return torch.cat([ahead, reorder(back, mirror)], dim=-1)

    def packed(self, x: Tensor, order: ByLength) -> Tensor:
        """The same by one call over packed sentences; padding comes out as zeros."""
        sequence = pack_padded_sequence(x.index_select(1, order.order), order.tokens)
        states, _ = self.lstm(sequence)
        padded, _ = pad_packed_sequence(states, total_length=x.shape[0])
        return padded.index_select(1, order.back)


def _lstm(width: int, hidden: int) -> nn.LSTM:
    """A two-way LSTM with orthogonal recurrent weights, and forget gates that start open."""
    lstm = nn.LSTM(width, hidden, bidirectional=True)
    parameters = dict(lstm.named_parameters())
    with torch.no_grad():
        for suffix in ("", "_reverse"):
            for block in parameters[f"weight_hh_l0{suffix}"].chunk(4):
                nn.init.orthogonal_(block)
            nn.init.xavier_uniform_(parameters[f"weight_ih_l0{suffix}"])
            parameters[f"bias_hh_l0{suffix}"].zero_()
            bias = parameters[f"bias_ih_l0{suffix}"].zero_()
            bias[hidden : 2 * hidden] = 1.0  # gates: input, forget, cell, output
    return lstm


class IdEmbedder(nn.Module):
    """One embedding per token; of a lexical feature, training reads some as unknown."""

    def __init__(self, feature: TokenNumbers, width: int, word_dropout: float) -> None:
        super().__init__()
        self.name = feature.name
        self.dropout = word_dropout if feature.is_lexical else 0.0
        self.embedding = _embedding(feature.size, width)

    def forward(self, batch: Batch) -> Tensor:
        """batch → [B, N, width]"""
        ids: Any = batch.features[self.name]
        if self.training and self.dropout > 0:
            assert batch.keys is not None, "training needs a batch with keys"
            keys = keys_below(batch.keys, WORDS)  # the rollout draws from the sentence's key itself
            dropped = dropped_places(keys, ids.shape[1], self.dropout)
            ids = ids.masked_fill(dropped & (ids >= RESERVED), UNKNOWN)
        return self.embedding(ids)  # type: ignore[no-any-return]  # as torch modules are called untyped


class BagEmbedder(nn.Module):
    """The mean of several embeddings per token: subwords, or single features of FEATS."""

    def __init__(self, feature: TokenNumbers, width: int, word_dropout: float) -> None:  # noqa: ARG002 - for words only
        super().__init__()
        self.name = feature.name
        self.weight = nn.Parameter(torch.empty(feature.size, width).normal_(std=0.5))

    def forward(self, batch: Batch) -> Tensor:
        """batch → [B, N, width]"""
        bags: Any = batch.features[self.name]
        means = embedding_bag(bags.numbers, self.weight, bags.offsets, mode="mean")
        return embedding(bags.entry, means)  # from [entries, width]


class SequenceEmbedder(nn.Module):
    """A convolution over the characters of a word, and the maximum over its positions (Santos &
    Zadrozny 2014).
    """

    def __init__(self, feature: TokenNumbers, width: int, word_dropout: float) -> None:  # noqa: ARG002 - for words only
        super().__init__()
        self.name = feature.name
        self.embedding = _embedding(feature.size, width)
        self.convolution = nn.Conv1d(width, width, kernel_size=3, padding=1)

    def forward(self, batch: Batch) -> Tensor:
        """batch → [B, N, width]"""
        sequences: Any = batch.features[self.name]
        embedded = self.embedding(sequences.numbers).transpose(1, 2)  # [entries, width, longest]
        is_padding = (sequences.numbers == PADDING).unsqueeze(1)
        convolved = self.convolution(embedded).masked_fill(is_padding, -torch.inf)
        return embedding(sequences.entry, torch.tanh(convolved.amax(-1)))


EMBEDDERS: dict[type[TokenNumbers], type[nn.Module]] = {
    TokenIds: IdEmbedder,
    TokenBags: BagEmbedder,
    TokenSequences: SequenceEmbedder,
}


def _embedding(entries: int, width: int) -> nn.Embedding:
    embedding = nn.Embedding(entries, width, padding_idx=PADDING)
    with torch.no_grad():
        embedding.weight.normal_(std=width**-0.5)
        embedding.weight[PADDING].zero_()
    return embedding
