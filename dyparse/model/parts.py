"""The parts of a model: the choices it was made from, its vocabulary, and the network."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from dyparse.config.build import describe
from dyparse.config.choices import name_of, text_of
from dyparse.config.options import flat_options
from dyparse.data.batch import Collator, gold_heads
from dyparse.data.columns.pseudo_projective import AS_IT_IS, PROJECTIVITIES, require_decodable
from dyparse.data.sentence import Sentence
from dyparse.data.vocabulary import Vocabulary
from dyparse.encoder import EncoderChoice, ReadsTags
from dyparse.errors import ConfigError
from dyparse.feature import Feature, load_features
from dyparse.head import LABELS, FitsOptions, HeadChoice, require_heads, require_writable
from dyparse.head._analyses import Analyses, seen_analyses
from dyparse.head._column import HeadColumn
from dyparse.head._lexicon import LEMMA, Lexicon, seen_lemmas
from dyparse.head._tags import TagOptions
from dyparse.head.joint_labels import JointLabels
from dyparse.model.confidence import UNCALIBRATED, Calibration
from dyparse.model.sizes import ScorerSizes
from dyparse.rollout.scorer import Scorer
from dyparse.system import System
from dyparse.system._labelled import Labelled
from dyparse.tokenizer import Tokenizer, TokenizerChoice
from dyparse.tokenizer.plain import Plain

if TYPE_CHECKING:  # torch is slow to import, and not every parser needs it
    from dyparse.encoder import Encoder
    from dyparse.head import Head
    from dyparse.model.network import Model

PLAIN = Plain()


class EncodedBatch(NamedTuple):
    """A batch after the encoder."""

    encoded: Any  # what the network that made it needs to predict
    scorer: Scorer  # of moves, on the host
    words: NDArray[np.int32]  # [B]  number of words


class Network(Protocol):
    """What a parser needs of a network, be it torch's (`network`) or a compiled one."""

    @property
    def device_type(self) -> str:
        """Where it computes: cpu, cuda, …"""
        ...

    @property
    def n_weights(self) -> int:
        """How many numbers it has learned."""
        ...

    def head_items(self) -> Sequence[tuple[str, HeadColumn]]:
        """The heads with their names."""
        ...

    def own_features(self) -> Sequence[Feature]:
        """Features beside those that the options list."""
        ...

    def encode_sentences(
        self,
        sentences: Sequence[Sentence],
        collator: Collator,
        precision: str,
        keep: Collection[str] = (),
    ) -> tuple[Any, Scorer, NDArray[np.int32]]:
        """The members of an EncodedBatch; tags in columns to keep are read, not predicted."""
        ...

    def predict(
        self,
        encoded: Any,
        heads: NDArray[np.int32],
        words: NDArray[np.int32],
        analyses: Analyses,
        precision: str,
    ) -> dict[str, list[list[int]]]:
        """The numbers [B, N] of the entries that every head predicts, by its name, for the trees
        [B, N] with these numbers of words [B]; of tags the best that go together.
        """
        ...

    def tag_scores(self, name: str, encoded: Any, tokens: NDArray[np.int64]) -> NDArray[np.float32]:
        """Scores of the entries of a tag head for tokens with these places in the grid [B, N].

        [R] → [R, entries]
        """
        ...

    def label_scores(
        self, encoded: Any, heads: NDArray[np.int32], precision: str
    ) -> NDArray[np.float32]:
        """Scores of the labels of all arcs of the trees.  [B, N] → [B, N, labels]"""
        ...


@dataclass(frozen=True)
class ModelConfig:
    """The choices that a model is made from."""

    system: System
    encoder: EncoderChoice
    heads: Sequence[HeadChoice]
    sizes: ScorerSizes
    tokenizer: TokenizerChoice = PLAIN
    projectivity: str = AS_IT_IS  # of the trees that moves build, see `pseudo_projective`

    def __post_init__(self) -> None:
        require_heads(self.heads)
        if self.projectivity not in PROJECTIVITIES:
            raise ValueError(
                f"projectivity is {self.projectivity!r}, expected one of "
                f"{', '.join(PROJECTIVITIES)}"
            )
        if self.projectivity != AS_IT_IS and self.system.trees != "projective":
            raise ValueError(
                f"projectivity is {self.projectivity}, expected {AS_IT_IS} with system "
                f"{name_of(self.system)}, which builds trees with crossing arcs itself; lift arcs "
                "for a system whose trees are projective, such as arc_eager"
            )

    def choices(self) -> list[Any]:
        """All choices that a model directory names."""
        features = load_features(self.encoder.features, "encoder.features")
        return [self.system, self.encoder, self.tokenizer, *self.heads, *features]

    def options(self) -> dict[str, Any]:
        """All options with their full names, as a command line has them."""
        described = {
            "system": describe(self.system),
            "encoder": describe(self.encoder),
            "tokenizer": describe(self.tokenizer),
            "heads": [text_of(head) for head in self.heads],
            "network": asdict(self.sizes),
            "projectivity": self.projectivity,
        }
        return {name.removesuffix(".name"): value for name, value in flat_options(described)}

    def fitted(self, sentences: Sequence[Sentence]) -> "ModelConfig":
        """The same with all options decided that heads learn from the training sentences."""
        heads = [h.fitted(sentences) if isinstance(h, FitsOptions) else h for h in self.heads]
        return replace(self, heads=heads)

    def vocabulary(self, sentences: Sequence[Sentence]) -> Vocabulary:
        """The vocabularies of all features and heads, from the training sentences."""
        chosen = load_features(self.encoder.features, "encoder.features")
        features = {feature.name: feature.entries(sentences) for feature in chosen}
        heads = {head.name: head.entries(sentences) for head in self.heads}
        analyses, lemmas = (seen(heads, sentences) for seen in (seen_analyses, seen_lemmas))
        return Vocabulary(features, heads, analyses, lemmas)

    def features(self, vocabulary: Vocabulary) -> list[Feature]:
        """The encoder's features with their vocabularies; ValueError if these do not fit."""
        chosen = load_features(self.encoder.features, "encoder.features")
        _require_names("features", [f.name for f in chosen], vocabulary.features)
        return [feature.build(vocabulary.features[feature.name]) for feature in chosen]

    def network(self, vocabulary: Vocabulary, files: Mapping[str, bytes]) -> "Model":
        """A network with fresh weights from torch's random generator."""
        from dyparse.head._tag_head import TagHead
        from dyparse.model.network import Model

        self.require_heads_fit(vocabulary)

        def build_heads(width: int, tag_width: int) -> dict[str, "Head"]:
            hidden, dropout = self.sizes.hidden, self.sizes.dropout
            built = {}
            for choice in self.heads:
                entries = vocabulary.heads[choice.name]
                require_writable(choice.name, entries)
                read = tag_width if isinstance(choice, TagOptions) else width
                head = choice.build(read, entries, hidden=hidden, dropout=dropout)
                if head is None:
                    continue
                head.loss_weight = choice.weight
                if isinstance(choice, TagOptions) and isinstance(head, TagHead):
                    head.is_corrected = choice.corrected
                built[choice.name] = head
            return built

        encoder = self._encoder(self.features(vocabulary), files)
        slots, moves = len(self.system.slots), len(self.scored_system(vocabulary).moves)
        return Model(encoder, self.sizes, build_heads, slots=slots, moves=moves)

    @property
    def joint_labels(self) -> JointLabels | None:
        """The head for labels, if the moves carry them."""
        return next((head for head in self.heads if isinstance(head, JointLabels)), None)

    def scored_system(self, vocabulary: Vocabulary) -> System:
        """The system whose moves the network scores: with labels, if moves carry them."""
        if (labels := self.joint_labels) is None:
            return self.system
        return Labelled(self.system, vocabulary.heads[LABELS], labels.root_on_top)

    def _encoder(self, features: Sequence[Feature], files: Mapping[str, bytes]) -> "Encoder":
        fed_width = self.fed_width
        if isinstance(self.encoder, ReadsTags):
            return self.encoder.build(features, files, fed_width)
        if fed_width:
            raise ValueError(
                f"heads: {name_of(self.encoder)} cannot read tags; use options such as upos:fed=0"
            )
        return self.encoder.build(features, files)

    @property
    def fed_width(self) -> int:
        """How many numbers of predicted tags the encoder reads."""
        return sum(head.fed for head in self.heads if isinstance(head, TagOptions))

    def require_heads_fit(self, vocabulary: Vocabulary) -> None:
        """ValueError if a vocabulary has other heads, or labels that cannot be decoded."""
        _require_names("heads", [head.name for head in self.heads], vocabulary.heads)
        if self.projectivity != AS_IT_IS:
            require_decodable(vocabulary.heads[LABELS])

    def empty_network(self, vocabulary: Vocabulary, files: Mapping[str, bytes]) -> "Model":
        """A network that has shapes and no memory, however large, until weights are assigned."""
        import torch

        from dyparse.model.network import WithoutDrawing

        with torch.device("meta"), WithoutDrawing():
            return self.network(vocabulary, files)


@dataclass(frozen=True)
class ModelParts:
    """A model: its configuration, vocabulary, network, tokenizer, and how sure its scores are."""

    config: ModelConfig
    vocabulary: Vocabulary
    network: Network = field(repr=False)
    tokenizer: Tokenizer = PLAIN
    calibration: Calibration = UNCALIBRATED

    @property
    def model(self) -> "Model":
        """The network of torch; ConfigError if compiled kernels stand in for it."""
        if not hasattr(self.network, "state_dict"):
            raise ConfigError(
                "this parser computes with compiled kernels; for the network of torch load it with "
                "precision='float32'"
            )
        return cast("Model", self.network)

    @cached_property
    def scored_system(self) -> System:
        """The system whose moves the network scores: with labels, if moves carry them."""
        return self.config.scored_system(self.vocabulary)

    @cached_property
    def columns(self) -> dict[str, HeadColumn]:
        """The columns that are predicted, by the name of the head; labels of moves too."""
        columns = dict(self.network.head_items())
        if labels := self.config.joint_labels:
            columns[LABELS] = labels.column(self.vocabulary.heads[LABELS])
        return columns

    def gold(self, sentences: Sequence[Sentence]) -> NDArray[np.int32]:
        """The gold trees as the oracle of `scored_system` takes them: [B, N] or, with labels,
        [B, N, 2].
        """
        heads = gold_heads(sentences)
        if self.config.joint_labels is None:
            return heads
        return np.stack([heads, self.columns[LABELS].targets(sentences)], axis=-1).astype(np.int32)

    @cached_property
    def analyses(self) -> Analyses:
        """The combinations of tags that can be predicted."""
        return Analyses(self.vocabulary.analyses, self.vocabulary.heads)

    @cached_property
    def lexicon(self) -> Lexicon:
        """The lemmas that words and tags had in the training sentences."""
        return Lexicon(self.vocabulary.lemmas, self.vocabulary.heads.get(LEMMA, ()))

    def collator(self) -> Collator:
        """Makes the batches that the encoder reads."""
        features = [
            *self.config.features(self.vocabulary),
            *self.network.own_features(),
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
