"""Characters as numbers for the network."""

import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from dyparse.tokenizer._exceptions import joined_pieces
from dyparse.tokenizer._spans import Token
from dyparse.tokenizer.plain import Plain

LEAST_SEEN = 3  # times in the training text, for a character of its own
CATEGORIES = (  # of Unicode; they stand for characters that are not known
    *("Lu", "Ll", "Lt", "Lm", "Lo"),
    *("Mn", "Mc", "Me"),
    *("Nd", "Nl", "No"),
    *("Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"),
    *("Sm", "Sc", "Sk", "So"),
    *("Zs", "Zl", "Zp"),
    *("Cc", "Cf", "Cs", "Co", "Cn"),
)
MOST_CHARACTERS = 20_000
PADDING = 0
N_RULES = 5  # with padding
WHITE = np.array([chr(code).isspace() for code in range(0x3001)] + [False])

Ids = NDArray[np.int64]


class Rule(IntEnum):
    """What the rules of the tokenizer `plain` say of a character."""

    OUTSIDE = 1
    INSIDE = 2
    TOKEN_END = 3
    SENTENCE_END = 4


def code_points(text: str) -> NDArray[np.uint32]:
    """The text as an array."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def is_white(codes: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Which characters are white space."""
    return WHITE[np.minimum(codes, len(WHITE) - 1)]


class Characters:
    """The characters that the network knows; of others it knows the category.

    0 is padding, then come the categories, then the characters.
    """

    def __init__(self, known: str) -> None:
        if len(set(known)) != len(known) or len(known) > MOST_CHARACTERS:
            raise ValueError(f"characters are not at most {MOST_CHARACTERS} different ones")
        self.known = known
        self._category = {name: number for number, name in enumerate(CATEGORIES, 1)}
        self._number = {c: k for k, c in enumerate(known, 1 + len(CATEGORIES))}

    def __len__(self) -> int:
        return 1 + len(CATEGORIES) + len(self.known)

    @classmethod
    def of_text(cls, text: str) -> "Characters":
        """Those that are not rare in a text."""
        counts = Counter(text)
        frequent = sorted(c for c, count in counts.items() if count >= LEAST_SEEN)
        return cls("".join(frequent[:MOST_CHARACTERS]))

    def numbers(self, codes: NDArray[np.uint32]) -> Ids:
        """The number of every character.  [n] → [n]"""
        return self._mapped(codes, lambda c: self._number.get(c) or self._of_category(c))

    def categories(self, codes: NDArray[np.uint32]) -> Ids:
        """The number that every character would have if it were not known.  [n] → [n]"""
        return self._mapped(codes, self._of_category)

    def _of_category(self, character: str) -> int:
        return self._category[unicodedata.category(character)]

    @staticmethod
    def _mapped(codes: NDArray[np.uint32], number: Callable[[str], int]) -> Ids:
        different, places = np.unique(codes, return_inverse=True)
        table = np.array([number(chr(code)) for code in different], dtype=np.int64)
        return table[places]


def rule_classes(text: str, exceptions: Collection[str]) -> Ids:
    """What the rules of the tokenizer `plain` say of every character of a passage.  → [n]

    Exceptions are tokens that they would cut; a sentence does not end with one of these.
    """
    (sentences,) = Plain().sentences([text])
    classes = token_classes(sentences, len(text))
    for tokens in sentences:
        for token in joined_pieces(text, tokens, exceptions):
            classes[token.start : token.end - 1] = Rule.INSIDE
            classes[token.end - 1] = Rule.TOKEN_END
    return classes


def token_classes(sentences: Sequence[Sequence[Token]], length: int) -> Ids:
    """The classes of the characters of a passage of this length, from its tokens.  → [n]"""
    spans = [token[:2] for tokens in sentences for token in tokens]
    starts, ends = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    steps = np.zeros(length + 1, dtype=np.int64)  # into tokens and out of them
    steps[starts] += 1
    steps[ends] -= 1
    classes = np.where(np.cumsum(steps[:-1]) > 0, Rule.INSIDE, Rule.OUTSIDE)
    classes[ends - 1] = Rule.TOKEN_END
    classes[[tokens[-1].end - 1 for tokens in sentences]] = Rule.SENTENCE_END
    return classes
