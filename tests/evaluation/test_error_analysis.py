"""Error analysis: counts made by hand, sums that must agree, and a second count of repairs."""

from functools import cache

import numpy as np
import pytest
from helpers.tiny import fresh_parser, sample, yamls

from dyparse import system as systems
from dyparse.data.sentence import NONE, Sentence
from dyparse.evaluation.attachment_scores import align_words
from dyparse.evaluation.coverage import lost_arcs
from dyparse.evaluation.error_analysis import Derivations, error_analysis
from dyparse.evaluation.measure import record_derivations

NAMES = [path.stem for path in yamls("system")]
EXACT = [name for name in NAMES if systems.load(name).exact]
GOLD = sorted(sample("dev"), key=len)[:40] + sorted(sample("dev"), key=len)[-6:]
ARC_COLUMNS = (
    "gold",
    "predicted",
    "gold_right",
    "predicted_right",
    "gold_labelled",
    "predicted_labelled",
)
POPS = ("right", "wrong", "missed", "rightly_none", "neither")

# --- by hand -------------------------------------------------------------------------------------

# Two wrong heads in the first sentence; the last word wrong, and one label, in the second; in the
# third, the arc 2 → 4 is right but not projective in gold only.
TREES = [
    ([2, 0, 2, 3], ["nsubj", "root", "obj", "amod"]),
    ([0] + [1] * 11, ["root"] + ["dep"] * 11),
    ([0, 1, 1, 2], ["root", "dep", "dep", "dep"]),
]
PARSED = [
    ([2, 0, 4, 2], ["nsubj", "root", "iobj", "obj"]),
    ([0] + [1] * 10 + [11], ["root", "case"] + ["dep"] * 10),
    ([0, 1, 2, 2], ["root", "dep", "dep", "dep"]),
]
# Of every move: sentence, number, cost; head and dependent of its arc; the dependent's old head.
MOVES = [
    (0, 0, 0, NONE, NONE, NONE),
    (0, 1, 0, 2, 1, NONE),
    (0, 0, 1, 4, 3, NONE),
    (0, 1, 0, 2, 3, 4),  # repaired
    (0, 1, 0, 4, 3, 2),  # broken
    (0, 0, 2, 1, 4, NONE),
    (0, 0, 0, 2, 4, 1),  # wrong before and after
    (0, 1, 0, 0, 2, NONE),
    *[(1, 0, 0, NONE, NONE, NONE)] * 3,
    *[(2, 1, 0, NONE, NONE, NONE)] * 3,
    (2, 1, 3, NONE, NONE, NONE),
]


def sentence_with(head, label, upos=None):
    words = [f"w{k}" for k in range(len(head))]
    return Sentence.from_words(words, upos=upos).with_tree(head, label)


def derivations_of(rows, **columns):
    """Derivations from rows of (sentence, move, paid, head, dependent, replaced)."""
    parts = dict(zip(Derivations.__dataclass_fields__, np.array(rows).T, strict=False))
    rest = {name: np.full(len(rows), NONE) for name in ("top", "below", "front", "top_head")}
    return Derivations(**{**parts, **rest, **columns})


def analysis(gold, parsed, derivations, moves):
    """The counts as `result.json` holds them."""
    return error_analysis(align_words(gold, parsed), derivations, moves).to_dict()


def by_hand(derivations=None):
    gold, parsed = ([sentence_with(*tree) for tree in trees] for trees in (TREES, PARSED))
    return analysis(gold, parsed, derivations or derivations_of(MOVES), ("A", "B"))


def counts(words, heads, labelled):
    return {"words": words, "heads": heads, "labelled": labelled}


def columns_of(table, columns):
    return {name: tuple(row[column] for column in columns) for name, row in table.items()}


def test_words_by_the_length_of_their_sentence():
    assert by_hand()["by_sentence_length"] == {
        "1-10": counts(8, 5, 5),
        "11-20": counts(12, 11, 10),
        **{name: counts(0, 0, 0) for name in ("21-30", "31-40", "41+")},
    }


@pytest.mark.parametrize(
    ("length", "name"),
    [(1, "1-10"), (10, "1-10"), (11, "11-20"), (30, "21-30"), (31, "31-40"), (41, "41+")],
)
def test_the_edges_of_the_lengths_of_sentences(length, name):
    tree = sentence_with([0] + [1] * (length - 1), ["dep"] * length)
    moves = derivations_of(MOVES[:1])
    found = analysis([tree], [tree], moves, ("A",))["by_sentence_length"]
    assert [group for group, row in found.items() if row["words"]] == [name]
    assert found[name] == counts(length, length, length)


def test_arcs_by_their_length_in_gold_and_in_the_parse():
    assert columns_of(by_hand()["by_arc_length"], ARC_COLUMNS) == {
        "root": (3, 3, 3, 3, 3, 3),
        "1": (5, 6, 3, 3, 2, 2),
        "2": (3, 3, 2, 2, 2, 2),
        "3-6": (4, 4, 4, 4, 4, 4),
        "7+": (5, 4, 4, 4, 4, 4),
    }


def test_a_right_arc_may_be_projective_on_one_side_only():
    assert columns_of(by_hand()["by_projectivity"], ARC_COLUMNS) == {
        "projective": (19, 20, 15, 16, 14, 15),
        "nonprojective": (1, 0, 1, 0, 1, 0),
    }


def test_sentences_by_the_quarter_of_their_first_mistake():
    assert by_hand()["by_first_mistake"] == {
        "1st quarter": {"sentences": 0} | counts(0, 0, 0),
        "2nd quarter": {"sentences": 1} | counts(4, 2, 2),
        "3rd quarter": {"sentences": 0} | counts(0, 0, 0),
        "4th quarter": {"sentences": 1} | counts(4, 3, 3),
        "none": {"sentences": 1} | counts(12, 11, 10),
    }


@pytest.mark.parametrize(("moves", "first"), [(1, 0), (7, 0), (7, 1), (7, 2), (8, 7), (10, 5)])
def test_the_quarter_of_a_first_mistake_is_that_of_its_position(moves, first):
    tree = sentence_with([0], ["root"])
    rows = [(0, 0, int(t >= first), NONE, NONE, NONE) for t in range(moves)]
    found = analysis([tree], [tree], derivations_of(rows), ("A",))["by_first_mistake"]
    names = ["1st quarter", "2nd quarter", "3rd quarter", "4th quarter"]
    share = first / moves
    expected = next(name for k, name in enumerate(names) if share < (k + 1) / 4)
    assert [name for name, row in found.items() if row["sentences"]] == [expected]


def test_states_before_and_after_the_first_mistake():
    assert by_hand()["propagation"] == {
        "sentences": 3,
        "sentences_with_mistake": 2,
        "states_before": 3 + 3 + 4,
        "states_after": 5,
        "mistakes_before": 2,
        "mistakes_after": 1,
        "cost_before": 1 + 3,
        "cost_after": 2,
    }


def test_arcs_and_repairs_of_each_move():
    moves = by_hand()["moves"]
    assert list(moves["A"]) == [
        "taken",
        "free",
        "arcs",
        "right_arcs",
        "labelled_arcs",
        "replaced",
        "mended",
        "broken",
    ]
    assert list(moves["A"].values()) == [7, 5, 3, 0, 0, 1, 0, 0]
    assert list(moves["B"].values()) == [8, 7, 4, 3, 2, 2, 1, 1]


def test_the_order_of_sentences_in_the_derivations_does_not_matter_once_they_are_sorted():
    alternating = [row for k in range(8) for b in (2, 0, 1) for row in _row_of(b, k)]
    assert len(alternating) == len(MOVES)
    assert by_hand(derivations_of(alternating).in_order()) == by_hand()


def _row_of(b, k):
    """The kth move of a sentence, if it has so many."""
    return [row for row in MOVES if row[0] == b][k : k + 1]


def test_only_systems_with_left_and_reduce_have_repairs():
    assert "pops" not in by_hand()
    tree = sentence_with([0], ["root"])
    for moves, has_pops in ((("LEFT", "RIGHT"), False), (("LEFT", "REDUCE"), True)):
        found = analysis([tree], [tree], derivations_of(MOVES[:1]), moves)
        assert ("pops" in found) == has_pops


def test_repairs_that_were_made_and_missed():
    """Gold heads are 3 1 0 3 4; the last word is punctuation."""
    moves = ("SHIFT", "RIGHT", "LEFT", "REDUCE")
    states = [  # move, top, its head, below, front
        ("LEFT", 1, 2, NONE, 3),  # repair, right
        ("LEFT", 2, 1, 1, 3),  # repair, wrong
        ("REDUCE", 1, 2, NONE, 3),  # missed
        ("REDUCE", 2, 1, 1, 4),  # rightly none
        ("REDUCE", 4, 2, 2, 0),  # neither
        ("REDUCE", 4, 2, 2, 5),  # neither
        ("REDUCE", 2, NONE, 1, 3),  # repair, right
        ("REDUCE", 4, NONE, 2, 5),  # repair, wrong
        ("REDUCE", 4, NONE, 1, 5),  # repair, wrong
        ("LEFT", 2, NONE, 1, 3),  # missed
        ("LEFT", 1, NONE, NONE, 3),  # rightly none
        ("LEFT", 3, NONE, NONE, 0),  # rightly none
        ("LEFT", 4, NONE, 2, 0),  # neither
        ("LEFT", 5, 4, 3, 0),  # punctuation
        ("REDUCE", 5, NONE, 4, 0),  # punctuation
        ("SHIFT", 1, 2, NONE, 3),
        ("RIGHT", 1, NONE, NONE, 3),
        ("LEFT", NONE, NONE, NONE, 3),
        ("REDUCE", 0, NONE, NONE, 3),  # the root, first on the stack
    ]
    tree = sentence_with([3, 1, 0, 3, 4], ["dep"] * 5, ["X", "X", "X", "X", "PUNCT"])
    names = ("top", "top_head", "below", "front")
    columns = np.array([row[1:] for row in states]).T
    rows = [(0, moves.index(row[0]), 0, NONE, NONE, NONE) for row in states]
    derivations = derivations_of(rows, **dict(zip(names, columns, strict=True)))
    found = analysis([tree], [tree], derivations, moves)["pops"]
    assert columns_of(found, POPS) == {"LEFT": (1, 1, 1, 1, 2), "REDUCE": (1, 2, 1, 2, 1)}


# --- parsers with random weights -----------------------------------------------------------------


@cache
def analysed(text):
    """(gold words beside predicted ones, derivations, analysis) of a parser with this system."""
    parser = fresh_parser(sample("train")[:30], system=systems.load(text))
    parsed, derivations = record_derivations(parser, GOLD)
    found = analysis(GOLD, parsed, derivations, parser.system.moves)
    return align_words(GOLD, parsed), derivations, found


def total(table, column):
    return sum(row[column] for row in table.values())


@pytest.mark.parametrize("text", NAMES)
def test_groups_add_up_to_all_words_and_moves(text):
    words, derivations, found = analysed(text)
    W, heads = len(words.head), int(words.head_right.sum())
    labelled = int((words.head_right & words.label_right).sum())
    assert 0 < heads < W or text == "covington_nonmonotonic"  # untrained, it has none right
    for name in ("by_sentence_length", "by_first_mistake"):
        sums = [total(found[name], column) for column in ("words", "heads", "labelled")]
        assert sums == [W, heads, labelled]
    for name in ("by_arc_length", "by_projectivity"):
        sums = [total(found[name], column) for column in ARC_COLUMNS]
        assert sums == [W, W, heads, heads, labelled, labelled]
    assert total(found["by_first_mistake"], "sentences") == len(GOLD)
    T, spread = len(derivations.move), found["propagation"]
    assert spread["sentences"] == len(GOLD)
    assert spread["states_before"] + spread["states_after"] == T
    assert spread["mistakes_before"] == spread["sentences_with_mistake"]
    assert (
        spread["sentences_with_mistake"]
        == len(GOLD) - found["by_first_mistake"]["none"]["sentences"]
    )
    assert total(found["moves"], "taken") == T
    mistakes = spread["mistakes_before"] + spread["mistakes_after"]
    assert total(found["moves"], "free") == T - mistakes


@pytest.mark.parametrize("text", [name for name in NAMES if name != "covington_nonmonotonic"])
def test_arcs_that_were_added_less_those_replaced_are_the_heads_that_words_have(text):
    """Not so in non-monotonic Covington, which also removes arcs without replacing them."""
    words, derivations, found = analysed(text)
    moves = found["moves"]
    given = np.unique(
        np.stack([derivations.sentence, derivations.dependent])[:, derivations.dependent != NONE],
        axis=1,
    ).shape[1]  # words that ever got a head; the others have the root as head
    assert total(moves, "arcs") - total(moves, "replaced") == given
    from_root = (words.predicted_head == 0) & words.head_right
    right = total(moves, "right_arcs") - total(moves, "broken")
    assert 0 <= words.head_right.sum() - right <= min(len(words.head) - given, from_root.sum())
    assert (total(moves, "replaced") > 0) == (text == "nonmonotonic")


@pytest.mark.parametrize("text", EXACT)
def test_costs_and_arcs_out_of_reach_are_the_wrong_heads(text):
    system = systems.load(text)
    words, derivations, _ = analysed(text)
    keep = [b for b, s in enumerate(GOLD) if system.is_exact(len(s))]
    reach = lost_arcs(system, [GOLD[b].head for b in keep])
    paid = np.bincount(derivations.sentence, derivations.paid, len(GOLD))[keep]
    wrong = np.bincount(words.sentence, ~words.head_right, len(GOLD))[keep]
    np.testing.assert_array_equal(paid + reach, wrong)
    assert paid.sum() > 0
    if len(keep) == len(GOLD):
        spread = analysed(text)[2]["propagation"]
        assert spread["cost_before"] + spread["cost_after"] + sum(reach) == wrong.sum()


@pytest.mark.parametrize("text", ["nonmonotonic", "nonmonotonic:left_arc=false", "arc_eager"])
def test_repairs_are_those_that_a_second_count_along_the_states_finds(text):
    system = systems.load(text)
    _, derivations, found = analysed(text)
    slow = {name: dict.fromkeys(POPS, 0) for name in ("LEFT", "REDUCE")}
    for b, gold in enumerate(GOLD):
        states = system.start([len(gold)])
        for move in derivations.move[derivations.sentence == b]:
            if (repair := _repair(system.moves[move], states, gold)) is not None:
                slow[repair[0]][repair[1]] += 1
            system.step(states, [move])
        assert system.finished(states)[0]
    assert found["pops"] == slow
    assert sum(slow["LEFT"].values()) > 0


def _repair(move, states, gold):
    """(name of the possible repair, its outcome) in one state, or None."""
    stack = states.stack[0, : states.stack_size[0]].tolist()
    if move not in ("LEFT", "REDUCE") or not stack or stack[-1] == 0:
        return None
    word, front = stack[-1], int(states.buffer[0, states.front[0]])
    if gold.upos[word - 1] == "PUNCT":
        return None
    right, has = gold.head[word - 1], int(states.head[0, word])
    below = stack[-2] if len(stack) > 1 else None
    if has == NONE:
        name, head_by, other = "REDUCE", below, front
    else:
        name, head_by, other = "LEFT", front, has
    if move == name:
        return name, "right" if right == head_by else "wrong"
    if right == head_by:
        return name, "missed"
    return name, "rightly_none" if right == other else "neither"
