"""Where a greedy parser errs, and what its errors lead to: counts over gold trees and derivations.

All are counts, so that those of several runs can be added up:

    by_sentence_length  words and right ones, by the number of words of their sentence
    by_arc_length       gold arcs, predicted ones and right ones, by the distance of head and word
    by_projectivity     the same for projective and non-projective arcs
    by_first_mistake    sentences, words and right ones, by the quarter of the derivation in which
                        the first move with a cost was taken
    propagation         states before and after the first mistake, mistakes there, and their cost
    moves               how often each move was taken, cost nothing, added an arc or replaced one
    pops                of systems with LEFT and REDUCE: repairs that were made, and missed
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dyparse.data.sentence import NONE
from dyparse.evaluation.attachment_scores import AlignedWords
from dyparse.evaluation.score_report import LENGTHS, nonprojective_arcs

SENTENCE_LENGTHS = {"1-10": 1, "11-20": 11, "21-30": 21, "31-40": 31, "41+": 41}  # name: least
QUARTERS = ("1st quarter", "2nd quarter", "3rd quarter", "4th quarter")
NO_MISTAKE = "none"

WORDS = ("words", "heads", "labelled")
ARCS = (
    *("gold", "predicted", "gold_right", "predicted_right"),
    *("gold_labelled", "predicted_labelled"),
)
MOVES = ("taken", "free", "arcs", "right_arcs", "labelled_arcs", "replaced", "mended", "broken")
POPS = ("right", "wrong", "missed", "rightly_none", "neither")
PROPAGATION = (
    *("sentences", "sentences_with_mistake", "states_before", "states_after"),
    *("mistakes_before", "mistakes_after", "cost_before", "cost_after"),
)
TABLES: dict[str, tuple[Sequence[str], Sequence[str]]] = {  # rows, or none for those there are
    "by_sentence_length": (list(SENTENCE_LENGTHS), WORDS),
    "by_arc_length": (list(LENGTHS), ARCS),
    "by_projectivity": (("projective", "nonprojective"), ARCS),
    "by_first_mistake": ((*QUARTERS, NO_MISTAKE), ("sentences", *WORDS)),
    "moves": ((), MOVES),
    "pops": (("LEFT", "REDUCE"), POPS),
}
MOST = 2**53  # of what is counted: floats hold it

Count = dict[str, int]


@dataclass(frozen=True)
class Derivations:
    """The moves of all sentences of a split, in order; T moves in all."""

    sentence: NDArray[np.int64]  # [T]  the sentence's place in the split
    move: NDArray[np.int32]  # [T]
    paid: NDArray[np.int32]  # [T]  cost of the move
    head: NDArray[np.int32]  # [T]  of the arc it added, or NONE
    dependent: NDArray[np.int32]  # [T]
    replaced: NDArray[np.int32]  # [T]  head that the dependent had before, or NONE
    top: NDArray[np.int32]  # [T]  token on top of the stack before the move, or NONE
    below: NDArray[np.int32]  # [T]  the one below it
    front: NDArray[np.int32]  # [T]  of the buffer
    top_head: NDArray[np.int32]  # [T]  the top's head before the move

    def in_order(self) -> "Derivations":
        """The same, sentence after sentence."""
        order = np.argsort(self.sentence, kind="stable")
        return Derivations(*(getattr(self, name)[order] for name in self.__dataclass_fields__))


def error_analysis(
    words: AlignedWords, derivations: Derivations, moves: Sequence[str]
) -> dict[str, Any]:
    """All counts; `moves` are the names of the system's moves."""
    counts = {
        "by_sentence_length": _by_sentence_length(words),
        "by_arc_length": _by_arc_length(words),
        "by_projectivity": _by_projectivity(words),
        "by_first_mistake": _by_first_mistake(words, derivations),
        "propagation": _propagation(derivations),
        "moves": _by_move(words, derivations, moves),
    }
    if {"LEFT", "REDUCE"} <= set(moves):
        counts["pops"] = _pops(words, derivations, moves)
    return counts


def require_analysis(counts: dict[str, Any]) -> None:
    """KeyError, TypeError or ValueError if these are not the counts of `error_analysis`."""
    for table, (rows, names) in TABLES.items():
        if table == "pops" and table not in counts:  # not of every system
            continue
        for row in rows or counts[table]:
            for name in names:
                require_number(counts[table][row][name], f"{name} of {row} in {table}")
    for name in PROPAGATION:
        require_number(counts["propagation"][name], name)


def require_number(value: Any, name: str) -> None:
    """ValueError if it is no number that can be counted with."""
    if type(value) not in (int, float) or not 0 <= value < MOST:
        raise ValueError(f"{name} is {str(value)[:20]!r}, expected a number")


def _word_counts(words: AlignedWords, keep: NDArray[np.bool_]) -> Count:
    right = words.head_right & keep
    return {
        "words": int(keep.sum()),
        "heads": int(right.sum()),
        "labelled": int((right & words.label_right).sum()),
    }


def _by_sentence_length(words: AlignedWords) -> dict[str, Count]:
    length = np.bincount(words.sentence)[words.sentence]  # [W]
    group = np.searchsorted(list(SENTENCE_LENGTHS.values()), length, side="right") - 1
    return {name: _word_counts(words, group == k) for k, name in enumerate(SENTENCE_LENGTHS)}


def _arc_counts(
    words: AlignedWords, gold: NDArray[np.bool_], predicted: NDArray[np.bool_]
) -> Count:
    """Arcs of a class in the gold trees and in the predicted ones; right: the head is.

    A right head makes the same arc, so it is of the same length; but whether the arc is projective
    depends on the rest of the tree, so its right ones are counted on both sides.
    """
    right, labelled = words.head_right, words.head_right & words.label_right
    return {
        "gold": int(gold.sum()),
        "predicted": int(predicted.sum()),
        "gold_right": int((gold & right).sum()),
        "predicted_right": int((predicted & right).sum()),
        "gold_labelled": int((gold & labelled).sum()),
        "predicted_labelled": int((predicted & labelled).sum()),
    }


def _by_arc_length(words: AlignedWords) -> dict[str, Count]:
    edges = list(LENGTHS.values())
    gold, predicted = (
        np.searchsorted(edges, np.where(head == 0, 0, abs(head - words.number)), side="right") - 1
        for head in (words.head, words.predicted_head)
    )
    return {name: _arc_counts(words, gold == k, predicted == k) for k, name in enumerate(LENGTHS)}


def _by_projectivity(words: AlignedWords) -> dict[str, Count]:
    gold, predicted = (
        nonprojective_arcs(words.sentence, words.number, head)
        for head in (words.head, words.predicted_head)
    )
    return {
        "projective": _arc_counts(words, ~gold, ~predicted),
        "nonprojective": _arc_counts(words, gold, predicted),
    }


def _first_mistakes(derivations: Derivations) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """[S] each: where in its derivation a sentence's first mistake is, or NONE; and how many moves
    the derivation has.
    """
    moves = np.bincount(derivations.sentence)
    first = np.full(len(moves), NONE, dtype=np.int64)
    mistakes = np.flatnonzero(derivations.paid > 0)[::-1]  # the first one is written last
    starts = np.cumsum(moves) - moves
    first[derivations.sentence[mistakes]] = mistakes - starts[derivations.sentence[mistakes]]
    return first, moves


def _by_first_mistake(words: AlignedWords, derivations: Derivations) -> dict[str, Count]:
    first, moves = _first_mistakes(derivations)
    quarter = np.where(first == NONE, NONE, 4 * first // moves)  # [S]
    names = {**dict(enumerate(QUARTERS)), NONE: NO_MISTAKE}
    return {
        name: {
            "sentences": int((quarter == k).sum()),
            **_word_counts(words, (quarter == k)[words.sentence]),
        }
        for k, name in names.items()
    }


def _propagation(derivations: Derivations) -> Count:
    """Before: states up to the first mistake, its own included. After: all later ones."""
    first, moves = _first_mistakes(derivations)
    starts = np.cumsum(moves) - moves
    position = np.arange(len(derivations.move)) - starts[derivations.sentence]
    limit = np.where(first == NONE, moves, first)
    is_after = position > limit[derivations.sentence]
    is_mistake = derivations.paid > 0
    return {
        "sentences": len(moves),
        "sentences_with_mistake": int((first != NONE).sum()),
        "states_before": int((~is_after).sum()),
        "states_after": int(is_after.sum()),
        "mistakes_before": int((is_mistake & ~is_after).sum()),
        "mistakes_after": int((is_mistake & is_after).sum()),
        "cost_before": int(derivations.paid[~is_after].sum()),
        "cost_after": int(derivations.paid[is_after].sum()),
    }


def _by_move(
    words: AlignedWords, derivations: Derivations, moves: Sequence[str]
) -> dict[str, Count]:
    """For every move: taken; at no cost (`free`); arcs it added, right ones, and those of them with
    the right label in the end; heads it replaced, from wrong to right (`mended`) and from right to
    wrong (`broken`).
    """
    word = _place(words, derivations, derivations.dependent)
    gold = words.head[word]
    has_arc = derivations.dependent != NONE
    replaces = has_arc & (derivations.replaced != NONE)
    is_right, was_right = gold == derivations.head, gold == derivations.replaced
    columns = {
        "taken": np.ones_like(has_arc),
        "free": derivations.paid == 0,
        "arcs": has_arc,
        "right_arcs": has_arc & is_right,
        "labelled_arcs": has_arc & is_right & words.label_right[word],
        "replaced": replaces,
        "mended": replaces & is_right & ~was_right,
        "broken": replaces & was_right & ~is_right,
    }
    return {
        name: {
            column: int((flags & (derivations.move == m)).sum())
            for column, flags in columns.items()
        }
        for m, name in enumerate(moves)
    }


def _pops(words: AlignedWords, derivations: Derivations, moves: Sequence[str]) -> dict[str, Count]:
    """Repairs among the moves that pop a word: Honnibal, Goldberg & Johnson (2013), Table 2.

    LEFT repairs where the word has a head, REDUCE where it has none; the other of the two is the
    monotonic alternative. A repair is right if the head it gives is gold; one is missed if its head
    is gold and the alternative was taken; it is rightly left out if the alternative's head is gold.
    Punctuation is left out, as in the paper.
    """
    d = derivations
    word = _place(words, d, d.top)
    gold = words.head[word]
    counted = (d.top > 0) & ~words.punctuation[word]
    takes = {name: counted & (d.move == moves.index(name)) for name in ("LEFT", "REDUCE")}
    has_head = d.top_head != NONE
    rows = {
        "LEFT": (takes["LEFT"] & has_head, takes["REDUCE"] & has_head, d.front, d.top_head),
        "REDUCE": (takes["REDUCE"] & ~has_head, takes["LEFT"] & ~has_head, d.below, d.front),
    }
    return {
        name: {
            "right": int((repairs & (gold == by_repair)).sum()),
            "wrong": int((repairs & (gold != by_repair)).sum()),
            "missed": int((alternative & (gold == by_repair)).sum()),
            "rightly_none": int((alternative & (gold == by_other)).sum()),
            "neither": int((alternative & (gold != by_repair) & (gold != by_other)).sum()),
        }
        for name, (repairs, alternative, by_repair, by_other) in rows.items()
    }


def _place(
    words: AlignedWords, derivations: Derivations, token: NDArray[np.int32]
) -> NDArray[np.int64]:
    """[T]: where a token of each state stands among all words; 0 if it is no word."""
    length = np.bincount(words.sentence)
    starts = np.cumsum(length) - length
    return np.where(token > 0, starts[derivations.sentence] + token - 1, 0)
