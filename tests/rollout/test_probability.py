"""Probabilities of heads, compiled, against a slow rollout through the public methods."""

import numpy as np
import pytest
from helpers.rollouts import random_scorer
from helpers.tiny import yamls

from dyparse import system as systems
from dyparse.data.sentence import NONE
from dyparse.decoding.greedy import Greedy
from dyparse.system import arc, features
from dyparse.system._labelled import Labelled, without_labels

QUICK = ("arc_eager", "attardi", "nonmonotonic")  # each system is compiled
NAMES = [
    pytest.param(path.stem, marks=() if path.stem in QUICK else pytest.mark.slow)
    for path in yamls("system")
]
WORDS = np.array([1, 7, 2, 5], dtype=np.int32)


def scores_of(system, scorer, states, b):
    """[M]: the scores of row b, by numpy."""
    slots = np.empty(len(system.slots), dtype=np.int32)
    features(system.options, states, b, slots)
    rows = np.where(slots == NONE, len(scorer.table) - 1, b * states.stack.shape[1] + slots)
    hidden = scorer.bias + scorer.table[rows, np.arange(len(rows))].sum(0)
    return scorer.output @ np.maximum(hidden, 0) + scorer.output_bias


def slow_log_probabilities(system, scorer, words):
    """[B, N] each: of heads, summed over the states in which some legal move would attach the word;
    and of labels, given the heads.
    """
    states = system.start(words)
    of_head, of_label = np.zeros(states.head.shape), np.zeros(states.head.shape)
    same = without_labels(system, np.arange(len(system.moves)))
    while not system.finished(states).all():
        legal = system.legal(states)
        moves = np.zeros(len(words), dtype=np.int32)
        for b in np.flatnonzero(~system.finished(states)):
            scores = np.where(legal[b], scores_of(system, scorer, states, b), -np.inf)
            p = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
            moves[b] = scores.argmax()
            attached = {arc(system.options, states, b, m)[1] for m in np.flatnonzero(legal[b])}
            with_any_label = p[same == same[moves[b]]].sum()
            of_head[b, [w for w in attached if w != NONE]] += np.log(with_any_label)
            _, dependent = arc(system.options, states, b, moves[b])
            if dependent != NONE:
                of_label[b, dependent] = np.log(p[moves[b]] / with_any_label)
        system.step(states, moves)
    return of_head, of_label, system.heads(states)


@pytest.mark.parametrize("labels", [(), ("a", "b", "root")], ids=["plain", "labelled"])
@pytest.mark.parametrize("name", NAMES)
def test_the_probability_of_a_head_is_that_of_all_decisions_about_it(name, labels):
    system = systems.load(name)
    system = Labelled(system, labels) if labels else system
    scorer = random_scorer(system, WORDS)
    found = Greedy().decode_with_probabilities(system, scorer, WORDS)
    of_head, of_label, heads = slow_log_probabilities(system, scorer, WORDS)
    np.testing.assert_array_equal(found.heads, heads)
    np.testing.assert_allclose(found.log_probability, of_head, rtol=1e-4, atol=1e-5)
    assert (found.log_probability <= 0).all()
    assert not found.log_probability[:, 0].any()
    np.testing.assert_array_equal(found.heads, Greedy().decode(system, scorer, WORDS))
    if labels:
        np.testing.assert_allclose(found.label_log_probability, of_label, rtol=1e-4, atol=1e-5)
        assert (found.label_log_probability < 0).any()
    else:
        assert found.label_log_probability is None


def test_a_word_without_a_choice_is_certain():
    system, one = systems.load("arc_eager"), np.ones(3, dtype=np.int32)
    found = Greedy().decode_with_probabilities(system, random_scorer(system, one), one)
    np.testing.assert_array_equal(found.heads, 0)
    np.testing.assert_array_equal(found.log_probability, 0)


def test_threads_change_nothing():
    system = systems.load("arc_eager")
    scorer = random_scorer(system, WORDS)
    one, three = (
        Greedy().decode_with_probabilities(system, scorer, WORDS, n_threads=n) for n in (1, 3)
    )
    np.testing.assert_array_equal(one.heads, three.heads)
    np.testing.assert_array_equal(one.log_probability, three.log_probability)
