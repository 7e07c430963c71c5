"""Random trees, as heads of tokens 0..n; the head of token 0, the root, means nothing."""

from __future__ import annotations

import itertools

import numpy as np

from dyparse.evaluation.exhaustive import are_trees, root_children

RUBBISH = np.array([-100, -1, 0, 1, 3, 10_000])  # what a caller may leave where no word is


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


def random_trees(seed: int, count: int, longest: int) -> list[np.ndarray]:
    """Trees of up to `longest` words: projective, nearly, not at all; with one root or several.

    Trees that are nothing like projective are shorter: oracles that search take a time that grows
    exponentially with the arcs that must be lost.
    """
    rng = np.random.default_rng(seed)
    kinds = itertools.cycle(itertools.product(("projective", "displaced", "any"), (True, False)))
    most = {"projective": longest, "displaced": longest, "any": min(longest, 14)}
    return [
        random_tree(rng, int(rng.integers(1, most[kind] + 1)), kind, one_root=one_root)
        for _, (kind, one_root) in zip(range(count), kinds, strict=False)
    ]


def padded(trees: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Trees of several lengths as one array, rubbish where there is no word, and the lengths."""
    lengths = np.array([len(tree) - 1 for tree in trees])
    gold = np.zeros((len(trees), lengths.max() + 1), dtype=int)
    for row, tree in zip(gold, trees, strict=True):
        row[: len(tree)] = tree
    columns, rng = np.arange(gold.shape[1]), np.random.default_rng(0)
    is_word = (columns > 0) & (columns <= lengths[:, None])
    return np.where(is_word, gold, rng.choice(RUBBISH, gold.shape)).astype(np.int32), lengths


def is_projective(tree: np.ndarray) -> bool:
    """Whether no two arcs cross, the root standing before the first word."""
    arcs = [(min(h, d), max(h, d)) for d, h in enumerate(tree.tolist()) if d > 0]
    return not any(a < c < b < d for (a, b), (c, d) in itertools.product(arcs, arcs))


def most_gold_arcs(gold: np.ndarray, *, one_root: bool) -> int:
    """The most heads that a projective tree can have in common with gold (Eisner 1996)."""
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
