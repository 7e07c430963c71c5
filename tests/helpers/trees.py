"""Checks of parsed sentences."""

from __future__ import annotations

import numpy as np

from dyparse.data.sentence import Sentence
from dyparse.evaluation.exhaustive import are_trees, root_children


def assert_tree(sentence: Sentence) -> None:
    """Every word has a head and a label, and the heads are a tree with one root."""
    head = np.array([[0, *sentence.head]])
    assert are_trees(head)[0], sentence.head
    assert root_children(head)[0] == 1
    assert all(label != "_" for label in sentence.label)
