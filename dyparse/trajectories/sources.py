"""Whose derivations are taken: the oracle's, or a model's."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from dyparse.config.choices import text_of
from dyparse.data.batch import n_words
from dyparse.data.sentence import Sentence
from dyparse.errors import ConfigError
from dyparse.exploration import Exploration
from dyparse.rollout.rollout import GREEDY
from dyparse.rollout.scorer import Scorer
from dyparse.system import System
from dyparse.trajectories.noisy_oracle import CANONICAL, NoisyOracle

if TYPE_CHECKING:  # it is slow to import, and an oracle needs no parser
    from dyparse.model.parser import Parser

LATE = 100  # an epoch when the first epochs of every exploration are over


class Source(Protocol):
    """Who chooses the moves, and what is written down about it."""

    has_scores: ClassVar[bool]

    @property
    def system(self) -> System:
        """The transition system."""
        ...

    @property
    def exploration(self) -> Exploration:
        """Policy that chooses the moves."""
        ...

    @property
    def epoch(self) -> int:
        """The epoch of training that the exploration takes it for."""
        ...

    def scorer(self, sentences: Sequence[Sentence]) -> Scorer:
        """The scorer of moves for one batch."""
        ...

    def lengths(self, sentences: Sequence[Sentence]) -> list[int]:
        """Cost of each sentence in a batch."""
        ...

    def describe(self) -> dict[str, str | int | float]:
        """Description of the source, for the metadata of a file."""
        ...


@dataclass(frozen=True)
class Oracle:
    """The oracle of a system: it follows the canonical move, or `best`, any of the best moves; with
    probability `mistakes` a move that has a cost.
    """

    system: System
    follow: str = CANONICAL
    mistakes: float = 0.0
    exploration: NoisyOracle = field(init=False)

    has_scores: ClassVar[bool] = False
    epoch: ClassVar[int] = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "exploration", NoisyOracle(self.follow, self.mistakes))

    def scorer(self, sentences: Sequence[Sentence]) -> Scorer:
        """All scores are 0."""
        words, F, M = n_words(sentences), len(self.system.slots), len(self.system.moves)
        table = np.zeros((len(words) * (int(words.max()) + 1) + 1, F, 1), dtype=np.float32)
        zeros = (np.zeros(shape, dtype=np.float32) for shape in (1, (M, 1), M))
        return Scorer(table, *zeros)

    def lengths(self, sentences: Sequence[Sentence]) -> list[int]:
        return list(map(len, sentences))

    def describe(self) -> dict[str, str | int | float]:
        return {"source": "oracle", "follow": self.follow, "mistakes": self.mistakes}


@dataclass(frozen=True)
class Model:
    """A parser: it decodes greedily, or an exploration chooses, as in this epoch of training."""

    parser: "Parser"
    exploration: Exploration = GREEDY
    epoch: int = LATE

    has_scores: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.epoch < 1:
            raise ValueError(f"epoch is {self.epoch}, expected 1 or more")
        if self.parser.parts.config.joint_labels:
            raise ConfigError(
                "trajectories have no labels, but the moves of this model carry them; choose one "
                "that was trained with the head labels"
            )

    @property
    def system(self) -> System:
        return self.parser.system

    def scorer(self, sentences: Sequence[Sentence]) -> Scorer:
        """The parser's scores of moves, in the precision that it parses in."""
        return self.parser.encode(sentences).scorer

    def lengths(self, sentences: Sequence[Sentence]) -> list[int]:
        return self.parser.collator.lengths(sentences)

    def describe(self) -> dict[str, str | int | float]:
        is_greedy = self.exploration is GREEDY
        named = "greedy" if is_greedy else text_of(self.exploration)
        return {"source": "model", "exploration": named} | (
            {} if is_greedy else {"epoch": self.epoch}
        )
