"""Covington against slow readings of its definition: every end of a small sentence, the lightest
tree of a longer one, and the paper's Algorithm 1.

The other tests of a transition system are in test_system.py.
"""

import functools
import itertools

import numpy as np
import pytest
from helpers.random_trees import random_tree
from helpers.rollouts import pick, roll_out

from dyparse import system as systems
from dyparse.evaluation.exhaustive import all_trees, reachable_states, root_children

SIZES = pytest.mark.parametrize("words", [1, 2, 3, 4])
RULES = pytest.mark.parametrize("single_root", [False, True])
NEVER, EXPENSIVE = 10**6, 10**3  # weights of an impossible arc, and of one that should be alone


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
    if heads[dependent] or dependent in above(heads, head):
        return None
    return s - 1, b, (*heads[:dependent], head, *heads[dependent + 1 :])


def above(heads, word):
    """The words that one meets on the way up, in order; once around if it is a cycle."""
    path = []
    while (word := heads[word]) and word not in path:
        path.append(word)
    return path


@functools.cache
def ends(state):
    """The heads of all ends that can be reached, without any formula."""
    after = [follow(state, move) for move in ("SHIFT", "NO_ARC", "LEFT", "RIGHT")]
    return frozenset().union(*map(ends, filter(None, after))) or frozenset([state[2]])


def all_states(words):
    """Every state that can be reached from the start."""
    found, new = set(), {(0, 1, (0,) * (words + 1))}
    while new:
        found |= new
        after = {follow(state, move) for state in new for move in systems.load("covington").moves}
        new = after - found - {None}
    return found


def true_loss(state, gold):
    """The fewest wrong heads among all ends."""
    return min(sum(a != b for a, b in zip(end, gold, strict=True)) for end in ends(state))


def plain(states, row=0):
    """A row of the states of the system, as (s, b, heads)."""
    heads = np.clip(states.head[row, : states.length[row]], 0, None).tolist()
    return int(states.stack_size[row]), int(states.front[row]) + 1, tuple(heads)


# --- Algorithm 1 ---------------------------------------------------------------------------------


def algorithm_1(state, gold, reading):
    """Loss by Gómez-Rodríguez & Fernández-González (2015), in three readings.

    `literal`: A are the arcs built. `footnote 1`: and arcs from the root to words without head.
    `corrected`: as literal, but an arc from the root is lost if and only if its word has a head.
    """
    s, b, heads = state
    words = range(1, len(heads))
    built = {(heads[w], w) for w in words if heads[w] or reading == "footnote 1"}
    lost = set()
    for head, word in {(gold[w], w) for w in words} - built:
        left, right = min(head, word), max(head, word)
        is_lost = (
            b > right
            or (b == right and s < left)
            or heads[word] not in (0, head)
            or are_connected(built, head, word)
        )
        if reading == "corrected" and head == 0:
            is_lost = heads[word] != 0
        lost |= {(head, word)} if is_lost else set()
    hoped = [
        0,
        *(0 if heads[w] == 0 and (gold[w], w) in lost else heads[w] or gold[w] for w in words),
    ]
    cycles = {frozenset(above(hoped, w)) for w in words if w in above(hoped, w)}
    return len(lost) + len(cycles)


def are_connected(arcs, word, other):
    """Whether there is a path, whatever the direction of its arcs."""
    reached, size = {word}, 0
    while len(reached) > size:
        size = len(reached)
        reached |= {end for arc in arcs if reached & set(arc) for end in arc}
    return other in reached


@pytest.mark.parametrize(
    ("state", "gold", "reading"),
    [
        # word 1 has been passed, but will hang from the root in the end
        ((0, 2, (0, 0, 0)), (0, 0, 0), "literal"),
        # 1 and 2, both without head, are not connected in a way that would forbid an arc
        ((1, 2, (0, 0, 0)), (0, 0, 1), "footnote 1"),
    ],
)
def test_algorithm_1_of_the_paper_loses_arcs_that_can_be_had(state, gold, reading):
    assert state in all_states(2)
    assert true_loss(state, gold) == 0
    assert algorithm_1(state, gold, reading) == 1
    assert algorithm_1(state, gold, "corrected") == 0


@SIZES
def test_algorithm_1_with_corrected_root_arcs_is_the_loss_of_every_state(words):
    for state, gold in itertools.product(all_states(words), all_trees(words).tolist()):
        assert algorithm_1(state, gold, "corrected") == true_loss(state, gold)


# --- one root ------------------------------------------------------------------------------------


def loss_by_hopes(state, gold):
    """Lost words, cycles of hopes, and the surcharge for a single root (docs/theory.md)."""
    s, b, heads = state
    n = len(heads) - 1
    words = range(1, n + 1)

    def meeting(word):
        pairs = {w: (min(w, word), max(w, word)) for w in words if w != word}
        return {w for w, (low, high) in pairs.items() if high > b or (high == b and low <= s)}

    hope = [0, *(heads[w] or gold[w] * (gold[w] in meeting(w)) for w in words)]
    lost = [w for w in words if hope[w] != gold[w]]
    cycles = {frozenset(above(hope, w)) for w in words if w in above(hope, w)}
    roots = {w for w in words if heads[w] == gold[w] == 0}
    stuck = {w for w in range(s + 1, n) if b == n and heads[w] == 0}
    surcharge = 0
    if b <= n and (roots or stuck):
        goals, reached, new = stuck or roots, set(), {n}
        while new:
            reached |= new
            free = {w for w in new if not heads[w] and w not in goals}
            jumps = {w for w in free if hope[w] == 0 or w in above(hope, w)}
            new = {hope[w] for w in new}.union(*map(meeting, jumps)) - reached - {0}
        surcharge = len(roots) - bool(goals & roots) + (not goals & reached)
    return len(lost) + len(cycles) + surcharge


@SIZES
def test_hopes_and_a_surcharge_are_the_loss_under_the_single_root_rule(words):
    for state in all_states(words):
        allowed = np.array([end for end in ends(state) if end.count(0) == 2])  # 2: and the root
        for gold in all_trees(words) if len(allowed) else ():
            assert loss_by_hopes(state, gold.tolist()) == (allowed != gold).sum(-1).min()


# --- legal moves, the canonical move -------------------------------------------------------------


@RULES
@SIZES
def test_only_states_in_which_an_arc_is_legal_are_visited(single_root, words):
    system = systems.load("covington", single_root=single_root)
    start, *layers = reachable_states(system, words)
    arcs = [system.moves.index("LEFT"), system.moves.index("RIGHT")]
    assert [system.moves[m] for m in np.flatnonzero(start.legal[0])] == ["SHIFT"]
    for layer in layers:
        np.testing.assert_array_equal(layer.legal[:, arcs].any(-1), ~layer.finished)


@RULES
@SIZES
def test_exactly_the_moves_that_lead_to_no_allowed_tree_are_forbidden(single_root, words):
    system = systems.load("covington", single_root=single_root)
    for layer in reachable_states(system, words):
        for row in np.flatnonzero(~layer.finished):
            for move, is_legal in zip(system.moves, layer.legal[row], strict=True):
                after = follow(plain(layer.states, row), move)
                hopeful = ends(after) if after else ()
                wanted = any(end.count(0) == 2 or not single_root for end in hopeful)  # 2: and root
                assert is_legal == wanted


@RULES
@pytest.mark.parametrize("words", [1, 2, 3, 4, 12])
def test_static_is_the_rule_of_the_paper_on_the_way_to_a_tree(single_root, words):
    system, rng = systems.load("covington", single_root=single_root), np.random.default_rng(words)
    many = [random_tree(rng, words, "any", one_root=single_root) for _ in range(50)]
    trees = all_trees(words) if words < 5 else np.array(many)
    for tree in trees[(root_children(trees) == 1) | (not single_root)]:

        def canonical(states, _legal, tree=tree):
            s, b, _ = plain(states)
            linked = [w for w in range(1, s) if tree[b] == w or tree[w] == b]
            arc = "LEFT" if s and tree[s] == b else "RIGHT" if s and tree[b] == s else None
            expected = arc or ("NO_ARC" if linked else "SHIFT")
            assert system.moves[system.static(states, tree[None])[0]] == expected
            return [system.moves.index(expected)]

        np.testing.assert_array_equal(roll_out(system, [words], canonical)[0], tree)


# --- longer sentences ----------------------------------------------------------------------------


def lightest(weight):
    """Weight of the lightest tree from the root 0; weight[h, d] is that of the arc h → d.

    Chu & Liu (1965), Edmonds (1967): each word takes its lightest arc; a cycle becomes one word,
    and entering it takes back the arc that is replaced.
    """
    head = weight.argmin(0)
    head[0] = 0
    cycles = [above(head, word) for word in range(1, len(head)) if word in above(head, word)]
    if not cycles:
        return int(weight[head[1:], np.arange(1, len(head))].sum())
    cycle, rest = cycles[0], np.setdiff1d(np.arange(len(head)), cycles[0])
    paid = weight[head[cycle], cycle]
    smaller = np.full((len(rest) + 1, len(rest) + 1), NEVER)
    smaller[:-1, :-1] = weight[np.ix_(rest, rest)]
    smaller[-1, :-1] = weight[np.ix_(cycle, rest)].min(0)
    smaller[:-1, -1] = (weight[np.ix_(rest, cycle)] - paid).min(1)
    return int(paid.sum()) + lightest(smaller)


def loss_by_lightest_tree(state, gold, *, single_root):
    """Wrong heads of the best tree of arcs built and of arcs between words that can still meet."""
    s, b, heads = state
    weight = np.full((len(heads), len(heads)), NEVER)
    for word in range(1, len(heads)):
        for head in range(len(heads)):
            low, high = min(head, word), max(head, word)
            can_meet = low == 0 or high > b or (high == b and low <= s)
            if head != word and (heads[word] == head if heads[word] else can_meet):
                weight[head, word] = gold[word] != head
    weight[0] += EXPENSIVE * single_root
    return lightest(weight) - EXPENSIVE * single_root


@RULES
def test_the_lightest_tree_is_the_best_end(single_root):
    """The two slow oracles agree, so that the fast one may be measured by either."""
    for state, gold in itertools.product(all_states(3), all_trees(3).tolist()):
        allowed = [end for end in ends(state) if end.count(0) == 2 or not single_root]
        least = [sum(a != b for a, b in zip(end, gold, strict=True)) for end in allowed]
        if allowed:
            assert loss_by_lightest_tree(state, gold, single_root=single_root) == min(least)


@RULES
@pytest.mark.parametrize("seed", range(30))
def test_cost_is_the_difference_of_lightest_trees_on_any_rollout(single_root, seed):
    system, rng = systems.load("covington", single_root=single_root), np.random.default_rng(seed)
    kind = ("any", "projective")[seed % 2]
    gold = random_tree(rng, int(rng.integers(5, 13)), kind, one_root=seed % 3 > 0)

    def loss(states):
        return loss_by_lightest_tree(plain(states), gold, single_root=single_root)

    def check_and_choose(states, legal):
        cost = system.cost(states, gold[None])
        for move in np.flatnonzero(legal[0]):
            after = states.copy()
            system.step(after, [move])
            assert cost[0, move] == loss(after) - loss(states)
        return pick(rng, legal & ((cost == 0) | (rng.random() < 0.4)))

    roll_out(system, [len(gold) - 1], check_and_choose)
