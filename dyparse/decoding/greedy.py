"""Greedy decoding: the highest-scoring legal move in every state."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dyparse.decoding import ProbableHeads
from dyparse.rollout.probability import LogProbabilities
from dyparse.rollout.rollout import decode_greedily
from dyparse.rollout.scorer import Scorer
from dyparse.system import System


@dataclass(frozen=True)
class Greedy:
    """One derivation without looking back; the time is that of its moves."""

    def decode(
        self, system: System, scorer: Scorer, n_words: NDArray[np.int32], *, n_threads: int = 1
    ) -> NDArray[np.int32]:
        return decode_greedily(system, scorer, n_words, threads=n_threads)

    def decode_with_probabilities(
        self, system: System, scorer: Scorer, n_words: NDArray[np.int32], *, n_threads: int = 1
    ) -> ProbableHeads:
        shape = (len(n_words), int(n_words.max(initial=0)) + 1)
        found = LogProbabilities(np.zeros(shape), np.zeros(shape))
        heads = decode_greedily(system, scorer, n_words, threads=n_threads, log_probabilities=found)
        return ProbableHeads(heads, found.head, found.label if heads.ndim == 3 else None)
