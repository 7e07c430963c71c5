"""Tokens, sentences and multiword tokens as in a treebank: learned from its text.

A small network scores every character: whether a token ends there, a sentence, a word inside a
multiword token (`_segmenter.py`). It also reads what the rules of `plain` say (`_features.py`).
Models that are parsed without torch bring it in compiled kernels (`dyparse/compiled/segmenter.py`).
The idea is that of UDPipe's tokenizer (Straka, Hajič & Straková 2016).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dyparse.data.sentence import Sentence
from dyparse.tokenizer._features import Features
from dyparse.tokenizer._learned_tokenizer import (
    VOCABULARY,
    WEIGHTS,
    LearnedTokenizer,
    SavedSegmenter,
    read_vocabulary,
    read_weights,
)
from dyparse.tokenizer._protocol import Progress
from dyparse.tokenizer._scores import SegmenterSizes
from dyparse.tokenizer._training_text import gold_text

if TYPE_CHECKING:
    from dyparse.tokenizer._segmenter import Segmenter

MOST_BYTES = 64 * 2**20  # of a file


@dataclass(frozen=True)
class Learned:
    """The options of the network and of its training."""

    embedding: int = 32
    hidden: int = 64
    convolution: int = 9
    dropout: float = 0.1
    epochs: int = 10
    learning_rate: float = 5e-3

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
        from dyparse.tokenizer._training import TrainingPlan, train_tokenizer

        gold = gold_text(train, "train")
        plan = TrainingPlan(self.epochs, self.learning_rate, seed)
        gold_dev = gold_text(dev, "dev") if dev else None
        return train_tokenizer(self.segmenter, gold, gold_dev, plan, progress)

    def segmenter(self, features: Features) -> Segmenter:
        """The network with fresh weights."""
        from dyparse.tokenizer._segmenter import Segmenter

        return Segmenter(self.sizes(features), self.dropout)

    def sizes(self, features: Features) -> SegmenterSizes:
        """The sizes of the network over these features."""
        n_characters = len(features.characters)
        return SegmenterSizes(
            n_characters, features.n_words, self.embedding, self.hidden, self.convolution
        )

    def build(self, files: Mapping[str, bytes]) -> LearnedTokenizer:
        """The tokenizer that gave these files; ValueError if they are damaged."""
        if set(files) != {WEIGHTS, VOCABULARY}:
            raise ValueError(f"tokenizer: expected the files {VOCABULARY} and {WEIGHTS}")
        for name, content in files.items():
            if len(content) > MOST_BYTES:
                raise ValueError(f"{name} has {len(content)} bytes, expected at most {MOST_BYTES}")
        features, rules, most_spaces = read_vocabulary(files[VOCABULARY])
        sizes = self.sizes(features)
        saved = SavedSegmenter(sizes, read_weights(sizes, files[WEIGHTS]))
        return LearnedTokenizer(saved, features, rules, most_spaces)
