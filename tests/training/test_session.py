"""Sessions: a step is the same however its batch is distributed, split, or rolled out ahead."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers.tiny import fresh_parser, plan, sample, trained

from dyparse.errors import DyparseError
from dyparse.exploration.dagger_replay import DaggerReplay
from dyparse.exploration.explore import Explore
from dyparse.loss.set_nll import SetNLL
from dyparse.training.distributed import World
from dyparse.training.out_of_memory import is_out_of_memory
from dyparse.training.session import Session
from dyparse.training.settings import TrainingSettings

TRAIN, DEV = sample("train")[:30], sample("dev")[:10]
SETTINGS = TrainingSettings(
    epochs=3, max_tokens_per_batch=90, learning_rate=1e-2, average_decay=0.5
)
GROUP = list(range(9))


def new_session(**changed):
    """A session that has just started, always with the same weights; dropout as everywhere."""
    settings = replace(SETTINGS, **{k: v for k, v in changed.items() if hasattr(SETTINGS, k)})
    rest = {k: v for k, v in changed.items() if not hasattr(SETTINGS, k)}
    session = Session(settings, fresh_parser(TRAIN), plan(TRAIN, DEV, **rest))
    session.parser.model.train()
    return session


def gradients(session, batch):
    """The figures of a batch and its gradients, split as memory needs it."""
    result = session.split(batch)
    return result, [p.grad.clone() for p in session.parser.model.parameters()]


def assert_same(one, other):
    (result, of_one), (result_other, of_other) = one, other
    assert (result.states, result.paid) == (result_other.states, result_other.paid)
    torch.testing.assert_close(result.loss, result_other.loss, rtol=1e-5, atol=1e-6)
    for a, b in zip(of_one, of_other, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-6)
    assert any(gradient.abs().max() > 1e-3 for gradient in of_one)


def test_the_parts_of_all_ranks_give_the_gradients_of_the_whole_batch_together():
    whole = gradients(session := new_session(), session.batches.make(GROUP, 2, 5))
    of_ranks = []
    for rank in range(3):
        session = new_session()
        session.batches.world = World(rank, 3)
        of_ranks.append(gradients(session, session.batches.make(GROUP, 2, 5)))
    losses = torch.stack([result.loss for result, _ in of_ranks]).sum()
    torch.testing.assert_close(losses, whole[0].loss, rtol=1e-5, atol=1e-6)
    for k, expected in enumerate(whole[1]):
        found = torch.stack([of_rank[k] for _, of_rank in of_ranks]).sum(0)
        torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-6)


def test_the_weight_of_the_loss_is_that_of_the_moves_beside_the_heads():
    """The scorer learns from moves alone, a head from its targets, the encoder from both."""
    learned = []
    for weight in (1.0, 3.0, 5.0):
        session = new_session(loss=SetNLL(weight=weight))
        session.gradients(session.batches.make(GROUP, 1, 0))
        named = session.parser.model.named_parameters()
        learned.append({name: parameter.grad for name, parameter in named})
    one, three, five = learned
    for name in one:
        growth = three[name] - one[name]
        torch.testing.assert_close(five[name] - three[name], growth, rtol=1e-3, atol=1e-5)
        if name.startswith("heads."):
            torch.testing.assert_close(growth, torch.zeros_like(growth))
        else:
            assert growth.abs().max() > 1e-3
    torch.testing.assert_close(three["output.weight"], 3 * one["output.weight"])


def test_a_rank_without_sentences_takes_part_but_adds_nothing():
    session = new_session()
    session.batches.world = World(1, 2)
    batch = session.batches.make([3], 1, 0)
    result, found = gradients(session, batch)
    assert not batch.counts
    assert (result.loss, result.states, result.paid) == (0, 0, 0)
    assert all((gradient == 0).all() for gradient in found)


def test_batches_and_their_keys_follow_from_seed_epoch_and_number_alone():
    one, other = (new_session(seed=seed).batches for seed in (1, 2))
    again = new_session().batches
    assert one.groups(2) == again.groups(2)
    assert one.groups(2) != one.groups(3)
    assert one.groups(2) != other.groups(2)
    same, next_one = one.make(GROUP, 2, 4), one.make(GROUP, 2, 5)
    np.testing.assert_array_equal(same.keys, again.make(GROUP, 2, 4).keys)
    assert (same.keys != next_one.keys).all()
    assert (same.keys != other.make(GROUP, 2, 4).keys).all()


def test_an_epoch_that_is_resumed_has_the_batches_that_were_left():
    session = new_session()
    batches = [(done, batch) for done, batch, _ in session.stream(2)]
    rest = [(done, batch) for done, batch, _ in session.stream(2, first=3)]
    assert len(rest) == len(batches) - 3 > 0
    for (done, batch), (done_rest, batch_rest) in zip(batches[3:], rest, strict=True):
        assert done == done_rest
        assert batch.indices == batch_rest.indices
        np.testing.assert_array_equal(batch.keys, batch_rest.keys)
    assert list(session.stream(2, first=len(batches))) == []


# --- rollouts ahead ------------------------------------------------------------------------------


def test_a_rollout_ahead_visits_the_states_of_the_weights_before_the_step():
    session = new_session(rollout_ahead=True, exploration=Explore(first_epochs=0, probability=1.0))
    visit, seen, weights = session.visit, {}, []

    def watched(batch, scorer):
        arrays = scorer()
        seen[tuple(batch.indices)] = (arrays.output_bias.copy(), visit(batch, lambda: arrays))
        return seen[tuple(batch.indices)][1]

    session.visit = watched
    for done, batch, ahead in session.stream(2):
        weights.append(session.parser.model.output.bias.detach().clone().numpy())
        result = session.step(batch, done, ahead)
        of_rollout, states = seen[tuple(batch.indices)]
        assert result.states == len(states.visited.paid)
        np.testing.assert_array_equal(of_rollout, weights[max(len(weights) - 2, 0)])
    assert len(seen) == len(weights) > 3
    assert (weights[0] != weights[-1]).any()


@pytest.mark.parametrize("exploration", [Explore(), DaggerReplay()])
def test_training_with_rollouts_ahead_learns_as_well_and_repeats_itself(exploration):
    runs = []
    for ahead in (True, True, False):
        settings = replace(SETTINGS, rollout_ahead=ahead, epochs=6)
        task = plan(TRAIN, TRAIN, exploration=exploration)
        best, figures = trained(fresh_parser(TRAIN), task, settings)
        runs.append((best.model.state_dict(), figures[-1]["dev_las"]))
    (first, las), (again, _), (other, las_without) = runs
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert any(not torch.equal(first[name], other[name]) for name in first)
    assert las > 0.8 * las_without


def test_half_precision_trains_and_its_scores_are_near():
    losses = {}
    for precision in ("float32", "bfloat16"):
        session = new_session(precision=precision)
        losses[precision] = session.gradients(session.batches.make(GROUP, 1, 0)).loss.item()
    assert losses["bfloat16"] == pytest.approx(losses["float32"], rel=0.02)
    assert losses["bfloat16"] != losses["float32"]
    assert {p.grad.dtype for p in session.parser.model.parameters()} == {torch.float32}


def test_passes_over_parts_of_a_batch_add_up_to_its_gradients():
    session = new_session()
    expected = gradients(session, session.batches.make(GROUP, 1, 0))
    session = new_session(max_tokens_per_pass=20)
    batch = session.batches.make(GROUP, 1, 0)
    parts = session.batches.parts(batch, 20)
    assert len(parts) > 1
    assert sorted(k for part in parts for k in part.indices) == sorted(batch.indices)
    assert_same(expected, gradients(session, batch))


def test_passes_over_parts_are_refused_where_they_cannot_be():
    with pytest.raises(ValueError, match="exclude each other"):
        new_session(max_tokens_per_pass=20, rollout_ahead=True)
    with pytest.raises(ValueError, match=r"trainer\.max_tokens_per_pass is 0"):
        new_session(max_tokens_per_pass=0)


# --- out of memory -------------------------------------------------------------------------------


def short_of_memory(session, most_words, error=MemoryError):
    """Let the session fail on parts of more words, after the rollout, as real steps do."""
    head = session.parser.model.heads["labels"]
    real = head.forward

    def forward(encoded, tree, keys=None):
        if encoded.shape[0] * encoded.shape[1] > most_words:
            raise error("no room")
        return real(encoded, tree, keys)

    head.forward = forward


@pytest.mark.parametrize("error", [MemoryError, torch.OutOfMemoryError])
@pytest.mark.parametrize("exploration", [Explore(first_epochs=0), DaggerReplay()])
def test_a_batch_too_large_for_memory_is_split_and_gives_the_same(error, exploration):
    session = new_session(exploration=exploration)
    expected = gradients(session, session.batches.make(GROUP, 1, 0))
    session = new_session(exploration=exploration)
    longest = max(len(TRAIN[k]) for k in GROUP) + 1
    short_of_memory(session, longest, error)
    with pytest.warns(UserWarning, match=r"out of memory .* the longest of \d+ words .*sentence"):
        found = gradients(session, session.batches.make(GROUP, 1, 0))
    assert_same(expected, found)
    assert not session.batches.left_out


def test_a_sentence_too_large_for_memory_is_named_and_left_out():
    session = new_session()
    longest = max(GROUP, key=lambda k: len(TRAIN[k]))
    short_of_memory(session, len(TRAIN[longest]))
    with pytest.warns(UserWarning, match="memory") as caught:
        result, _ = gradients(session, session.batches.make(GROUP, 1, 0))
    assert session.batches.left_out == {longest}
    (message,) = [str(w.message) for w in caught if "left out" in str(w.message)]
    assert TRAIN[longest].place in message
    assert f"{len(TRAIN[longest])} words" in message
    assert result.states == 2 * sum(len(TRAIN[k]) for k in GROUP if k != longest)
    with warnings.catch_warnings(record=True) as later:
        warnings.simplefilter("always")
        indices = session.batches.make(GROUP, 2, 0).indices
    assert longest not in indices
    assert not later


def test_among_several_ranks_a_lack_of_memory_ends_the_training_with_a_remedy():
    session = new_session()
    session.batches.world = World(0, 2)
    short_of_memory(session, 3)
    with pytest.raises(DyparseError, match=r"lower trainer\.max_tokens_per_batch"):
        session.split(session.batches.make(GROUP, 1, 0))


def test_a_sentence_too_large_that_is_alone_in_its_batch_is_left_out_too():
    session = new_session()
    short_of_memory(session, 2)
    with pytest.warns(UserWarning, match="is left out of the training") as caught:
        result = session.step(session.batches.make([5], 1, 0), 0.5)
    assert len(caught) == 1
    assert (result.loss.item(), result.states) == (0, 0)
    again = session.step(session.batches.make([5], 2, 0), 0.6)  # and asks for no memory again
    assert (again.loss.item(), again.states) == (0, 0)


def test_other_errors_are_not_taken_for_a_lack_of_memory():
    assert is_out_of_memory(RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"))
    assert not is_out_of_memory(RuntimeError("shapes do not fit"))
    session = new_session()
    short_of_memory(session, 3, error=RuntimeError)
    with pytest.raises(RuntimeError, match="no room"):
        session.split(session.batches.make(GROUP, 1, 0))
