"""The BiLSTM as a part of the network."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, embedding_bag
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from dyparse.data.batch import Batch
from dyparse.data.vocabulary import PADDING, RESERVED, UNKNOWN
from dyparse.encoder._encoder import Encoder, Tag
from dyparse.encoder._vector_embedder import VectorEmbedder
from dyparse.encoder._vectors import WORDS as WORDS_FILE
from dyparse.feature import Feature, TokenBags, TokenIds, TokenNumbers, TokenSequences
from dyparse.tensors.dropout import WORDS, Dropout, dropped_places, keys_below
from dyparse.tensors.mirrored_lstm import mirrored_positions, one_way, reorder
from dyparse.tensors.transfer import to_device


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


def parts_of(
    embedders: Mapping[str, Embedder],
    hidden: Sequence[int],
    dropouts: tuple[float, float],
    fed_width: int,
) -> Parts:
    """The parts of an encoder with this many units per direction in each layer; without layers it
    is as wide as the embedders together.
    """
    widths = [sum(e.width for e in embedders.values()), *(2 * units for units in hidden)]
    tag_width = widths[0] + (widths[-2] if len(hidden) > 1 else 0)
    widths[-2:-1] = [width + fed_width for width in widths[-2:-1]]
    return Parts(
        nn.ModuleDict({name: embedder.module for name, embedder in embedders.items()}),
        nn.ModuleList(BiLSTMLayer(*sizes) for sizes in zip(widths[:-1], hidden, strict=True)),
        dropouts,
        width=widths[-1],
        tag_width=tag_width,
    )


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
        return {WORDS_FILE: vectors.table.to_json()} if vectors else {}

    def _vectors(self) -> VectorEmbedder | None:
        found = (e for e in self.embedders.values() if isinstance(e, VectorEmbedder))
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


def embedder_of(feature: Feature, width: int, word_dropout: float) -> nn.Module:
    """The embedder of a feature; ValueError if there is none for its kind."""
    for kind, embedder in EMBEDDERS.items():
        if isinstance(feature, kind):
            return embedder(feature, width, word_dropout)
    raise ValueError(
        f"encoder.features has {feature.name!r}, which the BiLSTM cannot embed; expected a "
        "feature of one number, a bag or a sequence of numbers per token (dyparse.feature)"
    )


def _embedding(entries: int, width: int) -> nn.Embedding:
    embedding = nn.Embedding(entries, width, padding_idx=PADDING)
    with torch.no_grad():
        embedding.weight.normal_(std=width**-0.5)
        embedding.weight[PADDING].zero_()
    return embedding
