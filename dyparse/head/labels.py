"""Labels of arcs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dyparse.data.columns.core_arguments import KINDS, core_argument, heads_with_several
from dyparse.data.sentence import NONE, Sentence
from dyparse.data.vocabulary import Entries, sorted_entries
from dyparse.head import Head, best_entries
from dyparse.tensors.dropout import LABELS, Dropout, keys_below

LARGE = 1e300  # beyond every score of float32
UNIQUE = ("none", "train", *KINDS, "+".join(KINDS))
ROOT, TOP = "root", "top"
ROOTS = ("anywhere", TOP, "train")


@dataclass(frozen=True)
class Labels:
    """The label of every arc, by one hidden layer over head and dependent.

    A head may be allowed one subject or one object at most, and `root` may be kept for words
    without a head, which then have no other label; training is the same.
    """

    weight: float = 1.0
    unique: str = "none"  # or subject, object, subject+object; train: those of which train has one
    root: str = "train"  # or anywhere, top; train: top, without a head, if train has it just there

    name: ClassVar[str] = "labels"

    def __post_init__(self) -> None:
        if self.unique not in UNIQUE:
            raise ValueError(
                f"heads: unique of labels is {self.unique!r}, expected one of {', '.join(UNIQUE)}"
            )
        if self.root not in ROOTS:
            raise ValueError(
                f"heads: root of labels is {self.root!r}, expected one of {', '.join(ROOTS)}"
            )

    def fitted(self, sentences: Sequence[Sentence]) -> "Labels":
        unique, root = self.unique, self.root
        if unique == "train":
            several = heads_with_several(sentences)
            unique = "+".join(k for k in KINDS if not several[k]) or "none"
        if root == "train":
            root = TOP if all(map(has_root_on_top, sentences)) else "anywhere"
        return replace(self, unique=unique, root=root)

    def entries(self, sentences: Sequence[Sentence]) -> Entries:
        return sorted_entries(label for s in sentences for label in s.label)

    def build(self, width: int, entries: Entries, *, hidden: int, dropout: float) -> "LabelHead":
        if not entries or "_" in entries:
            raise ValueError("heads: a word has no label; label the treebank")
        root = ROOT if self.root == TOP else None
        return LabelHead(width, entries, hidden, dropout, self.unique.split("+"), root)


class LabelHead(Head):
    """Scores of labels for arcs: one hidden layer over head and dependent.

    Of each unique kind, subject or object, a head gets one dependent at most. The label `root`, if
    given, is that of words without a head, and of no others.
    """

    column: ClassVar[str] = "label"

    def __init__(
        self,
        width: int,
        entries: Entries,
        hidden: int,
        dropout: float,
        unique: Sequence[str] = (),
        root: str | None = None,
    ) -> None:
        super().__init__(entries)
        others = [entry for entry in entries if entry != root]
        self.root = self.number.get(root, NONE) if root and others else NONE
        self.kind = numbered_kinds(entries, unique if leaves_labels(others, unique) else ())
        self.head = nn.Linear(width, hidden)
        self.dependent = nn.Linear(width, hidden, bias=False)
        self.output = nn.Linear(hidden, len(entries))
        self.dropout = Dropout(dropout)

    def forward(self, encoded: Tensor, tree: Tensor, keys: Tensor | None = None) -> Tensor:
        """[B, N, width], [B, N], [B] → [B, N, labels]"""
        B, N, _ = encoded.shape
        rows = (tree + torch.arange(B, device=tree.device).unsqueeze(1) * N).flatten()
        of_head = self.head(encoded).flatten(0, 1).index_select(0, rows).view(B, N, -1)
        hidden = torch.relu(of_head + self.dependent(encoded))  # [B, N, hidden]
        if keys is not None:
            tokens = torch.arange(N, device=keys.device)
            keys = keys_below(keys_below(keys, LABELS).unsqueeze(1), tokens)  # [B, N]
        return self.output(self.dropout(hidden, keys))  # type: ignore[no-any-return]  # as torch modules are called untyped

    def predict(self, scores: Tensor, tree: NDArray[np.int32]) -> list[list[int]]:
        """The best label of every token, of those that leave its head one of each unique kind.

        Of several that want the same kind, the one keeps it that would lose most without; the
        others take their best label of another kind, and may have to give that up in turn.
        """
        flat = scores.flatten(0, 1)  # [tokens, labels]
        labels = best_entries(flat)
        if self.root != NONE:
            self._put_root_on_top(labels, flat, tree.ravel() == 0)
        has_lost = np.zeros((len(labels), len(KINDS)), dtype=np.bool_)
        while len((rivals := rivals_of(self.kind[labels], tree)).token):
            token, kind = rivals.token, self.kind[labels[rivals.token]]
            rows = torch.from_numpy(token).to(flat.device)
            allowed = np.nan_to_num(flat[rows].double().cpu().numpy(), posinf=LARGE, neginf=-LARGE)
            if self.root != NONE:
                allowed[:, self.root] = -np.inf  # these have a head
            allowed[(self.kind != NONE) & has_lost[token][:, self.kind]] = -np.inf
            others = np.where(self.kind == kind[:, None], -np.inf, allowed)
            loses = is_behind(rivals.place, allowed.max(-1) - others.max(-1))
            has_lost[token[loses], kind[loses]] = True
            labels[token[loses]] = others[loses].argmax(-1)
        return cast("list[list[int]]", labels.reshape(tree.shape).tolist())

    def _put_root_on_top(
        self, labels: NDArray[np.int64], scores: Tensor, on_top: NDArray[np.bool_]
    ) -> None:
        """Change labels [tokens] such that those on top, and no others, are the root's."""
        (lower,) = np.nonzero((labels == self.root) & ~on_top)  # few, if any
        labels[on_top] = self.root
        if len(lower):
            column = torch.tensor([self.root], device=scores.device)
            rows = scores[torch.from_numpy(lower).to(scores.device)]
            labels[lower] = rows.index_fill(-1, column, -torch.inf).argmax(-1).cpu().numpy()

    def score(self, gold: Sequence[Sentence], parsed: Sequence[Sentence]) -> dict[str, float]:  # noqa: ARG002 - not needed
        return {}  # LAS is reported anyway


def has_root_on_top(sentence: Sentence) -> bool:
    """Whether the words without a head, and no others, have the label `root`."""
    pairs = zip(sentence.head, sentence.label, strict=True)
    return all((head == 0) == (label == ROOT) for head, label in pairs)


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
