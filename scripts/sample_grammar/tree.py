"""Words that hang on each other, in surface order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(eq=False)
class Word:
    """A word, and the words that stand before and after it as one block.

    A word hangs on the word it stands beside, unless `head` names another: so the surface order of
    a non-projective tree is a projective tree of blocks.
    """

    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str = "_"
    relation: str = "root"
    before: list[Word] = field(default_factory=list)
    after: list[Word] = field(default_factory=list)
    head: Word | None = None
    joined: bool = False  # one multiword token with the word before it
    close: bool = False  # no space before it
    opening: bool = False  # no space after it
    copied: Word | None = None  # an empty node: the word it repeats
    enhanced: tuple[Word, str] | None = None  # its arc in the enhanced graph, where that differs

    def block(self) -> Iterator[Word]:
        """The words of the block in surface order."""
        for word in self.before:
            yield from word.block()
        yield self
        for word in self.after:
            yield from word.block()

    def hang(self) -> None:
        """Write the head of every word in the block that does not name one."""
        for word in (*self.before, *self.after):
            word.head = word.head or self
            word.hang()

    def as_(self, relation: str) -> Word:
        self.relation = relation
        return self


def is_projective(words: list[Word]) -> bool:
    """True if every arc spans only words below its head; `words` in surface order, none empty."""
    position = {id(word): k for k, word in enumerate(words)}
    for word in words:
        if word.head is None:
            continue
        left, right = sorted((position[id(word)], position[id(word.head)]))
        if not all(_is_below(other, word.head) for other in words[left + 1 : right]):
            return False
    return True


def _is_below(word: Word, ancestor: Word) -> bool:
    above: Word | None = word
    while above is not None and above is not ancestor:
        above = above.head
    return above is ancestor
