"""Exhaustive search through a transition system: all states, all trees, least losses, no formula.

It uses nothing but the public methods of a system, and is meant to judge oracles on sentences of a
few words. A search is a list of layers: the different states after 0, 1, 2, … moves. Trees are rows
of heads, `trees[t, w]` the head of word w; column 0 belongs to the root and means nothing.
"""

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dyparse.data.sentence import NONE
from dyparse.system import States, System

PAIRS_AT_ONCE = 40_000


@dataclass(frozen=True)
class Layer:
    """The S different states after some number of moves, and where each legal move leads."""

    states: States
    finished: NDArray[np.bool_]  # [S]
    legal: NDArray[np.bool_]  # [S, M]  nothing where finished
    following: NDArray[np.intp]  # [S, M]  row in the next layer, NONE where not legal
    paths: list[tuple[int, ...]]  # moves that lead to each state


def reachable_states(system: System, n_words: int, most_moves: int | None = None) -> list[Layer]:
    """Every state that a sentence can reach, breadth first.

    With `most_moves` the search stops there; a layer more than that means that moves were left.
    """
    layers: list[Layer] = []
    states, paths = system.start([n_words]), [tuple[int, ...]()]
    while paths and (most_moves is None or len(layers) <= most_moves + 1):
        finished = system.finished(states)
        legal = system.legal(states) & ~finished[:, None]
        rows, moves = legal.nonzero()
        after = states.take(rows)
        system.step(after, moves)
        first, which = _different_rows(after)
        following = np.full(legal.shape, NONE)
        following[rows, moves] = which
        layers.append(Layer(states, finished, legal, following, paths))
        states, paths = after.take(first), [(*paths[rows[k]], int(moves[k])) for k in first]
    return layers


def _different_rows(states: States) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First row of each different state, and for each row which of them it is."""
    keys = state_bytes(states)
    _, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return first, which.reshape(-1)


def state_bytes(states: States) -> NDArray[np.uint8]:
    """[S, …]: all arrays of each state, as one row of bytes."""
    columns = [a[:, None] if a.ndim == 1 else a for a in states]
    return np.concatenate([np.ascontiguousarray(c).view(np.uint8) for c in columns], axis=1)


def least_losses(
    system: System, layers: list[Layer], trees: NDArray[np.int32]
) -> list[NDArray[np.int8]]:
    """For each layer [S, trees]: the fewest wrong heads among the ends that can be reached."""
    most = trees.shape[1]  # more than any loss
    least: list[NDArray[np.int8]] = []
    below = np.zeros((0, len(trees)), dtype=np.int8)
    for layer in reversed(layers):
        here = np.full((len(layer.paths), len(trees)), most, dtype=np.int8)
        heads = system.heads(layer.states)[layer.finished]
        here[layer.finished] = (heads[:, None, 1:] != trees[None, :, 1:]).sum(-1)
        for move in range(layer.legal.shape[1]):
            rows = layer.legal[:, move]
            here[rows] = np.minimum(here[rows], below[layer.following[rows, move]])
        least.append(here)
        below = here
    return least[::-1]


def reachable_trees(system: System, layers: list[Layer]) -> list[NDArray[np.uint8]]:
    """For each layer [S, …]: which of `all_trees` can be reached, as packed bits."""
    n_words = layers[0].states.head.shape[1] - 1
    n_bytes = -(-len(_tree_codes(n_words)) // 8)
    found: list[NDArray[np.uint8]] = []
    below = np.zeros((0, n_bytes), dtype=np.uint8)
    for layer in reversed(layers):
        here = np.zeros((len(layer.paths), n_bytes), dtype=np.uint8)
        ends = np.flatnonzero(layer.finished)
        tree = tree_numbers(system.heads(layer.states)[ends])
        here[ends, tree // 8] = 1 << tree % 8
        for move in range(layer.legal.shape[1]):
            rows = layer.legal[:, move]
            here[rows] |= below[layer.following[rows, move]]
        found.append(here)
        below = here
    return found[::-1]


def is_among(heads: NDArray[np.int32], packed: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Whether each tree is among those of its row of `reachable_trees`. [P, N] → [P]"""
    is_tree = are_trees(heads)
    tree = np.where(is_tree, tree_numbers(heads), 0)
    return np.asarray(is_tree & (packed[np.arange(len(tree)), tree // 8] >> tree % 8 & 1 > 0))


def tree_numbers(heads: NDArray[np.int32]) -> NDArray[np.intp]:
    """Position of each tree in `all_trees`. [B, N] → [B]"""
    N = heads.shape[1]
    codes = heads[:, 1:] @ N ** np.arange(N - 1)[::-1]
    return np.asarray(np.searchsorted(_tree_codes(N - 1), codes))


@functools.cache
def _tree_codes(n_words: int) -> NDArray[np.int64]:
    """The heads of `all_trees`, which are in order, as the digits of one number."""
    digits = (n_words + 1) ** np.arange(n_words)[::-1]
    return np.asarray(all_trees(n_words)[:, 1:] @ digits)


def pairs(
    states: States, rows: NDArray[np.intp], trees: NDArray[np.int32]
) -> Iterator[tuple[NDArray[np.intp], States, NDArray[np.int32]]]:
    """(rows, states, gold): each of the rows with each tree, tree fastest, some rows at a time."""
    at_once = max(1, PAIRS_AT_ONCE // len(trees))
    for start in range(0, len(rows), at_once):
        some = rows[start : start + at_once]
        yield some, states.take(np.repeat(some, len(trees))), np.tile(trees, (len(some), 1))


def all_trees(n_words: int) -> NDArray[np.int32]:
    """Every tree over the words, with any number of root children: (n + 1)^(n − 1) rows."""
    heads = itertools.product(range(n_words + 1), repeat=n_words)
    trees = np.array([(0, *head) for head in heads], dtype=np.int32)
    return trees[are_trees(trees)]


def are_trees(heads: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether climbing from every word arrives at the root. [B, N] → [B]"""
    N = heads.shape[1]
    inside = ((heads[:, 1:] >= 0) & (heads[:, 1:] < N)).all(-1)
    up = np.where(inside[:, None], heads, 0)
    up[:, 0] = 0
    here = up.copy()
    for _ in range(N):
        here = np.take_along_axis(up, here, axis=1)
    return np.asarray(inside & (here == 0).all(-1))


def root_children(heads: NDArray[np.int32]) -> NDArray[np.intp]:
    """Number of words whose head is the root. [B, N] → [B]"""
    return np.asarray((heads[:, 1:] == 0).sum(-1))
