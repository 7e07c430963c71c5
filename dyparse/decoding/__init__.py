"""Decoding: from the scores of moves to trees."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dyparse.rollout.scorer import Scorer
from dyparse.system import System


class Decoding(Protocol):
    """A way to find trees."""

    def decode(
        self, system: System, scorer: Scorer, n_words: NDArray[np.int32], *, n_threads: int = 1
    ) -> NDArray[np.int32]:
        """[B, N]: the head of every word; n_words[b] is the length of sentence b."""
        ...
