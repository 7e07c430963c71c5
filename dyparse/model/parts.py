"""The parts of a model: the choices it was made from, its vocabulary, and the network."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch

from dyparse.config.choices import name_of
from dyparse.data.batch import Collator
from dyparse.data.sentence import Sentence
from dyparse.data.vocabulary import Vocabulary
from dyparse.encoder import Encoder, EncoderChoice, ReadsTags
from dyparse.feature import Feature, load_features
from dyparse.head import FitsOptions, Head, HeadChoice, require_heads, require_writable
from dyparse.head._analyses import Analyses, seen_analyses
from dyparse.head._tags import TagHead, TagOptions
from dyparse.model.confidence import UNCALIBRATED, Calibration
from dyparse.model.network import Model, WithoutDrawing
from dyparse.model.sizes import ScorerSizes
from dyparse.system import System
from dyparse.tokenizer import Tokenizer, TokenizerChoice
from dyparse.tokenizer.plain import Plain

PLAIN = Plain()


@dataclass(frozen=True)
class ModelConfig:
    """The choices that a model is made from."""

    system: System
    encoder: EncoderChoice
    heads: Sequence[HeadChoice]
    sizes: ScorerSizes
    tokenizer: TokenizerChoice = PLAIN

    def __post_init__(self) -> None:
        require_heads(self.heads)

    def choices(self) -> list[Any]:
        """All choices that a model directory names."""
        features = load_features(self.encoder.features, "encoder.features")
        return [self.system, self.encoder, self.tokenizer, *self.heads, *features]

    def fitted(self, sentences: Sequence[Sentence]) -> "ModelConfig":
        """The same with all options decided that heads learn from the training sentences."""
        heads = [h.fitted(sentences) if isinstance(h, FitsOptions) else h for h in self.heads]
        return replace(self, heads=heads)

    def vocabulary(self, sentences: Sequence[Sentence]) -> Vocabulary:
        """The vocabularies of all features and heads, from the training sentences."""
        chosen = load_features(self.encoder.features, "encoder.features")
        features = {feature.name: feature.entries(sentences) for feature in chosen}
        heads = {head.name: head.entries(sentences) for head in self.heads}
        return Vocabulary(features, heads, seen_analyses(heads, sentences))

    def features(self, vocabulary: Vocabulary) -> list[Feature]:
        """The encoder's features with their vocabularies; ValueError if these do not fit."""
        chosen = load_features(self.encoder.features, "encoder.features")
        _require_names("features", [f.name for f in chosen], vocabulary.features)
        return [feature.build(vocabulary.features[feature.name]) for feature in chosen]

    def network(self, vocabulary: Vocabulary, files: Mapping[str, bytes]) -> Model:
        """A network with fresh weights from torch's random generator."""
        _require_names("heads", [head.name for head in self.heads], vocabulary.heads)

        def build_heads(width: int, tag_width: int) -> dict[str, Head]:
            hidden, dropout = self.sizes.hidden, self.sizes.dropout
            built = {}
            for choice in self.heads:
                entries = vocabulary.heads[choice.name]
                require_writable(choice.name, entries)
                read = tag_width if isinstance(choice, TagOptions) else width
                head = choice.build(read, entries, hidden=hidden, dropout=dropout)
                head.loss_weight = choice.weight
                if isinstance(choice, TagOptions) and isinstance(head, TagHead):
                    head.is_corrected = choice.corrected
                built[choice.name] = head
            return built

        encoder = self._encoder(self.features(vocabulary), files)
        slots, moves = len(self.system.slots), len(self.system.moves)
        return Model(encoder, self.sizes, build_heads, slots=slots, moves=moves)

    def _encoder(self, features: Sequence[Feature], files: Mapping[str, bytes]) -> Encoder:
        fed_width = sum(head.fed for head in self.heads if isinstance(head, TagOptions))
        if isinstance(self.encoder, ReadsTags):
            return self.encoder.build(features, files, fed_width)
        if fed_width:
            raise ValueError(
                f"heads: {name_of(self.encoder)} cannot read tags; use options such as upos:fed=0"
            )
        return self.encoder.build(features, files)

    def empty_network(self, vocabulary: Vocabulary, files: Mapping[str, bytes]) -> Model:
        """A network that has shapes and no memory, however large, until weights are assigned."""
        with torch.device("meta"), WithoutDrawing():
            return self.network(vocabulary, files)


@dataclass(frozen=True)
class ModelParts:
    """A model: its configuration, vocabulary, network, tokenizer, and how sure its scores are."""

    config: ModelConfig
    vocabulary: Vocabulary
    network: Model = field(repr=False)
    tokenizer: Tokenizer = PLAIN
    calibration: Calibration = UNCALIBRATED

    @cached_property
    def analyses(self) -> Analyses:
        """The combinations of tags that can be predicted."""
        return Analyses(self.vocabulary.analyses, self.vocabulary.heads)

    def collator(self) -> Collator:
        """Makes the batches that the encoder reads."""
        features = [
            *self.config.features(self.vocabulary),
            *self.network.encoder.own_features(),
        ]
        names = [feature.name for feature in features]
        if len(set(names)) < len(names):
            raise ValueError(f"features are {', '.join(names)}, expected each name once")
        return Collator(features)


def _require_names(part: str, wanted: list[str], given: Mapping[str, object]) -> None:
    if set(wanted) != set(given):
        raise ValueError(
            f"{part} of the vocabulary are {', '.join(given)}, expected {', '.join(wanted)}"
        )
