"""Slow rollouts through the public methods of a system, and the losses that their costs promise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dyparse import system as systems
from dyparse.data.conllu import read_sentences
from dyparse.rollout.scorer import Scorer
from helpers.random_trees import is_projective, padded
from helpers.system_variants import Options, allowed_trees
from helpers.tiny import UD

REAL = ("UD_Gothic-PROIEL", "UD_Hungarian-Szeged", "UD_English-LinES")
GREED = (1.0, 1.0, 0.9, 0.5, 0.0)  # how often a rollout follows a best move; else any legal one


def roll_out(system: Any, lengths: Any, choose: Callable[[Any, np.ndarray], Any]) -> np.ndarray:
    """Heads at the end of rollouts from the start that take the moves choose(states, legal)."""
    states = system.start(lengths)
    while not system.finished(states).all():
        system.step(states, choose(states, system.legal(states)))
    return np.asarray(system.heads(states))


def pick(rng: np.random.Generator, allowed: np.ndarray) -> np.ndarray:
    """One of the allowed moves of each row, at random."""
    return np.where(allowed, rng.random(allowed.shape), -1.0).argmax(-1)


def random_scorer(system: systems.System, words: Any, seed: int = 0) -> Scorer:
    """A scorer with random numbers for sentences of these lengths."""
    rng, D = np.random.default_rng(seed), 6
    tokens, F, M = len(words) * (int(max(words)) + 1), len(system.slots), len(system.moves)
    shapes = ((tokens + 1, F, D), (D,), (M, D), (M,))
    return Scorer(*(rng.normal(size=shape).astype(np.float32) for shape in shapes))


def real_trees(treebank: str) -> list[np.ndarray]:
    """The trees of a development file of UD; the test is skipped if it is not there."""
    files = sorted((UD / treebank).glob("*-ud-dev.conllu"))
    if not files:
        pytest.skip(f"no {treebank} in {UD}; set DYPARSE_UD to an unpacked UD release")
    return [np.array([0, *s.head]) for s in read_sentences(str(files[0]), trees=True)]


def promised_losses(system: systems.System, trees: Any) -> np.ndarray:
    """[trees, rollouts]: final loss less the costs paid, on rollouts of more and of less greed.

    If no cost is negative and the least is 0 everywhere, this is the least loss of the start.
    """
    gold, lengths = padded(trees)
    gold, lengths = np.repeat(gold, len(GREED), axis=0), np.repeat(lengths, len(GREED))
    greed, paid = np.tile(GREED, len(trees)), np.zeros(len(gold), dtype=int)
    prepared, rng = system.prepare(gold), np.random.default_rng(1)

    def choose(states: Any, legal: np.ndarray) -> np.ndarray:
        going = legal.any(-1)
        cost = system.cost(states, prepared)
        assert (np.where(legal, cost, 99).min(-1) == 0)[going].all()
        best = rng.random(len(greed)) < greed
        moves = pick(rng, legal & ((cost == 0) | ~best[:, None]))
        paid[going] += np.take_along_axis(cost, moves[:, None], axis=1)[going, 0]
        return moves

    heads = roll_out(system, lengths, choose)
    words = (np.arange(gold.shape[1]) > 0) & (np.arange(gold.shape[1]) <= lengths[:, None])
    return (((heads != gold) & words).sum(-1) - paid).reshape(len(trees), len(GREED))


def check_promises(name: str, options: Options, trees: list[np.ndarray]) -> np.ndarray:
    """Every rollout pays what it loses beyond the least loss: 0 for trees the system can build."""
    promised = promised_losses(systems.load(name, **dict(options)), trees)
    np.testing.assert_array_equal(promised, np.broadcast_to(promised[:, :1], promised.shape))
    can = [is_projective(tree) and allowed_trees(options, tree[None])[0] for tree in trees]
    assert (promised[can] == 0).all()
    return np.asarray(promised[:, 0])
