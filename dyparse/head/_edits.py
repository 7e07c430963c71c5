"""Edits, by which forms become their lemmas."""

import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache, partial
from typing import NamedTuple

from dyparse.data.sentence import Sentence
from dyparse.data.token_arrays import Remembered
from dyparse.data.vocabulary import Entries
from dyparse.head._column import HeadColumn

CASES: dict[str, Callable[[str, str], str]] = {  # of the part that stays: lowered, as it was
    "lower": lambda lowered, _: lowered,
    "keep": lambda _, original: original,
    "title": lambda lowered, _: lowered[:1].upper() + lowered[1:],
    "upper": lambda lowered, _: lowered.upper(),
}
WHOLE = "="  # before a lemma that has nothing in common with its form
EDIT = re.compile(rf"({'|'.join(CASES)}) (\d{{1,4}}) (\d{{1,4}}) (\d{{1,4}}) (.*)", re.DOTALL)


class Edit(NamedTuple):
    """How a form becomes its lemma: characters cut and added at both ends, and letter case."""

    case: str
    cut_front: int
    cut_back: int
    add_front: str = ""
    add_back: str = ""

    def apply(self, form: str) -> str:
        """The lemma; empty if the form is too short."""
        end = len(form) - self.cut_back
        stem = form[self.cut_front : end]
        if end < self.cut_front:
            return ""
        return self.add_front + CASES[self.case](stem.lower(), stem) + self.add_back

    def __str__(self) -> str:
        added = f"{len(self.add_front)} {self.add_front}{self.add_back}"
        return f"{self.case} {self.cut_front} {self.cut_back} {added}"

    @classmethod
    def parse(cls, text: str) -> "Edit":
        """From the text of `str`; ValueError if it is something else."""
        if not (match := EDIT.fullmatch(text)):
            raise ValueError(f"heads: {text[:80]!a} is no edit of a form")
        case, front, back, length, added = match.groups()
        return cls(case, int(front), int(back), added[: int(length)], added[int(length) :])


@lru_cache(maxsize=100_000)
def edit_between(form: str, lemma: str) -> str:
    """The edit from a form to its lemma, as text: what both have in common stays."""
    one, other = ([c.lower() for c in text] for text in (form, lemma))  # "İ".lower() has length 2
    common = SequenceMatcher(None, one, other, autojunk=False).find_longest_match()
    end = common.a + common.size
    front, back = lemma[: common.b], lemma[common.b + common.size :]
    for case in CASES if common.size else ():
        edit = Edit(case, common.a, len(form) - end, front, back)
        if edit.apply(form) == lemma:
            return str(edit)
    return WHOLE + lemma


class LemmaColumn(HeadColumn):
    """Entries are edits; a form that is too short for the best one is its own lemma."""

    def __init__(self, entries: Entries) -> None:
        super().__init__(entries, "lemma")
        self.lemmas = remembered_lemmas(entries)

    def values(self, sentence: Sentence) -> list[str]:
        return list(map(edit_between, sentence.form, sentence.lemma))

    def columns(self, sentence: Sentence, predicted: Sequence[int]) -> dict[str, list[str]]:
        pairs = zip(sentence.form, predicted, strict=True)
        return {"lemma": list(map(self.lemmas.__getitem__, pairs))}


def remembered_lemmas(entries: Entries) -> Remembered[tuple[str, int], str]:
    """The lemmas of forms by the edits with these numbers, computed once."""
    edits = [e[len(WHOLE) :] if e.startswith(WHOLE) else Edit.parse(e) for e in entries]
    return Remembered(partial(lemma_by, edits))


def lemma_by(edits: Sequence[Edit | str], edited: tuple[str, int]) -> str:
    """The lemma of a form by the edit, or the whole lemma, that has a number."""
    form, number = edited
    edit = edits[number]
    return (edit if isinstance(edit, str) else edit.apply(form)) or form
