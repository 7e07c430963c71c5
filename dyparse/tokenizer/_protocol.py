"""What a tokenizer and its options provide."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeAlias

from dyparse.data.sentence import Sentence
from dyparse.tokenizer._spans import Token

Progress: TypeAlias = Callable[[dict[str, float]], None]  # gets the figures of an epoch


class Tokenizer(Protocol):
    """Finds the tokens of texts. Every character that is not white space belongs to one token."""

    def sentences(self, passages: Sequence[str]) -> list[list[list[Token]]]:
        """The sentences of each passage, as lists of tokens in order; no sentence is empty."""
        ...

    def words(self, lines: Sequence[str]) -> list[list[Token]]:
        """The tokens of texts that are one sentence each; none for a blank text."""
        ...

    def files(self) -> dict[str, bytes]:
        """What `TokenizerChoice.build` needs to make it again, by plain names."""
        ...


class TokenizerChoice(Protocol):
    """The options of a tokenizer: a frozen dataclass."""

    def train(
        self,
        train: Sequence[Sentence],
        dev: Sequence[Sentence],
        seed: int,
        progress: Progress | None = None,
    ) -> Tokenizer:
        """A tokenizer for texts like these; TreebankError if they cannot be learned from."""
        ...

    def build(self, files: Mapping[str, bytes]) -> Tokenizer:
        """The tokenizer that gave these files; ValueError if they are damaged."""
        ...
