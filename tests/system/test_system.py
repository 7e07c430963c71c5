"""Every transition system through its public face, against exhaustive search.

A system is tested because conf/system/<name>.yaml exists, with every combination of its options.
"""

import dataclasses
import functools
import itertools
import os
from pathlib import Path

import numpy as np
import pytest
from helpers.exhaustive import (
    all_trees,
    are_trees,
    concatenate,
    explore,
    is_projective,
    least_losses,
    pairs,
    pick,
    random_tree,
    root_children,
    state_bytes,
    walk,
    with_rubbish,
)

from dyparse import system as systems
from dyparse.data.conllu import read_sentences

PROJECT = Path(__file__).parents[2]
NAMES = sorted(path.stem for path in (PROJECT / "conf" / "system").glob("*.yaml"))
UD = Path(os.environ.get("DYPARSE_UD", PROJECT.parent / "shared" / "ud"))

MOST_PAIRS = 5_000_000

# Values of the options that are not booleans; a system with another option needs a line here.
VALUES = {"root": ("last", "first"), "gap": (2,)}


def variants(name):
    """(name, options) with every combination of options, as test parameters."""
    fields = dataclasses.fields(systems.load(name))
    values = [(False, True) if isinstance(f.default, bool) else VALUES[f.name] for f in fields]
    for combination in itertools.product(*values):
        options = {f.name: value for f, value in zip(fields, combination, strict=True)}
        label = "-".join([name, *(f"{key}={value}" for key, value in options.items())])
        yield pytest.param(name, tuple(options.items()), id=label)


def variants_of(names):
    """A mark for all variants of some systems."""
    return pytest.mark.parametrize(("name", "options"), [v for n in names for v in variants(n)])


ALL = variants_of(NAMES)
EXACT = variants_of([name for name in NAMES if systems.load(name).exact])
SINGLE_ROOT = pytest.mark.parametrize(  # Covington steps over states that have one legal move
    ("name", "options"),
    [
        v
        for n in NAMES
        for v in variants(n)
        if n != "covington" and dict(v.values[1])["single_root"]
    ],
)
SIZES = pytest.mark.parametrize("words", [1, 2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])


@functools.lru_cache(maxsize=4)  # the tests of one variant and size mostly follow one another
def search(name, options, words):
    """(system, layers, trees, least losses of each layer) of all states and all trees.

    Where these are more than MOST_PAIRS, which is so for some systems at five words, a random
    sample of the trees.
    """
    system, trees = systems.load(name, **dict(options)), all_trees(words)
    layers = explore(system, words)
    most = MOST_PAIRS // sum(len(layer.paths) for layer in layers)
    if most < len(trees):
        trees = np.random.default_rng(words).choice(trees, most, replace=False)
    return system, layers, trees, least_losses(system, layers, trees)


def allowed_trees(options, trees):
    """Which trees the options allow as an end: all, or those with one root child."""
    return (root_children(trees) == 1) | (not dict(options).get("single_root", False))


def compare_with_search(name, options, words, check):
    """check(system, states, gold, legal, true costs) says which (state, tree) pairs are wrong."""
    system, layers, trees, least = search(name, options, words)
    rng = np.random.default_rng(words)
    for layer, here, below in zip(layers, least, [*least[1:], least[-1]], strict=True):
        for rows, states, gold in pairs(layer.states, np.flatnonzero(~layer.finished), trees):
            legal = np.repeat(layer.legal[rows], len(trees), axis=0)  # [pairs, M]
            after = below[layer.following[rows]].transpose(0, 2, 1)  # [rows, trees, M]
            true = (after - here[rows][:, :, None]).reshape(legal.shape)
            rubbish = with_rubbish(gold, np.full(len(gold), words), rng)
            wrong = check(system, states, rubbish, legal, true)
            if wrong.any():
                k = int(np.flatnonzero(wrong)[0])
                path = [system.moves[m] for m in layer.paths[rows[k // len(trees)]]]
                pytest.fail(
                    f"{wrong.sum()} of {len(wrong)} pairs are wrong after {len(path)} moves; first:"
                    f" gold heads {gold[k, 1:]}, moves {path}; {system.moves} are legal {legal[k]},"
                    f" truly cost {true[k]}, said {system.cost(states, rubbish)[k]}"
                )


# --- search: every state, every tree, every move -------------------------------------------------


@EXACT
@SIZES
def test_cost_is_the_difference_of_least_losses(name, options, words):
    def wrong(system, states, gold, legal, true):
        return ((system.cost(states, gold) != true) & legal).any(-1)

    compare_with_search(name, options, words, wrong)


@EXACT
@SIZES
def test_static_is_legal_and_of_least_cost_in_every_state(name, options, words):
    def wrong(system, states, gold, legal, true):
        move = system.static(states, gold)[:, None]
        good = np.take_along_axis(legal & (true == 0), np.clip(move, 0, None), axis=1)
        return (move[:, 0] < 0) | ~good[:, 0]

    compare_with_search(name, options, words, wrong)


@ALL
@SIZES
def test_a_legal_move_exists_until_the_end_and_none_after_it(name, options, words):
    system, layers, _, _ = search(name, options, words)
    for layer in layers:
        assert layer.legal[~layer.finished].any(-1).all()
        assert not system.legal(layer.states)[layer.finished].any()


@ALL
@SIZES
def test_every_end_is_a_tree_that_the_options_allow(name, options, words):
    system, layers, _, _ = search(name, options, words)
    for layer in layers:
        heads = system.heads(layer.states)[layer.finished]
        assert are_trees(heads).all()
        assert allowed_trees(options, heads).all()


@ALL
@SIZES
def test_outer_dependents_are_those_of_the_arcs(name, options, words):
    _, layers, _, _ = search(name, options, words)
    for states in (layer.states for layer in layers):
        for head in range(words + 1):
            dependents = [np.flatnonzero(row[1:] == head) + 1 for row in states.head]
            left = [min([d for d in ds if d < head], default=-1) for ds in dependents]
            right = [max([d for d in ds if d > head], default=-1) for ds in dependents]
            np.testing.assert_array_equal(states.left[:, head], left)
            np.testing.assert_array_equal(states.right[:, head], right)


@ALL
@SIZES
def test_every_allowed_projective_tree_can_be_built(name, options, words):
    _, _, trees, least = search(name, options, words)
    projective = np.array([is_projective(tree) for tree in trees])
    assert projective.any()
    assert (least[0][0][projective & allowed_trees(options, trees)] == 0).all()


@ALL
@SIZES
def test_following_static_from_the_start_ends_at_the_least_loss(name, options, words):
    """Where costs are not exact: for trees that the options allow."""
    system, _, trees, least = search(name, options, words)
    meant = np.full(len(trees), system.exact) | allowed_trees(options, trees)
    gold = system.prepare(trees)

    def canonical(states, legal):
        moves = system.static(states, gold)
        assert ((moves >= 0) == legal.any(-1)).all()
        return moves

    heads = walk(system, np.full(len(trees), words), canonical)
    losses = (heads != trees)[:, 1:].sum(-1)
    np.testing.assert_array_equal(losses[meant], least[0][0][meant])


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


# --- walks through longer sentences --------------------------------------------------------------

REAL = ("UD_Gothic-PROIEL", "UD_Hungarian-Szeged", "UD_English-LinES")
GREED = (1.0, 1.0, 0.9, 0.5, 0.0)  # how often a walk follows a best move; else any legal one


def padded(trees):
    """Trees of several lengths as one array, rubbish where there is no word, and the lengths."""
    lengths = np.array([len(tree) - 1 for tree in trees])
    gold = np.zeros((len(trees), lengths.max() + 1), dtype=int)
    for row, tree in zip(gold, trees, strict=True):
        row[: len(tree)] = tree
    return with_rubbish(gold, lengths, np.random.default_rng(0)), lengths


def random_trees(seed, count, longest):
    """Trees of up to `longest` words: projective, nearly, not at all; with one root or several.

    Trees that are nothing like projective are shorter: oracles that search take a time that grows
    exponentially with the arcs that must be lost.
    """
    rng = np.random.default_rng(seed)
    kinds = itertools.cycle(itertools.product(("projective", "displaced", "any"), (True, False)))
    most = {"projective": longest, "displaced": longest, "any": min(longest, 14)}
    return [
        random_tree(rng, int(rng.integers(1, most[kind] + 1)), kind, one_root=one_root)
        for _, (kind, one_root) in zip(range(count), kinds, strict=False)
    ]


def promised_losses(system, trees):
    """[trees, walks]: final loss less the costs paid, on walks of more and of less greed.

    If no cost is negative and the least is 0 everywhere, this is the least loss of the start.
    """
    gold, lengths = padded(trees)
    gold, lengths = np.repeat(gold, len(GREED), axis=0), np.repeat(lengths, len(GREED))
    greed, paid = np.tile(GREED, len(trees)), np.zeros(len(gold), dtype=int)
    prepared, rng = system.prepare(gold), np.random.default_rng(1)

    def choose(states, legal):
        going = legal.any(-1)
        cost = system.cost(states, prepared)
        assert (np.where(legal, cost, 99).min(-1) == 0)[going].all()
        best = rng.random(len(greed)) < greed
        moves = pick(rng, legal & ((cost == 0) | ~best[:, None]))
        paid[going] += np.take_along_axis(cost, moves[:, None], axis=1)[going, 0]
        return moves

    heads = walk(system, lengths, choose)
    words = (np.arange(gold.shape[1]) > 0) & (np.arange(gold.shape[1]) <= lengths[:, None])
    return (((heads != gold) & words).sum(-1) - paid).reshape(len(trees), len(GREED))


def check_promises(name, options, trees):
    """Every walk pays what it loses beyond the least loss: 0 for trees the system can build."""
    promised = promised_losses(systems.load(name, **dict(options)), trees)
    np.testing.assert_array_equal(promised, np.broadcast_to(promised[:, :1], promised.shape))
    can = [is_projective(tree) and allowed_trees(options, tree[None])[0] for tree in trees]
    assert (promised[can] == 0).all()
    return promised[:, 0]


@EXACT
def test_any_walk_pays_exactly_the_arcs_it_loses(name, options):
    check_promises(name, options, random_trees(seed=2, count=60, longest=30))


@EXACT
@pytest.mark.parametrize("treebank", REAL)
def test_any_walk_through_a_real_sentence_pays_exactly_the_arcs_it_loses(name, options, treebank):
    files = sorted((UD / treebank).glob("*-ud-dev.conllu"))
    if not files:
        pytest.skip(f"no {treebank} in {UD}; set DYPARSE_UD to an unpacked UD release")
    sentences = list(read_sentences(str(files[0]), trees=True))
    step = len(sentences) // 25
    check_promises(name, options, [np.array([0, *s.head]) for s in sentences[::step]])


# --- batches, and what a prepared gold remembers -------------------------------------------------


def visited_states(system, lengths, rng):
    """(rows, states): all unfinished states of a random walk per sentence, and whose each is."""
    rows, visited = [], []

    def remember(states, legal):
        going = np.flatnonzero(legal.any(-1))
        rows.append(going)
        visited.append(states.take(going))
        return pick(rng, legal)

    walk(system, lengths, remember)
    return np.concatenate(rows), concatenate(visited)


def answers(system, states, gold):
    """What a system says of each state, side by side: legal, cost where legal, static, finished."""
    legal, cost = system.legal(states), np.where(system.legal(states), system.cost(states, gold), 0)
    return np.column_stack([legal, cost, system.static(states, gold), system.finished(states)])


@ALL
def test_a_sentence_fares_the_same_alone_and_among_longer_ones(name, options):
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
