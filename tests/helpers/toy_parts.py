"""Parts of somebody else's: a feature, a head, an encoder and a decoding."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dyparse.data.batch import Batch, Feature
from dyparse.data.sentence import Sentence
from dyparse.data.token_arrays import Remembered, ids
from dyparse.data.vocabulary import Entries, sorted_entries
from dyparse.encoder import Encoder, ParameterGroup
from dyparse.feature import OnePerToken, TokenNumbers
from dyparse.head import Head
from dyparse.rollout.scorer import Scorer
from dyparse.system import System


@dataclass(frozen=True)
class Ending(OnePerToken):
    """The last letters of a word."""

    length: int = 2

    name: ClassVar[str] = "ending"
    column: ClassVar[str] = "form"

    def entries(self, sentences: Sequence[Sentence]) -> Entries:
        return sorted_entries(form[-self.length :] for s in sentences for form in s.form)

    def numbering(self, entries: Entries) -> Callable[[str], int]:
        number = super().numbering(entries)
        return lambda form: number(form[-self.length :])


@dataclass(frozen=True)
class Tags:
    """Predicts UPOS tags."""

    weight: float = 1.0

    name: ClassVar[str] = "tags"

    def entries(self, sentences: Sequence[Sentence]) -> Entries:
        return sorted_entries(tag for s in sentences for tag in s.upos)

    def build(self, width: int, entries: Entries, *, hidden: int, dropout: float) -> "TagHead":  # noqa: ARG002 - it has no hidden layer
        return TagHead(width, entries)


class TagHead(Head):
    """One layer over a token's vector."""

    column: ClassVar[str] = "upos"

    def __init__(self, width: int, entries: Entries) -> None:
        super().__init__(entries)
        self.output = nn.Linear(width, len(entries))

    def forward(self, encoded: Tensor, tree: Tensor, keys: Tensor | None = None) -> Tensor:  # noqa: ARG002 - tags need no tree
        return self.output(encoded)  # type: ignore[no-any-return]  # as torch modules are called untyped


class Letters:
    """A feature that the encoder brings itself: the first letter, by a file of its own."""

    name, column = "letters", "form"

    def __init__(self, alphabet: str) -> None:
        self.numbers = Remembered(lambda form: alphabet.find(form[0]) + 1)

    def arrays(self, sentences: Sequence[Sentence], words: NDArray[np.int32]) -> Tensor:
        return ids(words, [s.form for s in sentences], self.numbers)


@dataclass(frozen=True)
class Sums:
    """Sums of embeddings; those of first letters are learned slowly.

    A new encoder reads its alphabet from a file of the user; a saved one from its own.
    """

    features: list[str] = field(default_factory=list)
    width: int = 16
    alphabet: str = ""  # path

    def build(self, features: Sequence[Feature], files: Mapping[str, bytes]) -> "SumEncoder":
        content = files["alphabet.txt"] if files else Path(self.alphabet).read_bytes()
        return SumEncoder(features, self.width, content.decode())


class SumEncoder(Encoder):
    """A token's vector is the sum of its embeddings."""

    def __init__(self, features: Sequence[Feature], width: int, alphabet: str) -> None:
        super().__init__()
        self.width, self.alphabet = width, alphabet
        sizes = {f.name: f.size for f in features if isinstance(f, TokenNumbers)}
        self.embeddings = nn.ModuleDict({n: nn.Embedding(s, width) for n, s in sizes.items()})
        self.letters = nn.Embedding(len(alphabet) + 1, width)
        self.frozen = nn.Parameter(torch.ones(width), requires_grad=False)
        self.tied = self.letters.weight
        self.mean: Tensor
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("seen", torch.zeros((), dtype=torch.int64))
        self.register_buffer("scale", torch.full((width,), 0.5), persistent=False)

    def forward(self, batch: Batch) -> Tensor:
        numbers: dict[str, Any] = batch.features
        parts = [embed(numbers[name]) for name, embed in self.embeddings.items()]
        x = torch.stack([*parts, self.letters(numbers["letters"])]).sum(0)
        if self.training:
            self.seen += 1
            self.mean.lerp_(x.detach().mean((0, 1)), 0.1)
        return self.frozen * self.scale * (x - self.mean)

    def own_features(self) -> Sequence[Feature]:
        return [Letters(self.alphabet)]

    def parameter_groups(self) -> list[ParameterGroup]:
        return [
            ParameterGroup([*self.embeddings.parameters()]),
            ParameterGroup([*self.letters.parameters()], rate=0.1),
        ]

    def files(self) -> dict[str, bytes]:
        return {"alphabet.txt": self.alphabet.encode()}


@dataclass(frozen=True)
class AllFromFirst:
    """A way to decode that needs no scores: the first word is the head of all others."""

    def decode(
        self,
        system: System,  # noqa: ARG002 - it asks nobody
        scorer: Scorer,  # noqa: ARG002 - as above
        n_words: NDArray[np.int32],
        *,
        n_threads: int = 1,  # noqa: ARG002 - as above
    ) -> NDArray[np.int32]:
        heads = np.ones((len(n_words), int(n_words.max()) + 1), dtype=np.int32)
        heads[:, :2] = 0
        return heads
