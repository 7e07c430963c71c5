"""Where the runs of a group erred: counts of `error_analysis`, summed over runs, and rates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dyparse.comparison.groups import ALL, Groups, Key
from dyparse.evaluation.run_result import RunResult
from dyparse.evaluation.score_report import f1_of


@dataclass(frozen=True)
class Analysis:
    """Errors of a group of runs; for treebank ALL, of the runs that all explorations have."""

    key: Key
    runs: int
    counts: dict[str, Any]  # see `error_analysis`
    rates: dict[str, dict[str, dict[str, float | None]]]  # see `rates_of`


def all_analyses(groups: Groups, notes: list[str]) -> list[Analysis]:
    """Analyses over all treebanks, then one for each group."""
    return [
        *_pooled_analyses(groups, notes),
        *(_analysis(key, runs) for key, runs in groups.items()),
    ]


def _analysis(key: Key, runs: Sequence[RunResult]) -> Analysis:
    counts = summed(run.analysis for run in runs)
    return Analysis(key, len(runs), counts, rates_of(counts))


def summed(analyses: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The counts of several runs together."""
    counts: dict[str, Any] = {}
    for analysis in analyses:
        counts = _sum(counts, analysis)
    return counts


def _sum(one: Any, other: Any) -> Any:
    """Sum of two counts or of two equally nested mappings of counts."""
    if isinstance(other, Mapping):
        return {**one, **{name: _sum(one.get(name, {}), other[name]) for name in other}}
    return (one or 0) + other


def _pooled_analyses(groups: Groups, notes: list[str]) -> list[Analysis]:
    """Analyses over treebanks, of the runs that all explorations of a system and loss have, so that
    all are counted on the same words.
    """
    runs_of: dict[tuple[str, str], dict[Key, dict[tuple[str, int], RunResult]]] = defaultdict(dict)
    for key, runs in groups.items():
        of_training = runs_of[key.system, key.loss].setdefault(key._replace(treebank=ALL), {})
        of_training.update({(key.treebank, run.cell.seed): run for run in runs})
    analyses = []
    for (system, loss), trainings in runs_of.items():
        shared = set.intersection(*(set(runs) for runs in trainings.values()))
        if any(len(runs) > len(shared) for runs in trainings.values()):
            notes.append(
                f"{system}, {loss}: trainings differ in their treebanks and seeds; counts over "
                f"all treebanks are of the {len(shared)} runs that all have."
            )
        for training, by_place in trainings.items() if shared else ():
            analyses.append(_analysis(training, [by_place[place] for place in sorted(shared)]))
    return analyses


def rates_of(counts: Mapping[str, Any]) -> dict[str, dict[str, dict[str, float | None]]]:
    """The counts of an analysis as percentages; None where there is nothing to count.

    Precision, recall and F1 are labelled unless their name starts with `head_`. In propagation,
    `before` includes the first mistake of a sentence and `after` is what follows it. The recall of
    pops is the percentage of possible repairs that were made.
    """
    return {
        "by_sentence_length": {
            name: {"uas": _rate(c, "heads", "words"), "las": _rate(c, "labelled", "words")}
            for name, c in counts["by_sentence_length"].items()
        },
        "by_arc_length": {
            name: _arc_rates(c, "labelled") for name, c in counts["by_arc_length"].items()
        },
        "by_projectivity": {
            name: {
                **_arc_rates(c, "labelled"),
                **{f"head_{rate}": value for rate, value in _arc_rates(c, "right").items()},
            }
            for name, c in counts["by_projectivity"].items()
        },
        "by_first_mistake": {
            name: {
                "sentences": _rate(
                    {**c, "all": counts["propagation"]["sentences"]}, "sentences", "all"
                ),
                "las": _rate(c, "labelled", "words"),
            }
            for name, c in counts["by_first_mistake"].items()
        },
        "propagation": {"": _propagation_rates(counts["propagation"])},
        "moves": {
            name: {
                "free": _rate(c, "free", "taken"),
                "right_arcs": _rate(c, "right_arcs", "arcs"),
                "labelled_arcs": _rate(c, "labelled_arcs", "arcs"),
                "mended": _rate(c, "mended", "replaced"),
                "broken": _rate(c, "broken", "replaced"),
            }
            for name, c in counts["moves"].items()
        },
        "pops": {name: _repair_rates(c) for name, c in counts.get("pops", {}).items()},
    }


def _rate(counts: Mapping[str, int], part: str, whole: str, scale: float = 100) -> float | None:
    return scale * counts[part] / counts[whole] if counts[whole] else None


def _arc_rates(counts: Mapping[str, int], right: str) -> dict[str, float | None]:
    precision = _rate(counts, f"predicted_{right}", "predicted")
    recall = _rate(counts, f"gold_{right}", "gold")
    return {"precision": precision, "recall": recall, "f1": f1_of(precision, recall)}


def _repair_rates(counts: Mapping[str, int]) -> dict[str, float | None]:
    made, wanted = (counts["right"] + counts[other] for other in ("wrong", "missed"))
    both = {**counts, "made": made, "wanted": wanted}
    return {
        "precision": _rate(both, "right", "made"),
        "recall": _rate(both, "right", "wanted"),
    }


def _propagation_rates(counts: Mapping[str, int]) -> dict[str, float | None]:
    moves = counts["states_before"] + counts["states_after"]
    return {
        "sentences_with_mistake": _rate(counts, "sentences_with_mistake", "sentences"),
        "mistakes_before": _rate(counts, "mistakes_before", "states_before"),
        "mistakes_after": _rate(counts, "mistakes_after", "states_after"),
        "cost_after_per_sentence": _rate(counts, "cost_after", "sentences_with_mistake", 1),
        "cost_after_per_state": _rate(counts, "cost_after", "states_after", 1),
        "moves_per_sentence": _rate({**counts, "moves": moves}, "moves", "sentences", 1),
    }
