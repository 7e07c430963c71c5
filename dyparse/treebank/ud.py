"""A treebank of a Universal Dependencies release, unpacked or fetched by `dyparse download`."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path

from dyparse.data.malformed import require_on_error
from dyparse.data.sentence import Sentence
from dyparse.errors import NoSplitError, TreebankError
from dyparse.treebank._split_files import (
    SPLITS,
    SplitFiles,
    describe_files,
    read_split,
    require_held_out,
)

MOST_LISTED = 10


@dataclass(frozen=True)
class UD:
    """`<root>/<name>/*-ud-{train,dev,test}.conllu`; without dev, a share of train is held out."""

    root: str
    name: str
    held_out: float = 0.1
    on_error: str = "stop"  # or "skip", for malformed sentences

    def __post_init__(self) -> None:
        require_held_out(self.held_out)
        require_on_error(self.on_error, "treebank.on_error")

    def read(self, split: str) -> list[Sentence]:
        files = self._files()
        sentences = read_split(files, split, self.held_out, self.on_error)
        if sentences is None:
            raise NoSplitError(
                f"{self._directory()}: no *-ud-{split}.conllu; this treebank only has "
                f"{', '.join(files)}: choose another treebank, or make your own split and use "
                "treebank=files"
            )
        return sentences

    def describe(self) -> str:
        return describe_files(self._files(), self.held_out)

    def _directory(self) -> Path:
        return Path(self.root).expanduser() / self.name

    def _files(self) -> SplitFiles:
        directory = self._directory()
        if not self.name:
            raise TreebankError(
                "which UD treebank? give its directory, as in treebank=ud/UD_English-LinES, or "
                "treebank.name=UD_English-LinES if it is in treebank.root"
            )
        if not directory.is_dir() or Path(self.name).name != self.name:
            raise _not_found(Path(self.root).expanduser(), self.name)
        files = {split: _files_of_split(directory, split) for split in SPLITS}
        found = {split: paths for split, paths in files.items() if paths}
        _require_one_treebank(directory, found)
        return found


def _files_of_split(directory: Path, split: str) -> list[str]:
    """The file of a split, or its parts: large treebanks have *-ud-train-a.conllu, -b, ..."""
    parts = [*directory.glob(f"*-ud-{split}.conllu"), *directory.glob(f"*-ud-{split}-*.conllu")]
    return [str(path) for path in sorted(parts)]


def _require_one_treebank(directory: Path, files: SplitFiles) -> None:
    codes = {Path(path).name.split("-ud-")[0] for paths in files.values() for path in paths}
    if not codes:
        raise TreebankError(
            f"{directory}: no *-ud-train.conllu, *-ud-dev.conllu or *-ud-test.conllu in it; "
            "expected a treebank of a UD release: unpack or download it again"
        )
    if len(codes) > 1:
        raise TreebankError(
            f"{directory}: files of several treebanks ({', '.join(sorted(codes))}); "
            "expected one per directory: move the others, or use treebank=files"
        )


def _not_found(root: Path, name: str) -> TreebankError:
    """Error for an unknown treebank, with similar names and what there is."""
    fetch = f"fetch it with: dyparse download {name} --root {root}"
    if not root.is_dir():
        return TreebankError(
            f"{root}: no such directory; expected an unpacked UD release: set treebank.root to it, "
            f"or {fetch}"
        )
    there = sorted(path.name for path in root.iterdir() if path.is_dir() and path.name[0] != ".")
    near = difflib.get_close_matches(name, there, n=3, cutoff=0.5)
    if near:
        hint = f"did you mean {' or '.join(near)}?"
    elif any(root.glob("*.conllu")):
        hint = f"treebank.root is a treebank itself: set it to {root.parent}"
    else:
        hint = f"set treebank.name to one of these, or {fetch}"
    listed = ", ".join(there[:MOST_LISTED]) or "no directory"
    more = f" and {len(there) - MOST_LISTED} more" if len(there) > MOST_LISTED else ""
    return TreebankError(f"{root}: no treebank {name!r}; there is {listed}{more}; {hint}")
