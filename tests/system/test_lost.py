"""Best trees that can be reached, and the gold arcs that a move loses, against exhaustive search.

A system is tested because conf/system/<name>.yaml exists, with every combination of its options.
"""

import numpy as np
import pytest
from helpers.random_trees import is_projective, padded, random_tree, random_trees
from helpers.rollouts import pick
from helpers.system_variants import ALL, EXACT, variants

from dyparse import system as systems
from dyparse.evaluation.exhaustive import all_trees, pairs, reachable_states, state_bytes
from dyparse.evaluation.oracle_check import check_lost

DECOMPOSABLE = ("arc_eager", "arc_hybrid", "nonmonotonic", "buffer")
MANY_ROOTS = pytest.mark.parametrize(
    ("name", "options"),
    [v for n in DECOMPOSABLE for v in variants(n) if not dict(v.values[1])["single_root"]],
)


def every_move(system, words, trees):
    """(states, gold, moves, following states): each unfinished state, tree and legal move."""
    for layer in reachable_states(system, words):
        for _, states, gold in pairs(layer.states, np.flatnonzero(~layer.finished), trees):
            rows, moves = system.legal(states).nonzero()
            after = states.take(rows)
            system.step(after, moves)
            yield states.take(rows), gold[rows], moves, after


def ends_of(system, words):
    """{state: trees that can be reached from it}, by search."""
    ends, below = {}, []
    for layer in reversed(reachable_states(system, words)):
        here = []
        for row, heads in enumerate(system.heads(layer.states).tolist()):
            following = [below[k] for k in layer.following[row] if k >= 0]
            here.append({tuple(heads)} if layer.finished[row] else set().union(*following))
        ends |= zip((key.tobytes() for key in state_bytes(layer.states)), here, strict=True)
        below = here
    return ends


@ALL
@pytest.mark.parametrize("n_words", [4, pytest.param(5, marks=pytest.mark.slow)])
def test_lost_arcs_are_shown_by_trees_that_can_be_reached_and_number_the_cost(
    name, options, n_words
):
    assert check_lost(systems.load(name, **dict(options)), n_words) > 10_000


@EXACT
def test_arcs_are_gained_only_if_every_best_tree_after_the_move_gains_some(name, options):
    system, words = systems.load(name, **dict(options)), 3
    ends = ends_of(system, words)
    for states, gold, moves, after in every_move(system, words, all_trees(words)):
        lost = system.lost(states, gold, moves)
        for k, key in enumerate(state_bytes(after)):
            right = [tuple(np.array(tree) == gold[k])[1:] for tree in ends[key.tobytes()]]
            best = [r for r in right if sum(r) == max(map(sum, right))]
            had = (lost.before[k] == gold[k])[1:]
            is_forced = not any(all(had[list(r)]) for r in best)
            assert lost.gained[k].any() == is_forced


@MANY_ROOTS
def test_of_a_projective_tree_with_any_number_of_roots_arcs_are_lost_for_good(name, options):
    """The arcs lost are those that no tree after the move has: nothing is traded for them."""
    system = systems.load(name, **dict(options))
    trees = np.array([tree for tree in all_trees(3) if is_projective(tree)])
    ends = ends_of(system, 3)
    for states, gold, moves, after in every_move(system, 3, trees):
        lost = system.lost(states, gold, moves)
        assert not lost.gained.any()
        for k, key in enumerate(state_bytes(after)):
            heads = np.array(list(ends[key.tobytes()]))
            assert not (heads == gold[k])[:, lost.arcs[k]].any()


@ALL
def test_best_heads_are_those_of_the_canonical_moves_and_change_no_state(name, options):
    system, rng = systems.load(name, **dict(options)), np.random.default_rng(1)
    gold, lengths = padded(random_trees(seed=1, count=20, longest=12))
    states, prepared = system.start(lengths), system.prepare(gold)
    for _ in range(6):
        system.step(states, pick(rng, system.legal(states)))
    before = state_bytes(states)
    heads = system.best_heads(states, prepared)
    np.testing.assert_array_equal(state_bytes(states), before)
    while not system.finished(states).all():
        system.step(states, system.static(states, prepared))
    np.testing.assert_array_equal(heads, system.heads(states))


@EXACT
def test_long_sentences_lose_what_their_moves_cost_alone_and_among_others(name, options):
    system, rng = systems.load(name, **dict(options)), np.random.default_rng(2)
    gold, lengths = padded(random_trees(seed=2, count=8, longest=14))
    states = system.start(lengths)
    while not system.finished(states).all():
        moves, is_going = pick(rng, system.legal(states)), ~system.finished(states)
        before = state_bytes(states)
        lost, cost = system.lost(states, gold, moves), system.cost(states, gold)
        np.testing.assert_array_equal(state_bytes(states), before)
        n_lost = lost.arcs.sum(-1) - lost.gained.sum(-1)
        paid = np.where(is_going, cost[np.arange(len(moves)), moves], 0)
        np.testing.assert_array_equal(n_lost, paid)
        row = int(rng.integers(len(moves)))
        alone = system.lost(
            states.take([row]), gold[row : row + 1, : lengths[row] + 1], moves[[row]]
        )
        np.testing.assert_array_equal(alone.arcs[0], lost.arcs[row])
        system.step(states, moves)


@pytest.mark.parametrize("name", ["arc_standard", "attardi"])
def test_lost_arcs_of_long_sentences_are_found_without_a_long_search(name):
    """Words whose arcs are lost anyway add nothing to search for: it would take minutes."""
    system, rng = systems.load(name), np.random.default_rng(1)
    gold = random_tree(rng, 40, "displaced", one_root=True)[None]
    states = system.start([40])
    while not system.finished(states)[0]:
        (moves,) = system.legal(states)[0].nonzero()
        copies = np.zeros(len(moves), dtype=np.intp)
        lost = system.lost(states.take(copies), gold[copies], moves)
        n_lost = lost.arcs.sum(-1) - lost.gained.sum(-1)
        np.testing.assert_array_equal(n_lost, system.cost(states, gold)[0, moves])
        system.step(states, [rng.choice(moves)])


def test_the_arcs_that_a_known_move_loses():
    system = systems.load("arc_eager")
    states, gold = system.start([2]), [[0, 2, 0]]
    system.step(states, [system.moves.index("SHIFT")])
    lost = system.lost(states, gold, [system.moves.index("RIGHT")])
    assert lost.arcs.tolist() == [[False, True, True]]
    assert not lost.gained.any()
    assert (lost.before.tolist(), lost.after.tolist()) == ([[0, 2, 0]], [[0, 0, 1]])


def test_a_move_may_lose_two_arcs_and_gain_one():
    """Gold is 1 → 4 → 2, with 1 and 3 at the root; 4 is pushed onto 1, 2, 3 without heads."""
    system = systems.load("arc_eager", single_root=False)
    states, gold = system.start([4]), [[0, 0, 4, 0, 1]]
    for _ in range(3):
        system.step(states, [system.moves.index("SHIFT")])
    shift = system.moves.index("SHIFT")
    lost = system.lost(states, gold, [shift])
    assert np.flatnonzero(lost.arcs[0]).tolist() == [2, 4]
    assert lost.gained[0].sum() == lost.arcs[0].sum() - system.cost(states, gold)[0, shift]


def test_the_arcs_of_an_illegal_move_are_refused():
    system = systems.load("arc_eager")
    with pytest.raises(ValueError, match="not legal"):
        system.lost(system.start([2]), [[0, 2, 0]], [system.moves.index("LEFT")])
