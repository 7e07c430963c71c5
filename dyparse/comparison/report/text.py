"""The text of a report, generated from the statistics.

A training is called better or worse than the baseline only if the difference is significant by the
rule of `Effect.verdict`, which `emphasis` puts into words. Otherwise the text says that no
difference was found, and whether there are too few runs to find one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from dyparse.comparison.groups import ALL
from dyparse.comparison.report.table import interval, signed
from dyparse.comparison.significance import SIGNIFICANT, pairs_needed
from dyparse.comparison.statistics import Comparison, Effect, Pooled


def verdict(comparison: Comparison) -> list[str]:
    """The main result: a sentence or two for every training other than the baseline."""
    rows: dict[str, list[tuple[Pooled, Effect]]] = defaultdict(list)
    for row in comparison.pooled:
        if row.effect:
            rows[comparison.training(row.key)].append((row, row.effect))
    if not rows:
        return [
            f"Nothing can be compared: no training has a counterpart of {comparison.baseline} with "
            "the same system, loss, treebank and seed."
        ]
    undecided = sum(not e.is_beyond_chance for part in rows.values() for _, e in part)
    return [
        " ".join(_sentences(comparison, training, of_training, undecided))
        for training, of_training in rows.items()
    ]


def _sentences(
    comparison: Comparison,
    training: str,
    rows: Sequence[tuple[Pooled, Effect]],
    undecided: int,
) -> Iterator[str]:
    subject = f"{training[:1].upper()}{training[1:]}"
    for kind, verb in (("better", "beats"), ("worse", "is worse than")):
        found = [row for row in rows if row[1].verdict == kind]
        if found:
            yield (
                f"{subject} {verb} {comparison.baseline} for {_systems(found, len(rows))}, by "
                f"{_amounts(found)} LAS on average over {_treebanks(found)} "
                f"({_p_values(found, greatest=True)})."
            )
    open_rows = [row for row in rows if not row[1].verdict]
    if open_rows:
        yield (
            f"For {_systems(open_rows, len(rows))} no significant difference between {training} "
            f"and {comparison.baseline} was found: {_amounts(open_rows)} LAS over "
            f"{_treebanks(open_rows)} ({_p_values(open_rows, greatest=False)}).{_wide(open_rows)}"
            f"{_doubts(open_rows, undecided)}"
        )


def _systems(rows: Sequence[tuple[Pooled, Effect]], number: int) -> str:
    names = [row.key.system for row, _ in rows]
    if len(names) == 1:
        return names[0]
    if len(names) == number:
        return f"all {number} systems" if number > 2 else " and ".join(names)
    return f"{len(names)} of {number} systems ({', '.join(names)})"


def _amounts(rows: Sequence[tuple[Pooled, Effect]]) -> str:
    if len(rows) == 1:
        return interval(rows[0][1].las)
    ordered = sorted(rows, key=lambda row: row[1].las.mean)
    ends = [f"{signed(effect.las.mean)} ({row.key.system})" for row, effect in ordered]
    return f"{ends[0]} to {ends[-1]}"


def _treebanks(rows: Sequence[tuple[Pooled, Effect]]) -> str:
    numbers = {row.compared for row, _ in rows}
    if len(numbers) > 1:
        return f"{min(numbers)} to {max(numbers)} treebanks"
    return "one treebank" if numbers == {1} else f"{numbers.pop()} treebanks"


def _p_values(rows: Sequence[tuple[Pooled, Effect]], *, greatest: bool) -> str:
    """The p-value of a single row, or a bound for all rows."""
    values = [effect.p_seeds for _, effect in rows if effect.p_seeds is not None]
    bound = max(values) if greatest else min(values)
    if bound < 0.001 and greatest:
        return "p < 0.001"
    sign = "=" if len(set(values)) == 1 else "≤" if greatest else "≥"
    return f"p {sign} {bound:.3f}"


def _wide(rows: Sequence[tuple[Pooled, Effect]]) -> str:
    """The systems whose p over pairs of runs is small, although the interval includes zero."""
    names = [row.key.system for row, effect in rows if effect.is_beyond_chance]
    if not names:
        return ""
    who = "the" if len(rows) == 1 else f"for {', '.join(names)} the"
    return f" Although p < {SIGNIFICANT}, {who} interval includes zero."


def _doubts(rows: Sequence[tuple[Pooled, Effect]], undecided: int) -> str:
    """Whether the test over sentences is significant, and whether there are too few runs."""
    needed = pairs_needed(undecided)
    lacking = [
        (row, effect)
        for row, effect in rows
        if not effect.is_beyond_chance and effect.las.seed_pairs < needed
    ]
    is_significant = all(
        effect.p_sentences and effect.p_sentences < SIGNIFICANT for _, effect in rows
    )
    sentences = f" These trained parsers do differ (p < {SIGNIFICANT} over sentences); "
    if not lacking:
        return f"{sentences}others, trained with other seeds, may not." if is_significant else ""
    pairs = max(effect.las.seed_pairs for _, effect in lacking)
    runs = "a single pair of runs is" if pairs == 1 else f"{pairs} pairs of runs are"
    names = ", ".join(row.key.system for row, _ in lacking)
    who = "" if len(lacking) == len(rows) else f" for {names}"
    takes = "one comparison takes" if undecided == 1 else f"{undecided} comparisons take"
    return (
        f"{sentences if is_significant else ' But '}{runs} too few{who} to decide whether training "
        f"again would show a difference: {takes} at least {needed}, over seeds and treebanks."
    )


def explanation(comparison: Comparison) -> list[str]:
    """Mistakes after the first one, compared with the baseline: a sentence for each exploration,
    for the main loss and the systems that have both trainings.
    """
    counts: dict[str, dict[str, dict[str, int]]] = defaultdict(dict)
    for analysis in comparison.analyses_of(ALL):
        if analysis.key.loss == comparison.main_loss:
            of_system = counts[analysis.key.exploration]
            of_system[analysis.key.system] = analysis.counts["propagation"]
    base = counts.pop(comparison.baseline, {})
    sentences = []
    for exploration, found in counts.items():
        shared = [system for system in found if system in base]
        (share, lost), (new_share, new_lost) = (
            _mistakes([part[system] for system in shared]) for part in (base, found)
        )
        if lost and new_lost:
            sentences.append(
                f"With {comparison.baseline} {share:.1f}\u00a0% of the sentences have a mistake, "
                f"with {exploration} {new_share:.1f}\u00a0%; after their first one they lose "
                f"another {lost:.2f} and {new_lost:.2f} gold arcs each "
                f"({signed(100 * (new_lost / lost - 1), 0)}\u00a0%)."
            )
    return sentences


def _mistakes(counts: Sequence[Mapping[str, int]]) -> tuple[float, float]:
    """Percentage of sentences with a mistake, and arcs that each of them loses after its first one;
    zeros if there is none.
    """
    names = ("sentences", "sentences_with_mistake", "cost_after")
    sentences, mistaken, cost = (sum(count[name] for count in counts) for name in names)
    return (100 * mistaken / sentences, cost / mistaken) if mistaken else (0.0, 0.0)


def extent(comparison: Comparison) -> str:
    """The size of the comparison: treebanks, systems, explorations, losses, seeds and runs."""
    parts = []
    for axis in ("treebank", "system", "exploration", "loss"):
        number = len(comparison.values(axis))
        plural = "losses" if axis == "loss" else f"{axis}s"
        parts.append(f"{number} {axis if number == 1 else plural}")
    numbers = sorted({len(line.seeds) for line in comparison.lines})
    seeds = f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else str(numbers[0])
    runs = sum(len(line.seeds) for line in comparison.lines)
    parts.append("1 seed" if seeds == "1" else f"{seeds} seeds")
    return f"{' · '.join(parts)} · {runs} runs"


def emphasis(comparison: Comparison) -> list[str]:
    """The rule of `Effect.verdict` in words, if anything is compared."""
    if not any(line.effect for line in comparison.lines):
        return []
    return [
        f"A difference is called significant if its corrected p over pairs of runs is below "
        f"{SIGNIFICANT} and its 95 % interval excludes zero. Only these are bold in tables and "
        "filled in figures."
    ]


def caution(comparison: Comparison) -> list[str]:
    """A warning about intervals that are too narrow, if there are any."""
    effects = [line.effect for line in comparison.lines if line.effect]
    if not any(effect.las.seed_pairs == 1 for effect in effects):
        return []
    return [
        "Some comparisons have a single seed on a treebank: their intervals ignore the variation "
        "between seeds and are too narrow."
    ]


def method(comparison: Comparison) -> list[str]:
    """How the numbers were computed, and what could not be compared."""
    return [
        "LAS counts words whose head and full label are right, on the test set, punctuation "
        "included; UAS counts heads alone; CLAS is the CoNLL 2018 score. Means and standard "
        "deviations (n − 1) are over seeds.",
        f"Each training is compared with {comparison.baseline} on the same system, loss, treebank "
        "and seeds. Intervals (95 %) are from a paired bootstrap over sentences and seeds, "
        f"p-values from paired permutation tests, {comparison.resamples:,} resamples each; exact "
        "where there are few units. “p, seeds” exchanges runs of the same seed and asks whether "
        "training again would show the difference; “p, sentences” exchanges sentences and is about "
        "these trained parsers. Each kind is corrected after Holm (1979) for all comparisons of "
        "its table. Over treebanks each treebank counts the same.",
        "Counts of errors are added up over seeds and treebanks.",
        *comparison.notes,
    ]
