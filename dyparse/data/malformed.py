"""Malformed sentences: stop at the first one, or skip and report them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from dyparse.data.conllu import Block, Source, read_blocks, to_sentence
from dyparse.data.sentence import Sentence
from dyparse.errors import DyparseWarning, EmptyFileError, TreebankError

STOP, SKIP = ON_ERROR = ("stop", "skip")
MOST_NAMED = 20  # skipped sentences reported one by one; the rest are only counted


@dataclass
class Skipped:
    """Skips malformed sentences: reports the first ones as they are found, counts all."""

    report: Callable[[str], object]
    first_error: TreebankError | None = None
    sound: int = 0  # number of sentences
    malformed: int = 0  # number of sentences
    empty_files: int = 0
    unit: str = "sentences"  # or lines, of text

    def sound_lines(
        self, lines: Iterable[bytes], check: Callable[[bytes, int], str]
    ) -> Iterator[str]:
        """The lines of a text that can be read."""
        self.unit = "lines"
        for number, line in enumerate(lines, 1):
            try:
                text = check(line, number)
            except TreebankError as error:
                self.malformed += 1
                self._add(error)
                continue
            self.sound += not text.isspace()
            yield text
        self._require_sound()

    def sound_only(
        self, files: Iterable[Iterable[Block]], check: Callable[[Block], Sentence]
    ) -> Iterator[tuple[Block, Sentence]]:
        """The sound sentences of all files; TreebankError if there are none.

        A file that cannot be read is still an error.
        """
        for blocks in files:
            try:
                yield from self._sound_blocks(blocks, check)
            except EmptyFileError as error:
                self.empty_files += 1
                self._add(error)
        self._require_sound()

    def _require_sound(self) -> None:
        """TreebankError if all was skipped."""
        if self.first_error and not self.sound:
            if not self.malformed:
                raise self.first_error
            unit = self.unit.removesuffix("s")
            raise TreebankError(f"{self.first_error}; no sound {unit} is left: {self.counts()}")

    def _sound_blocks(
        self, blocks: Iterable[Block], check: Callable[[Block], Sentence]
    ) -> Iterator[tuple[Block, Sentence]]:
        for block in blocks:
            try:
                sentence = check(block)
            except TreebankError as error:
                self.malformed += 1
                self._add(error)
                continue
            self.sound += 1
            yield block, sentence

    def _add(self, error: TreebankError) -> None:
        self.first_error = self.first_error or error
        if self.malformed + self.empty_files <= MOST_NAMED:
            self.report(f"skipped: {error}")

    def report_counts(self) -> None:
        """Reports the counts, if anything was skipped."""
        if self.malformed or self.empty_files:
            self.report(self.counts())

    def counts(self) -> str:
        """One line: how many sentences were skipped, of how many."""
        text = f"skipped {self.malformed} of {self.sound + self.malformed} {self.unit}"
        if self.empty_files:
            text += f", {self.empty_files} file{'s' * (self.empty_files > 1)} without any"
        unnamed = self.malformed + self.empty_files - MOST_NAMED
        return f"{text}; the first {MOST_NAMED} are named above" if unnamed > 0 else text


def sentence_with_tree(block: Block) -> Sentence:
    """The checked sentence of a block, with its tree."""
    return to_sentence(block, trees=True)


def read_trees(
    sources: Iterable[Source],
    on_error: str,
    report: Callable[[str], object],
    check: Callable[[Block], Sentence] = sentence_with_tree,
) -> Iterator[Sentence]:
    """The sentences of several files, with trees; malformed ones are an error or are skipped."""
    files = map(read_blocks, sources)
    if on_error == STOP:
        for blocks in files:
            yield from map(check, blocks)
        return
    skipped = Skipped(report)
    for _, sentence in skipped.sound_only(files, check):
        yield sentence
    skipped.report_counts()


def warn(message: str) -> None:
    """Warns the user about a treebank."""
    warnings.warn(message, DyparseWarning, stacklevel=2)


def require_on_error(value: str, option: str) -> None:
    """ValueError unless the value is one of ON_ERROR."""
    if value not in ON_ERROR:
        raise ValueError(f"{option} is {value!r}, expected {' or '.join(ON_ERROR)}")
