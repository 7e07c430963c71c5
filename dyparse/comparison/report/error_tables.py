"""Tables of errors: after the first mistake, by length, by projectivity, by move, and repairs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from dyparse.comparison.error_rates import Analysis
from dyparse.comparison.groups import ALL
from dyparse.comparison.report.table import Table, percent
from dyparse.comparison.statistics import Comparison

CLASS_TABLES = {  # name: title, counts, the rate shown, note
    "first_mistake": (
        "LAS by the quarter of the derivation with the first mistake",
        "by_first_mistake",
        "las",
        "None: sentences without a mistake, whose errors are those of labels, or of gold arcs that "
        "the system cannot reach.",
    ),
    "sentence_length": (
        "LAS by the length of the sentence, in words",
        "by_sentence_length",
        "las",
        "",
    ),
    "arc_length": (
        "Labelled F1 by the length of the arc, in words",
        "by_arc_length",
        "f1",
        "Length of an arc: distance of head and dependent; root: arcs from the root.",
    ),
}


def error_tables(comparison: Comparison) -> list[Table]:
    """All tables of errors, including empty ones."""
    makers: tuple[Callable[[Comparison], Table], ...] = (
        _propagation_table,
        _projectivity_table,
        _moves_table,
        _repairs_table,
    )
    return [*(make(comparison) for make in makers), *_class_tables(comparison)]


def _analysis_rows(comparison: Comparison, cells: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """One row per training, over all treebanks."""
    both = zip(comparison.analyses_of(ALL), cells, strict=True)
    return [(a.key.system, comparison.training(a.key), *row) for a, row in both]


def _class_tables(comparison: Comparison) -> list[Table]:
    """Tables with one column per class of words or arcs that occurs."""
    analyses = comparison.analyses_of(ALL)
    found = []
    for name, (title, counts, rate, note) in CLASS_TABLES.items():
        classes = [
            c
            for c in (analyses[0].rates[counts] if analyses else ())
            if any(a.rates[counts][c][rate] is not None for a in analyses)
        ]
        rows = [[percent(a.rates[counts][c][rate]) for c in classes] for a in analyses]
        named = _analysis_rows(comparison, rows)
        found.append(Table(name, title, ("system", "training", *classes), named, note))
    return found


def _propagation_table(comparison: Comparison) -> Table:
    def cells(analysis: Analysis) -> list[str]:
        rates = analysis.rates["propagation"][""]
        digits = {
            "sentences_with_mistake": 1,
            "cost_after_per_state": 4,
            "moves_per_sentence": 1,
        }
        return [percent(value, digits.get(name, 2)) for name, value in rates.items()]

    return Table(
        "propagation_rates",
        "Mistakes up to the first one of a sentence, and after it",
        (
            "system",
            "training",
            "sentences with a mistake, %",
            "mistakes up to the first, %",
            "mistakes after it, %",
            "cost after it per sentence",
            "cost after it per state",
            "moves per sentence",
        ),
        _analysis_rows(comparison, [cells(a) for a in comparison.analyses_of(ALL)]),
        "Mistakes: moves with a cost, in percent of all moves there. Cost: gold arcs made "
        "unreachable; per sentence: with a mistake. Where trainings differ in moves per sentence, "
        "shares of moves cannot be compared, but the cost per sentence can.",
    )


def _projectivity_table(comparison: Comparison) -> Table:
    def cells(analysis: Analysis) -> list[str]:
        rates, counts = analysis.rates["by_projectivity"], analysis.counts["by_projectivity"]
        both = ("precision", "recall", "head_precision", "head_recall")
        all_three = (*both[:2], "f1", *both[2:], "head_f1")
        return [
            *(percent(rates["projective"][name]) for name in both),
            f"{counts['nonprojective']['gold']:,}",
            f"{counts['nonprojective']['predicted']:,}",
            *(percent(rates["nonprojective"][name]) for name in all_three),
        ]

    return Table(
        "projectivity",
        "Projective and non-projective arcs: labelled, and heads alone",
        (
            "system",
            "training",
            "projective: precision",
            "recall",
            "heads alone: precision",
            "recall",
            "non-projective: gold",
            "predicted",
            "precision",
            "recall",
            "F1",
            "heads alone: precision",
            "recall",
            "F1",
        ),
        _analysis_rows(comparison, [cells(a) for a in comparison.analyses_of(ALL)]),
        "Labelled: head and full label are right; heads alone: the head is. Punctuation "
        "included. An arc is non-projective if it spans a word that does not descend from its "
        "head; for precision in the predicted tree, for recall in the gold one. A projective "
        "parser finds some of these heads too, in a tree where nothing crosses; it predicts no "
        "non-projective arc, so its F1 is 0.",
    )


def _moves_table(comparison: Comparison) -> Table:
    """One row per system and move, a few columns per training."""
    trainings = list(dict.fromkeys(comparison.training(row.key) for row in comparison.pooled))
    found: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(dict)
    for analysis in comparison.analyses_of(ALL):
        for move, rates in analysis.rates["moves"].items():
            taken = analysis.counts["moves"][move]["taken"]
            shares = [percent(rates[name]) for name in ("free", "labelled_arcs", "right_arcs")]
            if taken:
                cells = [f"{taken:,}", *shares]
                found[analysis.key.system, move][comparison.training(analysis.key)] = cells
    columns = ("taken", "no cost", "arcs", "heads")
    rows = [
        (*row, *(cell for name in trainings for cell in cells.get(name, [""] * len(columns))))
        for row, cells in found.items()
    ]
    return Table(
        "moves",
        "Moves: taken, at no cost, and how many of their arcs are right",
        (
            "system",
            "move",
            *(
                f"{training}: {column}" if column == columns[0] else column
                for training in trainings
                for column in columns
            ),
        ),
        rows,
        "No cost: in percent of those taken. Arcs: labelled precision, in percent of the arcs that "
        "the move added, also those replaced later; heads: the same for heads alone. Labels are "
        "given to the finished tree, not by the move. Punctuation and arcs from the root included.",
    )


def _repairs_table(comparison: Comparison) -> Table:
    """One row per system, training and repairing move."""
    names = ("right", "wrong", "missed", "rightly_none")
    rows = []
    for analysis, move in _repairing(comparison.analyses_of(ALL)):
        counts, rates = analysis.counts["pops"][move], analysis.rates["pops"][move]
        right, wrong, missed, rightly_none = (counts[name] for name in names)
        rows.append(
            (
                analysis.key.system,
                comparison.training(analysis.key),
                move,
                f"{right + wrong:,}",
                f"{right:,}",
                percent(rates["precision"]),
                f"{missed:,}",
                percent(rates["recall"]),
                f"{rightly_none:,}",
            )
        )
    return Table(
        "repairs",
        "Repairs",
        (
            "system",
            "training",
            "repair by",
            "made",
            "right",
            "precision",
            "missed",
            "recall",
            "rightly left out",
        ),
        rows,
        "Counted as in Table 2 of Honnibal et al. (2013), as we read it: moves that take a word "
        "off the stack; heads alone, punctuation left out. LEFT repairs where the word has a head "
        "already, REDUCE where it has none. Right: it gives the gold head; missed: it would have, "
        "but the other of the two moves was taken, whether or not the repair was legal there; "
        "rightly left out: the other move gives or keeps the gold head. Where the repair was not "
        "made and neither head is gold, nothing is counted. Systems have a row only for moves by "
        "which some training of theirs repairs: monotonic ones have none.",
        text_columns=3,
    )


def _repairing(analyses: Sequence[Analysis]) -> list[tuple[Analysis, str]]:
    """Every analysis with each move by which any training of its system repairs."""
    pops = [(a, move) for a in analyses for move in a.counts.get("pops", {})]
    repairs = {
        (a.key.system, move)
        for a, move in pops
        if a.counts["pops"][move]["right"] + a.counts["pops"][move]["wrong"]
    }
    return [(a, move) for a, move in pops if (a.key.system, move) in repairs]
