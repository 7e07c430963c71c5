"""Every transition system through its public methods, against exhaustive search.

A system is tested because conf/system/<name>.yaml exists, with every combination of its options.
"""

import dataclasses

import numpy as np
import pytest
from helpers.random_trees import is_projective, most_gold_arcs, padded, random_trees
from helpers.rollouts import REAL, check_promises, pick, real_trees, roll_out
from helpers.system_variants import (
    ALL,
    EXACT,
    NAMES,
    SIZES,
    allowed_trees,
    search,
    variants,
    variants_of,
)

from dyparse import system as systems
from dyparse.data.sentence import NONE
from dyparse.evaluation.exhaustive import all_trees, root_children, state_bytes
from dyparse.evaluation.oracle_check import check_oracle
from dyparse.system import States

PROJECTIVE = ("arc_eager", "arc_hybrid", "arc_standard", "nonmonotonic")  # they build no others
UNRESTRICTED = ("covington", "covington_nonmonotonic", "swap")  # they build all trees
SINGLE_ROOT = pytest.mark.parametrize(  # Covington steps over states that have one legal move
    ("name", "options"),
    [
        v
        for n in NAMES
        for v in variants(n)
        if n != "covington" and dict(v.values[1]).get("single_root", False)
    ],
)


# --- short sentences: every state, every tree, every move ----------------------------------------


@ALL
@pytest.mark.parametrize("n_words", [4, pytest.param(5, marks=pytest.mark.slow)])
def test_moves_costs_and_ends_are_those_of_exhaustive_search(name, options, n_words):
    assert check_oracle(systems.load(name, **dict(options)), n_words) > 15_000


@ALL
@SIZES
def test_canonical_moves_build_the_trees_that_the_system_is_made_for(name, options, words):
    """At least the projective ones; buffer and attardi build some others too."""
    system, trees = systems.load(name, **dict(options)), all_trees(words)
    gold = system.prepare(trees)
    heads = roll_out(system, np.full(len(trees), words), lambda s, _: system.static(s, gold))
    is_built = (heads == trees)[:, 1:].all(-1)
    is_projective_tree = np.array([is_projective(tree) for tree in trees])
    expected = allowed_trees(options, trees) & (is_projective_tree | (name in UNRESTRICTED))
    assert expected.any()
    assert is_built[expected].all()
    if name in PROJECTIVE + UNRESTRICTED:
        np.testing.assert_array_equal(is_built, expected)


@SINGLE_ROOT
@SIZES
def test_single_root_forbids_exactly_the_moves_that_lead_to_no_single_root_tree(
    name, options, words
):
    free, free_layers, _, _ = search(
        name, tuple({**dict(options), "single_root": False}.items()), words
    )
    _, ruled_layers, _, _ = search(name, options, words)
    assert len(ruled_layers) <= len(free_layers)
    hopeful = [np.zeros(1, dtype=bool)]  # of each layer; a last False, for following = NONE = -1
    for layer in reversed(free_layers):
        ends = layer.finished & (root_children(free.heads(layer.states)) == 1)
        hopeful.insert(0, np.append(ends | hopeful[0][layer.following].any(-1), False))
    for layer, ruled, below in zip(free_layers, ruled_layers, hopeful[1:], strict=False):
        rows = {key.tobytes(): row for row, key in enumerate(state_bytes(layer.states))}
        same = [rows[key.tobytes()] for key in state_bytes(ruled.states)]
        np.testing.assert_array_equal(ruled.legal, below[layer.following[same]])


@variants_of(["arc_hybrid"])
@SIZES
def test_arcs_can_be_counted_one_by_one_in_arc_hybrid(name, options, words):
    """Goldberg & Nivre (2013): of projective trees; under the single-root rule, with one root."""
    system, layers, trees, _ = search(name, options, words)
    trees = trees[[is_projective(tree) for tree in trees]]
    trees = trees[allowed_trees(options, trees)]
    for layer in layers:
        for row in np.flatnonzero(~layer.finished):
            states = layer.states.take(np.full(len(trees), row))
            costs = system.cost(states, trees)[:, layer.legal[row]]
            expected = [counted_arcs(states, tree) for tree in trees.tolist()]
            np.testing.assert_array_equal(costs, np.array(expected)[:, layer.legal[row]])


def counted_arcs(states, gold):
    """Gold arcs that SHIFT, LEFT and RIGHT of arc-hybrid put out of reach, one by one."""
    *stack, top = states.stack[0, : states.stack_size[0]].tolist()
    buffer = states.buffer[0, states.front[0] : states.end[0]].tolist()
    front, *rest = buffer or [0]
    shift = (gold[front] in stack) + sum(gold[d] == front for d in (*stack, top) if d > 0)
    dependents = sum(gold[d] == top for d in buffer)
    left = (gold[top] in (*stack[-1:], *rest)) + dependents
    return [shift, left, (gold[top] in buffer) + dependents]


# --- rollouts of longer sentences ----------------------------------------------------------------


@EXACT
@pytest.mark.parametrize("source", ["random", *REAL])
def test_any_rollout_pays_exactly_the_arcs_it_loses(name, options, source):
    if source == "random":
        check_promises(name, options, random_trees(seed=2, count=60, longest=30))
    else:
        trees = real_trees(source)
        check_promises(name, options, trees[:: len(trees) // 25])


@variants_of(PROJECTIVE)
def test_a_projective_system_promises_the_nearest_projective_tree(name, options):
    trees = random_trees(seed=3, count=30, longest=30)
    one_root = dict(options)["single_root"]
    nearest = [len(tree) - 1 - most_gold_arcs(tree, one_root=one_root) for tree in trees]
    np.testing.assert_array_equal(check_promises(name, options, trees), nearest)


# --- batches, and the memory of a prepared gold --------------------------------------------------


def visited_states(system, lengths, rng):
    """(rows, states): all unfinished states of a random rollout per sentence, and whose each is."""
    rows, visited = [], []

    def remember(states, legal):
        going = np.flatnonzero(legal.any(-1))
        rows.append(going)
        visited.append(states.take(going))
        return pick(rng, legal)

    roll_out(system, lengths, remember)
    parts = zip(*visited, strict=True)
    return np.concatenate(rows), States(*(np.concatenate(arrays) for arrays in parts))


def answers(system, states, gold):
    """All about each state, side by side: legal, cost where legal, static, finished."""
    legal, cost = system.legal(states), np.where(system.legal(states), system.cost(states, gold), 0)
    return np.column_stack([legal, cost, system.static(states, gold), system.finished(states)])


@pytest.mark.parametrize("name", NAMES)
def test_no_feature_slot_is_always_empty(name):
    system, rng = systems.load(name), np.random.default_rng(5)
    rows, states = visited_states(system, np.full(100, 8), rng)
    slots = np.full((len(rows), len(system.slots)), NONE, dtype=np.int32)
    for row in range(len(rows)):
        systems.features(system.options, states, row, slots[row])
    is_empty = (slots == NONE).all(0)
    assert not [slot for slot, empty in zip(system.slots, is_empty, strict=True) if empty]


@ALL
def test_a_sentence_has_the_same_moves_and_costs_alone_and_among_longer_ones(name, options):
    system, rng = systems.load(name, **dict(options)), np.random.default_rng(4)
    trees = random_trees(seed=4, count=12, longest=9)
    gold, lengths = padded(trees)
    states, alone = system.start(lengths), [system.start([n]) for n in lengths]
    while not system.finished(states).all():
        together = answers(system, states, gold)
        moves = pick(rng, system.legal(states))
        for row, (state, tree) in enumerate(zip(alone, trees, strict=True)):
            np.testing.assert_array_equal(answers(system, state, tree[None])[0], together[row])
            system.step(state, moves[row : row + 1])
        system.step(states, moves)
    for row, (state, n) in enumerate(zip(alone, lengths, strict=True)):
        assert system.finished(state)[0]
        np.testing.assert_array_equal(system.heads(states)[row, : n + 1], system.heads(state)[0])


@ALL
def test_prepared_gold_gives_the_same_in_any_order_of_states(name, options):
    system, rng = systems.load(name, **dict(options)), np.random.default_rng(5)
    gold, lengths = padded(random_trees(seed=5, count=40, longest=12))
    owner, states = visited_states(system, np.tile(lengths, 6), rng)
    owner %= len(lengths)
    fresh, prepared = answers(system, states, gold[owner]), system.prepare(gold)
    for _ in range(300):  # each row jumps from one of its states to another
        rows = np.array([rng.choice(np.flatnonzero(owner == b)) for b in range(len(lengths))])
        np.testing.assert_array_equal(answers(system, states.take(rows), prepared), fresh[rows])


@ALL
def test_prepared_gold_serves_shorter_and_longer_sentences(name, options):
    """The first two words are a projective tree, all five are not."""
    system, rng = systems.load(name, **dict(options)), np.random.default_rng(8)
    gold = np.array([[0, 2, 0, 5, 1, 2]])
    prepared = system.prepare(gold)
    for words in (2, 5, 2, 5):
        _, states = visited_states(system, np.array([words]), rng)
        for row in range(len(states.length)):
            state = states.take([row])
            np.testing.assert_array_equal(
                answers(system, state, prepared), answers(system, state, gold)
            )


@ALL
def test_asking_changes_no_state_and_copies_go_their_own_way(name, options):
    system, rng = systems.load(name, **dict(options)), np.random.default_rng(6)
    gold, lengths = padded(random_trees(seed=6, count=20, longest=8))
    states = system.start(lengths)
    before = state_bytes(states)
    copied, taken = states.copy(), states.take(np.arange(len(lengths)))
    for batch in (copied, taken):
        system.step(batch, pick(rng, system.legal(batch)))
        assert (state_bytes(batch) != before).any(-1).all()
    for ask in (system.legal, system.finished, system.heads):
        ask(states)
    system.cost(states, gold)
    system.static(states, gold)
    np.testing.assert_array_equal(state_bytes(states), before)


@ALL
def test_a_finished_sentence_waits_for_the_others(name, options):
    system, rng = systems.load(name, **dict(options)), np.random.default_rng(7)
    states = system.start([1, 10])
    while not system.finished(states)[0]:
        system.step(states, pick(rng, system.legal(states)))
    end = state_bytes(states)[0]
    assert not system.finished(states)[1]
    system.step(states, pick(rng, system.legal(states)))
    np.testing.assert_array_equal(state_bytes(states)[0], end)


# --- errors --------------------------------------------------------------------------------------


def test_every_system_has_a_configuration_and_every_configuration_a_system():
    assert systems.names() == NAMES
    assert NAMES


def test_an_unknown_system_is_refused_with_the_names_there_are():
    with pytest.raises(ValueError, match=r"no_such.*arc_eager"):
        systems.load("no_such")


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_option_is_refused_with_the_options_there_are(name):
    options = [field.name for field in dataclasses.fields(systems.load(name))]
    with pytest.raises(ValueError, match=r"no_such.*" + ".*".join(sorted(options))):
        systems.load(name, no_such=True)


def test_a_wrong_root_is_refused_with_the_values_there_are():
    with pytest.raises(ValueError, match=r"root.*middle.*(last.*first|first.*last)"):
        systems.load("arc_eager", root="middle")


@pytest.mark.parametrize("name", NAMES)
def test_an_illegal_move_is_refused(name):
    system = systems.load(name)
    states = system.start([3, 3])
    illegal = np.flatnonzero(~system.legal(states)[0])
    for move in (*illegal, len(system.moves), -1):
        with pytest.raises(ValueError, match="not legal"):
            system.step(states, [move, move])


@pytest.mark.parametrize("name", NAMES)
def test_a_sentence_without_words_is_refused(name):
    with pytest.raises(ValueError, match="lengths"):
        systems.load(name).start([3, 0])


@pytest.mark.parametrize("name", NAMES)
def test_gold_of_another_shape_is_refused(name):
    system = systems.load(name)
    for shape in ((2, 3), (1, 4)):
        with pytest.raises(ValueError, match="gold"):
            system.cost(system.start([3, 3]), np.zeros(shape, dtype=int))


def test_gold_heads_outside_the_sentence_are_refused():
    found = systems.load("arc_eager")
    with pytest.raises(ValueError, match="outside the sentence"):
        found.cost(found.start([2]), [[0, 0, 2_000_000_000]])
    with pytest.raises(ValueError, match="outside the sentence"):
        found.cost(found.start([1, 2]), [[0, 2, 0], [0, 0, 1]])


def test_gold_prepared_for_other_options_is_refused():
    one, other = (systems.load("arc_eager", single_root=single) for single in (True, False))
    with pytest.raises(ValueError, match="other options"):
        other.cost(other.start([2]), one.prepare([[0, 0, 1]]))


def test_prepared_gold_does_not_change_with_the_array_it_was_made_of():
    found = systems.load("arc_eager")
    heads = np.array([[0, 0, 1, 2]], dtype=np.int32)
    prepared = found.prepare(heads)
    before = found.cost(found.start([3]), prepared)
    heads[:] = [[0, 2, 3, 0]]
    assert (found.cost(found.start([3]), prepared) == before).all()


def test_an_illegal_move_changes_no_state():
    found = systems.load("arc_eager")
    states = found.start([2, 2])
    before = states.copy()
    with pytest.raises(ValueError, match="row 1"):
        found.step(states, [0, 3])
    assert all((a == b).all() for a, b in zip(states, before, strict=True))
