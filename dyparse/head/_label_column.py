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
    """Labels of arcs.

    Of each unique kind, subject or object, a head gets one dependent at most. The label `root`, if
    given, is that of words without a head, and of no others.
    """

    column = "label"

    root: int = NONE
    kind: NDArray[np.int64]  # [labels]

    def __init__(
        self, entries: Entries, unique: Sequence[str] = (), root: str | None = None
    ) -> None:
        super().__init__(entries)
        self.restrict(unique, root)

    def restrict(self, unique: Sequence[str], root: str | None) -> None:
        """Allow a head one dependent of each unique kind, and the root's label only on top."""
        others = [entry for entry in self.entries if entry != root]
        self.root = self.number.get(root, NONE) if root and others else NONE
        self.kind = numbered_kinds(self.entries, unique if leaves_labels(others, unique) else ())

    def score(self, gold: Sequence[Sentence], parsed: Sequence[Sentence]) -> dict[str, float]:  # noqa: ARG002 - not needed
        return {}  # LAS is reported anyway

    def allowed(
        self, labels: NDArray[np.int64], tree: NDArray[np.int32], scores_of: ScoresOf
    ) -> NDArray[np.int64]:
        """The best labels [B · N], changed where the tree [B, N] does not allow them."""
        if self.root != NONE:
            self._put_root_on_top(labels, tree.ravel() == 0, scores_of)
        self._part_rivals(labels, tree, scores_of)
        return labels

    def _put_root_on_top(
        self, labels: NDArray[np.int64], on_top: NDArray[np.bool_], scores_of: ScoresOf
    ) -> None:
        """Change labels [tokens] such that those on top, and no others, are the root's."""
        (lower,) = np.nonzero((labels == self.root) & ~on_top)  # few, if any
        labels[on_top] = self.root
        if len(lower):
            scores = np.array(scores_of(lower))
            scores[:, self.root] = -np.inf
            labels[lower] = scores.argmax(-1)

    def _part_rivals(
        self, labels: NDArray[np.int64], tree: NDArray[np.int32], scores_of: ScoresOf
    ) -> None:
        """Change labels [tokens] such that they leave each head one of each unique kind.

        Of several that want the same kind, the one keeps it that would lose most without; the
        others take their best label of another kind, and may have to give that up in turn.
        """
        has_lost = np.zeros((len(labels), len(KINDS)), dtype=np.bool_)
        while len((rivals := rivals_of(self.kind[labels], tree)).token):
            token, kind = rivals.token, self.kind[labels[rivals.token]]
            scores = scores_of(token).astype(np.float64)
            allowed = np.nan_to_num(scores, posinf=LARGE, neginf=-LARGE)
            if self.root != NONE:
                allowed[:, self.root] = -np.inf  # these have a head
            allowed[(self.kind != NONE) & has_lost[token][:, self.kind]] = -np.inf
            others = np.where(self.kind == kind[:, None], -np.inf, allowed)
            loses = is_behind(rivals.place, allowed.max(-1) - others.max(-1))
            has_lost[token[loses], kind[loses]] = True
            labels[token[loses]] = others[loses].argmax(-1)


def numbered_kinds(entries: Entries, unique: Sequence[str]) -> NDArray[np.int64]:
    """[labels]: the unique kind of a label, counted in KINDS; NONE for other labels."""
    kinds = [core_argument(entry) for entry in entries]
    return np.array([KINDS.index(kind) if kind in unique else NONE for kind in kinds], np.int64)


def leaves_labels(entries: Sequence[str], unique: Sequence[str]) -> bool:
    """Whether there is a label of no unique kind, for a second dependent."""
    return any(core_argument(entry) not in unique for entry in entries)


class Rivals(NamedTuple):
    """Tokens of the same unique kind as another dependent of their head."""

    token: NDArray[np.int64]  # [R]  counted through the batch
    place: NDArray[np.int64]  # [R]  the same for those of one head and one kind


def rivals_of(kind: NDArray[np.int64], tree: NDArray[np.int32]) -> Rivals:
    """Rivals among tokens of these kinds, in order."""
    heads = tree.ravel()
    token = np.flatnonzero((kind != NONE) & (heads > 0))
    if not len(token):  # as always where no kind is unique
        return Rivals(token, token)
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
