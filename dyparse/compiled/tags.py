"""Tag heads: scores of entries, the best of them, and what the encoder's last layer reads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dyparse.compiled.products import GROUP
from dyparse.compiled.tile import LANES, exponentials, largest, write_state
from dyparse.data.sentence import NONE
from dyparse.data.vocabulary import RULED_OUT
from dyparse.runtime.kernels import cached_njit

IMPOSSIBLE = np.float32(-1e30)  # the score of places that only fill up a vector
LEAST_PROBABILITY = np.float32(1e-9)  # of entries that are read
LEAST_IN_INT8 = np.float32(1e-5)  # where what is read has seven bits


class TagScores(NamedTuple):
    """Where the scores of a head are among those of all heads."""

    first: int
    entries: int


def in_vectors(rows: NDArray[np.float32], fill: float) -> NDArray[np.float32]:
    """Rows [entries, ·] with more of them, up to whole vectors."""
    missing = -len(rows) % LANES
    filling = np.full((missing, *rows.shape[1:]), fill, np.float32)
    return np.concatenate([rows, filling])


@dataclass(frozen=True)
class TagHeads:
    """All tag heads of a model as one matrix, and what is fed to the encoder's last layer."""

    places: dict[str, TagScores]
    weight: NDArray[np.float32]  # [width, inputs]
    bias: NDArray[np.float32]  # [width]
    fed: dict[str, NDArray[np.float32]]  # embeddings [entries, fed] of heads that have them
    bound: NDArray[np.float32]  # [fed_width]  by which they were divided

    @classmethod
    def of(
        cls, weights: Mapping[str, NDArray[np.float32]], names: Sequence[str], *, is_int8: bool
    ) -> "TagHeads":
        """From the weights of a model by name; what is fed lies between −1 and 1 in int8."""
        matrices, biases = [np.zeros((0, 0), np.float32)], [np.zeros(0, np.float32)]
        places: dict[str, TagScores] = {}
        for name in names:
            weight, bias = (weights[f"heads.{name}.output.{kind}"] for kind in ("weight", "bias"))
            places[name] = TagScores(sum(map(len, biases)), len(bias))
            matrices.append(in_vectors(weight, 0.0))
            biases.append(in_vectors(bias, IMPOSSIBLE))
        whole = [f"heads.{name}.embeddings" for name in names]
        fed = {n: weights[key] for n, key in zip(names, whole, strict=True) if key in weights}
        most = [np.abs(e).max(0) if is_int8 else np.ones(e.shape[1]) for e in fed.values()]
        bounds = [np.where(m > 0, m, 1.0).astype(np.float32) for m in most]
        scaled = {name: e / m for (name, e), m in zip(fed.items(), bounds, strict=True)}
        matrix = np.concatenate(matrices[1:]) if names else matrices[0]
        bound = np.concatenate([np.zeros(0, np.float32), *bounds])
        return cls(places, matrix, np.concatenate(biases), scaled, bound)

    @property
    def width(self) -> int:
        """Columns of the scores."""
        return len(self.bias)

    @property
    def fed_width(self) -> int:
        """Columns that are fed, up to whole groups of bytes."""
        return len(self.bound) + -len(self.bound) % GROUP

    def bounds(self, width: int) -> NDArray[np.float32]:
        """Factors for the inputs of the last layer, of which the last ones are fed."""
        return np.concatenate([np.ones(width - len(self.bound), np.float32), self.bound])

    def settle(self, scores: NDArray[np.float32], name: str, given: NDArray[np.int64]) -> None:
        """Leave tokens only the entry of a head that is given, where one is.  [tokens]"""
        place, (tokens,) = self.places[name], np.nonzero(given != NONE)
        own = place.first + given[tokens]
        kept = scores[tokens, own]
        scores[tokens, place.first : place.first + place.entries] = RULED_OUT
        scores[tokens, own] = kept

    def feed(self, scores: NDArray[np.float32], states: NDArray[Any]) -> None:
        """Write the tags by their scores into the last columns of states."""
        column = states.shape[1] - self.fed_width
        least = LEAST_IN_INT8 if states.dtype == np.uint8 else LEAST_PROBABILITY
        for name, embeddings in self.fed.items():
            feed_tags(scores, self.places[name], embeddings, least, states, column)
            column += embeddings.shape[1]

    def best(self, scores: NDArray[np.float32], name: str) -> NDArray[np.int64]:
        """[tokens]: the number of the best entry of a head; of equals the first."""
        found = np.empty(len(scores), np.int64)
        best_entries(scores, self.places[name], found)
        return found


@cached_njit
def best_entries(scores, place, out):
    """out[t] = the number of the best entry of a head; of equals the first."""
    vectors = (place.entries + LANES - 1) // LANES
    for t in range(out.shape[0]):
        most = largest(scores, t, place.first, vectors)
        best = 0
        while best < place.entries - 1 and scores[t, place.first + best] != most:
            best += 1
        out[t] = best


@cached_njit
def feed_tags(scores, place, embeddings, least, states, column):
    """states[t, column …] = the mean of the entries' embeddings by their probabilities.

    Embeddings are [entries, fed], between −1 and 1 where states are bytes. Entries whose
    probability is not above the least one are left out.
    """
    fed, vectors = embeddings.shape[1], (place.entries + LANES - 1) // LANES
    chance, mean = np.empty((1, vectors * LANES), np.float32), np.empty(fed, np.float32)
    for t in range(scores.shape[0]):
        most = largest(scores, t, place.first, vectors)
        total = exponentials(scores, t, place.first, vectors, most, chance)
        share, least_chance = np.float32(1) / total, least * total
        for d in range(fed):
            mean[d] = 0
        for vector in range(vectors):
            start = vector * LANES
            if largest(chance, 0, start, 1) <= least_chance:  # nearly all of them
                continue
            for e in range(start, min(start + LANES, place.entries)):
                if chance[0, e] > least_chance:
                    weight = chance[0, e] * share
                    for d in range(fed):
                        mean[d] += weight * embeddings[e, d]
        for d in range(fed):
            write_state(states, t, column + d, mean[d])
