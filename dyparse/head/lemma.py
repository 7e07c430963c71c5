"""Lemmas, by classifying how a form is edited to become its lemma (Straka 2018)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dyparse.data.sentence import Sentence
from dyparse.data.vocabulary import Entries
from dyparse.head._edits import Edit, LemmaColumn, edit_between
from dyparse.head._tags import TagOptions

if TYPE_CHECKING:
    from dyparse.head._tag_head import LemmaHead


@dataclass(frozen=True)
class Lemma(TagOptions):
    """LEMMA of every word, by an edit of its form."""

    fed: int = 0
    least: int = 2  # times that an edit is seen in the training sentences, to be learned

    name: ClassVar[str] = "lemma"

    def entries(self, sentences: Sequence[Sentence]) -> Entries:
        """The edits that the training sentences have often enough; always one that keeps a form."""
        pairs = (pair for s in sentences for pair in zip(s.form, s.lemma, strict=True))
        times = Counter(edit_between(*pair) for pair in pairs)
        often = {edit for edit, count in times.items() if count >= self.least}
        return tuple(sorted(often | {str(Edit("keep", 0, 0))}))

    def column(self, entries: Entries) -> LemmaColumn:
        return LemmaColumn(entries)

    def build(self, width: int, entries: Entries, *, hidden: int, dropout: float) -> "LemmaHead":  # noqa: ARG002 - it has no hidden layer
        from dyparse.head._tag_head import LemmaHead

        return LemmaHead(width, entries, self.fed)
