"""Features: what an encoder reads of every word.

A feature knows the column of the sentence that it reads, the vocabulary that it takes from the
training sentences, and how values become arrays; a model directory keeps its vocabulary. To add
one, write a module with a frozen dataclass derived from `OnePerToken`, `BagPerToken` or
`SequencePerToken` (or with the members of `FeatureChoice`), in this folder or in a package of your
own, and name it where an encoder lists its features: `encoder.features=[word,subword,mylab.Shape]`.
"""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from dyparse.config import choices
from dyparse.data.batch import Feature as Feature  # the protocol, for those who add one
from dyparse.data.sentence import Sentence
from dyparse.data.token_arrays import Bags, Remembered, Sequences, bags, ids, sequences
from dyparse.data.vocabulary import RESERVED, UNKNOWN, Entries, numbered, sorted_entries
from dyparse.tensors.module_names import is_taken

TAGS = ("upos", "xpos", "feats")  # columns that an input may lack
LONGEST_FORM = 40  # characters of a word that are looked at: its first and last 20


class FeatureChoice(Protocol):
    """The options of a feature: a frozen dataclass."""

    name: ClassVar[str]
    column: ClassVar[str]

    def entries(self, sentences: Sequence[Sentence]) -> Entries:
        """The vocabulary, sorted, from the training sentences; empty if it needs none."""
        ...

    def build(self, entries: Entries) -> Feature:
        """The feature with this vocabulary."""
        ...


class TokenNumbers:
    """A feature whose values are numbers below `size`, for encoders that embed them."""

    def __init__(self, choice: "Embedded", entries: Entries) -> None:
        self.name, self.column = choice.name, choice.column
        self.is_lexical = choice.is_lexical
        self.size = choice.size(entries)
        if self.size < RESERVED and isinstance(self, TokenIds):
            raise ValueError(
                f"feature {self.name} has {self.size} numbers, expected at least {RESERVED}: "
                "PADDING, UNKNOWN and ROOT are among them"
            )
        self.numbers: Remembered[str, Any] = Remembered(choice.numbering(entries))

    def columns(self, sentences: Sequence[Sentence]) -> list[list[str]]:
        """The column of every sentence."""
        return [getattr(s, self.column) for s in sentences]


class TokenIds(TokenNumbers):
    """One number per token."""

    def arrays(self, sentences: Sequence[Sentence], words: NDArray[np.int32]) -> NDArray[np.int64]:
        return ids(words, self.columns(sentences), self.numbers)


class TokenBags(TokenNumbers):
    """Several numbers per token, in no order."""

    def arrays(self, sentences: Sequence[Sentence], words: NDArray[np.int32]) -> Bags:
        return bags(words, self.columns(sentences), self.numbers)


class TokenSequences(TokenNumbers):
    """A sequence of numbers per token."""

    def arrays(self, sentences: Sequence[Sentence], words: NDArray[np.int32]) -> Sequences:
        return sequences(words, self.columns(sentences), self.numbers)


class Embedded:
    """Options of a feature whose values are numbers; its alternatives are the three below."""

    name: ClassVar[str]
    column: ClassVar[str]
    is_lexical: ClassVar[bool] = False  # whether word dropout reads some values as unknown
    kind: ClassVar[type[TokenNumbers]]

    def entries(self, sentences: Sequence[Sentence]) -> Entries:
        """The vocabulary: every value of the column, unless a feature says otherwise."""
        return sorted_entries(value for s in sentences for value in getattr(s, self.column))

    def size(self, entries: Entries) -> int:
        """How many different numbers there are, the reserved ones included."""
        return len(entries) + RESERVED

    def numbering(self, entries: Entries) -> Callable[[str], Any]:
        """A function from a value to its number or numbers.

        Of a bag or a sequence it is asked for the root's too, whose value is `ROOT_VALUE`. With one
        number per token the root has ROOT and padding PADDING; numbers of values begin at RESERVED.
        """
        raise NotImplementedError

    def build(self, entries: Entries) -> Any:
        return self.kind(self, entries)


class OnePerToken(Embedded):
    """Every value has one number, that of its entry unless a feature says otherwise."""

    kind = TokenIds

    def numbering(self, entries: Entries) -> Callable[[str], int]:
        numbers = numbered(entries)
        return lambda value: numbers.get(value, UNKNOWN)


class BagPerToken(Embedded):
    """Every value has several numbers, in no order; an encoder takes the mean of their vectors."""

    kind = TokenBags


class SequencePerToken(Embedded):
    """Every value has a sequence of numbers."""

    kind = TokenSequences


def load_features(texts: Sequence[str], option: str) -> list[FeatureChoice]:
    """The features of these names, with options in text; ValueError names the option if wrong."""
    try:
        chosen: list[FeatureChoice] = [choices.load("feature", text) for text in texts]
    except ValueError as error:
        raise ValueError(f"{option}: {error}") from error
    names = [feature.name for feature in chosen]
    if len(set(names)) < len(names):
        raise ValueError(f"{option} is {list(texts)}, expected each once")
    for name in names:
        if not name.isidentifier() or is_taken(name, choices.names("feature")):
            raise ValueError(f"{option}: a feature cannot be called {name!r}; choose a plain name")
    return chosen


def missing_columns(features: Sequence[Feature], sentences: Sequence[Sentence]) -> list[str]:
    """Tag columns that are read and that are empty in all of the sentences, in capitals."""
    read = dict.fromkeys(feature.column for feature in features if feature.column in TAGS)
    return [
        column.upper()
        for column in read
        if all(set(getattr(s, column)) == {"_"} for s in sentences)
    ]


def shortened(form: str) -> str:
    """The form, without its middle where it is very long."""
    half = LONGEST_FORM // 2
    return form if len(form) <= LONGEST_FORM else form[:half] + form[-half:]
