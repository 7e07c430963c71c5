"""Tags: predicted inside the encoder, whose last layer reads what is predicted."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dyparse.data.batch import n_words
from dyparse.data.sentence import NONE, Sentence
from dyparse.data.token_arrays import padded
from dyparse.data.vocabulary import Entries, sorted_entries
from dyparse.head import Head

RULED_OUT = -1e4  # far below every score, and a number of half precision too


class TagHead(Head):
    """One layer over the vectors that the encoder has below its last layer.

    The encoder reads the mean of the entries' embeddings, weighted by their probabilities: soft
    tags, through which gradients of the parser reach the tagger.
    """

    is_corrected: bool = False  # set from the options

    def __init__(self, column: str, width: int, entries: Entries, fed: int) -> None:
        super().__init__(entries)
        self.column = column  # type: ignore[misc]  # one class serves several columns
        self.output = nn.Linear(width, len(entries))
        self.embeddings = nn.Parameter(torch.empty(len(entries), fed).normal_()) if fed else None

    def forward(
        self,
        encoded: Tensor,
        tree: Tensor | None = None,  # noqa: ARG002 - tags come before trees
        keys: Tensor | None = None,  # noqa: ARG002 - the vectors have lost components already
    ) -> Tensor:
        """[B, N, tag_width] → [B, N, entries]"""
        return self.output(encoded)  # type: ignore[no-any-return]  # as torch modules are called untyped

    def given(self, sentences: Sequence[Sentence]) -> NDArray[np.int64]:
        """[B, N]: the number of every word's entry; NONE if it has no value, or an unknown one."""
        values = chain.from_iterable(getattr(s, self.column) for s in sentences)
        flat = np.fromiter((value != "_" for value in values), np.bool_)
        has_value = padded(n_words(sentences), flat, root=0, padding=0)
        return np.where(has_value, self.targets(sentences), NONE)

    def fed(self, scores: Tensor) -> Tensor | None:
        """What the encoder reads.  [B, N, entries] → [B, N, fed]"""
        if self.embeddings is None:
            return None
        return torch.softmax(scores.float(), -1).to(scores.dtype) @ self.embeddings


def settled(scores: Tensor, given: Tensor) -> Tensor:
    """Scores that leave a word only the entry that is given, where one is.

    [B, N, entries], [B, N] → [B, N, entries]
    """
    entry, number = torch.arange(scores.shape[-1], device=scores.device), given.unsqueeze(-1)
    return scores.masked_fill((number != NONE) & (number != entry), RULED_OUT)


@dataclass(frozen=True)
class TagOptions:
    """Options of a head for a column of tags."""

    weight: float = 0.5
    fed: int = 32  # numbers by which the encoder reads the predicted tag; 0: it does not
    corrected: bool = False  # by the encoder's last vectors, once it has read the tags

    name: ClassVar[str]

    def entries(self, sentences: Sequence[Sentence]) -> Entries:
        """Every value of the column; "_" alone if it is empty."""
        return sorted_entries(value for s in sentences for value in getattr(s, self.name))

    def build(self, width: int, entries: Entries, *, hidden: int, dropout: float) -> TagHead:  # noqa: ARG002 - it has no hidden layer
        return TagHead(self.name, width, entries, self.fed)
