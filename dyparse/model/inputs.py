"""Inputs of a parser as sentences: text, words, tagged words, TokenLists, Sentences; and which of
their columns stay.
"""

import os
import re
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any, TypeAlias

import conllu

from dyparse.data.sentence import Sentence

TAG = re.compile("ADJ|ADP|ADV|AUX|CCONJ|DET|INTJ|NOUN|NUM|PART|PRON|PROPN|PUNCT|SCONJ|SYM|VERB")
UPOS = re.compile(f"{TAG.pattern}|X|_")  # the last two are words as well: Malcolm X
PATH = re.compile(r"\S+\.conllu(\.gz)?")
CONLLU = re.compile(r"^1(-\d+)?(\t[^\t\n]*){9}$", re.MULTILINE)
FROM_FILE = (
    "read the file first, with dyparse.data.conllu.read_sentences(PATH, trees=False), or run "
    "`dyparse parse MODEL FILE`"
)

Words: TypeAlias = Sequence[str] | Sequence[tuple[str, str]]  # plain, or with their UPOS tags
Input: TypeAlias = str | Words | conllu.TokenList | Sentence  # one sentence


def one_or_several(given: Any) -> Sentence | list[Sentence]:
    """A sentence if one is given, a list if several are; an error if that is not clear.

    A list of strings, or of tuples (word, UPOS), is one sentence; any other list is several.
    """
    if isinstance(given, conllu.TokenList | Sentence):
        return as_sentence(given)
    items = as_list(given)
    if not items:
        raise ValueError("nothing to parse; give a sentence (`parser.parse([])` is an empty list)")
    if is_words(items):
        if spaced := next((word for word in items if word and word.split() != [word]), None):
            raise ValueError(
                f"a list of strings is the words of one sentence, but {reprlib.repr(spaced)} has "
                "white space; for several texts use `parser.parse_texts(texts)`, for words with "
                "spaces `parser(Sentence.from_words(words))`"
            )
        return as_sentence(given if isinstance(given, tuple) else items)
    if is_tagged(items):
        return as_sentence(items)
    if any(isinstance(item, str) or is_pair(item) for item in items):
        raise TypeError(
            f"{reprlib.repr(items)} mixes words with other things; give the words of one sentence, "
            "or a list of sentences: `parser.parse` takes these in different forms"
        )
    return [as_sentence(item) for item in items]


def several(given: Any, read: Callable[[str], Sentence]) -> list[Sentence]:
    """A list of sentences, each given in any form; one alone makes a list of one.

    `read` makes a sentence of a text. What looks like the words of one sentence is refused.
    """
    if isinstance(given, str | conllu.TokenList | Sentence):
        return [read(given) if isinstance(given, str) else as_sentence(given)]
    items = as_list(given)
    is_one = is_words(items) and len(items) > 1 and all(len(text.split()) < 2 for text in items)
    if is_one or is_tagged(items):
        raise ValueError(
            f"{reprlib.repr(items)} looks like the words of one sentence; for one sentence use "
            "`parser(words)`, for several texts of one word each "
            "`parser.parse(map(parser.read_sentence, texts))`"
        )
    return [read(item) if isinstance(item, str) else as_sentence(item) for item in items]


def as_sentence(given: Any) -> Sentence:
    """One sentence: from words, tagged words, a `conllu.TokenList`, or a `Sentence`."""
    if isinstance(given, Sentence):
        return given
    if isinstance(given, conllu.TokenList):
        return Sentence.from_token_list(given)
    items = as_list(given)
    if is_words(items) and isinstance(given, Sequence) and is_tagged_word(given):
        raise ValueError(
            f"{reprlib.repr(given)} looks like one word with tags, not like a sentence; give a "
            "list of tuples (word, UPOS), or Sentence.from_words(words, upos=…, xpos=…)"
        )
    if is_tagged(items):
        return Sentence.from_words([w for w, _ in items], upos=[upos(pair) for pair in items])
    if not is_words(items):
        raise not_understood(given)
    return Sentence.from_words(items)


def require_text(text: str) -> None:
    """ValueError for a string that is obviously something else than a text."""
    if PATH.fullmatch(text) or (len(text.split()) == 1 and os.path.isfile(text)):
        raise ValueError(f"{reprlib.repr(text)} is the name of a file, not a text; {FROM_FILE}")
    if CONLLU.search(text):
        raise ValueError(
            f"{reprlib.repr(text)} is CoNLL-U, not a text; give `conllu.parse(text)`, or "
            f"{FROM_FILE}"
        )


def as_list(given: Any) -> list[Any]:
    """The items of a list or of something like it, in order."""
    if isinstance(given, os.PathLike):
        raise TypeError(f"{given!r} is a path; {FROM_FILE}")
    if isinstance(given, bytes | Mapping | Set) or not isinstance(given, Iterable):
        raise not_understood(given)
    return list(given)


def is_words(items: Sequence[Any]) -> bool:
    """Whether these are the words of one sentence."""
    return all(isinstance(item, str) for item in items)


def is_tagged(items: Sequence[Any]) -> bool:
    """Whether these are the words of one sentence with their tags: tuples, never lists."""
    return bool(items) and all(map(is_pair, items))


def is_tagged_word(strings: Sequence[str]) -> bool:
    """Whether these look like a word and its tags, and less like the words of a sentence."""
    is_tuple, number = isinstance(strings, tuple), len(strings)
    tags = UPOS if is_tuple and number == 2 else TAG
    return (number == 2 or (is_tuple and number > 2)) and tags.fullmatch(strings[1]) is not None


def is_pair(item: Any) -> bool:
    """Whether this is a tuple of a word and a tag."""
    return isinstance(item, tuple) and len(item) == 2 and is_words(item)


def upos(pair: Sequence[str]) -> str:
    """The tag of a pair; ValueError if it is from another tag set."""
    if not UPOS.fullmatch(pair[1]):
        raise ValueError(
            f"{pair[1]!r} of {pair[0]!r} is not a UPOS tag; pairs are (word, UPOS), for other tags "
            "use `Sentence.from_words(words, xpos=tags)`"
        )
    return pair[1]


def not_understood(given: Any) -> TypeError:
    """The error for what is no sentence in any form."""
    return TypeError(
        f"cannot parse {reprlib.repr(given)}; expected a text, a list of words, a list of "
        "tuples (word, UPOS), a conllu.TokenList, a Sentence, or a list of these"
    )


def missing_tags(columns: Sequence[str]) -> str:
    """The warning about tags that a model was trained with and the input lacks."""
    return (
        f"the model reads {' and '.join(columns)}, which the input lacks: expect much worse trees; "
        "tag the input first, or use a model that predicts them, as `dyparse train` makes"
    )
