"""Arc-standard and Attardi's system: the search against the paper's table, and the paper's errors.

That costs are exact is tested in test_system.py, by exhaustive search over short sentences.
"""

import itertools

import numpy as np
import pytest
from helpers.attardi_table import table_loss
from helpers.random_trees import random_tree
from helpers.rollouts import REAL, pick, promised_losses, real_trees, roll_out
from helpers.system_variants import allowed_trees

from dyparse import system as systems
from dyparse.evaluation.exhaustive import all_trees, root_children
from dyparse.system._removal_search import prepare_removals

BOTH = pytest.mark.parametrize("name", ["arc_standard", "attardi"])
ROOTS = pytest.mark.parametrize("single_root", [False, True])


def least_loss(system, states, gold):
    """The loss at the end of moves that cost nothing."""
    states = states.copy()
    while not system.finished(states).all():
        legal, cost = system.legal(states), system.cost(states, gold)
        best = np.where(legal, cost, 99)
        assert best.min() == 0
        system.step(states, best.argmin(-1))
    return int((system.heads(states) != gold)[0, 1:].sum())


def table_of(states, gold, version="corrected"):
    """The loss of the only state by the table."""
    stack = states.stack[0, : states.stack_size[0]].tolist()
    front, head = int(states.front[0]) + 1, states.head[0].tolist()
    return table_loss(gold[0].tolist(), stack, front, head, version)


def after(system, gold, moves):
    """The state after some moves, and the gold heads as an array."""
    states = system.start([len(gold)])
    for move in moves:
        system.step(states, [system.moves.index(move)])
    return states, np.array([[0, *gold]])


def random_states(system, words, rng):
    """The states of a random rollout."""
    states = system.start([words])
    while not system.finished(states).all():
        yield states
        states = states.copy()
        system.step(states, pick(rng, system.legal(states)))


def compare_with_table(trees, rng):
    """Search and table agree in the states of a rollout of each tree; how many were buildable."""
    system, buildable = systems.load("attardi", single_root=False), 0
    for tree in trees:
        gold, start = np.array([tree]), system.start([len(tree) - 1])
        can = least_loss(system, start, gold) == 0
        buildable += can
        for states in random_states(system, len(tree) - 1, rng):
            loss = least_loss(system, states, gold)
            assert table_of(states, gold, "corrected" if can else "exhaustive") == loss
    return buildable


def test_search_and_table_agree_on_random_trees():
    rng = np.random.default_rng(0)
    kinds = ["projective", "displaced", "displaced", "any"] * 8
    trees = [random_tree(rng, int(rng.integers(4, 9)), k, one_root=False) for k in kinds]
    assert 15 <= compare_with_table(trees, rng) < len(trees)


@pytest.mark.parametrize("treebank", REAL)
def test_search_and_table_agree_on_real_sentences(treebank):
    trees = [tree for tree in real_trees(treebank) if 8 <= len(tree) - 1 <= 13]
    assert compare_with_table(trees[:: len(trees) // 6], np.random.default_rng(1))


# --- what the search rests on --------------------------------------------------------------------


def fewest_lost(gold, stack, front, reach, single_root, known):
    """The fewest gold arcs between remaining tokens that a run to the end does not build."""
    key, n = (stack, front), len(gold)
    if key not in known:
        remaining = {*stack, *range(front, n)}
        after = []
        if front < n:
            pushed = (*stack, front)
            after = [fewest_lost(gold, pushed, front + 1, reach, single_root, known)]
        for depth, word in enumerate(stack[:0:-1][:reach]):
            below = stack[:-1][::-1][: reach - 1]
            heads = below if depth == 0 else stack[-1:]
            if depth == 0 and single_root:  # the root takes the last word only
                heads = [h for h in heads if h > 0 or (len(stack) == 2 and front == n)]
            rest = (*stack[: -1 - depth], *stack[len(stack) - depth :])
            for head in heads:
                price = sum(gold[d] == word for d in remaining if d > 0)
                price += gold[word] in remaining and gold[word] != head
                later = fewest_lost(gold, rest, front, reach, single_root, known)
                after.append(price + later)
        known[key] = 0 if stack == (0,) and front == n else min(after)
    return known[key]


@ROOTS
@pytest.mark.parametrize("reach", [2, 3])
def test_a_word_less_on_the_stack_loses_no_arc_more(reach, single_root):
    """The deletion lemma of docs/theory.md, and that a free removal is always best follows."""
    for tree in all_trees(4).tolist():
        known = {}
        for front in range(1, 6):
            for size in range(front):
                for words in itertools.combinations(range(1, front), size):
                    lost = fewest_lost(tree, (0, *words), front, reach, single_root, known)
                    for k in range(size):
                        fewer = (0, *words[:k], *words[k + 1 :])
                        less = fewest_lost(tree, fewer, front, reach, single_root, known)
                        assert less <= lost


# --- the errors of the paper ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gold", "moves", "loss", "printed"),
    [
        # stage 1 hangs word 3, whose head is gone, below 2 for nothing
        ((2, 0, 1), ["SHIFT", "RIGHT"], 2, 1),
        # … and word 4, whose head is on the stack, below 5
        ((3, 0, 5, 1, 0), ["SHIFT", "SHIFT", "SHIFT"], 1, 0),
        # lines 18 to 27 do not let word 3, whose head is gone, hang anywhere else
        ((0, 0, 1, 2), ["SHIFT", "RIGHT"], 1, 2),
    ],
)
def test_the_printed_table_errs_where_search_and_correction_agree(gold, moves, loss, printed):
    system = systems.load("attardi", single_root=False)
    states, heads = after(system, gold, moves)
    assert least_loss(system, states, heads) == loss
    assert table_of(states, heads) == table_of(states, heads, "exhaustive") == loss
    assert table_of(states, heads, "printed") == printed


@pytest.mark.parametrize(
    ("gold", "loss", "corrected"), [((2, 3, 0, 1), 1, 0), ((0, 1, 0, 2, 1), 1, 2)]
)
def test_the_table_errs_on_trees_that_the_system_cannot_build(gold, loss, corrected):
    system = systems.load("attardi", single_root=False)
    states, heads = after(system, gold, [])
    assert least_loss(system, states, heads) == table_of(states, heads, "exhaustive") == loss
    assert table_of(states, heads) == corrected


# --- static, coverage, memory --------------------------------------------------------------------


def builds_greedily(name, gold, *, single_root):
    """Whether 'remove a complete word below its gold head as soon as possible' rebuilds a tree."""
    system = systems.load(name, single_root=single_root)
    states = system.start([len(gold) - 1])

    def choose(states, legal):
        stack = states.stack[0, : states.stack_size[0]].tolist()[::-1]
        ends = {"LEFT": (0, 1), "RIGHT": (1, 0), "LEFT2": (0, 2), "RIGHT2": (2, 0)}
        for move in ("LEFT", "RIGHT", "LEFT2", "RIGHT2"):
            if move in system.moves and legal[0, system.moves.index(move)]:
                head, dependent = (stack[depth] for depth in ends[move])
                waiting = (gold == dependent) & (states.head[0] < 0)
                if gold[dependent] == head and not waiting[1:].any():
                    return [system.moves.index(move)]
        return [system.moves.index("SHIFT")] if legal[0, 0] else None

    while not system.finished(states)[0]:
        moves = choose(states, system.legal(states))
        if moves is None:
            return False
        system.step(states, moves)
    return bool((system.heads(states)[0] == gold).all())


@BOTH
@ROOTS
def test_removing_early_rebuilds_a_tree_if_and_only_if_it_can_be_built(name, single_root):
    system = systems.load(name, single_root=single_root)
    trees = all_trees(5)[::7]
    lost = promised_losses(system, trees)[:, 0]
    built = [builds_greedily(name, tree, single_root=single_root) for tree in trees]
    np.testing.assert_array_equal(lost == 0, built)
    assert 0 < sum(built) < len(trees)


@BOTH
@ROOTS
def test_static_removes_early_on_the_way_to_a_tree(name, single_root):
    """LEFT before RIGHT before LEFT2 before RIGHT2, and SHIFT only where none of them is free."""
    system = systems.load(name, single_root=single_root)
    trees = [t for t in all_trees(4) if builds_greedily(name, t, single_root=single_root)]
    order = [m for m in ("LEFT", "RIGHT", "LEFT2", "RIGHT2", "SHIFT") if m in system.moves]
    columns = [system.moves.index(move) for move in order]
    gold = system.prepare(trees)

    def canonical(states, legal):
        best = (legal & (system.cost(states, gold) == 0))[:, columns]
        moves = system.static(states, gold)
        expected = np.array(columns)[best.argmax(-1)]
        np.testing.assert_array_equal(moves[best.any(-1)], expected[best.any(-1)])
        return moves

    np.testing.assert_array_equal(roll_out(system, np.full(len(trees), 4), canonical), trees)


@ROOTS
def test_attardi_builds_trees_that_arc_standard_cannot_and_none_fewer(single_root):
    trees = all_trees(4)
    standard, attardi = (
        promised_losses(systems.load(name, single_root=single_root), trees)[:, 0]
        for name in ("arc_standard", "attardi")
    )
    allowed = allowed_trees((("single_root", single_root),), trees)
    assert (attardi <= standard).all()
    assert ((attardi == 0) & (standard > 0)).any()
    assert not (attardi[~allowed] == 0).any()
    assert (root_children(trees[~allowed]) > 1).all()


@BOTH
@ROOTS
def test_costs_do_not_depend_on_how_many_known_states_are_remembered(name, single_root):
    system, rng = systems.load(name, single_root=single_root), np.random.default_rng(9)
    trees = [random_tree(rng, 14, "any", one_root=False) for _ in range(60)]
    reach = {"arc_standard": 2, "attardi": 3}[name]
    golds = [prepare_removals(system.options, trees, reach, entries) for entries in (1, 8, 4096)]

    def choose(states, legal):
        few, some, many = (system.cost(states, gold) for gold in golds)
        np.testing.assert_array_equal(few, some)
        np.testing.assert_array_equal(few, many)
        return pick(rng, legal & ((few == 0) | (rng.random((len(trees), 1)) < 0.2)))

    roll_out(system, np.full(len(trees), 14), choose)
