"""States that stay: what is recalled is what was visited, however sentences are grouped; DAgger."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from helpers.random_trees import random_tree
from helpers.rollouts import random_scorer
from helpers.tiny import fresh_parser, lesson, sample, trained

from dyparse import system as systems
from dyparse.data.sentence import NONE
from dyparse.errors import DyparseError
from dyparse.exploration.ambiguity import Ambiguity
from dyparse.exploration.dagger import Dagger
from dyparse.exploration.dagger_replay import DaggerReplay
from dyparse.exploration.explore import Explore
from dyparse.rollout.rollout import VisitedStates, rollout
from dyparse.system import features
from dyparse.training.loop import Trainer
from dyparse.training.replay_buffer import FIRST_STATES, MOST_COST, ReplayBuffer, drawn
from dyparse.training.resume import Progress
from dyparse.training.session import Course

LENGTHS = (3, 1, 8, 5, 2, 12, 7, 4)
ROUNDS = (
    [[0, 1, 2], [5, 4], [3, 7, 6]],
    [[7, 0], [1], [6, 5, 4, 2, 3]],
    [[5, 3, 1, 7, 0, 2, 6, 4]],
)
EVEN = Explore(first_epochs=0, probability=0.5)
TRAIN, DEV = sample("train")[:14], sample("dev")[:4]
TRAINER = Trainer(epochs=4, max_tokens_per_batch=60, learning_rate=1e-2, average_decay=0.5)


def golden_heads(group):
    """[B, N]: the trees of these sentences, the same whatever group they are in."""
    gold = np.zeros((len(group), max(LENGTHS[k] for k in group) + 1), dtype=np.int32)
    for row, k in enumerate(group):
        n = LENGTHS[k]
        gold[row, : n + 1] = random_tree(np.random.default_rng(k), n, "displaced", one_root=True)
    return gold


def walk(system, group, seed):
    """An exploring walk through these sentences with a model of its own, and the batch's width."""
    words = np.array([LENGTHS[k] for k in group], dtype=np.int32)
    gold, scorer = golden_heads(group), random_scorer(system, words, seed)
    visited = rollout(system, EVEN, scorer, words, gold, epoch=1, seed=seed)
    return visited, gold.shape[1]


def filled(system):
    """A memory of three rounds, and the moves of each walk through each sentence."""
    memory, moves = ReplayBuffer(), {k: [] for k in range(len(LENGTHS))}
    for number, groups in enumerate(ROUNDS):
        for group in groups:
            visited, tokens = walk(system, group, seed=10 * number + group[0])
            memory.add(group, tokens, visited, walk=number)
            for row, k in enumerate(group):
                moves[k].append(visited.move[visited.sentence == row].tolist())
    return memory, moves


def walked_again(system, group, moves):
    """What was visited by these walks, were the sentences in this group: by the public face."""
    gold, seen = golden_heads(group), []
    empty = gold.size
    for row, k in enumerate(group):
        for walk_moves in moves[k]:
            states, tree = system.start([LENGTHS[k]]), gold[row : row + 1]
            for move in walk_moves:
                slots = np.empty(len(system.slots), dtype=np.int32)
                features(system.options, states, 0, slots)
                rows = np.where(slots == NONE, empty, row * gold.shape[1] + slots)
                target, cost = system.target(states, tree)[0], system.cost(states, tree)[0]
                seen.append((rows, system.legal(states)[0], target, cost[move], move, row))
                system.step(states, [move])
            assert system.finished(states)[0]
    return VisitedStates(*(np.array(column) for column in zip(*seen, strict=True)))


def made_states(count, cost, *, sentence=None):
    """Visited states whose second move has this cost above the first; three slots, two moves."""
    return VisitedStates(
        features=np.arange(3 * count, dtype=np.int32).reshape(count, 3) % 5,
        legal=np.ones((count, 2), dtype=np.bool_),
        cost=np.full((count, 2), (0, cost), dtype=np.int32),
        paid=np.full(count, cost, dtype=np.int32),
        move=np.arange(count, dtype=np.int32) % 2,
        sentence=np.zeros(count, dtype=np.int32) if sentence is None else np.array(sentence),
    )


@pytest.mark.parametrize("name", ["arc_eager", "nonmonotonic", "swap"])
@pytest.mark.parametrize("group", [[4], [2, 5], [6, 0, 3], [7, 6, 5, 4, 3, 2, 1, 0]])
def test_what_is_recalled_is_what_the_walks_visited_in_whatever_batch(name, group):
    system = systems.load(name)
    memory, moves = filled(system)
    recalled = memory.recall(group, max(LENGTHS[k] for k in group) + 1)[0]
    expected = walked_again(system, group, moves)
    for field in ("features", "legal", "paid", "move", "sentence"):
        np.testing.assert_array_equal(getattr(recalled, field), getattr(expected, field), field)
    legal = expected.legal
    np.testing.assert_array_equal(recalled.cost[legal], expected.cost[legal])


def test_a_walk_just_added_is_recalled_as_it_is_types_included():
    system, group = systems.load("arc_eager"), [2, 5, 0]
    visited, tokens = walk(system, group, seed=1)
    memory = ReplayBuffer()
    memory.add(group, tokens, visited, walk=1)
    recalled, legal = memory.recall(group, tokens)[0], visited.legal
    np.testing.assert_array_equal(recalled.cost[legal], visited.cost[legal])
    for field in VisitedStates._fields:
        found, expected = getattr(recalled, field), getattr(visited, field)
        assert field == "cost" or (found == expected).all()
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)


def test_the_number_of_walks_is_counted_for_each_sentence():
    memory = ReplayBuffer()
    assert memory.walks(3) == 0
    memory.add([3, 8], 5, made_states(4, 0, sentence=[0, 0, 1, 1]), walk=1)
    memory.add([3], 5, made_states(2, 0), walk=2)
    assert [memory.walks(k) for k in (3, 8, 0)] == [2, 1, 0]
    assert memory.size == 6


def test_room_grows_and_what_was_there_stays():
    memory, sizes, T = ReplayBuffer(), [], 300
    for number in range(12):
        memory.add([number], 5, made_states(T, number), walk=1)
        sizes.append(len(memory.states.paid))
    assert sizes[:4] == [FIRST_STATES, FIRST_STATES, FIRST_STATES, 2 * FIRST_STATES]
    assert sizes[-1] == 4 * FIRST_STATES
    assert memory.size == 12 * T
    for number in range(12):
        recalled, _ = memory.recall([number], 5)
        for found, expected in zip(recalled, made_states(T, number), strict=True):
            np.testing.assert_array_equal(np.where(expected == 5, 5, found), expected)


def test_one_walk_may_be_larger_than_the_first_room():
    memory, states = ReplayBuffer(), made_states(5 * FIRST_STATES, 2)
    memory.add([0], 5, states, walk=1)
    np.testing.assert_array_equal(memory.recall([0], 5)[0].move, states.move)


def test_costs_above_what_a_byte_holds_become_the_most_it_holds():
    memory = ReplayBuffer()
    for number, cost in enumerate((0, MOST_COST, MOST_COST + 1, 256, 30_000)):
        memory.add([number], 5, made_states(1, cost), walk=1)
    recalled = memory.recall(range(5), 5)[0]
    assert recalled.cost[:, 1].tolist() == [0, MOST_COST, MOST_COST, MOST_COST, MOST_COST]
    assert recalled.paid.tolist() == [0, MOST_COST, MOST_COST + 1, 256, 30_000]


def test_costs_are_kept_above_the_least_of_a_legal_move():
    memory, states = ReplayBuffer(), made_states(3, 2)
    states.cost[:] = [[7, 9], [200, 150], [0, 5]]
    states.legal[2] = [False, True]
    memory.add([0], 5, states, walk=1)
    recalled = memory.recall([0], 5)[0]
    assert recalled.cost[:2].tolist() == [[0, 2], [50, 0]]
    assert recalled.cost[2, 1] == 0


def test_a_sentence_that_is_too_long_to_be_kept_is_refused():
    with pytest.raises(DyparseError, match="40000 words"):
        ReplayBuffer().add([0], 40_001, made_states(1, 0), walk=1)


def test_a_state_takes_as_many_bytes_as_is_written():
    system = systems.load("arc_eager")
    memory, _ = filled(system)
    F, M = len(system.slots), len(system.moves)
    taken = sum(array.nbytes for array in memory.states)
    assert taken == len(memory.states.paid) * (2 * F + 2 * M + 3)


# --- DAgger --------------------------------------------------------------------------------------


def epochs_of(exploration, epochs=4):
    """(memory's size, states learnt from, walks through sentence 3) after each epoch; the recalled
    moves of sentence 3, after each.
    """
    course = Course(TRAINER, fresh_parser(TRAIN), lesson(TRAIN, DEV, exploration=exploration))
    find, learnt, counts, moves = course.find, [], [], []

    def counted(exercise, scorer):
        found = find(exercise, scorer)
        learnt.append(len(found.visited.paid))
        return found

    course.find = counted
    for epoch in range(1, epochs + 1):
        learnt.clear()
        TRAINER.run_epoch(course, Progress(epoch=epoch))
        counts.append((course.memory.size, sum(learnt), course.memory.walks(3)))
        kept = course.memory.walks(3)
        moves.append(course.memory.recall([3], len(TRAIN[3]) + 1)[0].move.tolist() if kept else [])
    return counts, moves


def test_every_epoch_of_dagger_learns_from_the_states_of_all_walks_so_far():
    states = 2 * sum(map(len, TRAIN))  # of one walk: arc-eager takes two moves for each word
    counts, moves = epochs_of(Dagger())
    assert counts == [(k * states, k * states, k) for k in (1, 2, 3, 4)]
    for earlier, later in pairwise(moves):
        assert later[: len(earlier)] == earlier
        assert len(later) == len(earlier) + 2 * len(TRAIN[3])


def test_between_rounds_dagger_learns_from_the_same_states_again():
    states = 2 * sum(map(len, TRAIN))
    counts, moves = epochs_of(Dagger(round_epochs=2))
    assert counts == [(k * states, k * states, k) for k in (1, 1, 2, 2)]
    assert moves[0] == moves[1] != moves[2] == moves[3]


@pytest.mark.parametrize("exploration", [EVEN, Ambiguity()], ids=["explore", "ambiguity"])
def test_others_keep_nothing(exploration):
    states = 2 * sum(map(len, TRAIN))
    assert epochs_of(exploration, epochs=2)[0] == [(0, states, 0), (0, states, 0)]


def test_the_first_round_of_dagger_pays_nothing_and_later_ones_do():
    task = lesson(TRAIN, DEV, exploration=Dagger(decay=0.0))
    _, figures = trained(fresh_parser(TRAIN), task, TRAINER)
    costs = [epoch["cost_per_state"] for epoch in figures]
    assert costs[0] == 0
    assert min(costs[1:]) > 0


def test_the_loss_of_several_walks_is_that_of_one_if_they_are_the_same():
    losses = []
    for walks in (1, 3):
        parser = fresh_parser(TRAIN[:3], input_dropout=0.0, layer_dropout=0.0, word_dropout=0.0)
        parser.model.eval()
        course = Course(TRAINER, parser, lesson(TRAIN[:3], DEV, exploration=Dagger(decay=1.0)))
        part = course.share([0, 1, 2], 1, 0)

        def again(part, scorer, course=course, walks=walks):
            for epoch in range(1, walks + 1):
                found = course.find(replace(part, epoch=epoch), scorer)
            assert found.walks == walks
            return found

        losses.append(course.learn(part, 0.5, again).loss.item())
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


def test_the_same_seed_gives_the_same_weights_with_dagger_and_another_others():
    runs = []
    for seed in (3, 3, 4):
        torch.manual_seed(99)
        task = lesson(TRAIN, DEV, exploration=Dagger(round_epochs=2), seed=seed)
        runs.append(trained(fresh_parser(TRAIN), task, TRAINER)[0].model.state_dict())
    first, again, other = runs
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert any(not torch.equal(first[name], other[name]) for name in first)


def test_replay_learns_from_the_last_walk_and_some_before_it_at_a_constant_cost():
    states = 2 * sum(map(len, TRAIN))
    counts, _ = epochs_of(DaggerReplay())
    assert counts == [(k * states, min(k, 2) * states, k) for k in (1, 2, 3, 4)]
    counts, _ = epochs_of(DaggerReplay(replayed_rollouts=3))
    assert counts == [(k * states, min(k, 3) * states, k) for k in (1, 2, 3, 4)]


def test_walks_are_drawn_evenly_by_the_keys_of_sentences_and_the_last_always():
    keys = np.random.default_rng(1).integers(2**63, size=3000)
    chosen = drawn(keys, walks=5, most=3)
    assert chosen.shape == (3000, 3)
    assert (chosen[:, 2] == 4).all()
    assert (np.diff(chosen, axis=1) > 0).all()
    shares = np.bincount(chosen.ravel(), minlength=5)[:4] / 3000
    np.testing.assert_allclose(shares, 0.5, atol=0.04)
    np.testing.assert_array_equal(chosen, drawn(keys, walks=5, most=3))
    np.testing.assert_array_equal(chosen[7:9], drawn(keys[7:9], walks=5, most=3))


def test_a_walk_added_again_takes_the_place_of_the_first():
    memory = ReplayBuffer()
    memory.add([0], 5, made_states(4, 1), walk=1)
    memory.add([0], 5, made_states(4, 2), walk=2)
    memory.add([0], 5, made_states(4, 3), walk=2)
    recalled, walks = memory.recall([0], 5)
    assert walks == 2
    assert recalled.paid.tolist() == [1] * 4 + [3] * 4
