"""The text of a treebank with what the network is to say of every character."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dyparse.data.sentence import Sentence
from dyparse.errors import TreebankError
from dyparse.tokenizer._characters import Ids, code_points
from dyparse.tokenizer._features import Features
from dyparse.tokenizer._restored import text_with_tokens
from dyparse.tokenizer._scores import SENTENCE_END, TOKEN_END
from dyparse.tokenizer._spans import BLANK_LINE, Token


class GoldText(NamedTuple):
    """A text and its sentences, as lists of tokens."""

    text: str
    sentences: list[list[Token]]


class Targets(NamedTuple):
    """The features of a text, and the right answers."""

    features: Ids  # [3, n]
    unknown: Ids  # [n]  characters as if they were not known
    ends: Ids  # [n]  INSIDE, TOKEN_END or SENTENCE_END
    words: NDArray[np.float32]  # [n, 2]  MULTIWORD, WORD_END


def gold_text(sentences: Sequence[Sentence], split: str) -> GoldText:
    """The raw text of a treebank; TreebankError if it is not known."""
    if not any(line.startswith("# text") for s in sentences for line in s.lines):
        place = f"{sentences[0].place}: " if sentences else ""
        raise TreebankError(
            f"{place}no sentence of {split} has a comment `# text = …`, so that the text between "
            "its words is not known; a tokenizer cannot be learned: use tokenizer=plain"
        )
    return GoldText(*text_with_tokens(sentences))


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """The paragraphs of a text, with their places; the blank lines after one belong to it."""
    start = 0
    for blank in BLANK_LINE.finditer(text):
        if text[start : blank.end()].strip():
            yield start, text[start : blank.end()]
            start = blank.end()
    if text[start:].strip():
        yield start, text[start:]


def targets(gold: GoldText, features: Features) -> Targets:
    """What the network gets and what it should say."""
    length = len(gold.text)
    found = np.zeros((3, length), dtype=np.int64)
    for start, paragraph in paragraphs(gold.text):
        found[:, start : start + len(paragraph)] = features.of(paragraph)
    ends = np.zeros(length, dtype=np.int64)
    words = np.zeros((length, 2), dtype=np.float32)
    for tokens in gold.sentences:
        ends[[token.end - 1 for token in tokens]] = TOKEN_END
        ends[tokens[-1].end - 1] = SENTENCE_END
        for token in tokens:
            if token.words:
                words[token.end - 1, 0] = 1
                words[_cuts(gold.text, token), 1] = 1
    unknown = features.characters.categories(code_points(gold.text))
    return Targets(found, unknown, ends, words)


def _cuts(text: str, token: Token) -> list[int]:
    """The last characters of the words inside a token, if they are a cut of it."""
    if "".join(token.words) != text[token.start : token.end]:
        return []
    lengths = np.cumsum([len(word) for word in token.words[:-1]])
    return [int(token.start + length - 1) for length in lengths]
