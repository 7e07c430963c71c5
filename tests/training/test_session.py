"""Courses: what is learnt does not depend on how a batch is shared, split, or when it is walked."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers.tiny import fresh_parser, lesson, sample, trained

from dyparse.errors import DyparseError
from dyparse.exploration.dagger_replay import DaggerReplay
from dyparse.exploration.explore import Explore
from dyparse.training.distributed import World
from dyparse.training.loop import Trainer
from dyparse.training.out_of_memory import is_out_of_memory
from dyparse.training.session import Course

TRAIN, DEV = sample("train")[:30], sample("dev")[:10]
TRAINER = Trainer(epochs=3, max_tokens_per_batch=90, learning_rate=1e-2, average_decay=0.5)
GROUP = list(range(9))


def a_course(**changed):
    """A training that has just begun, always with the same weights; dropout as everywhere."""
    trainer = replace(TRAINER, **{k: v for k, v in changed.items() if hasattr(TRAINER, k)})
    rest = {k: v for k, v in changed.items() if not hasattr(TRAINER, k)}
    course = Course(trainer, fresh_parser(TRAIN), lesson(TRAIN, DEV, **rest))
    course.parser.model.train()
    return course


def gradients(course, exercise, find=None):
    learnt = course.gradients(exercise, find or course.find)
    return learnt, [p.grad.clone() for p in course.parser.model.parameters()]


def assert_same(one, other):
    for (learnt, of_one), (learnt_other, of_other) in [(one, other)]:
        assert (learnt.states, learnt.paid) == (learnt_other.states, learnt_other.paid)
        torch.testing.assert_close(learnt.loss, learnt_other.loss, rtol=1e-5, atol=1e-6)
        for a, b in zip(of_one, of_other, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-6)
        assert any(gradient.abs().max() > 1e-3 for gradient in of_one)


def test_the_shares_of_processes_give_the_gradients_of_the_whole_batch_together():
    whole = gradients(course := a_course(), course.share(GROUP, 2, 5))
    of_shares = []
    for rank in range(3):
        course = a_course()
        course.processes = World(rank, 3)
        of_shares.append(gradients(course, course.share(GROUP, 2, 5)))
    losses = torch.stack([learnt.loss for learnt, _ in of_shares]).sum()
    torch.testing.assert_close(losses, whole[0].loss, rtol=1e-5, atol=1e-6)
    for k, expected in enumerate(whole[1]):
        found = torch.stack([of_share[k] for _, of_share in of_shares]).sum(0)
        torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-6)


def test_a_process_without_a_share_takes_part_but_teaches_nothing():
    course = a_course()
    course.processes = World(1, 2)
    part = course.share([3], 1, 0)
    learnt, found = gradients(course, part)
    assert not part.counts
    assert (learnt.loss, learnt.states, learnt.paid) == (0, 0, 0)
    assert all((gradient == 0).all() for gradient in found)


def test_batches_and_chance_follow_from_seed_epoch_and_number_alone():
    one, other = a_course(), a_course(seed=2)
    assert one.groups(2) == a_course().groups(2)
    assert one.groups(2) != one.groups(3)
    assert one.groups(2) != other.groups(2)
    same, next_one = one.share(GROUP, 2, 4), one.share(GROUP, 2, 5)
    np.testing.assert_array_equal(same.keys, a_course().share(GROUP, 2, 4).keys)
    assert (same.keys != next_one.keys).all()
    assert (same.keys != other.share(GROUP, 2, 4).keys).all()


def test_an_epoch_that_goes_on_has_the_batches_that_were_left():
    course = a_course()
    batches = [(done, parts) for done, parts, _ in course.batches(2)]
    rest = [(done, parts) for done, parts, _ in course.batches(2, first=3)]
    assert len(rest) == len(batches) - 3 > 0
    for (done, parts), (done_rest, parts_rest) in zip(batches[3:], rest, strict=True):
        assert done == done_rest
        assert parts.numbers == parts_rest.numbers
        np.testing.assert_array_equal(parts.keys, parts_rest.keys)


# --- walking ahead -------------------------------------------------------------------------------


def test_a_walk_ahead_visits_the_states_of_the_weights_before_the_update():
    course = a_course(rollout_ahead=True, exploration=Explore(first_epochs=0, probability=1.0))
    seen = {}
    find = course.find

    def watched(part, scorer):
        arrays = scorer()
        seen[tuple(part.numbers)] = [arrays.output.copy(), find(part, lambda: arrays)]
        return seen[tuple(part.numbers)][1]

    course.find = watched
    weights = []
    for done, parts, found in course.batches(2):
        weights.append(course.parser.model.output.bias.detach().clone())
        used = course.learn(parts, done, found)
        assert used.states == len(seen[tuple(parts.numbers)][1].visited.paid)
    assert len(seen) == len(weights) > 3
    assert not torch.equal(weights[0], weights[-1])


@pytest.mark.parametrize("exploration", [Explore(), DaggerReplay()])
def test_training_with_walks_ahead_learns_as_well_and_repeats_itself(exploration):
    runs = []
    for ahead in (True, True, False):
        trainer = replace(TRAINER, rollout_ahead=ahead, epochs=6)
        task = lesson(TRAIN, TRAIN, exploration=exploration)
        kept, figures = trained(fresh_parser(TRAIN), task, trainer)
        runs.append((kept.model.state_dict(), figures[-1]["dev_las"]))
    (first, las), (again, _), (other, las_without) = runs
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert any(not torch.equal(first[name], other[name]) for name in first)
    assert las > 0.8 * las_without


def test_half_precision_trains_and_its_scores_are_near():
    losses = {}
    for precision in ("float32", "bfloat16"):
        course = a_course(precision=precision)
        losses[precision] = course.gradients(course.share(GROUP, 1, 0), course.find).loss.item()
    assert losses["bfloat16"] == pytest.approx(losses["float32"], rel=0.02)
    assert losses["bfloat16"] != losses["float32"]
    assert {p.grad.dtype for p in course.parser.model.parameters()} == {torch.float32}


# --- out of memory -------------------------------------------------------------------------------


def short_of_memory(course, most_words, error=MemoryError):
    """Let the course fail on parts of more words, after the walk, as real updates do."""
    real = course.update.model.labeller.forward

    def forward(encoded, head, keys=None):
        if encoded.shape[0] * encoded.shape[1] > most_words:
            raise error("no room")
        return real(encoded, head, keys)

    course.update.model.labeller.forward = forward


@pytest.mark.parametrize("error", [MemoryError, torch.OutOfMemoryError])
@pytest.mark.parametrize("exploration", [Explore(first_epochs=0), DaggerReplay()])
def test_a_batch_too_large_for_memory_is_learnt_in_parts_and_gives_the_same(error, exploration):
    expected = gradients(course := a_course(exploration=exploration), course.share(GROUP, 1, 0))
    course = a_course(exploration=exploration)
    longest = max(len(TRAIN[k]) for k in GROUP) + 1
    short_of_memory(course, longest, error)
    with pytest.warns(UserWarning, match=r"out of memory .* the longest of \d+ words .*sentence"):
        found = gradients(course, course.share(GROUP, 1, 0))
    assert_same(expected, found)
    assert not course.left_out


def test_a_sentence_too_large_for_memory_is_named_and_left_out():
    course = a_course()
    longest = max(GROUP, key=lambda k: len(TRAIN[k]))
    short_of_memory(course, len(TRAIN[longest]))
    with pytest.warns(UserWarning, match="memory") as caught:
        learnt, _ = gradients(course, course.share(GROUP, 1, 0))
    assert course.left_out == {longest}
    (told,) = [str(w.message) for w in caught if "left out" in str(w.message)]
    assert TRAIN[longest].place in told
    assert f"{len(TRAIN[longest])} words" in told
    assert learnt.states == 2 * sum(len(TRAIN[k]) for k in GROUP if k != longest)
    with warnings.catch_warnings(record=True) as later:
        warnings.simplefilter("always")
        numbers = course.share(GROUP, 2, 0).numbers
    assert longest not in numbers
    assert not later


def test_among_processes_a_lack_of_memory_ends_the_training_with_a_remedy():
    course = a_course()
    course.processes = World(0, 2)
    short_of_memory(course, 3)
    with pytest.raises(DyparseError, match=r"lower trainer\.max_tokens_per_batch"):
        course.gradients(course.share(GROUP, 1, 0), course.find)


def test_a_sentence_too_large_that_is_alone_in_its_batch_is_left_out_too():
    course = a_course()
    short_of_memory(course, 2)
    with pytest.warns(UserWarning, match="is left out of the training") as told:
        learnt = course.learn(course.share([5], 1, 0), 0.5)
    assert len(told) == 1
    assert (learnt.loss.item(), learnt.states) == (0, 0)
    again = course.learn(course.share([5], 2, 0), 0.6)  # and asks for no memory again
    assert (again.loss.item(), again.states) == (0, 0)


def test_an_epoch_that_was_saved_after_its_last_batch_has_none_left():
    course = a_course()
    assert list(course.batches(2, first=len(course.groups(2)))) == []


def test_other_errors_are_not_taken_for_a_lack_of_memory():
    assert is_out_of_memory(RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"))
    assert not is_out_of_memory(RuntimeError("shapes do not fit"))
    course = a_course()
    short_of_memory(course, 3, error=RuntimeError)
    with pytest.raises(RuntimeError, match="no room"):
        course.gradients(course.share(GROUP, 1, 0), course.find)
