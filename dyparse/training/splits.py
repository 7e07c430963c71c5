"""The sentences of a run: read before any work is done, and fit for it."""

import warnings
from collections.abc import Callable, Iterable

from dyparse.data.sentence import MOST_WORDS, Sentence
from dyparse.errors import DyparseWarning, NoSplitError
from dyparse.runtime.console import print_line
from dyparse.treebank import Treebank

Read = Callable[[Treebank, str], list[Sentence]]  # the sentences of a split


def from_disk(treebank: Treebank, split: str) -> list[Sentence]:
    """Read them."""
    return treebank.read(split)


def read_splits(
    treebank: Treebank, max_sentences: int | None, read: Read
) -> dict[str, list[Sentence]]:
    """Train, dev and, if there is one, test: all read before any work is done."""
    splits = {split: read(treebank, split)[:max_sentences] for split in ("train", "dev")}
    try:
        splits["test"] = read(treebank, "test")[:max_sentences]
    except NoSplitError as error:
        print_line(f"          no test results: {error}")
    return splits


def warn_of_long_sentences(sentences: Iterable[Sentence]) -> None:
    """Say which sentences may take longer to learn from than anybody waits."""
    for sentence in sentences:
        if len(sentence) > MOST_WORDS:
            warnings.warn(
                f"{sentence.place} has {len(sentence)} words; to learn from it takes time that "
                f"grows with their cube: expected at most {MOST_WORDS}, split it or leave it out",
                DyparseWarning,
                stacklevel=2,
            )
