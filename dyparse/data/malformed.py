"""What to do about malformed sentences: stop at the first, or leave them out and say so."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from dyparse.data.conllu import Block, Source, read_blocks, to_sentence
from dyparse.data.sentence import Sentence
from dyparse.errors import DyparseWarning, EmptyFileError, TreebankError

STOP, SKIP = ON_ERROR = ("stop", "skip")
MOST_NAMED = 20  # of the sentences left out; the others are counted only


@dataclass
class Skipped:
    """What was left out of some files: the first are told as they are found, all are counted."""

    tell: Callable[[str], object]
    first_error: TreebankError | None = None
    sound: int = 0  # sentences, as are malformed
    malformed: int = 0
    empty_files: int = 0

    def sound_only(
        self, files: Iterable[Iterable[Block]], check: Callable[[Block], Sentence]
    ) -> Iterator[tuple[Block, Sentence]]:
        """The sound sentences of all files; TreebankError if there are others only.

        A file that cannot be read is an error all the same.
        """
        for blocks in files:
            try:
                yield from self._sound_blocks(blocks, check)
            except EmptyFileError as error:
                self.empty_files += 1
                self._name(error)
        if self.first_error and not self.sound:
            if not self.malformed:
                raise self.first_error
            raise TreebankError(f"{self.first_error}; no sound sentence is left: {self.counts()}")

    def _sound_blocks(
        self, blocks: Iterable[Block], check: Callable[[Block], Sentence]
    ) -> Iterator[tuple[Block, Sentence]]:
        for block in blocks:
            try:
                sentence = check(block)
            except TreebankError as error:
                self.malformed += 1
                self._name(error)
                continue
            self.sound += 1
            yield block, sentence

    def _name(self, error: TreebankError) -> None:
        self.first_error = self.first_error or error
        if self.malformed + self.empty_files <= MOST_NAMED:
            self.tell(f"skipped: {error}")

    def tell_counts(self) -> None:
        """The last line, if there is anything to tell."""
        if self.malformed or self.empty_files:
            self.tell(self.counts())

    def counts(self) -> str:
        """One line: how many sentences were left out, of how many."""
        text = f"skipped {self.malformed} of {self.sound + self.malformed} sentences"
        if self.empty_files:
            text += f", {self.empty_files} file{'s' * (self.empty_files > 1)} without any"
        unnamed = self.malformed + self.empty_files - MOST_NAMED
        return f"{text}; the first {MOST_NAMED} are named above" if unnamed > 0 else text


def with_tree(block: Block) -> Sentence:
    """The sentence of a block, checked."""
    return to_sentence(block, trees=True)


def read_trees(
    sources: Iterable[Source],
    on_error: str,
    tell: Callable[[str], object],
    check: Callable[[Block], Sentence] = with_tree,
) -> Iterator[Sentence]:
    """The sentences of several files, with trees; malformed ones end it, or are left out."""
    files = map(read_blocks, sources)
    if on_error == STOP:
        for blocks in files:
            yield from map(check, blocks)
        return
    skipped = Skipped(tell)
    for _, sentence in skipped.sound_only(files, check):
        yield sentence
    skipped.tell_counts()


def warn(message: str) -> None:
    """A warning to whoever reads a treebank."""
    warnings.warn(message, DyparseWarning, stacklevel=2)


def require_on_error(value: str, option: str) -> None:
    """ValueError if this is none of what can be done."""
    if value not in ON_ERROR:
        raise ValueError(f"{option} is {value!r}, expected {' or '.join(ON_ERROR)}")
