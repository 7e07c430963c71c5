"""Compiled rollouts against slow ones through the public methods of every transition system."""

import numpy as np
import pytest
from helpers.random_trees import random_tree
from helpers.rollouts import random_scorer
from helpers.tiny import yamls
from omegaconf import OmegaConf

from dyparse import system as systems
from dyparse.config.build import build
from dyparse.config.choices import text_of
from dyparse.data.sentence import NONE
from dyparse.evaluation.exhaustive import are_trees
from dyparse.exploration import Choice, follow
from dyparse.exploration.ambiguity import Ambiguity
from dyparse.exploration.curriculum import Curriculum
from dyparse.exploration.dagger import Dagger
from dyparse.exploration.explore import Explore
from dyparse.exploration.static import Static
from dyparse.rollout.rollout import _rollout as compiled_rollout
from dyparse.rollout.rollout import decode_greedily, rollout
from dyparse.runtime.kernel_cache import KernelCache
from dyparse.system import features

NAMES = [path.stem for path in yamls("system")]
OPTIONS = {"arc_eager": [{}, {"root": "first", "single_root": False}, {"single_root": False}]}
VARIANTS = [(name, options) for name in NAMES for options in OPTIONS.get(name, [{}])]
WORDS = np.array([1, 7, 2, 12, 5, 1, 9], dtype=np.int32)
EVEN = Explore(first_epochs=0, probability=0.5)

all_systems = pytest.mark.parametrize(("name", "options"), VARIANTS)
exact_systems = pytest.mark.parametrize(
    ("name", "options"), [(name, o) for name, o in VARIANTS if systems.load(name, **o).exact]
)
# Each pair is compiled: all systems with one exploration, and all explorations with one system, are
# quick enough for every run of the tests.
PAIRS = [
    pytest.param(
        name,
        options,
        path,
        id=f"{name}-{'-'.join(map(str, options.values()))}-{path.stem}",
        marks=() if name == "arc_eager" or path.stem == "explore" else pytest.mark.slow,
    )
    for name, options in VARIANTS
    for path in yamls("exploration")
    if path.stem != "lols"  # its costs are those of test_completions.py
]


def random_gold(words, seed=0, kind="any"):
    """[B, N]: random trees with one root."""
    rng = np.random.default_rng(seed)
    gold = np.zeros((len(words), int(max(words)) + 1), dtype=np.int32)
    for b, n in enumerate(words.tolist()):
        gold[b, : n + 1] = random_tree(rng, n, kind, one_root=True)
    return gold


def rows_of(system, states, b, first, empty):
    """[F]: the rows of the table for the features of state b."""
    slots = np.empty(len(system.slots), dtype=np.int32)
    features(system.options, states, b, slots)
    return np.where(slots == NONE, empty, first + slots)


def scores_of(scorer, rows):
    """[M]: the scores of one state, by numpy."""
    hidden = scorer.bias + scorer.table[rows, np.arange(len(rows))].sum(0)
    return (scorer.output @ np.maximum(hidden, 0) + scorer.output_bias).astype(np.float32)


def slow_rollout(system, exploration, scorer, gold, *, epoch, seed):
    """The fields of `VisitedStates`, sentence by sentence, and the heads at the end.

    Each row's generator draws the same numbers as in the compiled rollout.
    """
    random = np.random.default_rng(seed).integers(2**64, size=len(WORDS), dtype=np.uint64)
    N, visited, heads = int(WORDS.max()) + 1, [], []
    for b, n in enumerate(WORDS.tolist()):
        states, tree = system.start([n]), gold[b : b + 1]
        while not system.finished(states)[0]:
            rows = rows_of(system, states, 0, b * N, len(scorer.table) - 1)
            legal, cost = system.legal(states)[0], system.target(states, tree)[0]
            true = system.cost(states, tree)[0]
            canonical = int(system.static(states, tree)[0])
            choice = Choice(scores_of(scorer, rows), legal, cost, canonical)
            move = follow(exploration.policy, epoch, choice, random, b)
            visited.append((rows, legal, cost, true[move], move, b))
            system.step(states, [move])
        heads.append(np.pad(system.heads(states)[0], (0, N - n - 1)))
    return [np.array(column) for column in zip(*visited, strict=True)], np.array(heads)


def assert_same_rollout(visited, slow):
    """The same states; costs only count where a move is legal."""
    for found, expected in zip(visited, slow, strict=True):
        assert found.shape == expected.shape
    np.testing.assert_array_equal(visited.features, slow[0])
    np.testing.assert_array_equal(visited.legal, slow[1])
    np.testing.assert_array_equal(np.where(slow[1], visited.cost, 0), np.where(slow[1], slow[2], 0))
    np.testing.assert_array_equal(visited.paid, slow[3])
    np.testing.assert_array_equal(visited.move, slow[4])
    np.testing.assert_array_equal(visited.sentence, slow[5])


@pytest.mark.parametrize(("name", "options", "path"), PAIRS)
@pytest.mark.parametrize("epoch", [1, 2])
def test_a_rollout_equals_a_slow_one_through_the_public_methods(name, options, path, epoch):
    system = systems.load(name, **options)
    exploration = build(OmegaConf.to_container(OmegaConf.load(path)), "exploration")
    scorer, gold = random_scorer(system, WORDS), random_gold(WORDS)
    visited = rollout(system, exploration, scorer, WORDS, gold, epoch=epoch, seed=3)
    slow, _ = slow_rollout(system, exploration, scorer, gold, epoch=epoch, seed=3)
    assert_same_rollout(visited, slow)
    dispatchers = compiled_rollout._dispatchers.values()
    assert all(isinstance(d._cache, KernelCache) for d in dispatchers), "not kept on disk"


@pytest.mark.parametrize("epoch", [2, 3])
@pytest.mark.parametrize(
    "exploration",
    [
        Curriculum(first="ambiguity", then="sample:temperature=2.0", first_epochs=2),
        Curriculum(first="explore:first_epochs=0+probability=0.5", then="static", first_epochs=2),
        Dagger(round_epochs=2, decay=0.5),
    ],
    ids=text_of,
)
def test_a_rollout_follows_the_stage_and_the_round_that_the_epoch_is_in(exploration, epoch):
    system = systems.load("arc_eager")
    scorer, gold = random_scorer(system, WORDS), random_gold(WORDS, kind="projective")
    visited = rollout(system, exploration, scorer, WORDS, gold, epoch=epoch, seed=3)
    slow, _ = slow_rollout(system, exploration, scorer, gold, epoch=epoch, seed=3)
    assert_same_rollout(visited, slow)
    strays = {"ambiguity": epoch == 3, "explore:first_epochs=0+probability=0.5": epoch == 2}
    assert visited.paid.any() == strays.get(getattr(exploration, "first", ""), epoch == 3)


@all_systems
def test_moves_and_sentences_are_recorded_in_the_order_in_which_they_were_taken(name, options):
    system = systems.load(name, **options)
    scorer, gold = random_scorer(system, WORDS), random_gold(WORDS, kind="displaced")
    visited = rollout(system, EVEN, scorer, WORDS, gold, epoch=1, seed=2)
    T = len(visited.paid)
    assert visited.legal[np.arange(T), visited.move].all()
    assert visited.sentence.tolist() == sorted(visited.sentence.tolist())
    for b, n in enumerate(WORDS.tolist()):
        states, paid = system.start([n]), []
        for t in np.flatnonzero(visited.sentence == b):
            np.testing.assert_array_equal(visited.legal[t], system.legal(states)[0])
            paid.append(system.cost(states, gold[b : b + 1])[0, visited.move[t]])
            system.step(states, visited.move[t : t + 1])
        assert system.finished(states)[0]
        assert visited.paid[visited.sentence == b].tolist() == paid


@exact_systems
def test_an_exploring_rollout_pays_for_the_wrong_heads_of_its_trees(name, options):
    system = systems.load(name, **options)
    scorer, gold = random_scorer(system, WORDS), random_gold(WORDS, kind="projective")
    visited = rollout(system, EVEN, scorer, WORDS, gold, epoch=1, seed=8)
    slow, heads = slow_rollout(system, EVEN, scorer, gold, epoch=1, seed=8)
    assert_same_rollout(visited, slow)
    assert visited.paid.sum() == (heads[:, 1:] != gold[:, 1:]).sum() > 5


@all_systems
@pytest.mark.parametrize("exploration", [Static(), Ambiguity()], ids=["static", "ambiguity"])
def test_rollouts_along_best_moves_pay_nothing_for_projective_trees(name, options, exploration):
    system = systems.load(name, **options)
    gold = random_gold(WORDS, kind="projective")
    visited = rollout(
        system, exploration, random_scorer(system, WORDS), WORDS, gold, epoch=4, seed=1
    )
    assert (visited.paid == 0).all()
    assert (np.where(visited.legal, visited.cost, 9).min(-1) == 0).all()


@all_systems
def test_static_rollouts_have_one_best_move_and_ambiguous_ones_often_several(name, options):
    system = systems.load(name, **options)
    gold = random_gold(WORDS, kind="projective")
    best = {}
    for exploration in (Static(), Ambiguity()):
        visited = rollout(
            system, exploration, random_scorer(system, WORDS), WORDS, gold, epoch=1, seed=1
        )
        best[type(exploration)] = ((visited.cost == 0) & visited.legal).sum(-1)
    assert (best[Static] == 1).all()
    assert (best[Ambiguity] >= 1).all()
    assert (best[Ambiguity] > 1).any()


@all_systems
def test_greedy_decoding_takes_the_highest_scoring_legal_move_in_every_state(name, options):
    system = systems.load(name, **options)
    scorer = random_scorer(system, WORDS, seed=5)
    N = int(WORDS.max()) + 1
    states = system.start(WORDS)
    while not system.finished(states).all():
        scores = [
            scores_of(scorer, rows_of(system, states, b, b * N, len(scorer.table) - 1))
            for b in range(len(WORDS))
        ]
        legal = system.legal(states)
        system.step(states, np.where(legal, scores, -np.inf).argmax(-1))
    heads = decode_greedily(system, scorer, WORDS)
    np.testing.assert_array_equal(heads, system.heads(states))
    for b, n in enumerate(WORDS.tolist()):
        assert are_trees(heads[b : b + 1, : n + 1])[0]


def rolled_out(system, seed, *, words=WORDS, threads=1):
    """The states visited under a seed, with the scorer and trees of WORDS."""
    N = int(WORDS.max()) + 1
    whole = random_scorer(system, WORDS)
    scorer = whole._replace(table=np.concatenate([whole.table[: len(words) * N], whole.table[-1:]]))
    gold = random_gold(WORDS)[: len(words)]
    assert max(words) + 1 == N
    return rollout(system, EVEN, scorer, words, gold, epoch=2, seed=seed, threads=threads)


@pytest.mark.parametrize("name", NAMES)
def test_a_rollout_is_determined_by_its_seed(name):
    system = systems.load(name)
    first, again, other = (rolled_out(system, seed) for seed in (4, 4, 5))
    for one, two in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, two)
    assert len(first.paid) != len(other.paid) or (first.features != other.features).any()


@pytest.mark.parametrize("name", NAMES)
def test_a_sentence_is_rolled_out_the_same_whatever_follows_it_in_the_batch(name):
    system = systems.load(name)
    all_words, four = rolled_out(system, 4), rolled_out(system, 4, words=WORDS[:4])
    T = len(four.paid)
    assert 0 < T < len(all_words.paid)
    empty, empty_of_four = all_words.features.max(), four.features.max()
    np.testing.assert_array_equal(
        np.where(four.features == empty_of_four, empty, four.features), all_words.features[:T]
    )
    np.testing.assert_array_equal(four.legal, all_words.legal[:T])
    np.testing.assert_array_equal(four.paid, all_words.paid[:T])


@pytest.mark.parametrize("name", NAMES)
def test_the_number_of_threads_changes_nothing(name):
    system = systems.load(name)
    scorer = random_scorer(system, WORDS)
    alone, heads = rolled_out(system, 4), decode_greedily(system, scorer, WORDS)
    for threads in (2, 3, len(WORDS), 20):
        together = rolled_out(system, 4, threads=threads)
        for one, other in zip(alone, together, strict=True):
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(
            decode_greedily(system, scorer, WORDS, threads=threads), heads
        )


@pytest.mark.parametrize("name", NAMES)
def test_no_more_states_are_visited_than_most_moves_allows(name):
    system = systems.load(name)
    visited = rolled_out(system, 1)
    assert len(visited.paid) <= sum(system.most_moves(int(n)) for n in WORDS)
    assert all(len(array) == len(visited.paid) for array in visited)
    assert visited.legal.any(-1).all()
    assert visited.features.min() >= 0
    assert visited.features.max() == len(WORDS) * (WORDS.max() + 1)


def test_scores_that_are_not_numbers_still_lead_to_a_tree():
    system = systems.load(NAMES[0])
    scorer = random_scorer(system, WORDS)
    scorer.table[:] = np.nan
    heads = decode_greedily(system, scorer, WORDS)
    for b, n in enumerate(WORDS.tolist()):
        assert are_trees(heads[b : b + 1, : n + 1])[0]
