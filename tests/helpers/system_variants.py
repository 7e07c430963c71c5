"""Every transition system of conf/system with every combination of its options, for tests."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest

from dyparse import system as systems
from dyparse.evaluation.exhaustive import (
    Layer,
    all_trees,
    least_losses,
    reachable_states,
    root_children,
)
from helpers.tiny import yamls

NAMES = [path.stem for path in yamls("system")]
MOST_PAIRS = 5_000_000

# Values of the options that are not booleans; a system with another option needs a line here.
VALUES = {"root": ("last", "first"), "gap": (2,)}

Options = tuple[tuple[str, Any], ...]


def variants(name: str) -> Iterator[Any]:
    """(name, options) with every combination of options, as test parameters."""
    fields = dataclasses.fields(systems.load(name))
    values = [(False, True) if isinstance(f.default, bool) else VALUES[f.name] for f in fields]
    for combination in itertools.product(*values):
        options = {f.name: value for f, value in zip(fields, combination, strict=True)}
        label = "-".join([name, *(f"{key}={value}" for key, value in options.items())])
        yield pytest.param(name, tuple(options.items()), id=label)


def variants_of(names: Iterable[str]) -> pytest.MarkDecorator:
    """A mark for all variants of some systems."""
    return pytest.mark.parametrize(("name", "options"), [v for n in names for v in variants(n)])


ALL = variants_of(NAMES)
EXACT = variants_of([name for name in NAMES if systems.load(name).exact])
SIZES = pytest.mark.parametrize("words", [1, 2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])


@functools.lru_cache(maxsize=4)
def search(
    name: str, options: Options, words: int
) -> tuple[systems.System, list[Layer], np.ndarray, list[np.ndarray]]:
    """(system, layers, trees, least losses of each layer) of all states and all trees.

    Where these are more than MOST_PAIRS, which is so for some systems at five words, a random
    sample of the trees.
    """
    system, trees = systems.load(name, **dict(options)), all_trees(words)
    layers = reachable_states(system, words)
    most = MOST_PAIRS // sum(len(layer.paths) for layer in layers)
    if most < len(trees):
        trees = np.random.default_rng(words).choice(trees, most, replace=False)
    return system, layers, trees, least_losses(system, layers, trees)


def allowed_trees(options: Options, trees: np.ndarray) -> np.ndarray:
    """Which trees the options allow as an end: all, or those with one root child."""
    return (root_children(trees) == 1) | (not dict(options).get("single_root", False))
