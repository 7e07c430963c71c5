"""The networks of a model with a BiLSTM, and of its tokenizer, in kernels: no torch."""

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from safetensors import deserialize

from dyparse.compiled.embeddings import Embedding, Numbering
from dyparse.compiled.network import CompiledNetwork, EncodedTokens, correction
from dyparse.compiled.processor import has_int8, is_compiling
from dyparse.compiled.segmenter import CompiledSegmenter
from dyparse.data.batch import Collator, Feature, n_words
from dyparse.data.sentence import Sentence
from dyparse.data.token_arrays import ROOT_VALUE
from dyparse.data.vocabulary import ROOT
from dyparse.encoder import _vectors
from dyparse.encoder.bilstm import BiLSTM
from dyparse.errors import DyparseWarning
from dyparse.feature import TokenBags, TokenIds, TokenNumbers, TokenSequences
from dyparse.head import LABELS, require_writable
from dyparse.head._analyses import Analyses
from dyparse.head._column import HeadColumn
from dyparse.head._label_column import LabelColumn
from dyparse.head._lexicon import require_lemmas
from dyparse.head._tags import TagOptions
from dyparse.head.joint_labels import JointLabels
from dyparse.head.labels import Labels
from dyparse.model.checkpoint import (
    MOST_HEADER_BYTES,
    NO_TENSORS,
    OpenedModel,
    explaining_choices,
    finished,
    open_model,
    require_shapes,
    unfit_vocabulary,
)
from dyparse.model.checkpoint_files import ENCODER, WEIGHTS, damaged
from dyparse.model.parts import ModelConfig, ModelParts
from dyparse.rollout.scorer import Scorer
from dyparse.tokenizer import Tokenizer
from dyparse.tokenizer._learned_tokenizer import LearnedTokenizer

KINDS = (TokenIds, TokenBags, TokenSequences)
WEIGHT_TYPES = {"F32": "<f4", "F16": "<f2"}
Arrays = Mapping[str, NDArray[np.float32]]


class CompiledModel:
    """A `Network` of kernels; it cannot be trained, nor leave the CPU."""

    device_type = "cpu"

    def __init__(
        self,
        network: CompiledNetwork,
        weights: Arrays,
        columns: Mapping[str, HeadColumn],
        vectors: "_vectors.VectorTable | None",
        directory: Path,
    ) -> None:
        self.network, self.columns, self.vectors = network, dict(columns), vectors
        self.directory = directory  # where the weights are
        names = ("hidden_bias", "output.weight", "output.bias")
        self.scorer_weights = [np.ascontiguousarray(weights[name]) for name in names]
        self.n_weights = sum(array.size for array in weights.values())

    def head_items(self) -> list[tuple[str, HeadColumn]]:
        return list(self.columns.items())

    def own_features(self) -> Sequence[Feature]:
        return [self.vectors.feature()] if self.vectors else []

    def encode_sentences(
        self,
        sentences: Sequence[Sentence],
        collator: Collator,  # noqa: ARG002 - words are remembered, batches are not made
        precision: str,  # noqa: ARG002 - decided when the model was loaded
        keep: Collection[str] = (),
    ) -> tuple[EncodedTokens, Scorer, NDArray[np.int32]]:
        """The vectors of all tokens, the scorer of moves over them, and the numbers of words."""
        words = n_words(sentences)
        encoded = self.network.encode(sentences, self._given(keep, sentences, words))
        scorer = Scorer(self.network.table(encoded), *self.scorer_weights)
        return encoded, scorer, words

    def _given(
        self, keep: Collection[str], sentences: Sequence[Sentence], words: NDArray[np.int32]
    ) -> dict[str, NDArray[np.int64]]:
        """Tags of columns to keep, as `CompiledNetwork.encode` takes them."""
        is_token = np.arange(words.max() + 1) <= words[:, None]  # [B, N]
        return {
            name: self.columns[name].given(sentences)[is_token]
            for name in self.network.tags.places
            if self.columns[name].column in keep
        }

    def predict(
        self,
        encoded: EncodedTokens,
        heads: NDArray[np.int32],
        words: NDArray[np.int32],  # noqa: ARG002 - there is no padding
        analyses: Analyses,
        precision: str,  # noqa: ARG002 - decided when the model was loaded
    ) -> dict[str, list[list[int]]]:
        """The numbers [B, N] of the entries that every head predicts; see `parts.Network`."""
        tags_of = self.network.tags
        found = {name: tags_of.best(encoded.tags, name) for name in tags_of.places}
        if analyses.columns:
            tags = np.stack([found[column] for column in analyses.columns], axis=1)
            (is_word,) = np.nonzero(encoded.start != np.arange(len(tags)))  # and not a root

            def scores_of(chosen: NDArray[np.int64]) -> list[NDArray[np.float32]]:
                places, tokens = [tags_of.places[c] for c in analyses.columns], is_word[chosen]
                return [encoded.tags[tokens, p.first : p.first + p.entries] for p in places]

            tags[is_word] = analyses.choose(tags[is_word], scores_of)  # [tokens, C]
            found |= dict(zip(analyses.columns, tags.T, strict=True))
        numbers = {name: encoded.padded(tags) for name, tags in found.items()}
        if LABELS in self.columns:
            numbers[LABELS] = self._labels(encoded, heads)
        return {name: cast("list[list[int]]", numbers[name].tolist()) for name in self.columns}

    def _labels(self, encoded: EncodedTokens, heads: NDArray[np.int32]) -> NDArray[np.int64]:
        """[B, N]: the best label of every token, of those that its head may have."""
        scores, column = self.network.label_scores(encoded, heads), self.columns[LABELS]
        labels = encoded.padded(scores.argmax(-1))
        assert isinstance(column, LabelColumn)
        token_at = encoded.padded(np.arange(len(encoded.place))).reshape(-1)
        flat = column.allowed(labels.reshape(-1), heads, lambda rows: scores[token_at[rows]])
        return flat.reshape(heads.shape)

    def tag_scores(
        self, name: str, encoded: EncodedTokens, tokens: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Scores of the entries of a tag head for some tokens of the grid.  [R] → [R, entries]"""
        place, rows = self.network.tags.places[name], np.searchsorted(encoded.place, tokens)
        return encoded.tags[rows, place.first : place.first + place.entries]

    def label_scores(
        self,
        encoded: EncodedTokens,
        heads: NDArray[np.int32],
        precision: str,  # noqa: ARG002 - decided when the model was loaded
    ) -> NDArray[np.float32]:
        """Scores of the labels of all arcs of the trees.  [B, N] → [B, N, labels]"""
        found = self.network.label_scores(encoded, heads)
        grid = np.zeros((heads.size, found.shape[1]), np.float32)
        grid[encoded.place] = found
        return grid.reshape(*heads.shape, -1)


def read_compiled(directory: str | Path, precision: str, device: str) -> ModelParts | None:
    """The model with a compiled network; None if torch has to serve.

    In int8 where it is asked for, or left open (`auto`), and the processor can; else in float32. A
    warning says why int8 was asked for in vain.
    """
    if precision not in ("int8", "auto"):
        return None
    if device != "cpu" or not is_compiling():
        _warn(precision, f"is for kernels compiled for a CPU; on {device} it is as auto")
        return None
    opened = open_model(directory)
    with explaining_choices(opened.files):
        if not can_compile(opened.config):
            _warn(precision, "is for the encoder bilstm and dyparse's heads; here it is as auto")
            return None
        warn_of_processor(precision)
        network = _network(opened, is_int8=has_int8())
    opened = replace(opened, tokenizer=compiled_tokenizer(opened.tokenizer))
    return finished(opened, network, {_vectors.WORDS: b""} if network.vectors else {})


def compiled_tokenizer(tokenizer: Tokenizer) -> Tokenizer:
    """The learned tokenizer with its network in kernels; any other as it is."""
    if not isinstance(tokenizer, LearnedTokenizer):
        return tokenizer
    return tokenizer.scored_by(CompiledSegmenter(tokenizer.weights))


def warn_of_processor(precision: str) -> None:
    """A warning if int8 is asked for and the processor cannot."""
    if not has_int8():
        _warn(precision, "needs a processor with AVX2; this one computes in float32")


def _warn(precision: str, finding: str) -> None:
    if precision == "int8":
        warnings.warn(f"precision int8 {finding}", DyparseWarning, stacklevel=2)


def can_compile(config: ModelConfig) -> bool:
    """Whether there are kernels for all parts of a model's network."""
    own = all(type(head).__module__.startswith("dyparse.head.") for head in config.heads)
    known = all(isinstance(head, Labels | JointLabels | TagOptions) for head in config.heads)
    return own and known and type(config.encoder) is BiLSTM


def _network(opened: OpenedModel, *, is_int8: bool) -> CompiledModel:
    config, vocabulary, files = opened.config, opened.vocabulary, opened.files
    try:
        features = read_features(opened)
        shapes = expected_shapes(opened, features)
        Analyses(vocabulary.analyses, vocabulary.heads)  # refuses tags that no head has
        require_lemmas(vocabulary.lemmas, vocabulary.heads)
        columns = {}
        for head in config.heads:
            assert isinstance(head, Labels | JointLabels | TagOptions)
            require_writable(head.name, vocabulary.heads[head.name])
            column = head.column(vocabulary.heads[head.name])
            if not isinstance(head, JointLabels):
                columns[head.name] = column
    except (ValueError, LookupError) as error:
        raise unfit_vocabulary(files, error) from error
    weights = _read_arrays(opened, shapes)
    embeddings = [embedding_of(feature, weights) for feature in features.all]
    tags = [head.name for head in config.heads if isinstance(head, TagOptions)]
    network = CompiledNetwork(weights, embeddings, tags, is_int8=is_int8)
    return CompiledModel(network, weights, columns, features.vectors, files.directory)


class ReadFeatures(NamedTuple):
    """The features of a model, and its table of word vectors if it has one."""

    listed: Sequence[TokenNumbers]
    vectors: "_vectors.VectorTable | None"

    @property
    def all(self) -> list[TokenNumbers]:
        """Those in the order of their embeddings; vectors come last."""
        return [*self.listed, *([self.vectors.feature()] if self.vectors else [])]


def read_features(opened: OpenedModel) -> ReadFeatures:
    """The features of a model; ValueError or LookupError if they do not fit."""
    config = opened.config
    assert isinstance(config.encoder, BiLSTM)
    config.require_heads_fit(opened.vocabulary)
    listed = []
    for feature in config.features(opened.vocabulary):
        if not isinstance(feature, KINDS):
            raise ValueError(f"encoder.features has {feature.name!r}, which cannot be embedded")
        listed.append(feature)
    if not config.encoder.vectors:
        return ReadFeatures(listed, None)
    content = opened.own_files[ENCODER][_vectors.WORDS]
    return ReadFeatures(listed, _vectors.VectorTable.from_json(content))


Shapes = dict[str, tuple[int, ...]]


def expected_shapes(opened: OpenedModel, features: ReadFeatures) -> Shapes:
    """The shapes of all weights, by name."""
    config, options = opened.config, opened.config.encoder
    assert isinstance(options, BiLSTM)
    shapes: Shapes = {}
    width = 0
    for feature in features.listed:
        name, own = f"encoder.embedders.{feature.name}", options.width_of(feature.name)
        table = f"{name}.weight" if isinstance(feature, TokenBags) else f"{name}.embedding.weight"
        shapes[table] = (feature.size, own)
        if isinstance(feature, TokenSequences):
            shapes[f"{name}.convolution.weight"] = (own, own, 3)
            shapes[f"{name}.convolution.bias"] = (own,)
        width += own
    if features.vectors:
        own, projected = features.vectors.width, options.width_of(_vectors.NAME)
        name = f"encoder.embedders.{_vectors.NAME}"
        shapes[f"{name}.weight"] = (features.vectors.feature().size, own)
        if options.vectors_use == "projected":
            shapes[f"{name}.projection.weight"] = (projected, own)
        width += projected if options.vectors_use == "projected" else own
    shapes |= _layer_shapes(width, options, config.fed_width)
    tag_width = width + (2 * options.hidden if options.layers > 1 else 0)
    return shapes | _scorer_shapes(opened, 2 * options.hidden, tag_width)


def _layer_shapes(width: int, options: BiLSTM, fed: int) -> Shapes:
    shapes: Shapes = {}
    units = options.hidden
    for number in range(options.layers):
        below = width if number == 0 else 2 * units
        below += fed if number == options.layers - 1 else 0
        for way in ("", "_reverse"):
            name = f"encoder.layers.{number}.lstm"
            shapes[f"{name}.weight_ih_l0{way}"] = (4 * units, below)
            shapes[f"{name}.weight_hh_l0{way}"] = (4 * units, units)
            shapes[f"{name}.bias_ih_l0{way}"] = shapes[f"{name}.bias_hh_l0{way}"] = (4 * units,)
    return shapes


def _scorer_shapes(opened: OpenedModel, width: int, tag_width: int) -> Shapes:
    config, entries = opened.config, opened.vocabulary.heads
    hidden, reduced = config.sizes.hidden, config.sizes.reduced
    slots = len(config.system.slots)
    moves = len(config.scored_system(opened.vocabulary).moves)
    shapes: Shapes = {}
    if reduced:
        shapes |= {"reduce.weight": (reduced, width), "reduce.bias": (reduced,)}
        width = reduced
    shapes |= {
        "slot_projection.weight": (slots * hidden, width),
        "empty_slot": (1, slots, hidden),
        "hidden_bias": (hidden,),
        "output.weight": (moves, hidden),
        "output.bias": (moves,),
    }
    for head in config.heads:
        if isinstance(head, JointLabels):
            continue
        name, size = f"heads.{head.name}", len(entries[head.name])
        if isinstance(head, TagOptions):
            shapes[f"{name}.output.weight"] = (size, tag_width)
            if head.fed:
                shapes[f"{name}.embeddings"] = (size, head.fed)
            if head.corrected:
                shapes[correction(head.name)] = (size, width)
        else:
            shapes[f"{name}.head.weight"] = shapes[f"{name}.dependent.weight"] = (hidden, width)
            shapes[f"{name}.head.bias"] = (hidden,)
            shapes[f"{name}.output.weight"] = (size, hidden)
        shapes[f"{name}.output.bias"] = (size,)
    return shapes


def _read_arrays(opened: OpenedModel, shapes: Shapes) -> dict[str, NDArray[np.float32]]:
    """Finite weights of these shapes, in float32 whatever the file has them in; a file of another
    size is not even read.
    """
    path = opened.files.directory / WEIGHTS
    size = sum(4 * int(np.prod(shape, dtype=object)) for shape in shapes.values())
    content = opened.files.read(WEIGHTS, size + MOST_HEADER_BYTES)
    try:
        weights = {name: _as_float32(name, view) for name, view in deserialize(content)}  # type: ignore[no-untyped-call]  # a function of safetensors
    except NO_TENSORS as error:
        raise damaged(path, str(error)) from error
    like = {name: SimpleNamespace(shape=shape) for name, shape in shapes.items()}
    require_shapes(path, weights, like, dict.fromkeys(shapes, (np.dtype(np.float32),)))
    for name, array in weights.items():
        if not np.isfinite(array).all():
            raise damaged(path, f"{name} holds numbers that are not finite")
    return weights


def _as_float32(name: str, view: Mapping[str, Any]) -> NDArray[np.float32]:
    """A tensor of a file of weights; ValueError if it is not of a type that weights have."""
    if (kind := view["dtype"]) == "BF16":  # the upper half of float32, unknown to numpy
        numbers = (np.frombuffer(view["data"], "<u2").astype(np.uint32) << 16).view(np.float32)
    elif kind in WEIGHT_TYPES:
        numbers = np.frombuffer(view["data"], WEIGHT_TYPES[kind]).astype(np.float32)
    else:
        raise ValueError(f"{name} is of {kind}, expected F32")
    found: NDArray[np.float32] = numbers.reshape(view["shape"])
    return found


def embedding_of(feature: TokenNumbers, weights: Arrays) -> Embedding:
    """The embedding of a feature in the kernels' form."""
    name, column = f"encoder.embedders.{feature.name}", feature.column
    numbers = feature.numbers
    if isinstance(feature, TokenIds):
        return Embedding.mean(column, one_number(numbers), weights[f"{name}.embedding.weight"])
    if isinstance(feature, TokenSequences):
        convolution = weights[f"{name}.convolution.weight"], weights[f"{name}.convolution.bias"]
        table = weights[f"{name}.embedding.weight"]
        return Embedding.convolution(column, numbers.__getitem__, table, convolution)
    table = weights[f"{name}.weight"]
    if f"{name}.projection.weight" in weights:  # of means, or of what they are means of
        table = table @ weights[f"{name}.projection.weight"].T
    return Embedding.mean(column, numbers.__getitem__, table)


def one_number(numbers: Mapping[str, int]) -> Numbering:
    """A numbering with one number for every value; the root has its own."""
    return lambda value: (ROOT,) if value == ROOT_VALUE else (numbers[value],)
