"""Words seen in training."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from dyparse.data.sentence import Sentence
from dyparse.data.vocabulary import UNKNOWN, Entries, numbered, sorted_entries
from dyparse.feature import OnePerToken


@dataclass(frozen=True)
class Word(OnePerToken):
    """Forms in lower case that were seen at least `min_frequency` times."""

    min_frequency: int = 2

    name: ClassVar[str] = "word"
    column: ClassVar[str] = "form"
    is_lexical: ClassVar[bool] = True

    def entries(self, sentences: Sequence[Sentence]) -> Entries:
        frequency = Counter(form.lower() for s in sentences for form in s.form)
        return sorted_entries(w for w, count in frequency.items() if count >= self.min_frequency)

    def numbering(self, entries: Entries) -> Callable[[str], int]:
        numbers = numbered(entries)
        return lambda form: numbers.get(form.lower(), UNKNOWN)
