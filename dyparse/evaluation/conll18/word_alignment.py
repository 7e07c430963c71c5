"""Which words of a parsed file are which words of the gold file, also if a parser split the text
into other words or sentences.

The alignment is that of the CoNLL 2018 shared task (Zeman et al. 2018). A token is a span of the
text without spaces. Tokens of one word are aligned if their spans are the same. Multiword tokens
are aligned span by span: within the smallest span that cuts no multiword token of either file,
words are aligned by the longest common subsequence of their forms, ignoring case.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dyparse.data.columns.rows import BYTE_ORDER_MARK
from dyparse.data.sentence import Sentence
from dyparse.errors import TreebankError

UNALIGNED = -1
QUOTED = 20  # characters of text in messages
Span = tuple[int, int]  # first character, and the one after the last


class Word(NamedTuple):
    """A word, and the span of its token in the text."""

    start: int
    end: int
    is_multiword: bool  # the token has several words
    form: str  # in lower case


@dataclass(frozen=True)
class TokenizedText:
    """The text of a file without spaces, and where its tokens, words and sentences are in it."""

    text: str
    tokens: list[Span]
    words: list[Word]
    ends: NDArray[np.int64]  # [sentences] where they end in the text

    @property
    def sentences(self) -> list[Span]:
        """The spans of the sentences."""
        ends: list[int] = self.ends.tolist()
        return list(zip([0, *ends], ends, strict=False))


@dataclass(frozen=True)
class Alignment:
    """The words of a parsed file beside those of the gold file."""

    gold_word: NDArray[np.int64]  # [words of system] aligned with each, or UNALIGNED
    gold: TokenizedText
    system: TokenizedText


def align_words_of_files(gold: Sequence[Sentence], system: Sequence[Sentence]) -> Alignment:
    """Align the words of a parsed file with those of the gold file.

    TreebankError if the files are not about the same text. They are, if they have the same words:
    then each word is aligned with itself, also if one file has lost its multiword tokens.
    """
    if not gold or not system:
        raise TreebankError("no words to score; is a file or a treebank's split empty?")
    texts = _tokenized_text(gold), _tokenized_text(system)
    if texts[0].text != texts[1].text:
        if not _has_same_words(gold, system):
            raise _other_text((gold, system), texts)
        texts = _tokenized_text(gold, of_words=True), _tokenized_text(system, of_words=True)
    aligned = np.full(len(texts[1].words), UNALIGNED, dtype=np.int64)
    for gold_word, system_word in _aligned(texts[0].words, texts[1].words):
        aligned[system_word] = gold_word
    return Alignment(aligned, *texts)


def _has_same_words(gold: Sequence[Sentence], system: Sequence[Sentence]) -> bool:
    """Whether both have the same words in the same sentences."""
    return len(gold) == len(system) and all(
        a.form == b.form for a, b in zip(gold, system, strict=True)
    )


def _tokenized_text(sentences: Sequence[Sentence], *, of_words: bool = False) -> TokenizedText:
    """The text of sentences as one, with all spans.

    With `of_words` the text of a multiword token is that of its words: "dele" instead of "du".
    """
    parts: list[str] = []
    tokens: list[Span] = []
    words: list[Word] = []
    ends, position = [], 0
    for sentence in sentences:
        for form, multiword in _tokens(sentence):
            text = _without_spaces("".join(multiword) if of_words and multiword else form)
            parts.append(text)
            span = (position, position + len(text))
            position = span[1]
            tokens.append(span)
            words += [Word(*span, bool(multiword), word.lower()) for word in multiword or [text]]
        ends.append(position)
    return TokenizedText("".join(parts), tokens, words, np.array(ends, dtype=np.int64))


def _tokens(sentence: Sentence) -> Iterator[tuple[str, list[str]]]:
    """The tokens of a sentence: form, and the words of a multiword token, else nothing."""
    ranges: dict[int, tuple[int, str]] = {}  # first word: last word, form
    for line in sentence.lines:
        token_id, _, rest = line.removeprefix(BYTE_ORDER_MARK).partition("\t")
        first, dash, last = token_id.partition("-")
        if dash and first.isdecimal() and last.isdecimal():
            ranges[int(first)] = int(last), rest.partition("\t")[0]
    word = 1
    while word <= len(sentence):
        last_word, form = ranges.get(word, (0, sentence.form[word - 1]))
        yield form, sentence.form[word - 1 : last_word] if last_word else []
        word = (last_word or word) + 1


def _without_spaces(form: str) -> str:
    return "".join(c for c in form if unicodedata.category(c) != "Zs")


def _aligned(gold: Sequence[Word], system: Sequence[Word]) -> Iterator[tuple[int, int]]:
    g = s = 0
    while g < len(gold) and s < len(system):
        if gold[g].is_multiword or system[s].is_multiword:
            first, (g, s) = _multiword_span(gold, system, g, s)
            yield from _common_forms(gold, system, first, (g, s))
        elif gold[g][:2] == system[s][:2]:
            yield g, s
            g, s = g + 1, s + 1
        elif gold[g].start <= system[s].start:
            g += 1
        else:
            s += 1


def _multiword_span(
    gold: Sequence[Word], system: Sequence[Word], g: int, s: int
) -> tuple[tuple[int, int], tuple[int, int]]:
    """First words of the smallest span that cuts no multiword token, and the words after it."""
    if gold[g].is_multiword:
        end = gold[g].end
        s += not system[s].is_multiword and system[s].start < gold[g].start
    else:
        end = system[s].end
        g += not gold[g].is_multiword and gold[g].start < system[s].start
    first = g, s
    while _is_before(gold, g, end) or _is_before(system, s, end):
        takes_gold = g < len(gold) and (s >= len(system) or gold[g].start <= system[s].start)
        word = gold[g] if takes_gold else system[s]
        end = max(end, word.end) if word.is_multiword else end
        g, s = g + takes_gold, s + (not takes_gold)
    return first, (g, s)


def _is_before(words: Sequence[Word], k: int, end: int) -> bool:
    if k >= len(words):
        return False
    return words[k].start < end if words[k].is_multiword else words[k].end <= end


def _common_forms(
    gold: Sequence[Word], system: Sequence[Word], first: tuple[int, int], after: tuple[int, int]
) -> Iterator[tuple[int, int]]:
    """Pairs of a longest common subsequence of forms."""
    a = [word.form for word in gold[first[0] : after[0]]]
    b = [word.form for word in system[first[1] : after[1]]]
    longest = np.zeros((len(a) + 1, len(b) + 1), dtype=np.int64)  # of a[i:] and b[j:]
    for i in reversed(range(len(a))):
        for j in reversed(range(len(b))):
            both = 1 + longest[i + 1, j + 1] if a[i] == b[j] else 0
            longest[i, j] = max(both, longest[i + 1, j], longest[i, j + 1])
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            yield first[0] + i, first[1] + j
            i, j = i + 1, j + 1
        elif longest[i, j] == longest[i + 1, j]:
            i += 1
        else:
            j += 1


def _other_text(
    files: tuple[Sequence[Sentence], ...], texts: tuple[TokenizedText, ...]
) -> TreebankError:
    """The message for files of different texts: where they differ first."""
    one, other = (text.text for text in texts)
    length = min(len(one), len(other))
    at = next((k for k in range(length) if one[k] != other[k]), length)
    places, found = [], []
    for sentences, text in zip(files, texts, strict=True):
        number = int(np.searchsorted(text.ends, at, side="right"))
        places.append(sentences[min(number, len(sentences) - 1)].place)
        found.append(repr(text.text[at : at + QUOTED]) if at < len(text.text) else "nothing more")
    return TreebankError(
        f"{places[1]}: {found[1]}, but the gold text is {found[0]} ({places[0]}); scores need the "
        "same text in the same order: parse the text of the gold file, all of it"
    )
