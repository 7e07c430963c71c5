"""Heads: what a model predicts of every word beside the moves, from the encoder's vectors.

A head knows its targets in gold sentences, its loss, how predictions are written into a sentence,
and how they are scored. Arc labels are one; tags would be another. To add one, write a module with
a frozen dataclass that has the members of `HeadChoice` and builds a `Head`, in this folder or in a
package of your own, and list it: `heads=[labels,mylab.TagHead]`.
"""

import math
import re
from collections.abc import Sequence
from itertools import chain
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from dyparse.config import choices
from dyparse.data.batch import n_words
from dyparse.data.sentence import NONE, Sentence
from dyparse.data.token_arrays import padded
from dyparse.data.vocabulary import Entries

LABELS = "labels"  # the name of the head that every model has
UNWRITABLE = re.compile("|.*[\t\r\n\0].*", re.DOTALL)


class HeadChoice(Protocol):
    """The options of a head: a frozen dataclass."""

    name: ClassVar[str]

    @property
    def weight(self) -> float:
        """The weight of its loss in the sum of all losses."""
        ...

    def entries(self, sentences: Sequence[Sentence]) -> Entries:
        """The values that it can predict, sorted, from the training sentences."""
        ...

    def build(self, width: int, entries: Entries, *, hidden: int, dropout: float) -> "Head":
        """The head over vectors of this width; ValueError if the entries cannot be predicted.

        hidden and dropout are those of the model's other parts, `network.hidden` and
        `network.dropout`.
        """
        ...


@runtime_checkable
class FitsOptions(Protocol):
    """A head with options that the training sentences decide."""

    def fitted(self, sentences: Sequence[Sentence]) -> HeadChoice:
        """The same head with these options decided; a model directory names it so."""
        ...


class Head(nn.Module):
    """Predicts an entry for a column of every word.

    A head that predicts something else overrides `targets`, `loss` and `columns` too.
    """

    column: ClassVar[str]  # of a sentence
    loss_weight: float = 1.0  # set from the options

    def __init__(self, entries: Entries) -> None:
        super().__init__()
        self.entries = entries
        self.number = {entry: number for number, entry in enumerate(entries)}

    def values(self, sentence: Sentence) -> Sequence[str]:
        """The entry of every word: its column, unless a head says otherwise."""
        column: list[str] = getattr(sentence, self.column)
        return column

    def forward(self, encoded: Tensor, tree: Tensor, keys: Tensor | None = None) -> Tensor:
        """Scores of the entries for every token.

        The tree has the head of every token: the gold one in training, else the predicted one.
        Keys decide what a sentence drops in training.

        [B, N, width], [B, N], [B] → [B, N, entries]
        """
        raise NotImplementedError

    def loss(self, scores: Tensor, targets: Tensor) -> Tensor:
        """Cross-entropy, summed over the tokens that have a target.

        [B, N, entries], [B, N] → []
        """
        return cross_entropy(
            scores.flatten(0, 1), targets.flatten(), ignore_index=NONE, reduction="sum"
        )

    def targets(self, sentences: Sequence[Sentence]) -> NDArray[np.int64]:
        """[B, N]: the number of every word's entry; NONE where it is not among the entries."""
        values = chain.from_iterable(map(self.values, sentences))
        flat = np.fromiter((self.number.get(value, NONE) for value in values), np.int64)
        return padded(n_words(sentences), flat, root=NONE, padding=NONE)

    def n_targets(self, sentence: Sentence) -> int:
        """How many words of a sentence have a target: the loss of a batch is a mean over them."""
        return sum(value in self.number for value in self.values(sentence))

    def predict(self, scores: Tensor, tree: NDArray[np.int32]) -> list[list[int]]:  # noqa: ARG002 - labels need it
        """The number of the best entry of every token, whose heads are in the tree.

        [B, N, entries], [B, N] → [B, N]
        """
        numbers: list[list[int]] = best_entries(scores).tolist()
        return numbers

    def columns(self, sentence: Sentence, predicted: Sequence[int]) -> dict[str, list[str]]:  # noqa: ARG002 - some heads need it
        """Columns of a sentence, from the predictions for its words."""
        return {self.column: [self.entries[k] for k in predicted]}

    def score(self, gold: Sequence[Sentence], parsed: Sequence[Sentence]) -> dict[str, float]:
        """Figures for dev, by name, in percent; none where the gold column is empty."""
        columns = [[getattr(s, self.column) for s in trees] for trees in (gold, parsed)]
        expected, found = (list(chain.from_iterable(column)) for column in columns)
        if set(expected) <= {"_"}:
            return {}
        right = sum(a == b for a, b in zip(expected, found, strict=True))
        return {f"{self.column}_accuracy": 100 * right / len(expected)}


def best_entries(scores: Tensor) -> NDArray[np.int64]:
    """The number of the best entry, the first of several.  [..., entries] → [...]"""
    is_here = scores.device.type == "cpu"  # where numpy is several times as fast as torch
    best: NDArray[np.int64] = (
        scores.detach().float().numpy().argmax(-1) if is_here else scores.argmax(-1).cpu().numpy()
    )
    return best


def load_heads(texts: Sequence[str], option: str = "heads") -> list[HeadChoice]:
    """The heads of these names, with options in text; ValueError names the option if wrong."""
    try:
        return [choices.load("head", text) for text in texts]
    except ValueError as error:
        raise ValueError(f"{option}: {error}") from error


def require_heads(heads: Sequence[HeadChoice]) -> None:
    """ValueError if these cannot be the heads of a model: trees need labels."""
    names = [head.name for head in heads]
    if len(set(names)) < len(names) or LABELS not in names:
        raise ValueError(f"heads are {names}, expected {LABELS} and others, each once")
    for head in heads:
        if not 0 < head.weight < math.inf:
            raise ValueError(
                f"heads: the weight of {head.name} is {head.weight}, expected more than 0"
            )
        if not head.name.isidentifier() or hasattr(nn.ModuleDict, head.name):
            raise ValueError(f"heads: a head cannot be called {head.name!r}; choose a plain name")


def require_writable(name: str, entries: Entries) -> None:
    """ValueError if an entry cannot be written in a column of CoNLL-U."""
    for entry in entries:
        if UNWRITABLE.fullmatch(entry):
            raise ValueError(
                f"heads: {entry!a}, an entry of {name}, cannot be written in CoNLL-U; clean the "
                "treebank"
            )
