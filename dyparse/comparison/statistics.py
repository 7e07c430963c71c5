"""Statistics of finished runs: static against dynamic training.

Runs that differ only in their seed are a group. Groups of the same system, loss and treebank differ
in their exploration; each is compared with the group of the `baseline` exploration by LAS on the
test set. Per treebank and over treebanks there are a difference, its interval and two p-values (see
`significance`), corrected after Holm (1979) for all comparisons of their kind. Counts of
`error_analysis` are summed over runs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dyparse.comparison.error_rates import Analysis, all_analyses
from dyparse.comparison.groups import (
    ALL,
    BASELINE,
    Key,
    RunPair,
    grouped,
    paired,
    remarks,
    treebanks_on_dev,
)
from dyparse.comparison.power import detectable, error_of_seeds
from dyparse.comparison.significance import (
    RESAMPLES,
    SIGNIFICANT,
    Counts,
    Difference,
    Pair,
    Tally,
    holm,
    in_common,
    pooled_difference,
    tally,
)
from dyparse.evaluation.run_result import RunResult

USUAL_LOSS = "set_nll"
METRICS = ("uas", "las", "clas")


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation over runs that differ in their seed."""

    mean: float
    sd: float | None  # with n − 1; None for a single run


@dataclass(frozen=True)
class Effect:
    """Differences from the baseline, over the seeds that both have."""

    las: Difference
    uas: float
    clas: float
    p_sentences: float | None = None  # corrected
    p_seeds: float | None = None  # corrected
    error: tuple[float, float] | None = None  # of `error_of_seeds`
    detectable: float | None = None  # difference with p_seeds below 0.05 in 80 % of such studies

    @property
    def verdict(self) -> str:
        """`better` or `worse` if LAS differs significantly over pairs of runs, or empty."""
        return self.las.verdict(self.p_seeds)

    @property
    def is_beyond_chance(self) -> bool:
        """Whether the corrected p over pairs of runs is below SIGNIFICANT."""
        return self.p_seeds is not None and self.p_seeds < SIGNIFICANT


@dataclass(frozen=True)
class Line:
    """A group of runs on one treebank."""

    key: Key
    seeds: tuple[int, ...]
    test: dict[str, Spread]  # by metric
    dev_las: Spread
    effect: Effect | None  # None for the baseline, and without one


@dataclass(frozen=True)
class Pooled:
    """A training of a system over treebanks, all of which count the same."""

    key: Key  # its treebank is ALL
    treebanks: tuple[str, ...]
    test: dict[str, float]  # mean over treebanks, by metric
    dev_las: float
    effect: Effect | None  # over the treebanks that the baseline has too
    tally: Tally | None

    @property
    def compared(self) -> int:
        """Number of treebanks that the baseline has too."""
        return self.tally.wins + self.tally.ties + self.tally.losses if self.tally else 0


@dataclass(frozen=True)
class Curve:
    """LAS on dev after each epoch that all runs of a group have reached."""

    key: Key
    epochs: list[int]
    mean: list[float]
    sd: list[float] | None  # None for a single run


@dataclass(frozen=True)
class Comparison:
    """The statistics of all runs, from which a report is made."""

    baseline: str
    setting_name: str
    setting: dict[str, Any]
    on_dev: list[str]  # treebanks without test: their scores are on dev
    resamples: int
    lines: list[Line]
    pooled: list[Pooled]
    curves: list[Curve]
    analyses: list[Analysis]
    notes: list[str]  # what could not be compared, and why

    def values(self, axis: str) -> list[str]:
        """The systems, explorations, losses or treebanks, in the order of the report."""
        return list(dict.fromkeys(getattr(line.key, axis) for line in self.lines))

    @property
    def split(self) -> str:
        """The data that scores are of, for titles; the notes say which treebanks have no test."""
        if not self.on_dev:
            return "test"
        return "dev" if set(self.values("treebank")) == set(self.on_dev) else "test or dev"

    @property
    def main_loss(self) -> str:
        """The loss of most runs; figures show trainings with it."""
        runs: Counter[str] = Counter()
        for line in self.lines:
            runs[line.key.loss] += len(line.seeds)
        return min(runs, key=lambda loss: (-runs[loss], loss != USUAL_LOSS, loss))

    def training(self, key: Key) -> str:
        """The name of a training: its exploration, and its loss if there are several."""
        several = len(self.values("loss")) > 1
        return f"{key.exploration}, {key.loss}" if several else key.exploration

    def analyses_of(self, treebank: str) -> list[Analysis]:
        """The analyses of a treebank, or of ALL."""
        return [analysis for analysis in self.analyses if analysis.key.treebank == treebank]


def comparison_of(
    results: Sequence[RunResult], *, baseline: str = BASELINE, resamples: int = RESAMPLES
) -> Comparison:
    """The comparison of some runs; DyparseError if they cannot be compared."""
    groups = grouped(results, baseline)
    notes = remarks(results)
    pairs = paired(groups, baseline, notes)
    lines = [_line(key, runs, pairs.get(key), resamples) for key, runs in groups.items()]
    lines = [replace(line, effect=e) for line, e in zip(lines, _corrected(lines), strict=True)]
    pooled = [_pooled(part, pairs, resamples) for part in _by_training(lines)]
    pooled = [replace(row, effect=e) for row, e in zip(pooled, _corrected(pooled), strict=True)]
    return Comparison(
        baseline=baseline,
        setting_name=results[0].setting_name,
        setting=results[0].setting,
        on_dev=treebanks_on_dev(results),
        resamples=resamples,
        lines=lines,
        pooled=pooled,
        curves=[_curve(key, runs) for key, runs in groups.items()],
        analyses=all_analyses(groups, notes),
        notes=list(dict.fromkeys(notes)),
    )


def _las_counts(runs: Sequence[RunResult]) -> Counts:
    return Counts(
        [run.sentences["labelled"] for run in runs],
        [run.sentences["words"] for run in runs],
        tuple(run.cell.seed for run in runs),
    )


def _effect(pairs: Mapping[str, RunPair], resamples: int) -> Effect:
    """The difference over treebanks, not yet corrected."""
    counts: dict[str, Pair] = {
        treebank: (_las_counts(base), _las_counts(new)) for treebank, (base, new) in pairs.items()
    }
    uas, clas = (
        float(np.mean([_mean(new, metric) - _mean(base, metric) for base, new in pairs.values()]))
        for metric in ("uas", "clas")
    )
    by_seed = [new.scores - base.scores for base, new in in_common(counts)]
    difference = pooled_difference(counts, resamples=resamples)
    return Effect(difference, uas, clas, error=error_of_seeds(by_seed))


def _mean(runs: Sequence[RunResult], metric: str) -> float:
    return float(np.mean([run.test[metric] for run in runs]))


def spread_of(values: Sequence[float]) -> Spread:
    """Mean and standard deviation of some values."""
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return Spread(float(np.mean(values)), sd)


def _line(key: Key, runs: Sequence[RunResult], pair: RunPair | None, resamples: int) -> Line:
    return Line(
        key=key,
        seeds=tuple(run.cell.seed for run in runs),
        test={metric: spread_of([run.test[metric] for run in runs]) for metric in METRICS},
        dev_las=spread_of([run.dev["las"] for run in runs]),
        effect=_effect({key.treebank: pair}, resamples) if pair else None,
    )


def _by_training(lines: Sequence[Line]) -> list[list[Line]]:
    """Lines that differ only in the treebank, for each system and training."""
    parts: dict[Key, list[Line]] = defaultdict(list)
    for line in lines:
        parts[line.key._replace(treebank=ALL)].append(line)
    return list(parts.values())


def _pooled(lines: Sequence[Line], pairs: Mapping[Key, RunPair], resamples: int) -> Pooled:
    compared = [(line, line.effect) for line in lines if line.effect]
    effect = None
    if len(compared) == 1:
        effect = compared[0][1]
    elif compared:
        by_treebank = {line.key.treebank: pairs[line.key] for line, _ in compared}
        effect = _effect(by_treebank, resamples)
    return Pooled(
        key=lines[0].key._replace(treebank=ALL),
        treebanks=tuple(line.key.treebank for line in lines),
        test={
            metric: float(np.mean([line.test[metric].mean for line in lines])) for metric in METRICS
        },
        dev_las=float(np.mean([line.dev_las.mean for line in lines])),
        effect=effect,
        tally=tally([e.las.mean for _, e in compared], [e.p_sentences for _, e in compared])
        if compared
        else None,
    )


def _corrected(rows: Sequence[Line] | Sequence[Pooled]) -> list[Effect | None]:
    """The effects of all rows, with p-values corrected for their number."""
    effects = [row.effect for row in rows]
    sentences = holm([e.las.p_sentences if e else None for e in effects])
    seeds = holm([e.las.p_seeds if e else None for e in effects])
    n = sum(effect is not None for effect in effects)
    return [
        replace(e, p_sentences=of_sentences, p_seeds=of_seeds, detectable=_detectable(e, n))
        if e
        else None
        for e, of_sentences, of_seeds in zip(effects, sentences, seeds, strict=True)
    ]


def _detectable(effect: Effect, comparisons: int) -> float | None:
    if effect.error is None:
        return None
    return detectable(*effect.error, effect.las.seed_pairs, comparisons)


def _curve(key: Key, runs: Sequence[RunResult]) -> Curve:
    length = min(len(run.curve) for run in runs)
    las = np.array([[figures["dev_las"] for figures in run.curve[:length]] for run in runs])
    return Curve(
        key=key,
        epochs=[int(figures["epoch"]) for figures in runs[0].curve[:length]],
        mean=las.mean(0).tolist(),
        sd=las.std(0, ddof=1).tolist() if len(runs) > 1 else None,
    )
