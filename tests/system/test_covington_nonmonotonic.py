"""Non-monotonic Covington against its definition, and how far its costs can be trusted.

The other tests of a transition system are in test_system.py.
"""

import functools

import numpy as np
import pytest
from helpers.random_trees import random_tree
from helpers.rollouts import REAL, pick, real_trees, roll_out

from dyparse import system as systems
from dyparse.evaluation.exhaustive import (
    all_trees,
    least_losses,
    pairs,
    reachable_states,
    root_children,
)
from dyparse.system.covington_nonmonotonic import find_gold_roots, loss_bound

SIZES = pytest.mark.parametrize("words", [1, 2, 3, 4])
RULES = pytest.mark.parametrize("single_root", [False, True])
MOVES = ("SHIFT", "NO_ARC", "LEFT", "RIGHT")


@functools.cache
def load(*, single_root):
    return systems.load("covington_nonmonotonic", single_root=single_root)


@functools.cache
def layers_of(words, *, single_root):
    return reachable_states(load(single_root=single_root), words)


# --- the system as the paper has it: (s, b, heads), heads[w] = 0 while word w has none -----------


def follow(state, move):
    """The state after a move, by the paper's definition and no more; None if it is not legal."""
    s, b, heads = state
    if b == len(heads) or (s == 0 and move != "SHIFT"):
        return None
    if move == "SHIFT":
        return b, b + 1, heads
    if move == "NO_ARC":
        return s - 1, b, heads
    head, dependent = (b, s) if move == "LEFT" else (s, b)
    arcs = {(heads[w], w) for w in range(1, len(heads)) if heads[w]}
    removed = {(h, w) for h, w in arcs if w == dependent}
    removed |= {(k, w) for k, w in arcs if w == head and dependent in upwards(heads, k)}
    built = {w: h for h, w in (arcs - removed) | {(head, dependent)}}
    return s - 1, b, tuple(built.get(w, 0) for w in range(len(heads)))


def upwards(heads, word):
    """A word and those above it."""
    path = [word]
    while heads[path[-1]]:
        path.append(heads[path[-1]])
    return path


def with_shift(state):
    """The state, or the one after SHIFT where λ1 is empty and nothing else is legal."""
    s, b, heads = state
    return follow(state, "SHIFT") if s == 0 and b < len(heads) else state


@functools.cache
def ends(state):
    """The heads of all ends that can be reached."""
    after = [follow(state, move) for move in MOVES]
    return frozenset().union(*map(ends, filter(None, after))) or frozenset([state[2]])


def plain(states, row=0):
    """A row of the states of the system, as (s, b, heads)."""
    heads = np.clip(states.head[row, : states.length[row]], 0, None).tolist()
    return int(states.stack_size[row]), int(states.front[row]) + 1, tuple(heads)


@SIZES
def test_states_are_those_of_the_definition(words):
    """A SHIFT without choice is taken at once."""
    (start, *_), layers = layers_of(words, single_root=False), layers_of(words, single_root=False)
    assert plain(start.states) == (0, 1, (0,) * (words + 1))
    for layer, below in zip(layers, [*layers[1:], None], strict=True):
        for row in range(len(layer.paths)):
            for m, move in enumerate(MOVES):
                after = follow(plain(layer.states, row), move)
                assert layer.legal[row, m] == (after is not None)
                if after:
                    found = plain(below.states, layer.following[row, m])
                    assert found == with_shift(after)


@SIZES
def test_exactly_the_moves_that_lead_to_no_single_root_are_forbidden(words):
    for layer in layers_of(words, single_root=True):
        for row in np.flatnonzero(~layer.finished):
            for move, is_legal in zip(MOVES, layer.legal[row], strict=True):
                after = follow(plain(layer.states, row), move)
                hopeful = ends(after) if after else ()
                assert is_legal == any(end.count(0) == 2 for end in hopeful)  # 2: and root


def test_an_arc_replaces_the_head_of_its_dependent_and_breaks_the_cycle_it_would_close():
    system, states = load(single_root=False), load(single_root=False).start([3])
    for move in ("SHIFT", "RIGHT", "RIGHT"):  # 1 → 2 → 3, then 1 and 3
        system.step(states, [MOVES.index(move)])
    assert plain(states) == (1, 3, (0, 0, 1, 2))
    system.step(states, [MOVES.index("LEFT")])
    assert plain(states) == (3, 4, (0, 3, 1, 0))
    assert states.left[0].tolist() == [-1, -1, -1, 1]
    assert states.right[0].tolist() == [-1, 2, -1, -1]


# --- the canonical move --------------------------------------------------------------------------


@RULES
@pytest.mark.parametrize("words", [1, 2, 3, 4, 12])
def test_static_is_the_rule_of_covington_on_the_way_to_a_tree(single_root, words):
    system, rng = load(single_root=single_root), np.random.default_rng(words)
    many = [random_tree(rng, words, "any", one_root=single_root) for _ in range(50)]
    trees = all_trees(words) if words < 5 else np.array(many)
    for tree in trees[(root_children(trees) == 1) | (not single_root)]:

        def canonical(states, _legal, tree=tree):
            s, b, _ = plain(states)
            linked = [w for w in range(1, s) if tree[b] == w or tree[w] == b]
            arc = "LEFT" if s and tree[s] == b else "RIGHT" if s and tree[b] == s else None
            expected = arc or ("NO_ARC" if linked else "SHIFT")
            assert MOVES[system.static(states, tree[None])[0]] == expected
            return [MOVES.index(expected)]

        np.testing.assert_array_equal(roll_out(system, [words], canonical)[0], tree)


def test_training_aims_at_a_wrong_arc_only_where_every_best_move_is_one():
    """Word 1 may get the head 2 for now, because it gets 3 in time; word 2 of the gold root, below
    1, gets rid of its head by 3, which must not be attached to 1.
    """
    system, gold = load(single_root=False), np.array([[0, 3, 3, 0]])
    states = system.start([3])
    system.step(states, [MOVES.index("SHIFT")])
    assert system.cost(states, gold)[0].tolist() == [0, 0, 0, 0]
    assert system.target(states, gold)[0].tolist() == [0, 0, 1, 1]
    for words, trees in ((n, all_trees(n)) for n in (2, 3)):
        for layer in layers_of(words, single_root=False):
            for _, some, tree in pairs(layer.states, np.flatnonzero(~layer.finished), trees):
                cost, target = system.cost(some, tree), system.target(some, tree)
                legal = system.legal(some)
                assert ((target == 0) & legal).any(-1).all()
                assert ((cost == 0) | (target == cost) | (target == cost + 1)).all()


# --- bounds --------------------------------------------------------------------------------------


def lower_bound(state, gold, *, single_root):
    """Words without their gold head, which is a word that they have passed. When b = n, also a word
    of the gold root in λ2 with a head; with one gold root and the rule, the same if any other word
    has to be the root.
    """
    s, b, heads = state
    lost, n = 0, len(heads) - 1
    for word in range(1, n + 1):
        low, high = sorted((word, int(gold[word])))
        has_passed = high < b or (high == b and low > s)
        lost += low > 0 and heads[word] != gold[word] and has_passed
    roots = [word for word in range(1, n + 1) if gold[word] == 0]
    stuck = [word for word in range(s + 1, n) if heads[word] == 0 and b >= n]
    held = sum(heads[y] != 0 and (s < y < n or b > n) for y in roots if b >= n)
    is_other = single_root and len(roots) == 1 and stuck not in ([], roots)
    return lost + max(held, is_other)


@RULES
@pytest.mark.parametrize("words", [2, 3])
def test_the_least_loss_is_between_its_bounds_and_canonical_moves_keep_the_upper_one(
    single_root, words
):
    system, trees = load(single_root=single_root), all_trees(words)
    layers = layers_of(words, single_root=single_root)
    least, tight = least_losses(system, layers, trees), 0
    for layer, below in zip(layers[1:-1], least[2:], strict=True):
        for row in np.flatnonzero(~layer.finished):
            for t, tree in enumerate(trees):
                state, gold = layer.states.take([row]), system.prepare(tree[None])
                s, b, n = *plain(state)[:2], words
                find_gold_roots(gold, 0, n)
                for m in np.flatnonzero(layer.legal[row]):
                    passed = (b, b + 1, n) if MOVES[m] == "SHIFT" else (s - 1, b, n)
                    bound = loss_bound(system.options, state, 0, gold, m, passed)
                    after = follow(plain(state), MOVES[m])
                    loss = below[layer.following[row, m], t]
                    assert lower_bound(after, tree, single_root=single_root) <= loss <= bound
                    following = state.copy()
                    system.step(following, [m])
                    end = system.best_heads(following, gold)
                    assert (end != tree)[:, 1:].sum() <= bound
                    tight += bound == loss
    assert tight > 5


@pytest.mark.parametrize(
    ("words", "single_root", "counts"),
    [
        (3, False, (117, 0, 0, 0)),
        (3, True, (108, 0, 0, 0)),
        (4, False, (11_328, 1, 21, 0)),
        (4, True, (9_024, 9, 24, 0)),
        pytest.param(5, False, (2_309_375, 1_056, 9_547, 14), marks=pytest.mark.slow),
        pytest.param(5, True, (1_667_500, 3_409, 7_291, 29), marks=pytest.mark.slow),
    ],
)
def test_in_all_states_few_moves_of_cost_0_lose_an_arc(words, single_root, counts):
    """For trees with one root, the counts that docs/systems/covington_nonmonotonic.md has."""
    system, trees = load(single_root=single_root), all_trees(words)
    trees = trees[root_children(trees) == 1]
    layers = layers_of(words, single_root=single_root)
    least = least_losses(system, layers, trees)
    total = some_wrong = missed = all_wrong = 0
    for layer, here, below in zip(layers, least, [*least[1:], least[-1]], strict=True):
        for rows, states, gold in pairs(layer.states, np.flatnonzero(~layer.finished), trees):
            legal = np.repeat(layer.legal[rows], len(trees), axis=0)  # [pairs, M]
            after = below[layer.following[rows]].transpose(0, 2, 1)  # [rows, trees, M]
            best = legal & (after == here[rows][:, :, None]).reshape(legal.shape)
            cost = system.cost(states, gold)
            free = legal & (cost == 0)
            assert (np.where(legal, cost, 99).min(-1) == 0).all()
            total += len(free)
            some_wrong += int((free & ~best).any(-1).sum())
            missed += int((best & ~free).any(-1).sum())
            all_wrong += int((~(free & best).any(-1)).sum())
    assert (total, some_wrong, missed, all_wrong) == counts


@RULES
@pytest.mark.parametrize("source", REAL)
def test_on_rollouts_of_real_trees_the_bounds_mostly_meet(single_root, source):
    """Where they do, the least loss is known; one move in ten is any legal one, others are best."""
    system, rng = load(single_root=single_root), np.random.default_rng(1)
    visited = known = 0
    for tree in [t for t in real_trees(source) if 2 < len(t) <= 60][:100]:
        gold, states = system.prepare(tree[None]), system.start([len(tree) - 1])
        while not system.finished(states)[0]:
            legal = system.legal(states)
            upper = (system.best_heads(states, gold) != tree)[0, 1:].sum()
            lower = lower_bound(plain(states), tree, single_root=single_root)
            assert lower <= upper
            visited, known = visited + 1, known + (lower == upper)
            is_best = legal & (system.cost(states, gold) == 0)
            system.step(states, pick(rng, legal if rng.random() < 0.1 else is_best))
    assert known >= (0.95 if single_root else 0.99) * visited, f"{known} of {visited}"
