"""Characters of words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from dyparse.data.sentence import Sentence
from dyparse.data.token_arrays import ROOT_VALUE
from dyparse.data.vocabulary import ROOT, UNKNOWN, Entries, numbered, sorted_entries
from dyparse.feature import SequencePerToken, shortened


@dataclass(frozen=True)
class Character(SequencePerToken):
    """The characters of a form, in order; very long forms lack their middle."""

    name: ClassVar[str] = "character"
    column: ClassVar[str] = "form"

    def entries(self, sentences: Sequence[Sentence]) -> Entries:
        return sorted_entries(character for s in sentences for form in s.form for character in form)

    def numbering(self, entries: Entries) -> Callable[[str], list[int]]:
        numbers = numbered(entries)
        return lambda form: (
            [ROOT] if form == ROOT_VALUE else [numbers.get(c, UNKNOWN) for c in shortened(form)]
        )
