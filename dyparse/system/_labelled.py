"""Moves with labels: a system whose moves also give the label of the arc that they add.

A move of a system that may add an arc becomes one move for every label, `LEFT-nsubj`, beside the
move itself for states in which it adds none. Everything else is the system's own: `Labelled` is a
`System`, and its kernels call those of the system, whichever it is. Trees have labels too: gold
trees and `heads` are [B, N, 2], head and label, both as numbers.

    cost of a move with a label = cost of the move  +  1 if its arc is gold and the label is not

A word that has its gold head with a wrong label is lost, and its arc may be replaced for nothing:
for the system's oracle such a word is its own gold head, that is, it asks for no arc. Only systems
with the kernel `forget` replace arcs, so the gold trees of others stay as they are.
"""

# mypy: allow-untyped-calls
# (kernels are typed by use)

import sys
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dyparse.data.sentence import NONE
from dyparse.runtime.kernels import njit
from dyparse.system import States, System, _kernels, gold_heads

ROOT = "root"


class LabelledOptions(NamedTuple):
    """Options as numbers, for the compiled kernels."""

    system: Any  # options of the system without labels
    labels: int
    root: int  # label of words that are left to the root
    root_on_top: bool  # it is the label of the root's dependents, and of no others
    first: tuple[int, ...]  # [M] each move with label 0; NONE if it never adds an arc
    moves: tuple[int, ...]  # the moves that may add one
    replaces: bool  # an arc that is there


class LabelledGold(NamedTuple):
    """Gold trees, those of the system's oracle, and room to work in for each row."""

    options: LabelledOptions
    head: NDArray[np.int32]  # [B, N]
    label: NDArray[np.int32]  # [B, N]  NONE: any label is right
    gold: Any  # prepared by the system without labels
    legal: NDArray[np.bool_]  # [B, M]  of moves without labels
    cost: NDArray[np.int32]  # [B, M]


@dataclass(frozen=True)
class Labelled(System):
    """A system whose arcs get these labels when they are added; see the module.

    Words that are left to the root in the end get the label `root`. With `root_on_top`, it is the
    only label that is legal for an arc from the root, and legal for no other arc.
    """

    system: System
    labels: tuple[str, ...]
    root_on_top: bool = True

    @property
    def moves(self) -> tuple[str, ...]:  # type: ignore[override]  # they depend on the labels
        """Those of the system, and those with labels."""
        with_label = (f"{m}-{label}" for m in self._arc_moves for label in self.labels)
        return (*self.system.moves, *with_label)

    @property
    def slots(self) -> tuple[str, ...]:  # type: ignore[override]  # as above
        return self.system.slots

    @property
    def exact(self) -> bool:  # type: ignore[override]  # as above
        return self.system.exact

    @property
    def _arc_moves(self) -> list[str]:
        return [move for move in self.system.moves if move not in self.system.arcless]

    @property
    def options(self) -> LabelledOptions:
        names, arc_moves, L = self.system.moves, self._arc_moves, len(self.labels)
        places = {move: len(names) + k * L for k, move in enumerate(arc_moves)}
        lowered = [label.lower() for label in self.labels]  # some treebanks have ROOT
        of_system = self.system.options
        return LabelledOptions(
            system=of_system,
            labels=L,
            root=lowered.index(ROOT) if ROOT in lowered else 0,
            root_on_top=self.root_on_top and L > 1 and ROOT in lowered,
            first=tuple(places.get(move, NONE) for move in names),
            moves=tuple(map(names.index, arc_moves)),
            replaces=hasattr(sys.modules[type(of_system).__module__], "forget"),
        )

    def is_exact(self, words: int) -> bool:
        return self.system.is_exact(words)

    def most_moves(self, words: int) -> int:
        return self.system.most_moves(words)

    def prepare(self, gold: ArrayLike) -> LabelledGold:
        """gold[b, w] is head and label of word w; without labels, or for label NONE, any is right.

        So it is for a label that no move can give the word's gold arc.
        """
        trees, options, M = np.asarray(gold, dtype=np.int32), self.options, len(self.system.moves)
        is_labelled = trees.ndim == 3
        head = gold_heads(trees[..., 0] if is_labelled else trees)
        label = np.array(trees[..., 1]) if is_labelled else np.full_like(head, NONE)
        if options.root_on_top:
            label[(head == 0) != (label == options.root)] = NONE
        room = np.zeros((len(head), M), dtype=np.bool_), np.zeros((len(head), M), dtype=np.int32)
        return LabelledGold(options, head, label, self.system.prepare(head), *room)

    def heads(self, states: States) -> NDArray[np.int32]:
        """[B, N, 2]: head and label of every word."""
        is_left = (states.head == NONE) | (states.label == NONE)
        label = np.where(is_left, self.options.root, states.label)
        return np.stack([self.system.heads(states), label], axis=-1).astype(np.int32)

    def summed(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities of the system's moves, with any label.  [B, moves with labels] → [B, M]"""
        M, A, L = len(self.system.moves), len(self._arc_moves), len(self.labels)
        found: NDArray[np.float64] = probabilities[:, :M].copy()
        found[:, self.options.moves] += probabilities[:, M:].reshape(-1, A, L).sum(-1)
        return found


def without_labels(system: System, moves: NDArray[np.int32]) -> NDArray[np.int32]:
    """The moves of the system without labels that these are."""
    every = [_kernels.without_label(system.options, move) for move in range(len(system.moves))]
    return np.array(every, dtype=np.int32)[moves]


@njit
def without_label(options, move):
    """The move of the system that this is."""
    M = len(options.first)
    return move if move < M else options.moves[(move - M) // options.labels]


@njit
def begin(options, states, i):
    _kernels.begin(options.system, states, i)


@njit
def is_finished(options, states, i):
    return _kernels.is_finished(options.system, states, i)


@njit
def legal(options, states, i, out):
    """out[m] = 1 if the move may be taken: without a label if it adds no arc, else with one."""
    M = len(options.first)
    _kernels.legal(options.system, states, i, out[:M])
    for move in range(M):
        first = options.first[move]
        if first != NONE:
            head, dependent = added_arc(options, states, i, move, out)
            for label in range(options.labels):
                fits = not options.root_on_top or (label == options.root) == (head == 0)
                out[first + label] = dependent != NONE and fits
            out[move] = out[move] and dependent == NONE


@njit
def added_arc(options, states, i, move, is_legal):
    """(head, dependent) of the arc that a move without a label adds, if it is legal."""
    head, dependent = int(NONE), int(NONE)
    if is_legal[move]:
        head, dependent = _kernels.arc(options.system, states, i, move)
    return head, dependent


@njit
def arc(options, states, i, move):
    return _kernels.arc(options.system, states, i, without_label(options, move))


@njit
def give_label(options, states, i, move, dependent):
    M = len(options.first)
    states.label[i, dependent] = (move - M) % options.labels if move >= M else NONE


@njit
def wrong_words(options, states, i, gold):
    """Words with a wrong head or a wrong label; any label is right for a word left to the root."""
    count = _kernels.wrong_words(options.system, states, i, gold)
    for word in range(1, states.length[i]):
        wanted, given = gold.label[i, word], states.label[i, word]
        is_given = states.head[i, word] == gold.head[i, word] and given != NONE
        is_asked = wanted != NONE
        count += is_given and is_asked and given != wanted
    return count


@njit
def step(options, states, i, move):
    _kernels.step(options.system, states, i, without_label(options, move))


@njit
def features(options, states, i, out):
    _kernels.features(options.system, states, i, out)


@njit
def cost(options, states, i, gold, out):
    """out[m] = gold arcs with their labels that legal move m makes unreachable."""
    if options.replaces:
        take_out_spoilt(options, states, i, gold)
    is_legal, costs = gold.legal[i], gold.cost[i]
    _kernels.legal(options.system, states, i, is_legal)
    _kernels.cost(options.system, states, i, gold.gold, costs)
    for move in range(costs.shape[0]):
        out[move] = costs[move]
        first = options.first[move]
        if first != NONE:
            head, dependent = added_arc(options, states, i, move, is_legal)
            wanted = int(NONE)
            if dependent != NONE and gold.head[i, dependent] == head:
                wanted = int(gold.label[i, dependent])
            for label in range(options.labels):
                out[first + label] = costs[move] + (wanted not in (NONE, label))


@njit
def take_out_spoilt(options, states, i, gold):
    """Let words that have their gold head with a wrong label ask for no arc."""
    has_changed = False
    for word in range(1, states.length[i]):
        head = gold.head[i, word]
        wanted = gold.label[i, word]
        if states.head[i, word] == head and wanted != NONE and states.label[i, word] != wanted:
            head = word
        has_changed = has_changed or gold.gold.head[i, word] != head
        gold.gold.head[i, word] = head
    if has_changed:
        _kernels.forget(options.system, gold.gold, i)


@njit
def cheapest(options, move, is_legal, costs):
    """The move itself or with a label: a legal one that costs least; NONE if there is none."""
    best = move if is_legal[move] else int(NONE)
    first = options.first[move]
    if first != NONE:
        for column in range(first, first + options.labels):
            if is_legal[column] and (best == NONE or costs[column] < costs[best]):
                best = column
    return best


@njit
def leave_out_labels(options, i, gold, is_legal, costs):
    """Legal moves and costs without labels, in the row's room for them."""
    for move in range(len(options.first)):
        best = cheapest(options, move, is_legal, costs)
        gold.legal[i, move] = best != NONE
        gold.cost[i, move] = costs[best] if best != NONE else 0


@njit
def prefer(options, states, i, gold, is_legal, costs):
    """The system's preference, for every label."""
    leave_out_labels(options, i, gold, is_legal, costs)
    _kernels.prefer(options.system, states, i, gold.gold, gold.legal[i], gold.cost[i])
    for move in range(len(options.first)):
        best = cheapest(options, move, is_legal, costs)
        if best != NONE:
            raised = gold.cost[i, move] - costs[best]
            costs[move] += raised
            first = options.first[move]
            if first != NONE:
                for column in range(first, first + options.labels):
                    costs[column] += raised


@njit
def static(options, states, i, gold, is_legal, costs):
    """The system's canonical move with the word's gold label; if that is not legal, the first."""
    leave_out_labels(options, i, gold, is_legal, costs)
    move = _kernels.static(options.system, states, i, gold.gold, gold.legal[i], gold.cost[i])
    if is_legal[move]:
        return move
    first = options.first[move]
    _, dependent = _kernels.arc(options.system, states, i, move)
    wanted = gold.label[i, dependent]
    if wanted != NONE and is_legal[first + wanted]:
        return first + wanted
    for column in range(first, first + options.labels):
        if is_legal[column]:
            return column
    return NONE
