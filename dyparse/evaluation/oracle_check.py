"""A transition system against exhaustive search: is its oracle right, can it be trained?

    from dyparse.evaluation.oracle_check import check_lost, check_oracle

    def test_my_system():
        assert check_oracle(MySystem()) > 0
        assert check_lost(MySystem()) > 0

Every system of this package passes it, with every combination of its options; systems of your own
should. Run it once with NUMBA_DISABLE_JIT=1 too: an index out of range is then an error, which
compiled code does not notice.
"""

# mypy: allow-untyped-calls
# (kernels are typed by use)

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dyparse.data.sentence import NONE
from dyparse.evaluation.exhaustive import (
    Layer,
    all_trees,
    are_trees,
    is_among,
    least_losses,
    pairs,
    reachable_states,
    reachable_trees,
    root_children,
)
from dyparse.system import States, System, features

MOST_PAIRS = 5_000_000  # of a state and a gold tree; where there are more, trees are sampled


class Pairs(NamedTuple):
    """States with gold trees, and the costs of their moves by search."""

    row: NDArray[np.intp]  # [P]  of the state in its layer
    states: States
    gold: Any  # prepared
    legal: NDArray[np.bool_]  # [P, M]
    least: NDArray[np.int8]  # [P]  loss that can be reached
    true_cost: NDArray[np.int8]  # [P, M]


def check_oracle(system: System, n_words: int = 4) -> int:
    """Compare a system with search, on all sentences of up to this many words and all gold trees.

    Returns the number of comparisons. AssertionError shows the first state in which one of these
    does not hold:

    * there is a legal move until the end, and none after it; no sentence takes more moves than
      `most_moves`; an end is a tree, with one root child if the option `single_root` is set;
    * `left` and `right` of the states are the outermost dependents, feature slots hold tokens;
    * the canonical move is legal;
    * and where costs are exact (`system.is_exact`): the cost of a legal move is the least loss that
      can be reached after it, less the least loss before; the canonical move costs 0; canonical
      moves from the start end at the least loss.
    """
    return sum(_check_length(system, n) for n in range(1, n_words + 1))


def _check_length(system: System, n_words: int) -> int:
    """Check all sentences of exactly this many words."""
    layers = reachable_states(system, n_words, system.most_moves(n_words))
    for layer in layers:
        _check_moves(system, layer)
        _check_ends(system, layer)
        _check_dependents(system, layer)
        _check_features(system, layer)
    trees = _gold_trees(n_words, layers)
    least = least_losses(system, layers, trees)
    is_exact, compared = system.is_exact(n_words), 0
    for layer, *losses in zip(layers, least, [*least[1:], least[-1]], strict=True):
        for asked in _pairs(system, layer, trees, losses):
            best = asked.legal
            if is_exact:
                compared += _check_costs(system, layer, asked)
                best = asked.legal & (asked.true_cost == 0)
            compared += _check_canonical_moves(system, layer, asked, best)
    if is_exact:
        _check_canonical_ends(system, trees, least[0][0])
    return compared


def _gold_trees(n_words: int, layers: list[Layer]) -> NDArray[np.int32]:
    """All trees, or a random sample where they and the states are too many."""
    trees = all_trees(n_words)
    most = MOST_PAIRS // sum(len(layer.paths) for layer in layers)
    if most < len(trees):
        trees = np.random.default_rng(n_words).choice(trees, most, replace=False)
    return trees


def check_lost(system: System, n_words: int = 4) -> int:
    """Compare `system.lost` with search, for all states, moves and gold trees, as `check_oracle`.

    Returns the number of moves. AssertionError shows the first for which one of these does not
    hold: the trees before and after the move can be reached; the arcs lost and gained are gold arcs
    and those in which the two differ; and where costs are exact, the tree before has the least
    loss, and the arcs lost are as many more than those gained as the move costs.
    """
    return sum(_check_lost_arcs(system, n) for n in range(1, n_words + 1))


def _check_lost_arcs(system: System, n_words: int) -> int:
    """Check all sentences of exactly this many words."""
    layers = reachable_states(system, n_words, system.most_moves(n_words))
    trees = _gold_trees(n_words, layers)
    least, built = least_losses(system, layers, trees), reachable_trees(system, layers)
    compared = 0
    for k, layer in enumerate(layers):
        for asked in _pairs(system, layer, trees, least[k : k + 2]):
            for move in range(len(system.moves)):
                compared += _check_lost_by(system, layer, asked, move, built[k : k + 2])
    return compared


def _check_lost_by(
    system: System, layer: Layer, asked: Pairs, move: int, built: list[NDArray[np.uint8]]
) -> int:
    """Check the trees and arcs of one move, where it is legal; how often that is."""
    rows = np.flatnonzero(asked.legal[:, move])
    gold, state = asked.gold.head[rows], asked.row[rows]
    lost = system.lost(asked.states.take(rows), gold, np.full(len(rows), move))
    had, has = lost.before == gold, lost.after == gold
    had[:, 0] = has[:, 0] = False  # the root has no arc
    is_named = (lost.arcs == (had & ~has)) & (lost.gained == (has & ~had))
    right = {
        "the tree before it cannot be reached": is_among(lost.before, built[0][state]),
        "the tree after it cannot be reached": is_among(
            lost.after, built[1][layer.following[state, move]]
        ),
        "its arcs are not those in which its trees differ": is_named.all(-1),
    }
    if system.is_exact(gold.shape[1] - 1):
        n_lost = lost.arcs.sum(-1) - lost.gained.sum(-1)
        loss = gold.shape[1] - 1 - had.sum(-1)
        right["the tree before it is not the best"] = loss == asked.least[rows]
        right["the arcs are not as many as it costs"] = n_lost == asked.true_cost[rows, move]
    for finding, is_right in right.items():
        if not is_right.all():
            k = int(is_right.argmin())
            place = _place(system, layer, state[k], gold[k])
            raise AssertionError(f"{place}: {system.moves[move]} by `lost`: {finding}")
    return len(rows)


def _check_moves(system: System, layer: Layer) -> None:
    """A legal move until the end and none after it, which comes in time."""
    n_moves, most = len(layer.paths[0]), system.most_moves(int(layer.states.length[0]) - 1)
    in_time = np.full(len(layer.paths), n_moves <= most)
    _require(in_time, system, layer, f"these are {n_moves} moves, but most_moves is {most}")
    is_free = layer.legal.any(-1) | layer.finished
    _require(is_free, system, layer, "no move is legal, though the sentence is not finished")
    is_over = ~system.legal(layer.states).any(-1) | ~layer.finished
    _require(is_over, system, layer, "a move is legal, though the sentence is finished")


def _check_ends(system: System, layer: Layer) -> None:
    """Ends are trees, with one root child if the system has the single-root rule."""
    heads = system.heads(layer.states)
    _require(are_trees(heads) | ~layer.finished, system, layer, "ends with heads that are no tree")
    if getattr(system, "single_root", False):
        is_single = (root_children(heads) == 1) | ~layer.finished
        _require(is_single, system, layer, "ends without exactly one root child (single_root)")


def _check_dependents(system: System, layer: Layer) -> None:
    """The outermost dependents of the states are those of their arcs."""
    states, N = layer.states, layer.states.head.shape[1]
    words = np.arange(1, N)
    for head in range(N):
        is_dependent = states.head[:, 1:] == head  # [S, words]
        before, after = is_dependent & (words < head), is_dependent & (words > head)
        left = np.where(before.any(-1), before.argmax(-1) + 1, NONE)
        right = np.where(after.any(-1), N - 1 - after[:, ::-1].argmax(-1), NONE)
        is_right = (states.left[:, head] == left) & (states.right[:, head] == right)
        finding = f"states.left and states.right of token {head} are not its outermost dependents"
        _require(is_right, system, layer, finding)


def _check_features(system: System, layer: Layer) -> None:
    """Every feature slot is filled, with a token of the sentence or with NONE."""
    unset = layer.states.length[0]
    slots = np.full((len(layer.paths), len(system.slots)), unset, dtype=np.int32)
    for row in np.flatnonzero(~layer.finished):
        features(system.options, layer.states, row, slots[row])
    slots[layer.finished] = NONE
    for slot, tokens in zip(system.slots, slots.T, strict=True):
        is_token = (tokens >= NONE) & (tokens < unset)
        _require(is_token, system, layer, f"feature slot {slot} holds neither a token nor NONE")


def _check_canonical_ends(
    system: System, trees: NDArray[np.int32], least: NDArray[np.int8]
) -> None:
    """Canonical moves from the start end at the least loss; one prepared gold serves them all."""
    states, gold = system.start(np.full(len(trees), trees.shape[1] - 1)), system.prepare(trees)
    while not system.finished(states).all():
        system.step(states, system.static(states, gold))
    losses = (system.heads(states) != trees)[:, 1:].sum(-1)
    for tree, loss, possible in zip(trees[:, 1:], losses, least, strict=True):
        if loss != possible:
            raise AssertionError(
                f"{system}, gold heads {tree.tolist()}: canonical moves from the start end with "
                f"{loss} wrong heads, other moves with {possible}"
            )


def _pairs(
    system: System, layer: Layer, trees: NDArray[np.int32], least: list[NDArray[np.int8]]
) -> Iterator[Pairs]:
    """Every unfinished state of a layer with every tree; least losses of it and of the next one."""
    here, after = least[0], least[-1]
    rng = np.random.default_rng(trees.shape[1])
    for rows, states, gold in pairs(layer.states, np.flatnonzero(~layer.finished), trees):
        gold[:, 0] = rng.integers(NONE, trees.shape[1], len(gold))  # means nothing for the root
        legal = np.repeat(layer.legal[rows], len(trees), axis=0)
        losses = after[layer.following[rows]].transpose(0, 2, 1)  # [rows, trees, M]
        true_cost = (losses - here[rows][:, :, None]).reshape(legal.shape)
        row = np.repeat(rows, len(trees))
        least_here = here[rows].reshape(-1)
        yield Pairs(row, states, system.prepare(gold), legal, least_here, true_cost)


def _check_costs(system: System, layer: Layer, asked: Pairs) -> int:
    """The cost of every legal move is that of the search; how many there are."""
    cost = system.cost(asked.states, asked.gold)
    is_wrong = (cost != asked.true_cost) & asked.legal
    if is_wrong.any():
        k, move = np.argwhere(is_wrong)[0]
        raise AssertionError(
            f"{_place(system, layer, asked.row[k], asked.gold.head[k])}: {system.moves[move]} "
            f"costs {cost[k, move]} by the oracle, {asked.true_cost[k, move]} by search"
        )
    return int(asked.legal.sum())


def _check_canonical_moves(
    system: System, layer: Layer, asked: Pairs, is_allowed: NDArray[np.bool_]
) -> int:
    """The canonical move is one of the allowed ones; how many moves that were."""
    move = system.static(asked.states, asked.gold)
    is_move = (move >= 0) & (move < len(system.moves))
    chosen = np.where(is_move, move, 0)[:, None]
    is_right = is_move & np.take_along_axis(is_allowed, chosen, axis=1)[:, 0]
    if not is_right.all():
        k = int(is_right.argmin())
        name = system.moves[move[k]] if is_move[k] else move[k]
        raise AssertionError(
            f"{_place(system, layer, asked.row[k], asked.gold.head[k])}: the canonical move is "
            f"{name}, which is not legal or not of least cost"
        )
    return len(move)


def _require(is_right: NDArray[np.bool_], system: System, layer: Layer, finding: str) -> None:
    """AssertionError with the first state of a layer that is not right."""
    if not is_right.all():
        raise AssertionError(f"{_place(system, layer, int(is_right.argmin()))}: {finding}")


def _place(system: System, layer: Layer, row: int, gold: NDArray[np.int32] | None = None) -> str:
    """The system, the gold tree, how a state is reached, and what it looks like."""
    states = layer.states
    stack = states.stack[row, : states.stack_size[row]].tolist()
    buffer = states.buffer[row, states.front[row] : states.end[row]].tolist()
    moves = " ".join(system.moves[move] for move in layer.paths[row]) or "no move"
    tree = "" if gold is None else f", gold heads {gold[1:].tolist()}"
    return (
        f"{system}{tree}, after {moves} "
        f"(stack {stack}, buffer {buffer}, heads {states.head[row, 1:].tolist()})"
    )
