"""check_oracle finds what is wrong with a system; that ours pass it is in tests/system."""

import os
import subprocess
import sys
from dataclasses import dataclass, field

import numpy as np
import pytest
from helpers.tiny import PROJECT

from dyparse.evaluation.oracle_check import check_lost, check_oracle
from dyparse.system.arc_eager import LEFT, REDUCE, SHIFT, ArcEager
from dyparse.system.swap import Swap


@dataclass(frozen=True)
class Spoilt(ArcEager):
    """Arc-eager, spoilt by functions in place of its methods: function(states, right answer)."""

    spoilt: dict = field(default_factory=dict, repr=False)

    def answer(self, name, states, *gold):
        right = getattr(super(), name)(states, *gold)
        return self.spoilt[name](states, right) if name in self.spoilt else right

    def cost(self, states, gold):
        return self.answer("cost", states, gold)

    def static(self, states, gold):
        return self.answer("static", states, gold)

    def legal(self, states):
        return self.answer("legal", states)

    def finished(self, states):
        return self.answer("finished", states)

    def heads(self, states):
        return self.answer("heads", states)

    def most_moves(self, words):
        return self.answer("most_moves", words)


def on_two_words(states):
    """[B]: the stack holds words 1 and 2, and word 3 is the front."""
    return (states.stack_size == 2) & (states.front == 2) & (states.end == 4)


def one_more_for_left(states, cost):
    cost[on_two_words(states), LEFT] += 1
    return cost


def without(move):
    """The move is never legal."""

    def spoil(_states, legal):
        legal[:, move] = False
        return legal

    return spoil


def test_a_right_oracle_passes_with_the_number_of_comparisons():
    assert check_oracle(ArcEager(), 1) == 4  # two states, each with one move and a canonical one
    assert check_oracle(ArcEager(), 3) > check_oracle(ArcEager(), 2) > 4


def test_a_wrong_cost_is_shown_with_its_state_the_move_and_both_costs():
    with pytest.raises(AssertionError) as error:
        check_oracle(Spoilt(spoilt={"cost": one_more_for_left}))
    assert "Spoilt(root='last', single_root=True), gold heads [" in str(error.value)
    assert "after SHIFT SHIFT (stack [1, 2], buffer [3, 0], heads [-1, -1, -1])" in str(error.value)
    assert str(error.value).endswith("LEFT costs 1 by the oracle, 0 by search")


@pytest.mark.parametrize(
    ("spoilt", "finding"),
    [
        ({"legal": without(REDUCE)}, "no move is legal, though the sentence is not finished"),
        (
            {"finished": lambda states, _: states.front > 0},
            "a move is legal, though the sentence is finished",
        ),
        ({"most_moves": lambda words, _: 2 * words - 1}, "these are 2 moves, but most_moves is 1"),
        ({"heads": lambda _, heads: np.ones_like(heads)}, "ends with heads that are no tree"),
        ({"heads": lambda _, heads: np.zeros_like(heads)}, "ends without exactly one root child"),
        (
            {"static": lambda states, _: np.full(len(states.length), SHIFT)},
            "the canonical move is SHIFT, which is not legal or not of least cost",
        ),
        ({"static": lambda _, move: move - 99}, "the canonical move is -99, which is not legal"),
    ],
)
def test_other_faults_are_found(spoilt, finding):
    with pytest.raises(AssertionError) as error:
        check_oracle(Spoilt(spoilt=spoilt), 3)
    assert finding in str(error.value)


def test_dependents_that_are_not_kept_up_to_date_are_found(monkeypatch):
    step = ArcEager.step

    def forgetting(system, states, moves):
        step(system, states, moves)
        states.left[:] = -1

    monkeypatch.setattr(ArcEager, "step", forgetting)
    with pytest.raises(AssertionError, match=r"states\.left and states\.right of token \d are not"):
        check_oracle(ArcEager(), 2)


def test_a_feature_slot_that_is_never_filled_is_found(monkeypatch):
    monkeypatch.setattr(ArcEager, "slots", (*ArcEager.slots, "b2"))
    with pytest.raises(AssertionError, match="feature slot b2 holds neither a token nor NONE"):
        check_oracle(ArcEager(), 1)


def test_trees_of_lost_that_cannot_be_reached_or_are_not_best_are_found(monkeypatch):
    best_heads = ArcEager.best_heads
    monkeypatch.setattr(ArcEager, "best_heads", lambda *asked: 0 * best_heads(*asked))
    with pytest.raises(AssertionError, match="by `lost`: the tree before it cannot be reached"):
        check_lost(ArcEager(), 2)
    chain = np.arange(-1, 2)[None]  # word 1 at the root, word 2 below it
    monkeypatch.setattr(
        ArcEager,
        "best_heads",
        lambda system, states, _: best_heads(
            system, states, chain[np.zeros(len(states.length), int), : states.head.shape[1]]
        ),
    )
    with pytest.raises(AssertionError, match="by `lost`: the tree before it is not the best"):
        check_lost(ArcEager(), 2)


def test_lost_arcs_of_a_system_that_is_not_exact_need_not_number_the_cost(monkeypatch):
    assert check_lost(Swap(), 3) > 0
    monkeypatch.setattr(Swap, "exact", True)
    with pytest.raises(AssertionError, match="by `lost`: "):
        check_lost(Swap(), 3)


def test_costs_of_a_system_that_is_not_exact_are_not_compared(monkeypatch):
    assert check_oracle(Swap(), 2) > 0
    monkeypatch.setattr(Swap, "exact", True)
    with pytest.raises(AssertionError, match=r"costs \d by the oracle, \d by search"):
        check_oracle(Swap(), 2)


@pytest.mark.parametrize(
    ("right", "answer"),
    [("has_word and not waits", "843 471"), ("has_word", "ends without exactly one root child")],
)
def test_a_system_outside_the_package_is_checked_like_ours(tmp_path, right, answer):
    source = (PROJECT / "dyparse" / "system" / "arc_hybrid.py").read_text(encoding="utf-8")
    source = source.replace("ArcHybrid", "MyHybrid")
    source = source.replace("out[RIGHT] = has_word and not waits", f"out[RIGHT] = {right}")
    (tmp_path / "my_system.py").write_text(source, encoding="utf-8")
    program = (
        "from my_system import MyHybrid\n"
        "from dyparse.evaluation.oracle_check import check_lost, check_oracle\n"
        "print(check_oracle(MyHybrid(), 3), check_lost(MyHybrid(), 3))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer in done.stdout + done.stderr
