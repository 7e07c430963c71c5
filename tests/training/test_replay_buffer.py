"""Replay buffer: samples are the visited states, however sentences are grouped; DAgger."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from helpers.random_trees import random_tree
from helpers.rollouts import random_scorer
from helpers.tiny import fresh_parser, plan, sample, trained

from dyparse import system as systems
from dyparse.data.sentence import NONE
from dyparse.errors import DyparseError
from dyparse.exploration.ambiguity import Ambiguity
from dyparse.exploration.dagger import Dagger
from dyparse.exploration.dagger_replay import DaggerReplay
from dyparse.exploration.explore import Explore
from dyparse.rollout.rollout import VisitedStates, rollout
from dyparse.system import features
from dyparse.training.loop import run_epoch
from dyparse.training.replay_buffer import FIRST_STATES, MOST_COST, ReplayBuffer, drawn
from dyparse.training.resume import Progress
from dyparse.training.session import Session
from dyparse.training.settings import TrainingSettings

LENGTHS = (3, 1, 8, 5, 2, 12, 7, 4)
ROUNDS = (
    [[0, 1, 2], [5, 4], [3, 7, 6]],
    [[7, 0], [1], [6, 5, 4, 2, 3]],
    [[5, 3, 1, 7, 0, 2, 6, 4]],
)
EVEN = Explore(first_epochs=0, probability=0.5)
TRAIN, DEV = sample("train")[:14], sample("dev")[:4]
SETTINGS = TrainingSettings(
    epochs=4, max_tokens_per_batch=60, learning_rate=1e-2, average_decay=0.5
)


def golden_heads(group):
    """[B, N]: the trees of these sentences, the same whatever group they are in."""
    gold = np.zeros((len(group), max(LENGTHS[k] for k in group) + 1), dtype=np.int32)
    for row, k in enumerate(group):
        n = LENGTHS[k]
        gold[row, : n + 1] = random_tree(np.random.default_rng(k), n, "displaced", one_root=True)
    return gold


def rolled_out(system, group, seed):
    """An exploring rollout of these sentences with random scores, and the batch's width."""
    words = np.array([LENGTHS[k] for k in group], dtype=np.int32)
    gold, scorer = golden_heads(group), random_scorer(system, words, seed)
    visited = rollout(system, EVEN, scorer, words, gold, epoch=1, seed=seed)
    return visited, gold.shape[1]


def filled(system):
    """A buffer of three rounds, and the moves of each rollout through each sentence."""
    buffer, moves = ReplayBuffer(), {k: [] for k in range(len(LENGTHS))}
    for number, groups in enumerate(ROUNDS):
        for group in groups:
            visited, tokens = rolled_out(system, group, seed=10 * number + group[0])
            buffer.add(group, tokens, visited, rollout=number)
            for row, k in enumerate(group):
                moves[k].append(visited.move[visited.sentence == row].tolist())
    return buffer, moves


def replayed(system, group, moves):
    """What was visited by these rollouts, were the sentences in this group: by the public face."""
    gold, seen = golden_heads(group), []
    empty = gold.size
    for row, k in enumerate(group):
        for moves_of_rollout in moves[k]:
            states, tree = system.start([LENGTHS[k]]), gold[row : row + 1]
            for move in moves_of_rollout:
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
def test_what_is_sampled_is_what_the_rollouts_visited_in_whatever_batch(name, group):
    system = systems.load(name)
    buffer, moves = filled(system)
    sampled = buffer.sample(group, max(LENGTHS[k] for k in group) + 1)[0]
    expected = replayed(system, group, moves)
    for field in ("features", "legal", "paid", "move", "sentence"):
        np.testing.assert_array_equal(getattr(sampled, field), getattr(expected, field), field)
    legal = expected.legal
    np.testing.assert_array_equal(sampled.cost[legal], expected.cost[legal])


def test_a_rollout_just_added_is_sampled_as_it_is_types_included():
    system, group = systems.load("arc_eager"), [2, 5, 0]
    visited, tokens = rolled_out(system, group, seed=1)
    buffer = ReplayBuffer()
    buffer.add(group, tokens, visited, rollout=1)
    sampled, legal = buffer.sample(group, tokens)[0], visited.legal
    np.testing.assert_array_equal(sampled.cost[legal], visited.cost[legal])
    for field in VisitedStates._fields:
        found, expected = getattr(sampled, field), getattr(visited, field)
        assert field == "cost" or (found == expected).all()
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)


def test_the_number_of_rollouts_is_counted_for_each_sentence():
    buffer = ReplayBuffer()
    assert buffer.n_rollouts(3) == 0
    buffer.add([3, 8], 5, made_states(4, 0, sentence=[0, 0, 1, 1]), rollout=1)
    buffer.add([3], 5, made_states(2, 0), rollout=2)
    assert [buffer.n_rollouts(k) for k in (3, 8, 0)] == [2, 1, 0]
    assert buffer.size == 6


def test_room_grows_and_what_was_there_stays():
    buffer, sizes, T = ReplayBuffer(), [], 300
    for number in range(12):
        buffer.add([number], 5, made_states(T, number), rollout=1)
        sizes.append(len(buffer.states.paid))
    assert sizes[:4] == [FIRST_STATES, FIRST_STATES, FIRST_STATES, 2 * FIRST_STATES]
    assert sizes[-1] == 4 * FIRST_STATES
    assert buffer.size == 12 * T
    for number in range(12):
        sampled, _ = buffer.sample([number], 5)
        for found, expected in zip(sampled, made_states(T, number), strict=True):
            np.testing.assert_array_equal(np.where(expected == 5, 5, found), expected)


def test_one_rollout_may_be_larger_than_the_first_room():
    buffer, states = ReplayBuffer(), made_states(5 * FIRST_STATES, 2)
    buffer.add([0], 5, states, rollout=1)
    np.testing.assert_array_equal(buffer.sample([0], 5)[0].move, states.move)


def test_costs_above_what_a_byte_holds_become_the_most_it_holds():
    buffer = ReplayBuffer()
    for number, cost in enumerate((0, MOST_COST, MOST_COST + 1, 256, 30_000)):
        buffer.add([number], 5, made_states(1, cost), rollout=1)
    sampled = buffer.sample(range(5), 5)[0]
    assert sampled.cost[:, 1].tolist() == [0, MOST_COST, MOST_COST, MOST_COST, MOST_COST]
    assert sampled.paid.tolist() == [0, MOST_COST, MOST_COST + 1, 256, 30_000]


def test_costs_are_kept_above_the_least_of_a_legal_move():
    buffer, states = ReplayBuffer(), made_states(3, 2)
    states.cost[:] = [[7, 9], [200, 150], [0, 5]]
    states.legal[2] = [False, True]
    buffer.add([0], 5, states, rollout=1)
    sampled = buffer.sample([0], 5)[0]
    assert sampled.cost[:2].tolist() == [[0, 2], [50, 0]]
    assert sampled.cost[2, 1] == 0


def test_a_sentence_that_is_too_long_to_be_kept_is_refused():
    with pytest.raises(DyparseError, match="40000 words"):
        ReplayBuffer().add([0], 40_001, made_states(1, 0), rollout=1)


def test_a_state_takes_as_many_bytes_as_is_written():
    system = systems.load("arc_eager")
    buffer, _ = filled(system)
    F, M = len(system.slots), len(system.moves)
    taken = sum(array.nbytes for array in buffer.states)
    assert taken == len(buffer.states.paid) * (2 * F + M + 4)


# --- DAgger --------------------------------------------------------------------------------------


def epochs_of(exploration, epochs=4):
    """(buffer's size, states trained on, rollouts through sentence 3) after each epoch; the sampled
    moves of sentence 3, after each.
    """
    session = Session(SETTINGS, fresh_parser(TRAIN), plan(TRAIN, DEV, exploration=exploration))
    visit, sizes, counts, moves = session.visit, [], [], []

    def counted(batch, scorer):
        states = visit(batch, scorer)
        sizes.append(len(states.visited.paid))
        return states

    session.visit = counted
    for epoch in range(1, epochs + 1):
        sizes.clear()
        run_epoch(session, Progress(epoch=epoch))
        counts.append((session.replay_buffer.size, sum(sizes), session.replay_buffer.n_rollouts(3)))
        kept = session.replay_buffer.n_rollouts(3)
        moves.append(
            session.replay_buffer.sample([3], len(TRAIN[3]) + 1)[0].move.tolist() if kept else []
        )
    return counts, moves


def test_every_epoch_of_dagger_trains_on_the_states_of_all_rollouts_so_far():
    states = 2 * sum(map(len, TRAIN))  # of one rollout: arc-eager takes two moves for each word
    counts, moves = epochs_of(Dagger())
    assert counts == [(k * states, k * states, k) for k in (1, 2, 3, 4)]
    for earlier, later in pairwise(moves):
        assert later[: len(earlier)] == earlier
        assert len(later) == len(earlier) + 2 * len(TRAIN[3])


def test_between_rounds_dagger_trains_on_the_same_states_again():
    states = 2 * sum(map(len, TRAIN))
    counts, moves = epochs_of(Dagger(round_epochs=2))
    assert counts == [(k * states, k * states, k) for k in (1, 1, 2, 2)]
    assert moves[0] == moves[1] != moves[2] == moves[3]


@pytest.mark.parametrize("exploration", [EVEN, Ambiguity()], ids=["explore", "ambiguity"])
def test_others_keep_nothing(exploration):
    states = 2 * sum(map(len, TRAIN))
    assert epochs_of(exploration, epochs=2)[0] == [(0, states, 0), (0, states, 0)]


def test_the_first_round_of_dagger_pays_nothing_and_later_ones_do():
    task = plan(TRAIN, DEV, exploration=Dagger(decay=0.0))
    _, figures = trained(fresh_parser(TRAIN), task, SETTINGS)
    costs = [epoch["cost_per_state"] for epoch in figures]
    assert costs[0] == 0
    assert min(costs[1:]) > 0


def test_the_loss_of_several_rollouts_is_that_of_one_if_they_are_the_same():
    losses = []
    for n_rollouts in (1, 3):
        parser = fresh_parser(TRAIN[:3], input_dropout=0.0, layer_dropout=0.0, word_dropout=0.0)
        parser.model.eval()
        session = Session(SETTINGS, parser, plan(TRAIN[:3], DEV, exploration=Dagger(decay=1.0)))
        batch = session.batches.make([0, 1, 2], 1, 0)

        def again(batch, scorer, session=session, n_rollouts=n_rollouts):
            for epoch in range(1, n_rollouts + 1):
                whole = batch.whole._replace(epoch=epoch)
                states = session.visit(replace(batch, whole=whole), scorer)
            assert states.rollouts == n_rollouts
            return states

        losses.append(session.step(batch, 0.5, again).loss.item())
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


def test_the_same_seed_gives_the_same_weights_with_dagger_and_another_others():
    runs = []
    for seed in (3, 3, 4):
        torch.manual_seed(99)
        task = plan(TRAIN, DEV, exploration=Dagger(round_epochs=2), seed=seed)
        runs.append(trained(fresh_parser(TRAIN), task, SETTINGS)[0].model.state_dict())
    first, again, other = runs
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert any(not torch.equal(first[name], other[name]) for name in first)


def test_replay_trains_on_the_last_rollout_and_some_before_it_at_a_constant_cost():
    states = 2 * sum(map(len, TRAIN))
    counts, _ = epochs_of(DaggerReplay())
    assert counts == [(k * states, min(k, 2) * states, k) for k in (1, 2, 3, 4)]
    counts, _ = epochs_of(DaggerReplay(replayed_rollouts=3))
    assert counts == [(k * states, min(k, 3) * states, k) for k in (1, 2, 3, 4)]


def test_rollouts_are_drawn_evenly_by_the_keys_of_sentences_and_the_last_always():
    keys = np.random.default_rng(1).integers(2**63, size=3000)
    chosen = drawn(keys, rollouts=5, most=3)
    assert chosen.shape == (3000, 3)
    assert (chosen[:, 2] == 4).all()
    assert (np.diff(chosen, axis=1) > 0).all()
    shares = np.bincount(chosen.ravel(), minlength=5)[:4] / 3000
    np.testing.assert_allclose(shares, 0.5, atol=0.04)
    np.testing.assert_array_equal(chosen, drawn(keys, rollouts=5, most=3))
    np.testing.assert_array_equal(chosen[7:9], drawn(keys[7:9], rollouts=5, most=3))


def test_a_rollout_added_again_takes_the_place_of_the_first():
    buffer = ReplayBuffer()
    buffer.add([0], 5, made_states(4, 1), rollout=1)
    buffer.add([0], 5, made_states(4, 2), rollout=2)
    buffer.add([0], 5, made_states(4, 3), rollout=2)
    sampled, n_rollouts = buffer.sample([0], 5)
    assert n_rollouts == 2
    assert sampled.paid.tolist() == [1] * 4 + [3] * 4
