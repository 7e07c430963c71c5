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
ROOT, TOP = "root", "top"
ROOTS = ("anywhere", TOP, "train")


@dataclass(frozen=True)
class Labels:
    """The label of every arc, by one hidden layer over head and dependent.

    A head may be allowed one subject or one object at most, and `root` may be kept for words
    without a head, which then have no other label; training is the same.
    """

    weight: float = 1.0
    unique: str = "none"  # or subject, object, subject+object; train: those of which train has one
    root: str = "train"  # or anywhere, top; train: top, without a head, if train has it just there

    name: ClassVar[str] = "labels"

    def __post_init__(self) -> None:
        if self.unique not in UNIQUE:
            raise ValueError(
                f"heads: unique of labels is {self.unique!r}, expected one of {', '.join(UNIQUE)}"
            )
        require_root(self.root)

    def fitted(self, sentences: Sequence[Sentence]) -> "Labels":
        unique = self.unique
        if unique == "train":
            several = heads_with_several(sentences)
            unique = "+".join(k for k in KINDS if not several[k]) or "none"
        return replace(self, unique=unique, root=fitted_root(self.root, sentences))

    def entries(self, sentences: Sequence[Sentence]) -> Entries:
        return label_entries(sentences)

    def column(self, entries: Entries) -> LabelColumn:
        """The column without the network."""
        require_labels(entries)
        return LabelColumn(entries, self.unique.split("+"), self._root_label)

    def build(self, width: int, entries: Entries, *, hidden: int, dropout: float) -> "LabelHead":
        from dyparse.head._label_head import LabelHead

        require_labels(entries)
        unique = self.unique.split("+")
        return LabelHead(width, entries, hidden, dropout, unique, self._root_label)

    @property
    def _root_label(self) -> str | None:
        """The label that is kept for words without a head, if one is."""
        return ROOT if self.root == TOP else None


def require_root(root: str) -> None:
    """ValueError if this does not say where words with the label `root` are."""
    if root not in ROOTS:
        raise ValueError(f"heads: root of labels is {root!r}, expected one of {', '.join(ROOTS)}")


def fitted_root(root: str, sentences: Sequence[Sentence]) -> str:
    """Where words with the label `root` are, if that is for the training sentences to say."""
    if root != "train":
        return root
    return TOP if all(map(has_root_on_top, sentences)) else "anywhere"


def label_entries(sentences: Sequence[Sentence]) -> Entries:
    """Every label."""
    return sorted_entries(label for s in sentences for label in s.label)


def require_labels(entries: Entries) -> None:
    """ValueError if some word has none."""
    if not entries or "_" in entries:
        raise ValueError("heads: a word has no label; label the treebank")


def has_root_on_top(sentence: Sentence) -> bool:
    """Whether the words without a head, and no others, have the label `root`."""
    pairs = zip(sentence.head, sentence.label, strict=True)
    return all((head == 0) == (label == ROOT) for head, label in pairs)
