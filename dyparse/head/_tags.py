"""Tags: predicted inside the encoder, whose last layer reads what is predicted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dyparse.data.sentence import Sentence
from dyparse.data.vocabulary import Entries, sorted_entries
from dyparse.head._column import HeadColumn

if TYPE_CHECKING:
    from dyparse.head._tag_head import TagHead


@dataclass(frozen=True)
class TagOptions:
    """Options of a head for a column of tags."""

    weight: float = 0.5
    fed: int = 32  # numbers by which the encoder reads the predicted tag; 0: it does not
    corrected: bool = False  # by the encoder's last vectors, once it has read the tags

    name: ClassVar[str]

    def entries(self, sentences: Sequence[Sentence]) -> Entries:
        """Every value of the column; "_" alone if it is empty."""
        return sorted_entries(value for s in sentences for value in getattr(s, self.name))

    def column(self, entries: Entries) -> HeadColumn:
        """The column without the network."""
        return HeadColumn(entries, self.name)

    def build(self, width: int, entries: Entries, *, hidden: int, dropout: float) -> "TagHead":  # noqa: ARG002 - it has no hidden layer
        from dyparse.head._tag_head import TagHead

        return TagHead(self.name, width, entries, self.fed)
