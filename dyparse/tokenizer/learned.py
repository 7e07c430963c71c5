"""Tokens, sentences and multiword tokens as in a treebank: learned from its text.

A small network scores every character: whether a token ends there, a sentence, a word inside a
multiword token (`_segmenter.py`). It begins with what the rules of `plain` say. Straka et al. (2016)
have a network for tokens and sentences in UDPipe; Shao et al. (2018) label characters with it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors

from dyparse.data.sentence import Sentence
from dyparse.tokenizer import Progress
from dyparse.tokenizer._decoding import decode
from dyparse.tokenizer._features import Features
from dyparse.tokenizer._multiword import MultiwordRules
from dyparse.tokenizer._segmenter import Segmenter, SegmenterSizes
from dyparse.tokenizer._spans import Token
from dyparse.tokenizer._windows import scores_of

WEIGHTS, VOCABULARY = "tokenizer.safetensors", "tokenizer.json"
FORMAT = 1
MOST_BYTES = 64 * 2**20  # of a file
MOST_SPACES = 20  # in a token


@dataclass(frozen=True)
class Learned:
    """The options of the network and of its training."""

    embedding: int = 32
    hidden: int = 64
    convolution: int = 9
    dropout: float = 0.25
    epochs: int = 12
    learning_rate: float = 2e-3

    def __post_init__(self) -> None:
        limits = {"embedding": 512, "hidden": 512, "convolution": 63, "epochs": 1000}
        for name, most in limits.items():
            if not 1 <= getattr(self, name) <= most:
                raise ValueError(f"tokenizer.{name} is {getattr(self, name)}, expected 1..{most}")
        if self.convolution % 2 == 0:
            raise ValueError(f"tokenizer.convolution is {self.convolution}, expected an odd number")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"tokenizer.dropout is {self.dropout}, expected 0 or more, below 1")
        if not 0 < self.learning_rate < 1:
            raise ValueError(f"tokenizer.learning_rate is {self.learning_rate}, expected 0..1")

    def train(
        self,
        train: Sequence[Sentence],
        dev: Sequence[Sentence],
        seed: int,
        progress: Progress | None = None,
    ) -> LearnedTokenizer:
        """The tokenizer of the best epoch on dev, of the last one without dev."""
        from dyparse.tokenizer._training import train_tokenizer

        return train_tokenizer(self, train, dev, seed, progress)

    def segmenter(self, features: Features) -> Segmenter:
        """The network with fresh weights."""
        n_characters = len(features.characters)
        sizes = SegmenterSizes(
            n_characters, features.n_words, self.embedding, self.hidden, self.convolution
        )
        return Segmenter(sizes, self.dropout)

    def build(self, files: Mapping[str, bytes]) -> LearnedTokenizer:
        """The tokenizer that gave these files; ValueError if they are damaged."""
        if set(files) != {WEIGHTS, VOCABULARY}:
            raise ValueError(f"tokenizer: expected the files {VOCABULARY} and {WEIGHTS}")
        for name, content in files.items():
            if len(content) > MOST_BYTES:
                raise ValueError(f"{name} has {len(content)} bytes, expected at most {MOST_BYTES}")
        features, rules, most_spaces = _read_vocabulary(files[VOCABULARY])
        model = self.segmenter(features)
        _load_weights(model, files[WEIGHTS])
        return LearnedTokenizer(model, features, rules, most_spaces)


class LearnedTokenizer:
    """A trained network with its vocabulary, and the rules that split multiword tokens."""

    def __init__(
        self, model: Segmenter, features: Features, rules: MultiwordRules, most_spaces: int
    ) -> None:
        self.model = model
        self.features = features
        self.rules = rules
        self.most_spaces = most_spaces  # in one token of the training text

    def sentences(self, passages: Sequence[str]) -> list[list[list[Token]]]:
        """The sentences of each passage, as lists of tokens."""
        scores = scores_of(self.model, [self.features.of(passage) for passage in passages])
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
            "most_spaces": self.most_spaces,
            "multiword": self.rules.as_json(),
        }
        text = json.dumps(vocabulary, ensure_ascii=False, indent=0, sort_keys=True)
        weights = {name: weight.contiguous() for name, weight in self.model.state_dict().items()}
        return {VOCABULARY: text.encode(), WEIGHTS: save_tensors(weights)}


def _read_vocabulary(content: bytes) -> tuple[Features, MultiwordRules, int]:
    try:
        given: Any = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{VOCABULARY} is not JSON: {str(error)[:80]}") from error
    expected = {"format", "characters", "words", "most_spaces", "multiword"}
    if not isinstance(given, dict) or set(given) != expected:
        raise ValueError(f"{VOCABULARY} is not an object of {', '.join(sorted(expected))}")
    if given["format"] != FORMAT:
        raise ValueError(
            f"{VOCABULARY} has format {str(given['format'])[:20]!a}, expected {FORMAT}; it is of "
            "another version of dyparse"
        )
    characters, words, spaces = given["characters"], given["words"], given["most_spaces"]
    is_sound = isinstance(characters, str) and isinstance(words, list)
    if not is_sound or not all(isinstance(word, str) for word in words):
        raise ValueError(f"{VOCABULARY}: characters are not a text, or words not a list of texts")
    if type(spaces) is not int or not 0 <= spaces <= MOST_SPACES:
        raise ValueError(f"{VOCABULARY}: most_spaces is not a number in 0..{MOST_SPACES}")
    try:
        return Features(characters, words), MultiwordRules.from_json(given["multiword"]), spaces
    except ValueError as error:
        raise ValueError(f"{VOCABULARY}: {error}") from error


def _load_weights(model: Segmenter, content: bytes) -> None:
    try:
        weights = load_tensors(content)
    except (SafetensorError, ValueError, KeyError) as error:
        raise ValueError(f"{WEIGHTS} cannot be read: {str(error)[:80]}") from error
    expected = model.state_dict()
    if set(weights) != set(expected):
        raise ValueError(f"{WEIGHTS} has weights of another network")
    for name, weight in weights.items():
        if weight.shape != expected[name].shape or weight.dtype != torch.float32:
            raise ValueError(f"{WEIGHTS}: {name} has another shape or type than the options say")
        if not torch.isfinite(weight).all():
            raise ValueError(f"{WEIGHTS}: {name} has numbers that are not finite")
    model.load_state_dict(weights)
