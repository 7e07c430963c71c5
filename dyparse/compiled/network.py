"""The network in compiled kernels: sentences → table of the scorer, scores of tags and labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dyparse.compiled.embeddings import Embedding, WordProducts
from dyparse.compiled.labels import label_scores
from dyparse.compiled.lstm import (
    Layer,
    Sentences,
    in_whole_blocks,
    new_states,
    pack_layer,
    run_lstm,
)
from dyparse.compiled.products import (
    ONE,
    Activations,
    Added,
    Packed,
    activations,
    multiply,
    pack,
    padded_rows,
)
from dyparse.compiled.tags import TagHeads
from dyparse.data.sentence import Sentence

Weights = Mapping[str, NDArray[np.float32]]
LABEL_WEIGHTS = ("heads.labels.head.weight", "heads.labels.dependent.weight")
LABEL_OUTPUT = "heads.labels.output.weight"
NOTHING: Mapping[str, NDArray[np.int64]] = {}


def correction(name: str) -> str:
    """The name of the weights that correct the scores of a tag head."""
    return f"corrections.{name}"


class Linear(NamedTuple):
    """A layer without what comes after it."""

    packed: Packed
    bias: NDArray[np.float32]  # [1, outputs, in whole blocks]
    outputs: int

    @classmethod
    def of(
        cls, weight: NDArray[np.float32], bias: NDArray[np.float32] | None, *, is_int8: bool
    ) -> "Linear":
        """From the weights [outputs, inputs] and the bias [outputs]."""
        added = np.zeros(len(weight), np.float32) if bias is None else bias
        return cls(pack([weight], is_int8=is_int8)[0], padded_rows(added[None]), len(weight))

    def __call__(
        self,
        inputs: Activations,
        out: NDArray[np.float32],
        rows: NDArray[np.int64] | None = None,
    ) -> None:
        """Write the outputs of the first rows of the inputs, to these rows or to the same."""
        rows = np.arange(len(out)) if rows is None else rows
        multiply(self.packed, inputs, Added(self.bias, np.zeros(len(rows), np.int64)), out, rows)


@dataclass(frozen=True)
class EncodedTokens:
    """Sentences after the encoder; tokens stand one after the other, without padding."""

    place: NDArray[np.int64]  # [tokens]  in the padded batch, B · N
    start: NDArray[np.int64]  # [tokens]  the root of a token's sentence
    shape: tuple[int, int]  # B, N
    vectors: Activations  # [tokens, width]
    tags: NDArray[np.float32]  # [tokens, ·]  scores of all tag heads

    def padded(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """[tokens] → [B, N], with 0 where there is no token."""
        grid = np.zeros(self.shape, values.dtype)
        grid.reshape(-1)[self.place] = values
        return grid


def read_layers(weights: Weights) -> list[Layer]:
    """The layers of the BiLSTM."""
    numbers = {name.split(".")[2] for name in weights if name.startswith("encoder.layers.")}
    return [Layer.of(weights, f"encoder.layers.{k}.lstm") for k in range(len(numbers))]


def two_ways(matrix: NDArray[np.float32], units: int) -> NDArray[np.float32]:
    """Inputs that begin with both directions of a layer, with room for units that are always 0."""
    both, others = np.split(matrix, [min(2 * units, matrix.shape[1])], axis=1)
    missing = in_whole_blocks(units) - units
    ways = [np.pad(way, ((0, 0), (0, missing))) for way in np.split(both, 2, axis=1)]
    return np.concatenate([*ways, others] if both.size else [others], axis=1)


class CompiledNetwork:
    """Encoder, table and heads of a model with a BiLSTM, in int8 or float32."""

    def __init__(
        self,
        weights: Weights,
        embeddings: Sequence[Embedding],
        tag_heads: Sequence[str],
        *,
        is_int8: bool,
    ) -> None:
        """From the weights of a model directory by name; tag heads in the order of the model's."""
        self.is_int8, self.n_weights = is_int8, sum(array.size for array in weights.values())
        width = sum(embedding.width for embedding in embeddings)
        layers = read_layers(weights)
        self.tags = TagHeads.of(weights, tag_heads, is_int8=is_int8)
        matrices = [(layers[0].below[:, :width], layers[0].bias)]
        if self.tags.places:
            matrices.append((self.tags.weight[:, :width], self.tags.bias))
        self.words = WordProducts(embeddings, matrices, is_int8=is_int8)
        layers[0] = layers[0]._replace(below=layers[0].below[:, width:])
        units = weights["encoder.layers.0.lstm.weight_hh_l0"].shape[1]
        below = [layers[0].below, *(two_ways(layer.below, units) for layer in layers[1:])]
        below[-1] = below[-1] * self.tags.bounds(below[-1].shape[1])
        self.layers = [
            pack_layer(b, layer.before, is_int8=is_int8)
            for b, layer in zip(below, layers, strict=True)
        ]
        self.biases = [layer.bias[None] for layer in layers]
        self.width = 2 * in_whole_blocks(units)
        self.tag_packed = pack([two_ways(self.tags.weight[:, width:], units)], is_int8=is_int8)[0]
        self.reduction = None
        if "reduce.weight" in weights:
            reduce = two_ways(weights["reduce.weight"], units)
            self.reduction = Linear.of(reduce, weights["reduce.bias"], is_int8=is_int8)
        else:
            whole = ("slot_projection.weight", *LABEL_WEIGHTS, *map(correction, tag_heads))
            weights = {**weights} | {
                name: two_ways(weights[name], units) for name in whole if name in weights
            }
        self.corrections = {
            name: Linear.of(weights[correction(name)], None, is_int8=is_int8)
            for name in tag_heads
            if correction(name) in weights
        }
        self.empty_slot = weights["empty_slot"]
        self.projection = Linear.of(weights["slot_projection.weight"], None, is_int8=is_int8)
        if LABEL_OUTPUT in weights:  # unless moves carry labels
            of_head, of_dependent = (weights[name] for name in LABEL_WEIGHTS)
            bias = np.pad(weights["heads.labels.head.bias"], (0, len(of_dependent)))
            both = np.concatenate([of_head, of_dependent])
            self.label_parts = Linear.of(both, bias, is_int8=is_int8)
            self.label_output = Linear.of(
                weights[LABEL_OUTPUT], weights["heads.labels.output.bias"], is_int8=False
            )

    def encode(
        self, sentences: Sequence[Sentence], given: Mapping[str, NDArray[np.int64]] = NOTHING
    ) -> EncodedTokens:
        """Vectors and tags of all tokens, roots included.

        Tags that are given, numbers [tokens] by the name of their head or NONE, are read instead of
        predicted ones.
        """
        length = np.fromiter(map(len, sentences), np.int64, len(sentences)) + 1
        first, most = np.cumsum(length) - length, int(length.max())
        order = np.argsort(-length, kind="stable")
        by_length = Sentences(first[order], length[order])
        tokens = int(length.sum())
        added = self.words(sentences)
        nothing = np.zeros(tokens, np.int64)
        fed = self.tags.fed_width
        states = new_states(tokens, fed if len(self.layers) == 1 else 0, is_int8=self.is_int8)
        scores = np.empty((tokens, self.tags.width), np.float32)
        for number, layer in enumerate(self.layers, 1):
            if number == len(self.layers) and self.tags.places:
                below = Activations(states, ONE)
                multiply(self.tag_packed, below, added[1], scores, np.arange(tokens))
                for name, numbers in given.items():
                    self.tags.settle(scores, name, numbers)
                self.tags.feed(scores, states)
            room = self.width + (fed if number == len(self.layers) - 1 else 0)
            above = new_states(tokens, room, is_int8=self.is_int8)
            product = added[0] if number == 1 else Added(self.biases[number - 1], nothing)
            run_lstm(layer, by_length, states, product, above)
            states = above
        vectors = Activations(states, ONE)
        if self.reduction is not None:
            reduced = np.empty((tokens, self.reduction.outputs), np.float32)
            self.reduction(vectors, reduced)
            vectors = activations(reduced, is_int8=self.is_int8)
        self._correct(scores, vectors)
        start = np.repeat(first, length)  # of the token's sentence
        place = np.arange(tokens) - start + np.repeat(np.arange(len(length)) * most, length)
        return EncodedTokens(place, start, (len(length), most), vectors, scores)

    def _correct(self, scores: NDArray[np.float32], vectors: Activations) -> None:
        """Add to the scores of tags what the last vectors say about them."""
        for name, of_head in self.corrections.items():
            added = np.empty((len(scores), of_head.outputs), np.float32)
            of_head(vectors, added)
            first, entries = self.tags.places[name]
            scores[:, first : first + entries] += added

    def table(self, encoded: EncodedTokens) -> NDArray[np.float32]:
        """[B · N + 1, F, D]: every token's contribution in every slot, and last an empty slot's.

        Rows of padding are not written.
        """
        B, N = encoded.shape
        _, slots, hidden = self.empty_slot.shape
        table = np.empty((B * N + 1, slots * hidden), np.float32)
        self.projection(encoded.vectors, table, encoded.place)
        table[-1] = self.empty_slot.reshape(-1)
        return table.reshape(-1, slots, hidden)

    def label_scores(self, encoded: EncodedTokens, heads: NDArray[np.int32]) -> NDArray[np.float32]:
        """[tokens, labels], for the trees [B, N]."""
        tokens = len(encoded.place)
        parts = np.empty((tokens, self.label_parts.outputs), np.float32)
        found = np.empty((tokens, self.label_output.outputs), np.float32)
        self.label_parts(encoded.vectors, parts)
        rows = heads.reshape(-1)[encoded.place] + encoded.start
        label_scores(parts, rows, self.label_output.packed, self.label_output.bias[0], found)
        return found
