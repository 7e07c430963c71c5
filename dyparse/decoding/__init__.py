"""Decoding: how a trained model finds the tree of a sentence.

A decoding gets the transition system and the scores of moves, and returns heads; it knows nothing
of words or encoders. greedy.py is the only one so far: the highest-scoring legal move in every
state, compiled. One that can also tell how probable its trees are is a `GivesProbabilities`.

To add one, such as a beam: write `dyparse/decoding/<name>.py` with a frozen dataclass that has the
method `decode` below; `load` and the tests then find it by its name. Outside the package: put the
same into `my_module.py`, and pass `my_module.MyDecoding()` wherever a `Decoding` is expected.
"""

from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dyparse.config import choices
from dyparse.errors import ConfigError
from dyparse.rollout.scorer import Scorer
from dyparse.system import System


class Decoding(Protocol):
    """From scores of moves to trees."""

    def decode(
        self, system: System, scorer: Scorer, n_words: NDArray[np.int32], *, n_threads: int = 1
    ) -> NDArray[np.int32]:
        """[B, N]: the head of every word; a tree that the system's options allow.

        With moves that carry labels it is [B, N, 2], head and label, as `system.heads` has them.

        n_words[b] is the number of words of sentence b, whose tokens are rows b·N … of the
        scorer's table. The number of threads must change nothing but the time.
        """
        ...


class ProbableHeads(NamedTuple):
    """Trees, and how probable the decoding finds them."""

    heads: NDArray[np.int32]  # [B, N], or [B, N, 2] with labels
    log_probability: NDArray[np.float64]  # [B, N]  of all decisions about each word's head
    label_log_probability: NDArray[np.float64] | None = None  # [B, N]  given the head, with labels


@runtime_checkable
class GivesProbabilities(Protocol):
    """A decoding that can also tell how probable its trees are."""

    def decode_with_probabilities(
        self, system: System, scorer: Scorer, n_words: NDArray[np.int32], *, n_threads: int = 1
    ) -> ProbableHeads:
        """The same trees as `decode`, with probabilities."""
        ...


def heads_and_labels(
    trees: NDArray[np.int32], decoding: Decoding
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Two grids [B, N] from trees [B, N, 2]; ConfigError if a decoding has given heads alone."""
    if trees.ndim != 3:
        raise ConfigError(
            f"the decoding {choices.name_of(decoding)} gives no labels, but the moves of this "
            "model carry them; let it return what `system.heads` returns, or choose decoding greedy"
        )
    return trees[..., 0], trees[..., 1]


def load(text: str, **options: Any) -> Decoding:
    """The decoding that `NAME` or `NAME:KEY=VALUE,…` means; options are fields of its dataclass."""
    decoding: Decoding = choices.load("decoding", text, **options)
    return decoding


def names() -> list[str]:
    """Names of the decodings: the modules here."""
    return choices.names("decoding")
