"""2-planar against its definition in plain Python, and its oracle against all sets of hopes.

The other tests of a transition system are in test_system.py.
"""

import functools
import itertools

import numpy as np
import pytest
from helpers.random_trees import random_tree
from helpers.rollouts import pick, roll_out
from helpers.tiny import PROJECT

from dyparse import system as systems
from dyparse.evaluation.exhaustive import all_trees, root_children

SYSTEM = systems.load("two_planar")
MOVES = ("SHIFT", "REDUCE", "LEFT", "RIGHT", "SWITCH")
SIZES = pytest.mark.parametrize("words", [1, 2, 3, 4])


# --- the system as (stacks, b, heads), heads[w] = 0 while word w has none, SWITCH always legal ---


def follow(state, move):
    """The state after a move; None if it is not legal."""
    (active, other), b, heads = state
    if move == "SWITCH":
        return (other, active), b, heads
    if b == len(heads) or (not active and move != "SHIFT"):
        return None
    if move == "SHIFT":
        return ((*active, b), (*other, b)), b + 1, heads
    if move == "REDUCE":
        return (active[:-1], other), b, heads
    head, dependent = (b, active[-1]) if move == "LEFT" else (active[-1], b)
    if heads[dependent] or dependent in upwards(heads, head):
        return None
    return state[0], b, (*heads[:dependent], head, *heads[dependent + 1 :])


def upwards(heads, word):
    """A word and those above it."""
    path = [word]
    while heads[path[-1]]:
        path.append(heads[path[-1]])
    return path


def reachable(words):
    """All states that these moves lead to."""
    found, new = set(), [(((), ()), 1, (0,) * (words + 1))]
    while new:
        found |= set(new)
        new = {follow(state, move) for state in new for move in MOVES} - found - {None}
    return found


@SIZES
def test_the_precondition_of_switch_forbids_no_tree(words):
    trees, ends = all_trees(words), {heads for _, b, heads in reachable(words) if b == words + 1}
    heads = roll_out(
        SYSTEM, np.full(len(trees), words), lambda states, _: SYSTEM.static(states, trees)
    )
    for tree, built in zip(trees.tolist(), heads.tolist(), strict=True):
        assert (built == tree) == (tuple(tree) in ends)


def test_the_page_has_the_number_of_trees_of_six_words():
    trees = all_trees(6)
    trees = trees[root_children(trees) == 1]
    best = SYSTEM.best_heads(SYSTEM.start([6] * len(trees)), trees)
    built, page = (best == trees)[:, 1:].all(-1).sum(), PROJECT / "docs/systems/two_planar.md"
    text = " ".join(page.read_text(encoding="utf-8").split())
    assert f"{built:,} of the {len(trees):,} of six" in text


def test_states_and_moves_are_those_of_the_definition():
    rng = np.random.default_rng(1)
    for words in (2, 5, 9):
        states, state, last = SYSTEM.start([words]), (((), ()), 1, (0,) * (words + 1)), ""
        while not SYSTEM.finished(states)[0]:
            (active, other), b, heads = state
            lists = SYSTEM.lists(states, 0)
            assert lists == {"active stack": list(active), "other stack": list(other)}
            assert states.buffer[0, states.front[0] : states.end[0]].tolist() == [
                *range(b, words + 1)
            ]
            assert SYSTEM.heads(states)[0].tolist() == list(heads)
            legal = SYSTEM.legal(states)
            expected = [follow(state, move) is not None for move in MOVES]
            expected[MOVES.index("SWITCH")] &= last != "SWITCH" and bool(other)
            assert legal[0].tolist() == expected
            move = pick(rng, legal)
            last = MOVES[move[0]]
            SYSTEM.step(states, move)
            state = follow(state, last)


# --- the oracle ----------------------------------------------------------------------------------


def least_loss(stacks, b, heads, gold):
    """The loss by the formula, over all subsets of hopes; the last move was not SWITCH."""
    words = range(1, len(gold))
    hopes = []
    for word in words:
        low, high = sorted((word, gold[word]))
        planes = [p for p in (0, 1) if low >= b or low in stacks[p]]
        if not heads[word] and gold[word] and low != high >= b and planes:
            hopes.append((word, planes))
    for kept in range(len(hopes), -1, -1):
        for chosen in itertools.combinations(hopes, kept):
            after = list(heads)
            for word, _ in chosen:
                after[word] = gold[word]
            if is_forest(after) and fits(chosen, gold):
                return sum(after[word] != gold[word] for word in words)
    raise AssertionError("no hopes at all are possible")


def is_forest(heads):
    """Whether no word is above itself."""
    for word in range(1, len(heads)):
        above = word
        for _ in heads:
            above = heads[above]
        if above:
            return False
    return True


def fits(chosen, gold):
    """Whether the hopes can be put into planes in which none cross."""
    return any(
        not any(
            p == q and cross(one, other, gold)
            for ((one, _), p), ((other, _), q) in itertools.combinations(
                zip(chosen, planes, strict=True), 2
            )
        )
        for planes in itertools.product(*(planes for _, planes in chosen))
    )


def cross(one, other, gold):
    """Whether two gold arcs cross."""
    (a, b), (c, d) = sorted((one, gold[one])), sorted((other, gold[other]))
    return a < c < b < d or c < a < d < b


def plain(states):
    """The state of one sentence as (stacks, b, heads)."""
    active, other = map(tuple, SYSTEM.lists(states, 0).values())
    return (active, other), int(states.front[0]) + 1, tuple(SYSTEM.heads(states)[0].tolist())


@functools.cache
def loss_after(state, gold):
    """The loss of a state, as (stacks, b, heads)."""
    return least_loss(*state, gold)


@pytest.mark.parametrize("words", [6, 8, 10])
def test_costs_are_those_of_the_fewest_hopes_that_must_be_given_up(words):
    rng = np.random.default_rng(words)
    for _ in range(30):
        gold = tuple(random_tree(rng, words, "any", one_root=False).tolist())
        states, may_switch = SYSTEM.start([words]), True
        while not SYSTEM.finished(states)[0]:
            legal, state = SYSTEM.legal(states), plain(states)
            losses = {m: loss_after(s, gold) for m in MOVES[:4] if (s := follow(state, m))}
            if legal[0, MOVES.index("SWITCH")]:
                switched = follow(state, "SWITCH")
                at_other = (follow(switched, m) for m in MOVES[:4])
                losses["SWITCH"] = min(loss_after(s, gold) for s in at_other if s)
            least = min(losses.values())
            assert not may_switch or least == loss_after(state, gold)
            cost = SYSTEM.cost(states, [gold])[0]
            expected = {move: loss - least for move, loss in losses.items()}
            assert {m: int(cost[MOVES.index(m)]) for m in expected} == expected
            move = pick(rng, legal & ((cost == 0) | (rng.random() < 0.2)))
            may_switch = MOVES[move[0]] != "SWITCH"
            SYSTEM.step(states, move)


def test_a_switch_costs_an_arc_where_every_move_at_the_other_stack_does():
    """After SWITCH, SHIFT would lose 1 → 3, REDUCE 4 → 2, and RIGHT a head of 3."""
    states, gold = SYSTEM.start([4]), [[0, 0, 4, 1, 1]]
    for move in ("SHIFT", "SHIFT", "REDUCE"):  # stacks 1 and 1 2, buffer 3 4
        SYSTEM.step(states, [MOVES.index(move)])
    cost = dict(zip(MOVES, SYSTEM.cost(states, gold)[0].tolist(), strict=True))
    assert SYSTEM.lists(states, 0) == {"active stack": [1], "other stack": [1, 2]}
    assert cost["RIGHT"] == 0
    assert cost["SHIFT"] == cost["SWITCH"] == 1
