"""The sample treebank that comes with the package: small, made by a grammar, free of licences."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import as_file, files

from dyparse.data.sentence import Sentence
from dyparse.data.split_files import SPLITS, read_split


@dataclass(frozen=True)
class Sample:
    """The embedded sample treebank, for a first run without any download."""

    @property
    def name(self) -> str:
        return "sample"

    def read(self, split: str) -> list[Sentence]:
        with as_file(files("dyparse.treebank") / "sample_data") as directory:
            paths = {split: [str(directory / f"{split}.conllu")] for split in SPLITS}
            sentences = read_split(paths, split, held_out=0)
        assert sentences is not None
        return sentences

    def describe(self) -> str:
        return "the sample treebank of the package: train, dev and test made by a grammar"
