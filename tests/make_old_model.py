"""A tiny model in the format of the dyparse that runs this, and the trees it gives.

python tests/make_old_model.py tests/models/format3

Before the format changes, run it once and keep the directory: tests/test_model_formats.py loads all
of them. Formats 1 and 2 were made by it at commits 32846df (there Network is in dyparse.config) and
a4a9b10.
"""

import sys
from pathlib import Path

import torch

from dyparse import system
from dyparse.encoder.bilstm import BiLSTM
from dyparse.network import Network
from dyparse.parser import Parser
from dyparse.sentence import Sentence
from dyparse.treebank.sample import Sample
from dyparse.vocabulary import Vocabulary

FEATURES = ["word", "subword", "character", "upos", "xpos", "feats"]
SENTENCES = 8


def without_trees(sentences: list[Sentence]) -> list[Sentence]:
    """Sentences whose trees tell nothing."""
    return [s.with_tree([0] * len(s), ["dep"] * len(s)) for s in sentences]


def make(directory: Path) -> None:
    """Write model and trees."""
    torch.manual_seed(1)
    torch.set_num_threads(1)
    widths = {f"{name}_width": 2 + place for place, name in enumerate(FEATURES)}
    parser = Parser.with_fresh_weights(
        system.load("arc_eager"),
        BiLSTM(features=FEATURES, subword_buckets=20, hidden=4, layers=2, **widths),
        Network(hidden=5),
        Vocabulary.from_sentences(Sample().read("train")[:5]),
    )
    parser.save(directory, {"note": "random weights"})
    trees = parser.parse(without_trees(Sample().read("dev")[:SENTENCES]))
    text = "".join(tree.to_conllu() for tree in trees)
    (directory.parent / f"{directory.name}.conllu").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    make(Path(sys.argv[1]))
