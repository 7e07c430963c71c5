"""A BiLSTM over word, subword or character, and tag embeddings."""

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, embedding_bag

from dyparse.batch import FEATURES, Bags, Batch
from dyparse.dropout import VariationalDropout
from dyparse.encoder import Encoder
from dyparse.vocabulary import PADDING, RESERVED, UNKNOWN, Vocabulary


@dataclass(frozen=True)
class BiLSTM:
    """Kiperwasser & Goldberg (2016), with hashed subwords beside the words."""

    features: list[str] = field(default_factory=lambda: ["word", "subword", "upos"])
    word_width: int = 100
    subword_width: int = 100
    subword_buckets: int = 6000
    character_width: int = 64
    upos_width: int = 32
    xpos_width: int = 32
    feats_width: int = 32
    hidden: int = 200
    layers: int = 2
    input_dropout: float = 0.33
    layer_dropout: float = 0.5
    word_dropout: float = 0.33

    def __post_init__(self) -> None:
        if unknown := [name for name in self.features if name not in FEATURES]:
            raise ValueError(
                f"encoder.features has {unknown[0]!r}, expected some of {', '.join(FEATURES)}"
            )
        if not self.features or len(set(self.features)) < len(self.features):
            raise ValueError(f"encoder.features is {list(self.features)}, expected each name once")
        for name in ("input_dropout", "layer_dropout", "word_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"encoder.{name} is {getattr(self, name)}, expected 0 <= x < 1")
        for name in [
            *(f"{feature}_width" for feature in FEATURES),
            "subword_buckets",
            "hidden",
            "layers",
        ]:
            if getattr(self, name) < 1:
                raise ValueError(f"encoder.{name} is {getattr(self, name)}, expected 1 or more")

    def build(self, vocabulary: Vocabulary) -> "BiLSTMEncoder":
        embedders: dict[str, nn.Module] = {
            "word": WordEmbedder(len(vocabulary.words), self.word_width, self.word_dropout),
            "subword": BagEmbedder("subword", self.subword_buckets + 1, self.subword_width),
            "character": CharacterEmbedder(len(vocabulary.characters), self.character_width),
            "upos": TagEmbedder("upos", len(vocabulary.upos), self.upos_width),
            "xpos": TagEmbedder("xpos", len(vocabulary.xpos), self.xpos_width),
            "feats": BagEmbedder("feats", len(vocabulary.feats) + RESERVED, self.feats_width),
        }
        chosen = nn.ModuleDict({name: embedders[name] for name in self.features})
        width = sum(getattr(self, f"{name}_width") for name in self.features)
        widths = [width] + [2 * self.hidden] * (self.layers - 1)
        layers = nn.ModuleList(BiLSTMLayer(w, self.hidden) for w in widths)
        dropouts = (self.input_dropout, self.layer_dropout)
        return BiLSTMEncoder(chosen, layers, dropouts, width=2 * self.hidden)


class BiLSTMEncoder(Encoder):
    """Embeddings, then BiLSTM layers, with variational dropout before each and at the end."""

    def __init__(
        self,
        embedders: nn.ModuleDict,
        layers: nn.ModuleList,
        dropouts: tuple[float, float],
        width: int,
    ) -> None:
        super().__init__()
        self.embedders = embedders
        self.layers = layers
        of_input, of_layers = dropouts
        self.input_dropout = VariationalDropout(of_input)
        self.layer_dropout = VariationalDropout(of_layers)
        self.width = width

    def forward(self, batch: Batch) -> Tensor:
        """batch → [B, N, width]"""
        embedded = torch.cat([embed(batch) for embed in self.embedders.values()], dim=-1)
        x = self.input_dropout(embedded.transpose(0, 1))  # [N, B, ·]
        mirror = mirrored_positions(batch.length, x.shape[0])  # [N, B]
        for layer in self.layers:
            x = self.layer_dropout(layer(x, mirror))  # [N, B, width]
        return x.transpose(0, 1)  # type: ignore[no-any-return]  # torch modules are called untyped


class BiLSTMLayer(nn.Module):
    """One LSTM in reading order, one on the mirrored sentences.

    On a CPU padded one-way LSTMs are far faster than a packed two-way one, and mirroring each
    sentence in its own length gives
    the same vectors in every batch: padding comes last in both directions.
    """

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.hidden = hidden
        self.forwards = _lstm(width, hidden)
        self.backwards = _lstm(width, hidden)

    def forward(self, x: Tensor, mirror: Tensor) -> Tensor:
        """[N, B, width], [N, B] → [N, B, 2·hidden]"""
        ahead, _ = self.forwards(x)
        back, _ = self.backwards(reorder(x, mirror))
        return torch.cat([ahead, reorder(back, mirror)], dim=-1)


def _lstm(width: int, hidden: int) -> nn.LSTM:
    """An LSTM with orthogonal recurrent weights, and forget gates that start open."""
    lstm = nn.LSTM(width, hidden)
    parameters = dict(lstm.named_parameters())
    with torch.no_grad():
        for block in parameters["weight_hh_l0"].chunk(4):
            nn.init.orthogonal_(block)
        nn.init.xavier_uniform_(parameters["weight_ih_l0"])
        parameters["bias_hh_l0"].zero_()
        parameters["bias_ih_l0"].zero_()
        parameters["bias_ih_l0"][hidden : 2 * hidden] = 1.0  # gates: input, forget, cell, output
    return lstm


def mirrored_positions(length: Tensor, tokens: int) -> Tensor:
    """Position t of each sentence, counted from its end; padding keeps its place.  [B] → [N, B]"""
    t = torch.arange(tokens, device=length.device).unsqueeze(1)  # [N, 1]
    return torch.where(t < length, length - 1 - t, t)


def reorder(x: Tensor, positions: Tensor) -> Tensor:
    """x[positions[t, b], b].  [N, B, D], [N, B] → [N, B, D]"""
    N, B, D = x.shape
    rows = positions * B + torch.arange(B, device=x.device)
    return x.reshape(N * B, D).index_select(0, rows.reshape(-1)).view(N, B, D)


class WordEmbedder(nn.Module):
    """Known words; while training some of them are read as unknown."""

    def __init__(self, words: int, width: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.embedding = _embedding(words + RESERVED, width)

    def forward(self, batch: Batch) -> Tensor:
        """batch → [B, N, width]"""
        assert batch.word is not None
        word = batch.word
        if self.training and self.dropout > 0:
            dropped = torch.rand(word.shape, device=word.device) < self.dropout
            word = word.masked_fill(dropped & (word >= RESERVED), UNKNOWN)
        return self.embedding(word)  # type: ignore[no-any-return]  # as torch modules are called untyped


class TagEmbedder(nn.Module):
    """One tag per token: UPOS or XPOS."""

    def __init__(self, column: str, tags: int, width: int) -> None:
        super().__init__()
        self.column = column
        self.embedding = _embedding(tags + RESERVED, width)

    def forward(self, batch: Batch) -> Tensor:
        """batch → [B, N, width]"""
        return self.embedding(getattr(batch, self.column))  # type: ignore[no-any-return]  # as torch modules are called untyped


class BagEmbedder(nn.Module):
    """The mean of several embeddings per token: subwords, or single features of FEATS."""

    def __init__(self, column: str, entries: int, width: int) -> None:
        super().__init__()
        self.column = column
        self.weight = nn.Parameter(torch.randn(entries, width) * 0.5)

    def forward(self, batch: Batch) -> Tensor:
        """batch → [B, N, width]"""
        bags: Bags = getattr(batch, self.column)
        means = embedding_bag(
            bags.numbers, self.weight, bags.offsets, mode="mean"
        )  # [entries, width]
        return embedding(bags.entry, means)


class CharacterEmbedder(nn.Module):
    """A convolution over the characters of a word, and the maximum over its positions (Santos &
    Zadrozny 2014).
    """

    def __init__(self, characters: int, width: int) -> None:
        super().__init__()
        self.embedding = _embedding(characters + RESERVED, width)
        self.convolution = nn.Conv1d(width, width, kernel_size=3, padding=1)

    def forward(self, batch: Batch) -> Tensor:
        """batch → [B, N, width]"""
        assert batch.character is not None
        assert batch.form is not None
        convolved = self.convolution(
            self.embedding(batch.character).transpose(1, 2)
        )  # [forms, width, longest]
        is_padding = (batch.character == PADDING).unsqueeze(1)
        vectors = torch.tanh(
            convolved.masked_fill(is_padding, -torch.inf).amax(-1)
        )  # [forms, width]
        return embedding(batch.form, vectors)


def _embedding(entries: int, width: int) -> nn.Embedding:
    embedding = nn.Embedding(entries, width, padding_idx=PADDING)
    with torch.no_grad():
        embedding.weight.normal_(std=width**-0.5)
        embedding.weight[PADDING].zero_()
    return embedding
