"""How multiword tokens are split into words: as in the training text, never with new letters.

A form that was seen is split as it was there, or never; only of one that was seen split and whole
the network decides whether. Another form is cut where the network ends words inside it, else by the
longest suffix that was split alike in several tokens of the training text (*verlo* and *darlo*
teach *-lo* → *-*, *lo*). Splits are kept as the letters of the token where these are its words.

The network has two opinions: whether a token is a multiword token, and where words end inside it.
If a form was not seen, both count where the words are a cut of it; otherwise the first one does:

    score(split) = MULTIWORD(end of the token) + max of WORD_END(cuts),  more than 0
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dyparse.tokenizer._sentences import UNWRITABLE

Words = tuple[str, ...]
MOST_WORDS = 32  # in one token
MOST_FORMS = 1_000_000
LEAST_TOKENS = 2  # that teach a suffix


@dataclass(frozen=True)
class MultiwordRules:
    """What the training text says about multiword tokens; forms are in lower case."""

    always: Mapping[str, Words] = field(default_factory=dict)  # never seen whole
    sometimes: Mapping[str, Words] = field(default_factory=dict)
    whole: frozenset[str] = frozenset()  # never seen split; none if no form was
    suffixes: Mapping[str, Words] = field(default_factory=dict)

    def split(self, form: str, multiword: float, word_ends: NDArray[np.float32]) -> Words:
        """The words of a token; none if it is a word itself.

        The network scores that it is a multiword token, and that a word inside it ends at each of
        its characters.
        """
        lower = form.lower()
        if (seen := self.always.get(lower)) is not None:
            return as_written(form, seen)
        if (seen := self.sometimes.get(lower)) is not None:
            return as_written(form, seen) if multiword > 0 else ()
        if lower in self.whole:
            return ()
        words = self._of_unseen(form, lower, word_ends[:-1])
        return words if words and multiword + _of_cuts(form, words, word_ends) > 0 else ()

    def _of_unseen(self, form: str, lower: str, inside: NDArray[np.float32]) -> Words:
        """The words of a token if it is a multiword token; none if that is not known."""
        if len(form.split()) > 1:
            return ()
        borders = [0, *(np.flatnonzero(inside > 0) + 1).tolist(), len(form)]
        pieces = tuple(form[start:end] for start, end in pairwise(borders))
        return pieces if 1 < len(pieces) <= MOST_WORDS else self._by_suffix(form, lower)

    def _by_suffix(self, form: str, lower: str) -> Words:
        if len(lower) != len(form):
            return ()
        for start in range(1, len(lower)):
            if rest := self.suffixes.get(lower[start:]):
                words = (lower[:start] + rest[0], *rest[1:])
                return as_written(form, words)
        return ()

    def as_json(self) -> dict[str, dict[str, list[str]] | list[str]]:
        """The rules as plain data; `from_json` makes them again."""
        parts = {"always": self.always, "sometimes": self.sometimes, "suffixes": self.suffixes}
        splits = {
            name: {form: list(words) for form, words in sorted(part.items())}
            for name, part in parts.items()
        }
        return {**splits, "whole": sorted(self.whole)}

    @classmethod
    def from_json(cls, given: Any) -> MultiwordRules:
        """Rules from plain data; ValueError if they are not what `as_json` gives."""
        parts = ("always", "sometimes", "suffixes")
        if not isinstance(given, dict) or set(given) != {*parts, "whole"}:
            raise ValueError(f"multiword is not an object of {', '.join(parts)}, whole")
        for name in parts:
            _require_splits(name, given[name])
        _require_forms(given["whole"])
        splits = {
            name: {form: tuple(words) for form, words in given[name].items()} for name in parts
        }
        return cls(**splits, whole=frozenset(given["whole"]))


def _require_forms(given: Any) -> None:
    is_list = isinstance(given, list) and len(given) <= MOST_FORMS
    if not is_list or not all(isinstance(form, str) for form in given):
        raise ValueError(f"multiword.whole is not a list of at most {MOST_FORMS} forms")


def _require_splits(name: str, given: Any) -> None:
    if not isinstance(given, dict) or len(given) > MOST_FORMS:
        raise ValueError(f"multiword.{name} is not an object of at most {MOST_FORMS} forms")
    for form, words in given.items():
        is_list = isinstance(words, list) and 1 < len(words) <= MOST_WORDS
        texts = words if is_list else [None]
        rest = texts[1:] if name == "suffixes" else texts  # nothing may be left of the first
        if not is_list or not all(map(_is_part, texts)) or not all(rest):
            raise ValueError(f"multiword.{name}: {form[:40]!a} is not split into words")


def _is_part(word: Any) -> bool:
    """Whether CoNLL-U can hold a word, or a part of one."""
    is_text = isinstance(word, str) and word == " ".join(word.split())
    return is_text and not UNWRITABLE.search(word)


def _of_cuts(form: str, words: Words, word_ends: NDArray[np.float32]) -> float:
    """The best score of an end of a word, if the words are a cut of the token; else 0."""
    if "".join(words) != form:
        return 0.0
    ends = np.cumsum([len(word) for word in words[:-1]]) - 1
    return float(word_ends[ends].max())


def as_written(form: str, words: Words) -> Words:
    """Words in the letters of a token, if they are a cut of it, else in its case."""
    if "".join(words) == form.lower() and len(form) == len(form.lower()):
        places = [sum(map(len, words[:k])) for k in range(len(words) + 1)]
        return tuple(form[start:end] for start, end in pairwise(places))
    if len(form) > 1 and form.isupper():
        return tuple(word.upper() for word in words)
    if form[0].isupper():
        return (words[0][:1].upper() + words[0][1:], *words[1:])
    return words


def learn_rules(tokens: Iterable[tuple[str, Words]]) -> MultiwordRules:
    """Rules from the tokens of a training text: form, and words if they are several."""
    splits: dict[str, Counter[Words]] = defaultdict(Counter)
    whole: Counter[str] = Counter()
    for form, words in tokens:
        if not words:
            whole[form.lower()] += 1
        elif 1 < len(words) <= MOST_WORDS and all(map(_is_part, words)):
            splits[form.lower()][tuple(word.lower() for word in words)] += 1
    chosen = {form: _most_frequent(found) for form, found in splits.items()}
    never_split = (form for form, _ in whole.most_common() if form not in chosen)
    return MultiwordRules(
        always={form: words for form, words in chosen.items() if form not in whole},
        sometimes={form: words for form, words in chosen.items() if form in whole},
        whole=frozenset(islice(never_split, MOST_FORMS if chosen else 0)),
        suffixes=_suffixes(chosen),
    )


def _most_frequent(found: Counter[Words]) -> Words:
    return max(found, key=lambda words: (found[words], words))


def _suffixes(splits: Mapping[str, Words]) -> dict[str, Words]:
    """Suffixes of several forms with what became of them: the end of the first word, the others."""
    found: dict[str, Counter[Words]] = defaultdict(Counter)
    for form, words in splits.items():
        common = 0
        while common < min(len(form), len(words[0])) and form[common] == words[0][common]:
            common += 1
        if common < len(form):
            split = (words[0][common:], *words[1:])
            found[form[common:]][split] += 1
    chosen = {suffix: _most_frequent(counts) for suffix, counts in found.items()}
    return {s: words for s, words in chosen.items() if found[s][words] >= LEAST_TOKENS}
