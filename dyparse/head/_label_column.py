"""The column of labels: which of them exclude each other among the dependents of a head."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dyparse.data.columns.core_arguments import KINDS, core_argument
from dyparse.data.sentence import NONE, Sentence
from dyparse.data.vocabulary import Entries
from dyparse.head._column import HeadColumn

LARGE = 1e300  # beyond every score of float32

ScoresOf = Callable[[NDArray[np.int64]], NDArray[np.float32]]  # of some tokens  [R] → [R, labels]


class LabelColumn(HeadColumn):
    """Labels of arcs; of each unique kind, subject or object, a head gets one dependent at most."""

    column = "label"

    def __init__(self, entries: Entries, unique: Sequence[str] = ()) -> None:
        super().__init__(entries)
        self.kind = numbered_kinds(entries, unique)

    def score(self, gold: Sequence[Sentence], parsed: Sequence[Sentence]) -> dict[str, float]:  # noqa: ARG002 - not needed
        return {}  # LAS is reported anyway

    def without_rivals(
        self, labels: NDArray[np.int64], tree: NDArray[np.int32], scores_of: ScoresOf
    ) -> NDArray[np.int64]:
        """The best labels [B · N], changed so that they leave each head one of each unique kind.

        Of several that want the same kind, the one keeps it that would lose most without; the
        others take their best label of another kind, and may have to give that up in turn.
        """
        has_lost = np.zeros((len(labels), len(KINDS)), dtype=np.bool_)
        while len((rivals := rivals_of(self.kind[labels], tree)).token):
            token, kind = rivals.token, self.kind[labels[rivals.token]]
            scores = scores_of(token).astype(np.float64)
            allowed = np.nan_to_num(scores, posinf=LARGE, neginf=-LARGE)
            allowed[(self.kind != NONE) & has_lost[token][:, self.kind]] = -np.inf
            others = np.where(self.kind == kind[:, None], -np.inf, allowed)
            loses = is_behind(rivals.place, allowed.max(-1) - others.max(-1))
            has_lost[token[loses], kind[loses]] = True
            labels[token[loses]] = others[loses].argmax(-1)
        return labels


def numbered_kinds(entries: Entries, unique: Sequence[str]) -> NDArray[np.int64]:
    """[labels]: the unique kind of a label, counted in KINDS; NONE for other labels.

    NONE for all if nothing would be left for a second one.
    """
    kinds = [core_argument(entry) for entry in entries]
    found = np.array([KINDS.index(kind) if kind in unique else NONE for kind in kinds], np.int64)
    return found if NONE in found else np.full_like(found, NONE)


class Rivals(NamedTuple):
    """Tokens of the same unique kind as another dependent of their head."""

    token: NDArray[np.int64]  # [R]  counted through the batch
    place: NDArray[np.int64]  # [R]  the same for those of one head and one kind


def rivals_of(kind: NDArray[np.int64], tree: NDArray[np.int32]) -> Rivals:
    """Rivals among tokens of these kinds, in order."""
    heads = tree.ravel()
    token = np.flatnonzero((kind != NONE) & (heads > 0))
    head = token - token % tree.shape[1] + heads[token]  # counted through the batch too
    place = head * len(KINDS) + kind[token]
    _, which, times = np.unique(place, return_inverse=True, return_counts=True)
    is_rival = times[which] > 1
    return Rivals(token[is_rival], place[is_rival])


def is_behind(place: NDArray[np.int64], lead: NDArray[np.float64]) -> NDArray[np.bool_]:
    """[R]: whether another one of the same place has a greater lead, or the same further left."""
    order = np.lexsort((-lead, place))  # stable
    behind = np.zeros(len(order), dtype=np.bool_)
    behind[order[1:]] = place[order[1:]] == place[order[:-1]]
    return behind
