"""Where a greedy parser errs, and what its errors lead to: counts over gold trees and derivations.

Everything is a count, so that the analyses of several runs can be added up; `ErrorAnalysis` lists
the tables. A mistake is a move with a cost.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dyparse.data.sentence import NONE
from dyparse.evaluation.attachment_scores import AlignedWords
from dyparse.evaluation.score_report import LENGTHS, length_classes, nonprojective_arcs

SENTENCE_LENGTHS = {"1-10": 1, "11-20": 11, "21-30": 21, "31-40": 31, "41+": 41}  # name: least
QUARTERS = ("1st quarter", "2nd quarter", "3rd quarter", "4th quarter")
NO_MISTAKE = "none"
MAX_COUNT = 2**53  # floats are exact up to here


@dataclass(frozen=True)
class WordCounts:
    """Words of some sentences."""

    words: int
    heads: int  # with the right head
    labelled: int  # with the right head and label


@dataclass(frozen=True)
class SentenceCounts:
    """Some sentences and their words."""

    sentences: int
    words: int
    heads: int  # with the right head
    labelled: int  # with the right head and label


@dataclass(frozen=True)
class ArcCounts:
    """One class of arcs in the gold trees and in the predicted ones; right: the head is.

    A right head makes the same arc, so it has the same length; but whether an arc is projective
    depends on the rest of the tree, so right arcs are counted on both sides.
    """

    gold: int
    predicted: int
    gold_right: int
    predicted_right: int
    gold_labelled: int  # right, and so is the label
    predicted_labelled: int


@dataclass(frozen=True)
class Propagation:
    """States up to the first mistake of their sentence, its own included, and those after it."""

    sentences: int
    sentences_with_mistake: int
    states_before: int
    states_after: int
    mistakes_before: int
    mistakes_after: int
    cost_before: int
    cost_after: int


@dataclass(frozen=True)
class MoveCounts:
    """One move over all derivations."""

    taken: int
    free: int  # at no cost
    arcs: int  # it added
    right_arcs: int
    labelled_arcs: int  # right, and with the right label in the end
    replaced: int  # arcs that gave a word another head than it had
    mended: int  # of these: wrong before, right now
    broken: int  # right before, wrong now


@dataclass(frozen=True)
class RepairCounts:
    """Repairs among the moves that pop a word: Honnibal, Goldberg & Johnson (2013), Table 2."""

    right: int  # made, and its head is gold
    wrong: int  # made, and its head is not
    missed: int  # its head is gold, but the alternative was taken
    rightly_none: int  # the alternative was taken, and its head is gold
    neither: int  # the alternative was taken, and neither head is gold


@dataclass(frozen=True)
class ErrorAnalysis:
    """All counts of a split."""

    by_sentence_length: dict[str, WordCounts]  # number of words of the sentence
    by_arc_length: dict[str, ArcCounts]  # words from head to dependent
    by_projectivity: dict[str, ArcCounts]  # projective or not
    by_first_mistake: dict[str, SentenceCounts]  # quarter of the derivation it was made in
    propagation: Propagation
    moves: dict[str, MoveCounts]  # the system's moves by name
    pops: dict[str, RepairCounts] | None  # None: the system lacks LEFT or REDUCE

    def to_dict(self) -> dict[str, Any]:
        """The same as dictionaries and numbers, for JSON."""
        content = asdict(self)
        if self.pops is None:
            del content["pops"]
        return content


TABLES: dict[str, tuple[Sequence[str], type]] = {  # rows, () for whatever is there; their columns
    "by_sentence_length": (tuple(SENTENCE_LENGTHS), WordCounts),
    "by_arc_length": (tuple(LENGTHS), ArcCounts),
    "by_projectivity": (("projective", "nonprojective"), ArcCounts),
    "by_first_mistake": ((*QUARTERS, NO_MISTAKE), SentenceCounts),
    "moves": ((), MoveCounts),
    "pops": (("LEFT", "REDUCE"), RepairCounts),
}


@dataclass(frozen=True)
class Derivations:
    """The moves of all sentences of a split, in order; T moves in all."""

    sentence: NDArray[np.int64]  # [T]  position of the sentence in the split
    move: NDArray[np.int32]  # [T]
    paid: NDArray[np.int32]  # [T]  cost of the move
    head: NDArray[np.int32]  # [T]  of the arc it added, or NONE
    dependent: NDArray[np.int32]  # [T]
    replaced: NDArray[np.int32]  # [T]  the dependent's head before, or NONE
    top: NDArray[np.int32]  # [T]  token on top of the stack before the move, or NONE
    below: NDArray[np.int32]  # [T]  the one below it
    front: NDArray[np.int32]  # [T]  of the buffer
    top_head: NDArray[np.int32]  # [T]  the top's head before the move

    def in_order(self) -> "Derivations":
        """The same moves, sentence by sentence."""
        order = np.argsort(self.sentence, kind="stable")
        return Derivations(*(getattr(self, field.name)[order] for field in fields(self)))


def error_analysis(
    words: AlignedWords, derivations: Derivations, moves: Sequence[str]
) -> ErrorAnalysis:
    """Count the errors of a split; `moves` are the names of the system's moves."""
    has_repairs = {"LEFT", "REDUCE"} <= set(moves)
    return ErrorAnalysis(
        by_sentence_length=_by_sentence_length(words),
        by_arc_length=_by_arc_length(words),
        by_projectivity=_by_projectivity(words),
        by_first_mistake=_by_first_mistake(words, derivations),
        propagation=_propagation(derivations),
        moves=_by_move(words, derivations, moves),
        pops=_pops(words, derivations, moves) if has_repairs else None,
    )


def require_analysis(counts: dict[str, Any]) -> None:
    """KeyError, TypeError or ValueError if this is not `ErrorAnalysis.to_dict()`."""
    for table, (rows, columns) in TABLES.items():
        if table == "pops" and table not in counts:
            continue
        for row in rows or counts[table]:
            _require_counts(counts[table][row], columns, f" of {row} in {table}")
    _require_counts(counts["propagation"], Propagation, "")


def _require_counts(counts: dict[str, Any], columns: type, place: str) -> None:
    for field in fields(columns):
        require_number(counts[field.name], f"{field.name}{place}")


def require_number(value: Any, name: str) -> None:
    """ValueError unless it is a number that can be counted with."""
    if type(value) not in (int, float) or not 0 <= value < MAX_COUNT:
        raise ValueError(f"{name} is {str(value)[:20]!r}, expected a number")


def _word_counts(words: AlignedWords, keep: NDArray[np.bool_]) -> WordCounts:
    right = words.head_right & keep
    return WordCounts(
        words=int(keep.sum()),
        heads=int(right.sum()),
        labelled=int((right & words.label_right).sum()),
    )


def _by_sentence_length(words: AlignedWords) -> dict[str, WordCounts]:
    length = np.bincount(words.sentence)[words.sentence]  # [W]
    group = np.searchsorted(list(SENTENCE_LENGTHS.values()), length, side="right") - 1
    return {name: _word_counts(words, group == k) for k, name in enumerate(SENTENCE_LENGTHS)}


def _arc_counts(
    words: AlignedWords, gold: NDArray[np.bool_], predicted: NDArray[np.bool_]
) -> ArcCounts:
    """Counts of the arcs that are of some class in the gold trees, or in the predicted ones."""
    right, labelled = words.head_right, words.head_right & words.label_right
    return ArcCounts(
        gold=int(gold.sum()),
        predicted=int(predicted.sum()),
        gold_right=int((gold & right).sum()),
        predicted_right=int((predicted & right).sum()),
        gold_labelled=int((gold & labelled).sum()),
        predicted_labelled=int((predicted & labelled).sum()),
    )


def _by_arc_length(words: AlignedWords) -> dict[str, ArcCounts]:
    gold, predicted = length_classes(words)
    return {name: _arc_counts(words, gold == k, predicted == k) for k, name in enumerate(LENGTHS)}


def _by_projectivity(words: AlignedWords) -> dict[str, ArcCounts]:
    gold, predicted = (
        nonprojective_arcs(words.sentence, words.number, head)
        for head in (words.head, words.predicted_head)
    )
    return {
        "projective": _arc_counts(words, ~gold, ~predicted),
        "nonprojective": _arc_counts(words, gold, predicted),
    }


def _first_mistakes(derivations: Derivations) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """[S] each: position of the first mistake in the sentence's derivation, or NONE; the number of
    moves of the derivation.
    """
    moves = np.bincount(derivations.sentence)
    first = np.full(len(moves), NONE, dtype=np.int64)
    mistakes = np.flatnonzero(derivations.paid > 0)[::-1]  # the first one is written last
    starts = np.cumsum(moves) - moves
    first[derivations.sentence[mistakes]] = mistakes - starts[derivations.sentence[mistakes]]
    return first, moves


def _by_first_mistake(words: AlignedWords, derivations: Derivations) -> dict[str, SentenceCounts]:
    first, moves = _first_mistakes(derivations)
    quarter = np.where(first == NONE, NONE, 4 * first // moves)  # [S]
    names = {**dict(enumerate(QUARTERS)), NONE: NO_MISTAKE}
    return {
        name: SentenceCounts(
            sentences=int((quarter == k).sum()),
            **asdict(_word_counts(words, (quarter == k)[words.sentence])),
        )
        for k, name in names.items()
    }


def _propagation(derivations: Derivations) -> Propagation:
    first, moves = _first_mistakes(derivations)
    starts = np.cumsum(moves) - moves
    position = np.arange(len(derivations.move)) - starts[derivations.sentence]
    limit = np.where(first == NONE, moves, first)
    is_after = position > limit[derivations.sentence]
    is_mistake = derivations.paid > 0
    return Propagation(
        sentences=len(moves),
        sentences_with_mistake=int((first != NONE).sum()),
        states_before=int((~is_after).sum()),
        states_after=int(is_after.sum()),
        mistakes_before=int((is_mistake & ~is_after).sum()),
        mistakes_after=int((is_mistake & is_after).sum()),
        cost_before=int(derivations.paid[~is_after].sum()),
        cost_after=int(derivations.paid[is_after].sum()),
    )


def _by_move(
    words: AlignedWords, derivations: Derivations, moves: Sequence[str]
) -> dict[str, MoveCounts]:
    word = _position(words, derivations, derivations.dependent)
    gold = words.head[word]
    has_arc = derivations.dependent != NONE
    replaces = has_arc & (derivations.replaced != NONE)
    is_right, was_right = gold == derivations.head, gold == derivations.replaced

    def counts(taken: NDArray[np.bool_]) -> MoveCounts:
        return MoveCounts(
            taken=int(taken.sum()),
            free=int((taken & (derivations.paid == 0)).sum()),
            arcs=int((taken & has_arc).sum()),
            right_arcs=int((taken & has_arc & is_right).sum()),
            labelled_arcs=int((taken & has_arc & is_right & words.label_right[word]).sum()),
            replaced=int((taken & replaces).sum()),
            mended=int((taken & replaces & is_right & ~was_right).sum()),
            broken=int((taken & replaces & was_right & ~is_right).sum()),
        )

    return {name: counts(derivations.move == m) for m, name in enumerate(moves)}


def _pops(
    words: AlignedWords, derivations: Derivations, moves: Sequence[str]
) -> dict[str, RepairCounts]:
    """LEFT repairs where the word has a head, REDUCE where it has none; the other of the two is the
    monotonic alternative. Punctuation is left out, as in the paper.
    """
    d = derivations
    word = _position(words, d, d.top)
    gold = words.head[word]
    counted = (d.top > 0) & ~words.punctuation[word]
    takes = {name: counted & (d.move == moves.index(name)) for name in ("LEFT", "REDUCE")}
    has_head = d.top_head != NONE
    rows = {
        "LEFT": (takes["LEFT"] & has_head, takes["REDUCE"] & has_head, d.front, d.top_head),
        "REDUCE": (takes["REDUCE"] & ~has_head, takes["LEFT"] & ~has_head, d.below, d.front),
    }
    return {
        name: RepairCounts(
            right=int((repairs & (gold == by_repair)).sum()),
            wrong=int((repairs & (gold != by_repair)).sum()),
            missed=int((alternative & (gold == by_repair)).sum()),
            rightly_none=int((alternative & (gold == by_other)).sum()),
            neither=int((alternative & (gold != by_repair) & (gold != by_other)).sum()),
        )
        for name, (repairs, alternative, by_repair, by_other) in rows.items()
    }


def _position(
    words: AlignedWords, derivations: Derivations, token: NDArray[np.int32]
) -> NDArray[np.int64]:
    """[T]: position of each state's token among all words; 0 if it is not a word."""
    length = np.bincount(words.sentence)
    starts = np.cumsum(length) - length
    return np.where(token > 0, starts[derivations.sentence] + token - 1, 0)
