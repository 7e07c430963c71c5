"""Least losses found by search through the public face of a transition system, without a formula.

A graph is a list of layers: the different states after 0, 1, 2, ... moves. Trees are rows of heads,
`trees[t, w]` the head of word w; column 0 belongs to the root and means nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

NONE = -1
PAIRS_AT_ONCE = 40_000
RUBBISH = np.array([-100, -1, 0, 1, 3, 10_000])  # what a caller may leave where no word is


@dataclass(frozen=True)
class Layer:
    """The different states after some number of moves, and where each legal move leads."""

    states: Any
    finished: np.ndarray  # bool [S]
    legal: np.ndarray  # bool [S, M], nothing where finished
    following: np.ndarray  # int [S, M] row in the next layer, NONE where not legal
    paths: list[tuple[int, ...]]  # moves that lead to each state


def explore(system: Any, words: int) -> list[Layer]:
    """Every state of a sentence that can be reached, breadth first."""
    layers: list[Layer] = []
    states, paths = system.start(np.array([words])), [()]
    while paths:
        finished = system.finished(states)
        legal = system.legal(states) & ~finished[:, None]
        rows, moves = legal.nonzero()
        after = states.take(rows)
        system.step(after, moves)
        first, which = different_rows(after)
        following = np.full(legal.shape, NONE)
        following[rows, moves] = which
        layers.append(Layer(states, finished, legal, following, paths))
        states, paths = after.take(first), [(*paths[rows[k]], int(moves[k])) for k in first]
    return layers


def different_rows(states: Any) -> tuple[np.ndarray, np.ndarray]:
    """First row of each different state, and for each row which of them it is."""
    keys = state_bytes(states)
    _, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return first, which.reshape(-1)


def state_bytes(states: Any) -> np.ndarray:
    """All arrays of each state, as one row of bytes."""
    columns = [a[:, None] if a.ndim == 1 else a for a in states]
    return np.concatenate([np.ascontiguousarray(c).view(np.uint8) for c in columns], axis=1)


def concatenate(parts: list[Any]) -> Any:
    """Batches of states of the same width, one under the other."""
    return type(parts[0])(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def least_losses(system: Any, layers: list[Layer], trees: np.ndarray) -> list[np.ndarray]:
    """For each layer [S, trees]: the fewest wrong heads among the ends that can be reached."""
    most = trees.shape[1]  # more than any loss
    least: list[np.ndarray] = []
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


def pairs(states: Any, rows: np.ndarray, trees: np.ndarray) -> Iterator[tuple[Any, Any, Any]]:
    """(rows, states, gold): each of the rows with each tree, tree fastest, some rows at a time."""
    at_once = max(1, PAIRS_AT_ONCE // len(trees))
    for begin in range(0, len(rows), at_once):
        some = rows[begin : begin + at_once]
        yield some, states.take(np.repeat(some, len(trees))), np.tile(trees, (len(some), 1))


def walk(
    system: Any, lengths: np.ndarray, choose: Callable[[Any, np.ndarray], np.ndarray]
) -> np.ndarray:
    """Heads at the end of walks from the start that take the moves choose(states, legal)."""
    states = system.start(lengths)
    while not system.finished(states).all():
        system.step(states, choose(states, system.legal(states)))
    return np.asarray(system.heads(states))


def pick(rng: np.random.Generator, allowed: np.ndarray) -> np.ndarray:
    """One of the allowed moves of each row, at random."""
    return np.where(allowed, rng.random(allowed.shape), -1.0).argmax(-1)


def all_trees(words: int) -> np.ndarray:
    """Every tree over the words, with any number of root children: (words + 1)^(words − 1) rows."""
    heads = np.array(list(itertools.product(range(words + 1), repeat=words)))
    trees = np.concatenate([np.zeros((len(heads), 1), dtype=int), heads], axis=1)
    return trees[are_trees(trees)]


def are_trees(heads: np.ndarray) -> np.ndarray:
    """Whether climbing from every word arrives at the root. [B, N] → [B]"""
    N = heads.shape[1]
    inside = ((heads[:, 1:] >= 0) & (heads[:, 1:] < N)).all(-1)
    up = np.where(inside[:, None], heads, 0)
    up[:, 0] = 0
    here = up.copy()
    for _ in range(N):
        here = np.take_along_axis(up, here, axis=1)
    return np.asarray(inside & (here == 0).all(-1))


def is_projective(tree: np.ndarray) -> bool:
    """Whether no two arcs cross, the root standing before the first word."""
    arcs = [(min(h, d), max(h, d)) for d, h in enumerate(tree.tolist()) if d > 0]
    return not any(a < c < b < d for (a, b), (c, d) in itertools.product(arcs, arcs))


def root_children(heads: np.ndarray) -> np.ndarray:
    """Number of words whose head is the root. [B, N] → [B]"""
    return np.asarray((heads[:, 1:] == 0).sum(-1))


def with_rubbish(trees: np.ndarray, lengths: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The same trees, with rubbish in column 0 and after the last word of each."""
    columns = np.arange(trees.shape[1])
    word = (columns > 0) & (columns <= np.asarray(lengths)[:, None])
    return np.where(word, trees, rng.choice(RUBBISH, trees.shape)).astype(np.int32)


def random_tree(rng: np.random.Generator, words: int, kind: str, *, one_root: bool) -> np.ndarray:
    """kind: `projective`, `displaced` (projective but for one or two heads), or `any`."""
    head = np.zeros(words + 1, dtype=int)
    if kind == "any":
        order = rng.permutation(np.arange(1, words + 1))
        for k, word in enumerate(order):
            head[word] = rng.choice(order[:k]) if k and (one_root or rng.random() < 0.8) else 0
        return head
    top = int(rng.integers(1, words + 1)) if one_root else 0
    _hang(rng, head, 1, top - 1, top)
    _hang(rng, head, top + 1, words, top)
    for _ in range(rng.integers(1, 3) if kind == "displaced" else 0):
        moved = head.copy()
        moved[rng.integers(1, words + 1)] = rng.integers(1, words + 1)
        valid = are_trees(moved[None])[0] and root_children(moved[None])[0] >= 1
        head = moved if valid else head
    return head


def _hang(rng: np.random.Generator, head: np.ndarray, first: int, last: int, above: int) -> None:
    """Hang words first..last below `above`, as any number of projective subtrees side by side."""
    while first <= last:
        end = int(rng.integers(first, last + 1))
        top = int(rng.integers(first, end + 1))
        head[top] = above
        _hang(rng, head, first, top - 1, top)
        _hang(rng, head, top + 1, end, top)
        first = end + 1


def most_gold_arcs(gold: np.ndarray, *, one_root: bool) -> int:
    """The most heads that a projective tree can share with gold (Eisner 1996)."""
    N = len(gold)
    hit = np.zeros((N, N), dtype=int)
    hit[gold[1:], np.arange(1, N)] = 1
    left, right, open_left, open_right = np.zeros((4, N, N), dtype=int)
    for width in range(1, N):
        for i in range(N - width):
            j = i + width
            link = (right[i, i:j] + left[i + 1 : j + 1, j]).max()
            open_left[i, j], open_right[i, j] = link + hit[j, i], link + hit[i, j]
            left[i, j] = (left[i, i:j] + open_left[i:j, j]).max()
            right[i, j] = (open_right[i, i + 1 : j + 1] + right[i + 1 : j + 1, j]).max()
    if one_root:
        return int((left[1, 1:] + hit[0, 1:] + right[1:, N - 1]).max())
    return int(right[0, N - 1])
