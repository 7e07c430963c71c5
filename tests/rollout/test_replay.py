"""Replayed derivations against the arrays of states on the way, for every transition system."""

import numpy as np
import pytest
from helpers.rollouts import pick
from helpers.tiny import yamls

from dyparse import system as systems
from dyparse.data.sentence import NONE
from dyparse.rollout.replay import Replayed, replay

WORDS = np.array([4, 1, 9, 2, 13, 6], dtype=np.int32)
NAMES = [path.stem for path in yamls("system")]
VARIANTS = [
    "arc_eager:root=first",
    "arc_eager:root=first,single_root=false",
    "nonmonotonic:left_arc=false",
    "nonmonotonic:reduce=false,single_root=false",
    "buffer:left_buffer=false,right_nonprojective=false",
]
all_systems = pytest.mark.parametrize("text", NAMES + VARIANTS)


def random_rollout(system, seed, words=WORDS):
    """(sentence [T], move [T], heads at the end, `Replayed` as it should be).

    One move in each sentence, then one more in each, …: moves of several sentences alternate.
    """
    rng, states = np.random.default_rng(seed), system.start(words)
    sentence, move, seen = [], [], []
    while not system.finished(states).all():
        before, going = states.copy(), np.flatnonzero(~system.finished(states))
        moves = pick(rng, system.legal(states))
        system.step(states, moves)
        sentence.extend(going)
        move.extend(moves[going])
        seen.extend(step_of(before, states, b) for b in going)
    columns = [np.array(column) for column in zip(*seen, strict=True)]
    return np.array(sentence), np.array(move), system.heads(states), Replayed(*columns)


def step_of(before, after, b):
    """One step of sentence b, read off the states before and after it."""
    stack = before.stack[b, : before.stack_size[b]].tolist()
    buffer = before.buffer[b, before.front[b] : before.end[b]].tolist()
    old, new = before.head[b], after.head[b]
    changed = np.flatnonzero((old != new) & (new != NONE))  # others: their arcs were removed
    assert len(changed) <= 1
    arc = (new[changed[0]], changed[0], old[changed[0]]) if len(changed) else (NONE, NONE, NONE)
    top, below = ([NONE, NONE, *stack][-k] for k in (1, 2))
    return (*arc, top, below, [*buffer, NONE][0], NONE if top == NONE else old[top])


@all_systems
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_replay_meets_the_same_states_and_ends_with_the_same_heads(text, seed):
    system = systems.load(text)
    sentence, move, heads, expected = random_rollout(system, seed)
    found_heads, found = replay(system, WORDS, sentence, move)
    np.testing.assert_array_equal(found_heads, heads)
    for name in Replayed._fields:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
        assert getattr(found, name).dtype == np.int32


@all_systems
def test_only_the_order_within_a_sentence_matters(text):
    system = systems.load(text)
    sentence, move, heads, expected = random_rollout(system, 3)
    order = np.argsort(sentence, kind="stable")
    found_heads, found = replay(system, WORDS, sentence[order], move[order])
    np.testing.assert_array_equal(found_heads, heads)
    for name in Replayed._fields:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name)[order], name)


@all_systems
def test_the_last_arc_that_each_word_got_is_its_head_and_others_hang_from_the_root(text):
    """Except where arcs are removed: then a word without head may have had one."""
    system = systems.load(text)
    sentence, move, heads, _ = random_rollout(system, 4)
    _, found = replay(system, WORDS, sentence, move)
    by_arcs = np.zeros_like(heads)
    for b, head, dependent, replaced in zip(
        sentence, found.head, found.dependent, found.replaced, strict=True
    ):
        assert (head == NONE) == (dependent == NONE)
        assert dependent != NONE or replaced == NONE
        if dependent != NONE:
            by_arcs[b, dependent] = head
    is_kept = (heads != 0) | ("covington_nonmonotonic" not in text)
    np.testing.assert_array_equal(by_arcs[is_kept], heads[is_kept])


@pytest.mark.parametrize("text", NAMES)
def test_heads_are_replaced_by_nonmonotonic_moves_only(text):
    system = systems.load(text)
    sentence, move, _, _ = random_rollout(system, 5)
    _, found = replay(system, WORDS, sentence, move)
    replaces = found.replaced != NONE
    assert replaces.any() == ("nonmonotonic" in text)
    assert {system.moves[m] for m in move[replaces]} <= {"LEFT", "RIGHT"}
    by_left = replaces & (move == system.moves.index("LEFT"))
    np.testing.assert_array_equal(found.replaced[by_left], found.top_head[by_left])
    assert text == "covington_nonmonotonic" or (by_left == replaces).all()


def test_a_known_derivation_with_a_repaired_head():
    """RIGHT makes 1 the head of 2, LEFT replaces it by 3."""
    system = systems.load("nonmonotonic")
    taken = ["SHIFT", "RIGHT", "LEFT", "LEFT", "SHIFT", "LEFT"]
    moves = np.array([system.moves.index(name) for name in taken], dtype=np.int32)
    words, sentence = np.array([3], dtype=np.int32), np.zeros(6, dtype=np.int32)
    heads, found = replay(system, words, sentence, moves)
    assert heads.tolist() == [[0, 3, 3, 0]]
    assert found.head.tolist() == [NONE, 1, 3, 3, NONE, 0]
    assert found.dependent.tolist() == [NONE, 2, 2, 1, NONE, 3]
    assert found.replaced.tolist() == [NONE, NONE, 1, NONE, NONE, NONE]
    assert found.top.tolist() == [NONE, 1, 2, 1, NONE, 3]
    assert found.below.tolist() == [NONE, NONE, 1, NONE, NONE, NONE]
    assert found.front.tolist() == [1, 2, 3, 3, 3, 0]
    assert found.top_head.tolist() == [NONE, NONE, 1, NONE, NONE, NONE]
