"""Reads train, dev and test from files; without a dev file, part of train is held out as dev."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dyparse.data.malformed import STOP, read_trees, warn
from dyparse.data.sentence import Sentence
from dyparse.errors import TreebankError

SPLITS = ("train", "dev", "test")
SMALLEST_SHARE, LARGEST_SHARE = 1e-6, 0.5

SplitFiles = Mapping[str, Sequence[str]]  # files of each split, in order


def read_split(
    files: SplitFiles, split: str, held_out: float, on_error: str = STOP
) -> list[Sentence] | None:
    """The sentences of a split, in order; None if there is no file for it.

    Without a dev file, every k-th sentence of train is dev and the others are train. A malformed
    sentence is an error, or is skipped with a warning if on_error is "skip".
    """
    if split not in SPLITS:
        raise TreebankError(f"there is no split {split!r}; expected one of {', '.join(SPLITS)}")
    holds_out = split != "test" and is_held_out(files)
    paths = files["train"] if holds_out else files.get(split)
    if paths is None:
        return None
    if holds_out and (pipe := next((p for p in paths if is_pipe(p)), None)):
        raise TreebankError(
            f"{pipe}: a pipe, but train is read twice because dev is held out of it; write it to a "
            "file first, or name a dev file"
        )
    sentences = list(read_trees(paths, on_error, warn))
    if not holds_out:
        return sentences
    train, dev = hold_out(sentences, held_out, paths[0])
    return dev if split == "dev" else train


def is_pipe(path: str) -> bool:
    """Whether a path is a pipe, which can be read only once."""
    return Path(path).is_fifo()


def is_held_out(files: SplitFiles) -> bool:
    """Whether dev has to be held out of train."""
    return "train" in files and "dev" not in files


def hold_out(
    sentences: list[Sentence], share: float, path: str
) -> tuple[list[Sentence], list[Sentence]]:
    """Splits train into train and dev, which gets every k-th sentence and at least one."""
    step = min(hold_out_every(share), len(sentences))
    if step < 2:
        raise TreebankError(
            f"{path}: only one sentence; expected at least 2, since dev is held out of train: "
            "add sentences, or name a dev file"
        )
    train = [sentence for index, sentence in enumerate(sentences, 1) if index % step]
    return train, sentences[step - 1 :: step]


def hold_out_every(share: float) -> int:
    """k, such that every k-th sentence is about this share of them."""
    return round(1 / share)


def require_held_out(share: float) -> None:
    """ValueError unless this share of train can be held out."""
    if not SMALLEST_SHARE <= share <= LARGEST_SHARE:
        raise ValueError(
            f"treebank.held_out is {share}, expected a share of train from {SMALLEST_SHARE} "
            f"to {LARGEST_SHARE}, such as 0.1 for every 10th sentence"
        )


def describe_files(files: SplitFiles, held_out: float) -> str:
    """One line: the files of each split, and what is held out of train if there is no dev file."""
    listed = ", ".join(f"{split} {' + '.join(files[split])}" for split in SPLITS if split in files)
    if not is_held_out(files):
        return listed
    k = hold_out_every(held_out)
    return (
        f"{listed}; no dev file: sentences {k}, {2 * k}, {3 * k}, ... of train (1 in {k}) are "
        "held out as dev and not trained on"
    )
