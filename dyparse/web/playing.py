"""Derivations: moves that someone took, with what each cost, and moves that a policy takes."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dyparse.errors import ConfigError
from dyparse.system import States, System

Probabilities: TypeAlias = Callable[[States], NDArray[np.float64]]  # [B, M], 0 if not legal
STATIC, BEST, MODEL, MISTAKES = ("static", "best", "model", "mistakes")
MODEL_POLICIES = (MODEL, MISTAKES)


class Taken(NamedTuple):
    """A move, and the gold arcs that it made unreachable; None without a gold tree."""

    move: str
    cost: int | None


class Derivation:
    """One sentence on its way: the state, and the moves so far with their costs."""

    def __init__(self, system: System, n_words: int, gold: list[int] | None) -> None:
        self.system, self.states = system, system.start([n_words])
        self.gold: Any = None if gold is None else system.prepare([[0, *gold]])
        self.taken: list[Taken] = []

    @property
    def is_final(self) -> bool:
        """Whether no move is left."""
        return bool(self.system.finished(self.states)[0])

    @property
    def paid(self) -> int | None:
        """The total cost of the moves so far."""
        return None if self.gold is None else sum(taken.cost or 0 for taken in self.taken)

    def legal(self) -> NDArray[np.bool_]:
        """[M]: the moves that may be taken."""
        is_legal: NDArray[np.bool_] = self.system.legal(self.states)[0]
        return is_legal

    def costs(self) -> NDArray[np.int32] | None:
        """[M]: the costs of legal moves; None without a gold tree."""
        return None if self.gold is None else self.system.cost(self.states, self.gold)[0]

    def static(self) -> str | None:
        """The canonical move; None at the end, and without a gold tree."""
        if self.gold is None or self.is_final:
            return None
        return self.system.moves[int(self.system.static(self.states, self.gold)[0])]

    def take(self, move: int) -> None:
        """Take a legal move."""
        costs = self.costs()
        self.system.step(self.states, [move])
        cost = None if costs is None else int(costs[move])
        self.taken.append(Taken(self.system.moves[move], cost))

    def replay(self, moves: Iterable[str]) -> None:
        """Take moves by name; ConfigError at the first that cannot be taken."""
        for number, name in enumerate(moves, len(self.taken) + 1):
            if name not in self.system.moves:
                known = ", ".join(self.system.moves)
                raise ConfigError(f"move {number} is {name[:40]!r}, expected one of {known}")
            move = self.system.moves.index(name)
            if not self.legal()[move]:
                raise ConfigError(f"move {number}, {name}, is not legal there; take it back")
            self.take(move)


@dataclass(frozen=True)
class Player:
    """Chooses moves: `static`, the canonical ones; `best`, at random among those of least cost;
    `model`, the most probable ones; `mistakes`, these or with a probability any other legal one.
    """

    policy: str
    probabilities: Probabilities | None = None  # of the model
    mistakes: float = 0.1
    seed: int = 0

    def play(self, derivation: Derivation, most: int | None = None) -> list[Taken]:
        """Take moves to the end, or so many of them; returns those that are new."""
        self._check(derivation)
        random, before = np.random.default_rng(self.seed), len(derivation.taken)
        while not derivation.is_final and (most is None or len(derivation.taken) < before + most):
            derivation.take(self._choose(derivation, random))
        return derivation.taken[before:]

    def _check(self, derivation: Derivation) -> None:
        if self.policy in (STATIC, BEST) and derivation.gold is None:
            raise ConfigError(f"the policy {self.policy} needs a gold tree; give one")
        if self.policy in MODEL_POLICIES and self.probabilities is None:
            raise ConfigError(f"the policy {self.policy} needs a model of this system; load one")

    def _choose(self, derivation: Derivation, random: np.random.Generator) -> int:
        is_legal = derivation.legal()
        if self.policy == STATIC:
            return int(derivation.system.static(derivation.states, derivation.gold)[0])
        if self.policy == BEST:
            costs = derivation.costs()
            assert costs is not None
            return int(random.choice(np.flatnonzero(is_legal & (costs == costs[is_legal].min()))))
        assert self.probabilities is not None
        best = int(self.probabilities(derivation.states)[0].argmax())
        others = np.flatnonzero(is_legal & (np.arange(len(is_legal)) != best))
        if self.policy == MISTAKES and len(others) and random.random() < self.mistakes:
            return int(random.choice(others))
        return best
