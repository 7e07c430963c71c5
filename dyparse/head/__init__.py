"""Heads: what a model predicts of every word beside the moves, from the encoder's vectors.

A head knows its targets in gold sentences, its loss, how predictions are written into a sentence,
and how they are scored. Arc labels are one, tags are others. joint_labels.py is a special case: the
moves carry the labels, and the network has no head for them. To add one, write a module with
a frozen dataclass that has the members of `HeadChoice` and builds a `Head`, in this folder or in a
package of your own, and list it: `heads=[labels,mylab.TagHead]`.
"""

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from dyparse.config import choices
from dyparse.data.sentence import Sentence
from dyparse.data.vocabulary import Entries
from dyparse.tensors.module_names import is_taken

if TYPE_CHECKING:
    from dyparse.head._head import Head as Head

LABELS = "labels"  # the name of the head that every model has
UNWRITABLE = re.compile("|.*[\t\r\n\0].*", re.DOTALL)


def __getattr__(name: str) -> Any:
    """`Head`, imported when it is first used: options and columns of heads need no torch."""
    if name == "Head":
        from dyparse.head._head import Head

        return Head
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class HeadChoice(Protocol):
    """The options of a head: a frozen dataclass."""

    name: ClassVar[str]

    @property
    def weight(self) -> float:
        """The weight of its loss in the sum of all losses."""
        ...

    def entries(self, sentences: Sequence[Sentence]) -> Entries:
        """The values that it can predict, sorted, from the training sentences."""
        ...

    def build(self, width: int, entries: Entries, *, hidden: int, dropout: float) -> "Head | None":
        """The head over vectors of this width; ValueError if the entries cannot be predicted.

        None if the network needs none, as for labels that come with the moves.

        hidden and dropout are those of the model's other parts, `network.hidden` and
        `network.dropout`.
        """
        ...


@runtime_checkable
class FitsOptions(Protocol):
    """A head with options that the training sentences decide."""

    def fitted(self, sentences: Sequence[Sentence]) -> HeadChoice:
        """The same head with these options decided; a model directory names it so."""
        ...


def load_heads(texts: Sequence[str], option: str = "heads") -> list[HeadChoice]:
    """The heads of these names, with options in text; ValueError names the option if wrong."""
    try:
        return [choices.load("head", text) for text in texts]
    except ValueError as error:
        raise ValueError(f"{option}: {error}") from error


def require_heads(heads: Sequence[HeadChoice]) -> None:
    """ValueError if these cannot be the heads of a model: trees need labels."""
    names = [head.name for head in heads]
    if len(set(names)) < len(names) or LABELS not in names:
        raise ValueError(f"heads are {names}, expected {LABELS} and others, each once")
    for head in heads:
        if not 0 < head.weight < math.inf:
            raise ValueError(
                f"heads: the weight of {head.name} is {head.weight}, expected more than 0"
            )
        if not head.name.isidentifier() or is_taken(head.name, choices.names("head")):
            raise ValueError(f"heads: a head cannot be called {head.name!r}; choose a plain name")


def require_writable(name: str, entries: Entries) -> None:
    """ValueError if an entry cannot be written in a column of CoNLL-U."""
    for entry in entries:
        if UNWRITABLE.fullmatch(entry):
            raise ValueError(
                f"heads: {entry!a}, an entry of {name}, cannot be written in CoNLL-U; clean the "
                "treebank"
            )
