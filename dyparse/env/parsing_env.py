"""The environment: transition system, gold trees and oracle behind Gymnasium's interface."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete, MultiDiscrete
from numpy.typing import NDArray

from dyparse.data.sentence import MOST_WORDS, NONE, Sentence
from dyparse.env.observations import Observations, observed
from dyparse.system import System, features, load

Observation: TypeAlias = NDArray[np.int64]
Info: TypeAlias = dict[str, Any]


class LegalMoves(Discrete):
    """The moves of a system; those that are legal now are drawn, unless a mask is given."""

    legal: NDArray[np.bool_]

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """A random legal move, any move at the end of a sentence."""
        if probability is not None:
            return super().sample(mask, probability)
        if mask is None and self.legal.any():
            mask = self.legal.astype(np.int8)
        return super().sample(mask)


class ParsingEnv(gymnasium.Env[Observation, Any]):
    """Parsing with a transition system: one sentence is one episode, one move one action.

        env = ParsingEnv("arc_eager:root=first", sentences)
        dev = ParsingEnv(env.system, dev_sentences, observations=env.observations)

    The reward of a move is minus its cost: the number of gold arcs that it makes unreachable, so
    that the return of an episode is minus the arcs that its moves have lost. Observations are those
    of `Observations`; `info` has

    | key | value |
    |---|---|
    | `action_mask` | [M] int8: 1 where a move is legal; all 0 at the end |
    | `cost` | [M] int32: the cost of each legal move, −1 of others |
    | `expert` | the oracle's canonical move, one of least cost; −1 at the end |
    | `sentence` | number of the sentence |
    | `slots` | [F] int32: token in each feature slot, −1 if there is none |
    | `heads` | [n] int32, at the end only: the head of every word |

    `reset(seed=…)` draws a sentence, `reset(options={"sentence": 3})` takes the fourth. A move that
    is not legal is a ValueError.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(
        self,
        system: System | str,
        sentences: Sequence[Sentence],
        *,
        observations: Observations | None = None,
    ) -> None:
        self.system = load(system) if isinstance(system, str) else system
        self.sentences = _checked(sentences)
        self.observations = observations or Observations.of(self.sentences)
        self.action_space = self._moves = LegalMoves(len(self.system.moves))
        self._moves.legal = np.zeros(len(self.system.moves), dtype=np.bool_)
        self.observation_space = MultiDiscrete(self.observations.sizes(self.system))
        self._row: int | None = None  # the sentence of the episode

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """The first state of a sentence: a random one, or `options["sentence"]`."""
        super().reset(seed=seed)
        row = (options or {}).get("sentence")
        if row is None:
            row = int(self.np_random.integers(len(self.sentences)))
        elif not (isinstance(row, int | np.integer) and 0 <= row < len(self.sentences)):
            raise ValueError(
                f"options['sentence'] is {row!r}, expected a number 0..{len(self.sentences) - 1}"
            )
        self._row, sentence = int(row), self.sentences[row]
        self._states = self.system.start([len(sentence)])
        self._gold = self.system.prepare([[0, *sentence.head]])
        self._numbers = self.observations.numbers(sentence)
        self._look()
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, Info]:
        """Take a move: its observation, reward, whether the sentence is finished, False, info."""
        move = self._legal_move(action)
        reward = -float(self._cost[move])
        self.system.step(self._states, [move])
        self._look()
        return self._observation(), reward, self._expert == NONE, False, self._info()

    def expert(self) -> int:
        """The oracle's canonical move in the present state; −1 at the end."""
        return self._expert

    def action_masks(self) -> NDArray[np.bool_]:
        """[M]: which moves are legal; sb3-contrib asks by this name."""
        return np.array(self._legal)

    def _legal_move(self, action: Any) -> int:
        """The action as a move; ValueError if it is not one, or not legal."""
        if self._row is None or self._expert == NONE:
            when = "there is no sentence yet" if self._row is None else "the sentence is finished"
            raise ValueError(f"action is {action!r}, but {when}; call reset()")
        names = self.system.moves
        allowed = [f"{k} {names[k]}" for k in np.flatnonzero(self._legal)]
        if not self.action_space.contains(action):
            raise ValueError(f"action is {action!r}, expected a legal move: {', '.join(allowed)}")
        move = int(action)
        if not self._legal[move]:
            raise ValueError(
                f"action is {move} ({names[move]}), which is not legal in this state, expected "
                f"{', '.join(allowed)}; see info['action_mask']"
            )
        return move

    def _look(self) -> None:
        """Ask system and oracle about the present state."""
        system, states = self.system, self._states
        self._legal: NDArray[np.bool_] = system.legal(states)[0]
        self._moves.legal = self._legal
        self._cost = np.where(self._legal, system.cost(states, self._gold)[0], NONE)
        self._expert = int(system.static(states, self._gold)[0])
        self._slots = np.empty(len(system.slots), dtype=np.int32)
        features(system.options, states, 0, self._slots)  # type: ignore[no-untyped-call]  # a kernel

    def _observation(self) -> Observation:
        return observed(self._numbers, self._slots, self._legal)

    def _info(self) -> Info:
        info: Info = {
            "action_mask": self._legal.astype(np.int8),
            "cost": self._cost.copy(),
            "expert": self._expert,
            "sentence": self._row,
            "slots": self._slots.copy(),
        }
        if self._expert == NONE:
            info["heads"] = self.system.heads(self._states)[0, 1:]
        return info


def _checked(sentences: Sequence[Sentence]) -> tuple[Sentence, ...]:
    """The sentences; ValueError if there are none, or one has no gold tree or is too long."""
    found = tuple(sentences)
    if not found:
        raise ValueError("there are no sentences, expected one or more")
    for sentence in found:
        n = len(sentence)
        if not all(0 <= head <= n for head in sentence.head):
            raise ValueError(
                f"{sentence.place} has no gold tree, expected the head of every word; read it with "
                "trees=True"
            )
        if n > MOST_WORDS:
            raise ValueError(f"{sentence.place} has {n} words, expected at most {MOST_WORDS}")
    return found
