"""Train, dev and test of a treebank that is made of files; without dev, a part of train serves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dyparse.data.malformed import STOP, read_trees, warn
from dyparse.data.sentence import Sentence
from dyparse.errors import TreebankError

SPLITS = ("train", "dev", "test")
SMALLEST_SHARE, LARGEST_SHARE = 1e-6, 0.5

SplitFiles = Mapping[str, Sequence[str]]  # the files of each split there is, in order


def read_split(
    files: SplitFiles, split: str, held_out: float, on_error: str = STOP
) -> list[Sentence] | None:
    """The sentences of a split, in order; None if there is no file for it.

    Where train has no dev beside it, every k-th sentence of train is dev and the others are train.
    Malformed sentences end the reading, or are left out with a warning if on_error is "skip".
    """
    if split not in SPLITS:
        raise TreebankError(f"no split is called {split!r}; expected one of {', '.join(SPLITS)}")
    holds_out = split != "test" and is_held_out(files)
    paths = files["train"] if holds_out else files.get(split)
    if paths is None:
        return None
    if holds_out and (pipe := next((p for p in paths if is_pipe(p)), None)):
        raise TreebankError(
            f"{pipe}: a pipe, but train is read twice where dev is held out of it; write it to a "
            "file first, or name a dev file"
        )
    sentences = list(read_trees(paths, on_error, warn))
    if not holds_out:
        return sentences
    train, dev = hold_out(sentences, held_out, paths[0])
    return dev if split == "dev" else train


def is_pipe(path: str) -> bool:
    """Whether a path names something that can be read but once."""
    return Path(path).is_fifo()


def is_held_out(files: SplitFiles) -> bool:
    """Whether dev has to be held out of train."""
    return "train" in files and "dev" not in files


def hold_out(
    sentences: list[Sentence], share: float, path: str
) -> tuple[list[Sentence], list[Sentence]]:
    """What remains of train, and every k-th sentence of it, at least one, as dev."""
    step = min(every(share), len(sentences))
    if step < 2:
        raise TreebankError(
            f"{path}: one sentence only; expected at least 2, since dev is held out of train: "
            "add sentences, or name a dev file"
        )
    train = [sentence for index, sentence in enumerate(sentences, 1) if index % step]
    return train, sentences[step - 1 :: step]


def every(share: float) -> int:
    """k, where a share of about 1/k is held out by taking every k-th sentence."""
    return round(1 / share)


def require_held_out(share: float) -> None:
    """ValueError if this share of train cannot be held out."""
    if not SMALLEST_SHARE <= share <= LARGEST_SHARE:
        raise ValueError(
            f"treebank.held_out is {share}, expected a share of train from {SMALLEST_SHARE} "
            f"to {LARGEST_SHARE}, such as 0.1 for every 10th sentence"
        )


def describe_files(files: SplitFiles, held_out: float) -> str:
    """One line: the files of each split, and what is held out of train if there is no dev."""
    listed = ", ".join(f"{split} {' + '.join(files[split])}" for split in SPLITS if split in files)
    if not is_held_out(files):
        return listed
    k = every(held_out)
    return (
        f"{listed}; no dev file: sentences {k}, {2 * k}, {3 * k}, ... of train (1 in {k}) are "
        "held out as dev and not trained on"
    )
