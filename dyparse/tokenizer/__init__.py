"""Tokenizers: from raw text to sentences, their tokens, and the words of multiword tokens.

    for sentence in tokenize(tokenizer, text): ...         # a string, or pieces of one from a stream
    for sentence in tokenize_lines(tokenizer, lines): ...  # each line is known to be a sentence
    restored_text(sentences) == text                       # also after writing and reading CoNLL-U

A tokenizer finds spans in a passage, which is a paragraph or a part of a long one; cutting a text
into passages and making sentences of the spans is the same for all, in `_passages.py` and
`_sentences.py`. To add one, write `dyparse/tokenizer/<name>.py` with a frozen dataclass that has the
methods of `TokenizerChoice`, and `conf/tokenizer/<name>.yaml`. Start with plain.py.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeAlias

from dyparse.data.sentence import Sentence
from dyparse.tokenizer._passages import tokenize, tokenize_lines
from dyparse.tokenizer._restored import restored_text
from dyparse.tokenizer._spans import Token

__all__ = [
    "Progress",
    "Token",
    "Tokenizer",
    "TokenizerChoice",
    "restored_text",
    "tokenize",
    "tokenize_lines",
]

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
