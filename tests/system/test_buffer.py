"""Arc-eager with buffer moves: its trees, its canonical moves, gaps in long sentences."""

import itertools

import numpy as np
import pytest
from helpers.random_trees import is_projective, random_tree
from helpers.rollouts import pick, roll_out

from dyparse import system as systems
from dyparse.evaluation.exhaustive import all_trees, reachable_states, root_children
from dyparse.system import buffer
from dyparse.system._buffer_tables import BASE

BUFFER_MOVES = ("left_buffer", "right_buffer", "left_nonprojective", "right_nonprojective")
EVERY_SUBSET = pytest.mark.parametrize(
    "moves",
    [moves for size in range(5) for moves in itertools.combinations(BUFFER_MOVES, size)],
    ids="+".join,
)


def load(moves, **options):
    """The system with these buffer moves and no others."""
    return systems.load("buffer", **{move: move in moves for move in BUFFER_MOVES}, **options)


def buildable(system, words):
    """The trees at all ends."""
    ends = [system.heads(layer.states)[layer.finished] for layer in reachable_states(system, words)]
    return {tuple(tree) for tree in np.concatenate(ends).tolist()}


# --- trees ---------------------------------------------------------------------------------------

LBA, RBA, LNBA, RNBA = BUFFER_MOVES
COUNTS = [  # moves, trees of 4 words, of 5 words, of 5 words with one root
    ((), 55, 273, 143),
    ((LNBA,), 93, 638, 271),
    ((RNBA,), 78, 481, 252),
    ((LNBA, RNBA), 111, 886, 406),
    ((RBA, LNBA), 95, 674, 285),
    ((RBA, RNBA), 80, 508, 266),
    (BUFFER_MOVES, 114, 945, 436),
]


@pytest.mark.parametrize(("moves", "four", "_five", "_one_root"), COUNTS)
def test_so_many_trees_of_four_words_can_be_built(moves, four, _five, _one_root):
    assert len(buildable(load(moves, single_root=False), 4)) == four


@pytest.mark.slow
@pytest.mark.parametrize(("moves", "_four", "five", "one_root"), COUNTS)
def test_so_many_trees_of_five_words_can_be_built(moves, _four, five, one_root):
    assert len(buildable(load(moves, single_root=False), 5)) == five
    assert len(buildable(load(moves, single_root=True), 5)) == one_root


@pytest.mark.parametrize("moves", [(LBA,), (RBA,), (LBA, RBA)])
@pytest.mark.parametrize("single_root", [False, True])
def test_moves_within_the_buffer_alone_build_exactly_the_projective_trees(moves, single_root):
    trees = [t for t in all_trees(4) if root_children(t[None])[0] == 1 or not single_root]
    expected = {tuple(tree.tolist()) for tree in trees if is_projective(tree)}
    assert buildable(load(moves, single_root=single_root), 4) == expected


@EVERY_SUBSET
def test_a_move_that_is_left_out_is_never_legal_and_the_others_are(moves):
    system = load(moves, single_root=False)
    seen = np.any([layer.legal.any(0) for layer in reachable_states(system, 3)], axis=0)
    names = {name.lower() for name, is_seen in zip(system.moves, seen, strict=True) if is_seen}
    assert names == {"shift", "right", "left", "reduce", *moves}


def test_a_sentence_takes_between_one_and_two_moves_per_word():
    layers = reachable_states(load(BUFFER_MOVES), 4)
    assert {depth for depth, layer in enumerate(layers) if layer.finished.any()} == {4, 5, 6, 7, 8}


def test_a_word_removed_from_behind_the_front_leaves_the_front_in_place():
    system = load(BUFFER_MOVES)
    states = system.start([4])
    for name, front, second in (("RIGHT_BUFFER", 1, 3), ("RIGHT_BUFFER", 1, 4), ("SHIFT", 4, 0)):
        system.step(states, [system.moves.index(name)])
        begin = states.front[0]
        assert states.buffer[0, begin : begin + 2].tolist() == [front, second]
    assert states.head[0].tolist() == [-1, -1, 1, 1, -1]
    assert states.stack[0, : states.stack_size[0]].tolist() == [1]


# --- costs and canonical moves -------------------------------------------------------------------


def test_left_buffer_costs_the_dependents_that_wait_on_the_stack():
    """The paper checks dependents for RIGHT_BUFFER only; this tree is not built without the check
    for LEFT_BUFFER.
    """
    system, gold = load((LBA,)), np.array([[0, 3, 1, 4, 0]])
    states = system.start([4])
    for name in ("SHIFT", "RIGHT", "REDUCE"):
        system.step(states, [system.moves.index(name)])
    costs = system.cost(states, gold)[0]
    assert costs[system.moves.index("LEFT_BUFFER")] == 1
    assert system.moves[system.static(states, gold)[0]] == "LEFT"


def listed_move(system, states, gold):
    """The first of the rules that applies: Fernández-González & Gómez-Rodríguez (2012), with checks
    for dependents that get lost and eager REDUCE.
    """
    legal = dict(zip(system.moves, system.legal(states)[0], strict=True))
    stack = states.stack[0, : states.stack_size[0]].tolist()
    tokens = states.buffer[0, states.front[0] : states.end[0]].tolist()
    s = stack[-1] if stack else -1
    b, c = (*tokens, -1)[:2]

    def waiting(head):
        return [d for d in stack if gold[d] == head and states.head[0, d] < 0]

    def coming(head):
        return [d for d in tokens if d > 0 and gold[d] == head]

    def is_free(word):
        return not waiting(word) and not coming(word)

    rules = {
        "LEFT_BUFFER": lambda: gold[b] == c == b + 1 and is_free(b),
        "RIGHT_BUFFER": lambda: gold[c] == b == c - 1 and is_free(c),
        "LEFT_NONPROJECTIVE": lambda: gold[s] == c and not coming(s),
        "RIGHT_NONPROJECTIVE": lambda: gold[c] == s and is_free(c),
        "LEFT": lambda: gold[s] == b,
        "RIGHT": lambda: gold[b] == s,
        "REDUCE": lambda: not coming(s),
    }
    chosen = [name for name, applies in rules.items() if legal[name] and applies()]
    rest = [name for name in ("SHIFT", "REDUCE", "LEFT") if legal[name]]
    return system.moves.index([*chosen, *rest][0])


@EVERY_SUBSET
@pytest.mark.parametrize("single_root", [False, True])
def test_static_follows_the_list_of_rules_on_the_way_to_a_tree(moves, single_root):
    """Only RIGHT_BUFFER with a non-projective move has trees for which a rule loses an arc."""
    system = load(moves, single_root=single_root)
    may_fail = RBA in moves and (LNBA in moves or RNBA in moves)
    for tree in buildable(system, 4):
        gold = np.array(tree)
        prepared = system.prepare(gold[None])

        def canonical(states, _legal, gold=gold, prepared=prepared):
            listed = listed_move(system, states, gold)
            move = system.static(states, prepared)
            costs = system.cost(states, prepared)[0]
            assert costs[listed] == 0 or may_fail
            assert move[0] == listed or costs[listed] > 0
            return move

        np.testing.assert_array_equal(roll_out(system, [4], canonical)[0, 1:], gold[1:])


# --- bounded gaps --------------------------------------------------------------------------------


def best_gains(prepared, states):
    """[B]: the gold heads that the oracle sees ahead; NONE where the tables have no such place."""
    gains = np.full(len(states.length), -1)
    for row, n in enumerate(states.length - 1):
        tokens = states.buffer[row, states.front[row] : states.end[row]].tolist()
        if len(tokens) > 1:
            a, q = tokens[0], tokens[1] or n + 1
            if q - a - 1 <= buffer_gap(prepared, n):
                place = prepared.layout[row, BASE, q] + a
                gains[row] = prepared.outer[row, states.stack_size[row], place]
    return gains


def buffer_gap(prepared, words):
    """The longest gap that is planned."""
    return words if words <= prepared.exact_words else prepared.options.gap


def trees_of(words, count):
    """Trees of so many words, nearly projective and not at all."""
    rng = np.random.default_rng(words)
    kinds = itertools.cycle(("displaced", "any"))
    return np.array(
        [random_tree(rng, words, next(kinds), one_root=k % 4 < 2) for k in range(count)]
    )


@pytest.mark.parametrize("gap", [0, 1, 2, 9])
@pytest.mark.parametrize("moves", [(RNBA,), (RBA, LNBA), BUFFER_MOVES])
@pytest.mark.parametrize("single_root", [False, True])
def test_with_bounded_gaps_the_oracle_never_promises_too_much(monkeypatch, gap, moves, single_root):
    gold, rng = trees_of(9, 200), np.random.default_rng(gap)
    system = load(moves, gap=gap, single_root=single_root)
    exact = system.prepare(gold)
    monkeypatch.setattr(buffer, "EXACT_WORDS", 0)
    bounded = system.prepare(gold)
    compared, less = 0, 0

    def choose(states, legal):
        nonlocal compared, less
        true, planned_cost = system.cost(states, exact), system.cost(states, bounded)
        going = legal.any(-1)
        for costs in (true, planned_cost):
            assert (np.where(legal, costs, 99).min(-1) == 0)[going].all()
        most, planned = best_gains(exact, states), best_gains(bounded, states)
        known = (planned >= 0) & going
        assert (planned <= most)[known].all()
        compared += known.sum()
        less += (planned < most)[known].sum()
        if gap == 9:
            np.testing.assert_array_equal(planned_cost[legal], true[legal])
        return pick(rng, legal & ((true == 0) | (rng.random(len(gold)) < 0.3)[:, None]))

    roll_out(system, np.full(len(gold), 9), choose)
    assert compared > 1000
    assert (less > 0) == (gap in (0, 1)) or gap == 2


@pytest.mark.parametrize("moves", [(LNBA,), (LBA, RBA), BUFFER_MOVES])
def test_a_long_sentence_ends_no_worse_than_promised(moves):
    words = buffer.EXACT_WORDS + 90
    system, rng = load(moves), np.random.default_rng(1)
    gold = np.array([random_tree(rng, words, "displaced", one_root=True) for _ in range(4)])
    prepared = system.prepare(gold)
    states = system.start(np.full(4, words))
    system.cost(states, prepared)
    promised = words - best_gains(prepared, states)
    heads = roll_out(system, np.full(4, words), lambda s, _: system.static(s, prepared))
    losses = (heads != gold)[:, 1:].sum(-1)
    assert (losses <= promised).all()
    assert (promised <= 4).all()


def test_a_negative_gap_is_refused():
    with pytest.raises(ValueError, match=r"gap is -1"):
        systems.load("buffer", gap=-1)


def test_costs_are_called_exact_where_they_are():
    assert systems.load("buffer").is_exact(buffer.EXACT_WORDS)
    assert not systems.load("buffer").is_exact(buffer.EXACT_WORDS + 1)
    no_gap = {"right_buffer": False, "right_nonprojective": False}
    assert systems.load("buffer", **no_gap).is_exact(buffer.EXACT_WORDS + 1)
    assert not systems.load("swap").is_exact(1)
