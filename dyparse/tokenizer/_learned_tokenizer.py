"""A trained network with its vocabulary, and its files: data that is checked when it is read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from dyparse.tokenizer._decoding import decode
from dyparse.tokenizer._features import Features
from dyparse.tokenizer._multiword import MultiwordRules
from dyparse.tokenizer._scores import SegmenterSizes
from dyparse.tokenizer._spans import Token
from dyparse.tokenizer._windows import WindowScorer, scores_of

if TYPE_CHECKING:  # torch is slow to import, and not every input needs the tokenizer
    from dyparse.tokenizer._segmenter import Segmenter

WEIGHTS, VOCABULARY = "tokenizer.safetensors", "tokenizer.json"
FORMAT = 2
MOST_SPACES = 20  # in a token


class SavedSegmenter(NamedTuple):
    """A network on disk, which is made when it is first needed."""

    sizes: SegmenterSizes
    weights: dict[str, NDArray[np.float32]]

    def build(self) -> Segmenter:
        """The network; the random generators of the program stay as they are."""
        import torch

        from dyparse.tokenizer._segmenter import Segmenter

        with torch.random.fork_rng(devices=[]):  # fresh weights, which are replaced
            network = Segmenter(self.sizes)
        network.load_state_dict({n: torch.from_numpy(w.copy()) for n, w in self.weights.items()})
        return network.eval()


class LearnedTokenizer:
    """A trained network with its vocabulary, and the rules that split multiword tokens."""

    def __init__(
        self,
        model: Segmenter | SavedSegmenter,
        features: Features,
        rules: MultiwordRules,
        most_spaces: int,
        scorer: WindowScorer | None = None,
    ) -> None:
        self._model = model
        self._scorer = scorer  # stands in for the network
        self.features = features
        self.rules = rules
        self.most_spaces = most_spaces  # in one token of the training text

    @property
    def model(self) -> Segmenter:
        """The network of torch."""
        if isinstance(self._model, SavedSegmenter):
            self._model = self._model.build()
        return self._model

    @property
    def network(self) -> WindowScorer:
        """What computes the scores: the network, or what stands in for it."""
        return self._scorer or self.model

    @property
    def weights(self) -> dict[str, NDArray[np.float32]]:
        """The weights of the network, by name."""
        if isinstance(self._model, SavedSegmenter):
            return self._model.weights
        return {name: weight.numpy() for name, weight in self._model.state_dict().items()}

    def scored_by(self, scorer: WindowScorer) -> LearnedTokenizer:
        """The same tokenizer, with another way to compute what its network scores."""
        return LearnedTokenizer(self._model, self.features, self.rules, self.most_spaces, scorer)

    def with_model(self, model: Segmenter) -> LearnedTokenizer:
        """The same tokenizer with another network."""
        return LearnedTokenizer(model, self.features, self.rules, self.most_spaces)

    def sentences(self, passages: Sequence[str]) -> list[list[list[Token]]]:
        """The sentences of each passage, as lists of tokens."""
        scores = scores_of(self.network, [self.features.of(passage) for passage in passages])
        return [
            decode(passage, found, self.rules, self.most_spaces)
            for passage, found in zip(passages, scores, strict=True)
        ]

    def words(self, lines: Sequence[str]) -> list[list[Token]]:
        """The tokens of texts that are one sentence each."""
        return [list(chain.from_iterable(found)) for found in self.sentences(lines)]

    def files(self) -> dict[str, bytes]:
        """Weights and vocabulary."""
        vocabulary = {
            "format": FORMAT,
            "characters": self.features.characters.known,
            "words": list(self.features.words),
            "exceptions": sorted(self.features.exceptions),
            "most_spaces": self.most_spaces,
            "multiword": self.rules.as_json(),
        }
        text = json.dumps(vocabulary, ensure_ascii=False, indent=0, sort_keys=True)
        return {VOCABULARY: text.encode(), WEIGHTS: save_arrays(self.weights)}


def read_vocabulary(content: bytes) -> tuple[Features, MultiwordRules, int]:
    """Features, rules and most_spaces of a saved tokenizer; ValueError if they are damaged."""
    try:
        given: Any = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{VOCABULARY} is not JSON: {str(error)[:80]}") from error
    expected = {"format", "characters", "words", "exceptions", "most_spaces", "multiword"}
    if not isinstance(given, dict) or set(given) != expected:
        raise ValueError(f"{VOCABULARY} is not an object of {', '.join(sorted(expected))}")
    if given["format"] != FORMAT:
        raise ValueError(
            f"{VOCABULARY} has format {str(given['format'])[:20]!a}, expected {FORMAT}; it is of "
            "another version of dyparse"
        )
    characters, spaces = given["characters"], given["most_spaces"]
    if not isinstance(characters, str):
        raise ValueError(f"{VOCABULARY}: characters are not a text")
    for name in ("words", "exceptions"):
        texts = given[name]
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise ValueError(f"{VOCABULARY}: {name} are not a list of texts")
    if type(spaces) is not int or not 0 <= spaces <= MOST_SPACES:
        raise ValueError(f"{VOCABULARY}: most_spaces is not a number in 0..{MOST_SPACES}")
    try:
        features = Features(characters, given["words"], given["exceptions"])
        return features, MultiwordRules.from_json(given["multiword"]), spaces
    except ValueError as error:
        raise ValueError(f"{VOCABULARY}: {error}") from error


def read_weights(sizes: SegmenterSizes, content: bytes) -> dict[str, NDArray[np.float32]]:
    """The weights of a saved network; ValueError if they do not fit."""
    try:
        weights = load_arrays(content)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{WEIGHTS} cannot be read: {str(error)[:80]}") from error
    expected = sizes.shapes()
    if set(weights) != set(expected):
        raise ValueError(f"{WEIGHTS} has weights of another network")
    for name, weight in weights.items():
        if weight.shape != expected[name] or weight.dtype != np.float32:
            raise ValueError(f"{WEIGHTS}: {name} has another shape or type than the options say")
        if not np.isfinite(weight).all():
            raise ValueError(f"{WEIGHTS}: {name} has numbers that are not finite")
    return weights
