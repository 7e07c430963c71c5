"""Scorers with random weights, in place of a trained network."""

import numpy as np

from dyparse.rollout.scorer import Scorer

D = 6


def random_scorer(system, words, seed=0):
    """A scorer with random numbers for sentences of these lengths."""
    rng = np.random.default_rng(seed)
    tokens, F, M = len(words) * (int(max(words)) + 1), len(system.slots), len(system.moves)
    parts = [
        rng.normal(size=shape).astype(np.float32)
        for shape in ((tokens + 1, F, D), (D,), (M, D), (M,))
    ]
    return Scorer(*parts)
