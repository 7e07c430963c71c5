"""What the network knows of every character: the character, the word that begins there, the rules.

The rules are those of the tokenizer `plain`, with exceptions from the training text: the network
learns where a treebank is unlike them, which takes less text and time than to learn all they know.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from dyparse.tokenizer._characters import PADDING, Characters, Ids, code_points, rule_classes
from dyparse.tokenizer._exceptions import learn_exceptions
from dyparse.tokenizer._spans import Token

WORD = re.compile(r"\w+|[^\w\s]+")
LONGEST_WORD = 40
LEAST_SEEN = 3  # times in the training text, for a word of its own
MOST_WORDS = 4000
MOST_EXCEPTIONS = 10_000
UNKNOWN = PADDING + 1  # a word that is not known; PADDING is also where no word begins


class Features:
    """Characters and words that the network knows, and the exceptions to the rules."""

    def __init__(self, characters: str, words: Sequence[str], exceptions: Sequence[str]) -> None:
        if len(set(words)) != len(words) or len(words) > MOST_WORDS:
            raise ValueError(f"words are not at most {MOST_WORDS} different ones")
        if len(set(exceptions)) != len(exceptions) or len(exceptions) > MOST_EXCEPTIONS:
            raise ValueError(f"exceptions are not at most {MOST_EXCEPTIONS} different ones")
        self.characters = Characters(characters)
        self.exceptions = frozenset(exceptions)
        self.words = tuple(words)
        self._number = {word: number for number, word in enumerate(words, UNKNOWN + 1)}

    @classmethod
    def of_text(cls, text: str, tokens: Iterable[Token]) -> "Features":
        """Those that are not rare in a training text."""
        counts = Counter(match[0].lower() for match in WORD.finditer(text))
        frequent = [w for w, n in counts.items() if n >= LEAST_SEEN and len(w) <= LONGEST_WORD]
        frequent.sort(key=lambda word: (-counts[word], word))
        exceptions = learn_exceptions(text, tokens)[:MOST_EXCEPTIONS]
        return cls(Characters.of_text(text).known, frequent[:MOST_WORDS], exceptions)

    @property
    def n_words(self) -> int:
        """How many numbers there are for words."""
        return UNKNOWN + 1 + len(self.words)

    def of(self, passage: str) -> Ids:
        """Numbers of characters, words and rules.  → [3, n]"""
        return np.stack(
            [
                self.characters.numbers(code_points(passage)),
                self.word_numbers(passage),
                rule_classes(passage, self.exceptions),
            ]
        )

    def word_numbers(self, passage: str) -> Ids:
        """At the first character of each word its number.  → [n]"""
        numbers = np.full(len(passage), PADDING, dtype=np.int64)
        for match in WORD.finditer(passage):
            numbers[match.start()] = self._number.get(match[0].lower(), UNKNOWN)
        return numbers
