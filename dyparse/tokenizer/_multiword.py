"""How multiword tokens are split into words: as in the training text, never with new letters.

A form that was seen is split as it was there; only of one that was also seen whole the network
decides whether. Another form is cut where the network ends words inside it, else by the longest
suffix that was split alike in several tokens of the training text (*verlo* and *darlo* teach
*-lo* → *-*, *lo*). Splits are kept as the letters of the token where these are its words.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

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
    suffixes: Mapping[str, Words] = field(default_factory=dict)

    def split(self, form: str, cuts: Sequence[int], *, is_multiword: bool) -> Words:
        """The words of a token; none if it is a word itself.

        The network says where words end inside it (`cuts`), and whether it is a multiword token.
        """
        lower = form.lower()
        seen = self.always.get(lower)
        if seen is None and is_multiword:
            seen = self.sometimes.get(lower)
        if seen is not None:
            return as_written(form, seen)
        if not is_multiword or len(form.split()) > 1:
            return ()
        borders = [0, *cuts, len(form)]
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

    def as_json(self) -> dict[str, dict[str, list[str]]]:
        """The rules as plain data; `from_json` makes them again."""
        parts = {"always": self.always, "sometimes": self.sometimes, "suffixes": self.suffixes}
        return {
            name: {form: list(words) for form, words in sorted(part.items())}
            for name, part in parts.items()
        }

    @classmethod
    def from_json(cls, given: Any) -> MultiwordRules:
        """Rules from plain data; ValueError if they are not what `as_json` gives."""
        parts = ("always", "sometimes", "suffixes")
        if not isinstance(given, dict) or set(given) != set(parts):
            raise ValueError(f"multiword is not an object of {', '.join(parts)}")
        for name in parts:
            _require_splits(name, given[name])
        always, sometimes, suffixes = (
            {form: tuple(words) for form, words in given[name].items()} for name in parts
        )
        return cls(always, sometimes, suffixes)


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
    whole: set[str] = set()
    for form, words in tokens:
        if not words:
            whole.add(form.lower())
        elif 1 < len(words) <= MOST_WORDS and all(map(_is_part, words)):
            splits[form.lower()][tuple(word.lower() for word in words)] += 1
    chosen = {form: _most_frequent(found) for form, found in splits.items()}
    return MultiwordRules(
        always={form: words for form, words in chosen.items() if form not in whole},
        sometimes={form: words for form, words in chosen.items() if form in whole},
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
