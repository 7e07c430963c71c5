"""Labels that come with the moves: no network of their own, one decision for arc and label."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from dyparse.data.sentence import Sentence
from dyparse.data.vocabulary import Entries
from dyparse.head._label_column import LabelColumn
from dyparse.head.labels import (
    TOP,
    fitted_root,
    label_entries,
    require_labels,
    require_root,
)


@dataclass(frozen=True)
class JointLabels:
    """The label of every arc, by the move that adds it: the moves of the parser carry labels.

    Stands in for the head `labels`. `root` may be kept for words without a head, as there; it is
    then the only label that is legal for them, and legal for no others.
    """

    root: str = "train"  # or anywhere, top; train: top, without a head, if train has it just there

    name: ClassVar[str] = "labels"
    weight: ClassVar[float] = 1.0  # their loss is that of the moves

    def __post_init__(self) -> None:
        require_root(self.root)

    def fitted(self, sentences: Sequence[Sentence]) -> "JointLabels":
        return replace(self, root=fitted_root(self.root, sentences))

    def entries(self, sentences: Sequence[Sentence]) -> Entries:
        return label_entries(sentences)

    def column(self, entries: Entries) -> LabelColumn:
        """The column: its entries are numbered as the labels of moves are."""
        require_labels(entries)
        return LabelColumn(entries)

    def build(self, width: int, entries: Entries, *, hidden: int, dropout: float) -> None:  # noqa: ARG002 - as other heads
        """Nothing: the scores of moves are those of labels too."""
        require_labels(entries)

    @property
    def root_on_top(self) -> bool:
        """Whether the label `root` is that of words without a head, and of no others."""
        return self.root == TOP
