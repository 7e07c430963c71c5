"""Replay buffer of visited states: a growing data set, kept as compact arrays.

The data set of DAgger (Ross, Gordon & Bagnell 2011) is the union of the states of all rounds. Kept
of a state is what the loss needs: the tokens in its feature slots, its legal moves, their costs.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dyparse.data.sentence import NONE
from dyparse.errors import DyparseError
from dyparse.rollout.rollout import VisitedStates
from dyparse.tensors.dropout import keys_below

MOST_COST, MOST_TOKENS = np.iinfo(np.int8).max, np.iinfo(np.int16).max
FIRST_STATES = 1024  # room at the beginning; it doubles when it is full


class CompactStates(NamedTuple):
    """Room for S states, in small types; the buffer's spans map sentences to them."""

    features: NDArray[np.int16]  # [S, F]  tokens, counted from the sentence's root; or NONE
    cost: NDArray[np.int8]  # [S, M]  above the least of a legal move, at most MOST_COST; or NONE
    paid: NDArray[np.int16]  # [S]
    move: NDArray[np.int16]  # [S]

    @classmethod
    def empty(cls, states: int, slots: int, moves: int) -> "CompactStates":
        return cls(
            np.empty((states, slots), dtype=np.int16),
            np.empty((states, moves), dtype=np.int8),
            np.empty(states, dtype=np.int16),
            np.empty(states, dtype=np.int16),
        )


class ReplayBuffer:
    """All states so far of all sentences: 2·F + M + 4 bytes for each of them."""

    def __init__(self) -> None:
        self.size = 0
        self.states = CompactStates.empty(0, 0, 0)
        self.spans: dict[int, dict[int, tuple[int, int]]] = {}  # by sentence and rollout

    def add(
        self, sentences: Sequence[int], tokens: int, visited: VisitedStates, rollout: int
    ) -> None:
        """Keep the states of one rollout; sentences[b] is the index of the batch's row b.

        tokens = N, the width of the batch: row b·N + k of its table is token k of row b. A
        rollout that has been added already, under the same number, is replaced.
        """
        if tokens > MOST_TOKENS:
            raise DyparseError(
                f"a sentence has {tokens - 1} words, states are kept of at most {MOST_TOKENS - 1}; "
                "leave it out, or take an exploration that keeps none, such as explore"
            )
        end = self.size + len(visited.paid)
        self._make_room(end, visited)
        of_row = visited.features - visited.sentence[:, None] * tokens
        is_empty = visited.features == len(sentences) * tokens  # the table's last row
        new = slice(self.size, end)
        self.states.features[new] = np.where(is_empty, NONE, of_row)
        least = np.where(visited.legal, visited.cost, MOST_TOKENS).min(-1, keepdims=True)
        above = np.minimum(visited.cost - least, MOST_COST)  # all that losses look at
        self.states.cost[new] = np.where(visited.legal, above, NONE)
        self.states.paid[new] = np.minimum(visited.paid, MOST_TOKENS)
        self.states.move[new] = visited.move
        starts = np.searchsorted(visited.sentence, np.arange(len(sentences) + 1)) + self.size
        for row, number in enumerate(sentences):
            self.spans.setdefault(number, {})[rollout] = (int(starts[row]), int(starts[row + 1]))
        self.size = end

    def sample(
        self,
        sentences: Sequence[int],
        tokens: int,
        keys: NDArray[np.uint64] | None = None,
        most: int | None = None,
    ) -> tuple[VisitedStates, int]:
        """The states of these sentences, as if one rollout over this batch had visited them, and
        how many rollouts they come from.

        Those of all rollouts so far; or of the last one and of others, drawn by the sentences'
        keys, `most` together.
        """
        rollouts = len(self.spans[sentences[0]])
        chosen = np.broadcast_to(np.arange(rollouts), (len(sentences), rollouts))
        if most is not None and most < rollouts:
            assert keys is not None
            chosen = drawn(keys.view(np.int64), rollouts, most)
        spans: list[tuple[int, tuple[int, int]]] = []
        for row, number in enumerate(sentences):
            of_sentence = [*self.spans[number].values()]
            spans += [(row, of_sentence[k]) for k in chosen[row].tolist()]
        which = np.concatenate([np.arange(*span) for _, span in spans])
        rows = np.repeat([row for row, _ in spans], [end - start for _, (start, end) in spans])
        slots = self.states.features[which].astype(np.int32)
        table_rows = np.where(
            slots == NONE, len(sentences) * tokens, slots + rows[:, None] * tokens
        )
        cost = self.states.cost[which].astype(np.int32)
        states_of_batch = VisitedStates(
            features=table_rows.astype(np.int32),
            legal=cost != NONE,
            cost=np.maximum(cost, 0),
            paid=self.states.paid[which].astype(np.int32),
            move=self.states.move[which].astype(np.int32),
            sentence=rows.astype(np.int32),
        )
        return states_of_batch, chosen.shape[1]

    def n_rollouts(self, sentence: int) -> int:
        """How many rollouts of this sentence are kept."""
        return len(self.spans.get(sentence, {}))

    def _make_room(self, size: int, like: VisitedStates) -> None:
        have = len(self.states.paid)
        if size <= have:
            return
        room = max(size, 2 * have, FIRST_STATES)
        larger = CompactStates.empty(room, like.features.shape[1], like.cost.shape[1])
        if have:
            for name, new in larger._asdict().items():
                new[: self.size] = getattr(self.states, name)[: self.size]
        self.states = larger


def drawn(keys: NDArray[np.int64], rollouts: int, most: int) -> NDArray[np.int64]:
    """For each key, the last of so many rollouts and most − 1 others.  [B] → [B, most]"""
    order = np.argsort(keys_below(keys[:, None], np.arange(rollouts - 1)), axis=1)
    last = np.full((len(keys), 1), rollouts - 1)
    return np.sort(np.concatenate([order[:, : most - 1], last], axis=1), axis=1)
