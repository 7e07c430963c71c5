"""Labels of arcs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from dyparse.data.columns.core_arguments import KINDS, heads_with_several
from dyparse.data.sentence import Sentence
from dyparse.data.vocabulary import Entries, sorted_entries
from dyparse.head._label_column import LabelColumn

if TYPE_CHECKING:
    from dyparse.head._label_head import LabelHead

UNIQUE = ("none", "train", *KINDS, "+".join(KINDS))


@dataclass(frozen=True)
class Labels:
    """The label of every arc, by one hidden layer over head and dependent.

    A head may be allowed one subject or one object at most; training is the same.
    """

    weight: float = 1.0
    unique: str = "none"  # or subject, object, subject+object; train: those of which train has one

    name: ClassVar[str] = "labels"

    def __post_init__(self) -> None:
        if self.unique not in UNIQUE:
            raise ValueError(
                f"heads: unique of labels is {self.unique!r}, expected one of {', '.join(UNIQUE)}"
            )

    def fitted(self, sentences: Sequence[Sentence]) -> "Labels":
        if self.unique != "train":
            return self
        several = heads_with_several(sentences)
        return replace(self, unique="+".join(k for k in KINDS if not several[k]) or "none")

    def entries(self, sentences: Sequence[Sentence]) -> Entries:
        return sorted_entries(label for s in sentences for label in s.label)

    def column(self, entries: Entries) -> LabelColumn:
        """The column without the network."""
        self._require_labels(entries)
        return LabelColumn(entries, self.unique.split("+"))

    def build(self, width: int, entries: Entries, *, hidden: int, dropout: float) -> "LabelHead":
        from dyparse.head._label_head import LabelHead

        self._require_labels(entries)
        return LabelHead(width, entries, hidden, dropout, self.unique.split("+"))

    @staticmethod
    def _require_labels(entries: Entries) -> None:
        if not entries or "_" in entries:
            raise ValueError("heads: a word has no label; label the treebank")
