"""A BiLSTM over word, subword or character, and tag embeddings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dyparse.data.sentence import Sentence
from dyparse.encoder import ReadsTags, _vectors
from dyparse.feature import Feature, load_features

if TYPE_CHECKING:
    from dyparse.encoder._bilstm_network import BiLSTMEncoder, Embedder, Parts

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
        from dyparse.encoder._bilstm_network import BiLSTMEncoder, Embedder
        from dyparse.encoder._vector_embedder import VectorEmbedder

        embedders = self.embedders(features)
        if self.vectors:
            width = self.width_of(_vectors.NAME)
            vectors = VectorEmbedder(files, self.vectors_use, width)
            embedders[_vectors.NAME] = Embedder(vectors, vectors.width)
        return BiLSTMEncoder(self.parts(embedders, self.layers, fed_width))

    def embedders(self, features: Sequence[Feature]) -> dict[str, "Embedder"]:
        """Embedders of the features, by name."""
        from dyparse.encoder._bilstm_network import Embedder, embedder_of

        widths = {f.name: self.width_of(f.name) for f in features}
        return {
            f.name: Embedder(embedder_of(f, widths[f.name], self.word_dropout), widths[f.name])
            for f in features
        }

    def parts(self, embedders: Mapping[str, "Embedder"], n_layers: int, fed_width: int) -> "Parts":
        """The parts of an encoder; without layers it is as wide as the embedders together."""
        from dyparse.encoder._bilstm_network import parts_of

        dropouts = (self.input_dropout, self.layer_dropout)
        return parts_of(embedders, [self.hidden] * n_layers, dropouts, fed_width)

    def width_of(self, name: str) -> int:
        """The width of the embedding of a feature."""
        return self.widths.get(name, WIDTHS.get(name, OTHER_WIDTH))
