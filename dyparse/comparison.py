"""What finished runs say together: static training against dynamic ones.

Runs that differ in their seed only are a group. Groups of the same system, loss and treebank differ
in how training explored; each is compared with the `baseline` among them, by LAS on the test set.
Per treebank and over treebanks there are a difference, its interval and two p-values (see
`significance`), corrected after Holm (1979) for all comparisons of their kind. Counts of
`error_analysis` are added up over runs.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dyparse.errors import DyparseError
from dyparse.significance import (
    RESAMPLES,
    Counts,
    Difference,
    Pair,
    Tally,
    holm,
    pooled_difference,
    tally,
)

if TYPE_CHECKING:
    from dyparse.run_result import RunResult

BASELINE, USUAL_LOSS = "static", "set_nll"
ALL = "all treebanks"
METRICS = ("uas", "las", "clas")
SIGNIFICANT = 0.05
DIGITS = 6  # of numbers in files


class Key(NamedTuple):
    """What the runs of a group have in common."""

    system: str
    exploration: str
    loss: str
    treebank: str


@dataclass(frozen=True)
class Spread:
    """A figure over runs that differ in their seed."""

    mean: float
    sd: float | None  # with n − 1; None of a single run


@dataclass(frozen=True)
class Effect:
    """How much better than the baseline, over the seeds that both have."""

    las: Difference
    uas: float
    clas: float
    p_sentences: float | None = None  # corrected
    p_seeds: float | None = None  # corrected

    @property
    def verdict(self) -> str:
        """`better` or `worse` where the corrected test over runs of training says so, else ``."""
        if self.p_seeds is None or self.p_seeds >= SIGNIFICANT:
            return ""
        return "better" if self.las.mean > 0 else "worse"


@dataclass(frozen=True)
class Line:
    """A group of runs on one treebank."""

    key: Key
    seeds: tuple[int, ...]
    test: dict[str, Spread]  # by metric
    dev_las: Spread
    effect: Effect | None  # None: it is the baseline, or has none


@dataclass(frozen=True)
class Pooled:
    """A training of a system over treebanks, each of which counts the same."""

    key: Key  # whose treebank is ALL
    treebanks: tuple[str, ...]
    test: dict[str, float]  # mean over treebanks, by metric
    dev_las: float
    effect: Effect | None  # over the treebanks that the baseline has too
    tally: Tally | None


@dataclass(frozen=True)
class Curve:
    """LAS on dev after each epoch that all runs of a group have reached."""

    key: Key
    epochs: list[int]
    mean: list[float]
    sd: list[float] | None  # None: a single run


@dataclass(frozen=True)
class Analysis:
    """Where the runs of a group erred; treebank ALL: runs that all explorations have, added up."""

    key: Key
    runs: int
    counts: dict[str, Any]  # see `error_analysis`
    rates: dict[str, dict[str, dict[str, float | None]]]  # see `rates_of`


@dataclass(frozen=True)
class Comparison:
    """All that a report tells."""

    baseline: str
    setting_name: str
    setting: dict[str, Any]
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
    def main_loss(self) -> str:
        """That of most runs; figures show trainings with it."""
        runs: Counter[str] = Counter()
        for line in self.lines:
            runs[line.key.loss] += len(line.seeds)
        return min(runs, key=lambda loss: (-runs[loss], loss != USUAL_LOSS, loss))

    def training(self, key: Key) -> str:
        """The name of a training: how it explores, and its loss where there are several."""
        several = len(self.values("loss")) > 1
        return f"{key.exploration}, {key.loss}" if several else key.exploration

    def analyses_of(self, treebank: str) -> list[Analysis]:
        """Those of a treebank, or of ALL."""
        return [analysis for analysis in self.analyses if analysis.key.treebank == treebank]


def comparison_of(
    results: Sequence[RunResult], *, baseline: str = BASELINE, resamples: int = RESAMPLES
) -> Comparison:
    """What the runs say together; DyparseError where they cannot be compared."""
    groups = grouped(results, baseline)
    notes: list[str] = []
    pairs = _pairs(groups, baseline, notes)
    lines = [_line(key, runs, pairs.get(key), resamples) for key, runs in groups.items()]
    lines = [replace(line, effect=e) for line, e in zip(lines, _corrected(lines), strict=True)]
    pooled = [_pooled(part, pairs, resamples) for part in _by_training(lines)]
    pooled = [replace(row, effect=e) for row, e in zip(pooled, _corrected(pooled), strict=True)]
    return Comparison(
        baseline=baseline,
        setting_name=results[0].setting_name,
        setting=results[0].setting,
        resamples=resamples,
        lines=lines,
        pooled=pooled,
        curves=[_curve(key, runs) for key, runs in groups.items()],
        analyses=[*_pooled_analyses(groups, notes), *_analyses(groups)],
        notes=list(dict.fromkeys(notes)),
    )


# --- runs in groups ------------------------------------------------------------------------------

Groups = dict[Key, list["RunResult"]]


def grouped(results: Sequence[RunResult], baseline: str = BASELINE) -> Groups:
    """The runs of each group by seed; groups by name, the baseline first.

    DyparseError where runs have different settings or test sets, or are there twice.
    """
    if not results:
        raise DyparseError("no finished run to report; a run's directory holds result.json")
    _require_one_setting(results)
    _require_same_data(results)
    groups: Groups = defaultdict(list)
    for result in sorted(results, key=lambda result: result.cell.seed):
        cell = result.cell
        runs = groups[Key(cell.system, cell.exploration, cell.loss, cell.treebank)]
        if runs and runs[-1].cell.seed == cell.seed:
            raise DyparseError(f"{_name(result)}: there twice; leave out one of their directories")
        runs.append(result)

    def place(key: Key) -> tuple[Any, ...]:
        return key.system, key.loss, key.exploration != baseline, key.exploration, key.treebank

    return {key: groups[key] for key in sorted(groups, key=place)}


def _name(result: RunResult) -> str:
    cell = result.cell
    names = (cell.system, cell.exploration, cell.loss, cell.treebank, f"seed {cell.seed}")
    return ", ".join(names)


def _require_one_setting(results: Sequence[RunResult]) -> None:
    by_name: dict[str, list[RunResult]] = defaultdict(list)
    for result in results:
        by_name[result.setting_name].append(result)
    if len(by_name) == 1:
        return
    options = {name: dict(_options(runs[0].setting)) for name, runs in by_name.items()}
    differing = [
        option
        for option in sorted({option for found in options.values() for option in found})
        if len({str(found.get(option)) for found in options.values()}) > 1
    ]
    described = "; ".join(
        f"{name} with {', '.join(f'{o}={options[name].get(o)}' for o in differing)} "
        f"({len(runs)} runs, such as {_name(runs[0])})"
        for name, runs in sorted(by_name.items())
    )
    raise DyparseError(
        f"runs of {len(by_name)} settings cannot be compared: {described}; "
        "name the directories of one setting only"
    )


def _options(setting: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    """All options with their names in full: trainer.epochs."""
    for name, value in setting.items():
        if isinstance(value, Mapping):
            yield from _options(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _require_same_data(results: Sequence[RunResult]) -> None:
    """All runs of a treebank have learnt from as many words and been tested on the same ones."""
    first: dict[str, RunResult] = {}
    for result in results:
        other = first.setdefault(result.cell.treebank, result)
        for what, of in (
            ("trained on", lambda run: f"{run.train_words} words"),
            ("tested on", _test_set),
        ):
            if of(result) != of(other):
                raise DyparseError(
                    f"{_name(result)}: {what} {of(result)}, but {_name(other)} on {of(other)}; "
                    "a comparison needs the same data: remove the directories of one of them, "
                    "and run its cells again"
                )


def _test_set(run: RunResult) -> str:
    words = run.sentences["words"]
    trace = sum(place * count for place, count in enumerate(words, 1))
    return f"{len(words)} sentences of {sum(words)} words (check sum {trace})"


# --- scores and differences ----------------------------------------------------------------------

RunPair = tuple[list["RunResult"], list["RunResult"]]  # baseline and new, of the same seeds


def _pairs(groups: Groups, baseline: str, notes: list[str]) -> dict[Key, RunPair]:
    """For every group that has a baseline: the runs of both with the seeds that both have."""
    pairs = {}
    for key, runs in groups.items():
        if key.exploration == baseline:
            continue
        base = groups.get(key._replace(exploration=baseline), [])
        seeds = {run.cell.seed for run in runs} & {run.cell.seed for run in base}
        if not seeds:
            lack = f"no seed in common with {baseline}" if base else f"no run of {baseline}"
            notes.append(f"{', '.join(key)}: {lack}, so there is no difference to tell.")
            continue
        if len(seeds) < max(len(runs), len(base)):
            listed = ", ".join(map(str, sorted(seeds)))
            notes.append(
                f"{', '.join(key)}: number of runs {len(runs)}, of {baseline} {len(base)}; the "
                f"difference is over the seeds that both have ({listed})."
            )
        pairs[key] = tuple([run for run in part if run.cell.seed in seeds] for part in (base, runs))
    return pairs  # type: ignore[return-value]  # a tuple of two


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
    return Effect(pooled_difference(counts, resamples=resamples), uas, clas)


def _mean(runs: Sequence[RunResult], metric: str) -> float:
    return float(np.mean([run.test[metric] for run in runs]))


def _spread(values: Sequence[float]) -> Spread:
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return Spread(float(np.mean(values)), sd)


def _line(key: Key, runs: Sequence[RunResult], pair: RunPair | None, resamples: int) -> Line:
    return Line(
        key=key,
        seeds=tuple(run.cell.seed for run in runs),
        test={metric: _spread([run.test[metric] for run in runs]) for metric in METRICS},
        dev_las=_spread([run.dev["las"] for run in runs]),
        effect=_effect({key.treebank: pair}, resamples) if pair else None,
    )


def _by_training(lines: Sequence[Line]) -> list[list[Line]]:
    """The lines of each system and training, which differ in the treebank."""
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
    """The effects of all rows with p-values corrected for being so many."""
    effects = [row.effect for row in rows]
    sentences = holm([e.las.p_sentences if e else None for e in effects])
    seeds = holm([e.las.p_seeds if e else None for e in effects])
    return [
        replace(effect, p_sentences=of_sentences, p_seeds=of_seeds) if effect else None
        for effect, of_sentences, of_seeds in zip(effects, sentences, seeds, strict=True)
    ]


# --- curves and analyses -------------------------------------------------------------------------


def _curve(key: Key, runs: Sequence[RunResult]) -> Curve:
    length = min(len(run.curve) for run in runs)
    las = np.array([[figures["dev_las"] for figures in run.curve[:length]] for run in runs])
    return Curve(
        key=key,
        epochs=[int(figures["epoch"]) for figures in runs[0].curve[:length]],
        mean=las.mean(0).tolist(),
        sd=las.std(0, ddof=1).tolist() if len(runs) > 1 else None,
    )


def _analysis(key: Key, runs: Sequence[RunResult]) -> Analysis:
    counts: dict[str, Any] = {}
    for run in runs:
        counts = _sum(counts, run.analysis)
    return Analysis(key, len(runs), counts, rates_of(counts))


def _sum(one: Any, other: Any) -> Any:
    """Counts added up, whatever they are nested in."""
    if isinstance(other, Mapping):
        return {**one, **{name: _sum(one.get(name, {}), other[name]) for name in other}}
    return (one or 0) + other


def _analyses(groups: Groups) -> list[Analysis]:
    return [_analysis(key, runs) for key, runs in groups.items()]


def _pooled_analyses(groups: Groups, notes: list[str]) -> list[Analysis]:
    """Over the treebanks and seeds that all explorations of a system and loss have: the same words
    for each of them.
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
                f"{system}, {loss}: not all trainings have the same treebanks and seeds; counts "
                f"over all treebanks are of the {len(shared)} runs that all have."
            )
        for training, by_place in trainings.items() if shared else ():
            analyses.append(_analysis(training, [by_place[place] for place in sorted(shared)]))
    return analyses


def rates_of(counts: Mapping[str, Any]) -> dict[str, dict[str, dict[str, float | None]]]:
    """The counts of an analysis as shares in percent; None of nothing.

    by_arc_length is about heads and labels, by_projectivity about heads. In propagation `before`
    ends with the first mistake of a sentence, and `after` is what follows it.
    """
    return {
        "by_sentence_length": {
            name: {"uas": _share(c, "heads", "words"), "las": _share(c, "labelled", "words")}
            for name, c in counts["by_sentence_length"].items()
        },
        "by_arc_length": {
            name: _arc_rates(c, "labelled") for name, c in counts["by_arc_length"].items()
        },
        "by_projectivity": {
            name: _arc_rates(c, "right") for name, c in counts["by_projectivity"].items()
        },
        "by_first_mistake": {
            name: {
                "sentences": _share(
                    {**c, "all": counts["propagation"]["sentences"]}, "sentences", "all"
                ),
                "las": _share(c, "labelled", "words"),
            }
            for name, c in counts["by_first_mistake"].items()
        },
        "propagation": {"": _propagation_rates(counts["propagation"])},
        "moves": {
            name: {
                "free": _share(c, "free", "taken"),
                "right_arcs": _share(c, "right_arcs", "arcs"),
                "mended": _share(c, "mended", "replaced"),
                "broken": _share(c, "broken", "replaced"),
            }
            for name, c in counts["moves"].items()
        },
    }


def _share(counts: Mapping[str, int], part: str, whole: str, scale: float = 100) -> float | None:
    return scale * counts[part] / counts[whole] if counts[whole] else None


def _arc_rates(counts: Mapping[str, int], right: str) -> dict[str, float | None]:
    precision = _share(counts, f"predicted_{right}", "predicted")
    recall = _share(counts, f"gold_{right}", "gold")
    f1 = None
    if precision is not None and recall is not None:
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {"precision": precision, "recall": recall, "f1": f1}


def _propagation_rates(counts: Mapping[str, int]) -> dict[str, float | None]:
    moves = counts["states_before"] + counts["states_after"]
    return {
        "sentences_with_mistake": _share(counts, "sentences_with_mistake", "sentences"),
        "mistakes_before": _share(counts, "mistakes_before", "states_before"),
        "mistakes_after": _share(counts, "mistakes_after", "states_after"),
        "cost_after_per_sentence": _share(counts, "cost_after", "sentences_with_mistake", 1),
        "cost_after_per_state": _share(counts, "cost_after", "states_after", 1),
        "moves_per_sentence": _share({**counts, "moves": moves}, "moves", "sentences", 1),
    }


# --- files ---------------------------------------------------------------------------------------


def to_json(comparison: Comparison) -> str:
    """All of it."""
    content = asdict(comparison)
    for part in ("lines", "pooled", "curves", "analyses"):
        for row in content[part]:
            row |= Key(*row.pop("key"))._asdict()
    return json.dumps(_rounded(content), indent=1, ensure_ascii=False) + "\n"


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, Mapping):
        return {name: _rounded(part) for name, part in value.items()}
    return [_rounded(part) for part in value] if isinstance(value, (list, tuple)) else value


def to_csv(comparison: Comparison) -> str:
    """The lines, one per system, exploration, loss and treebank; empty where there is no figure."""
    rows = [_csv_row(line) for line in comparison.lines]
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(_rounded(row) for row in rows)
    return stream.getvalue()


def _csv_row(line: Line) -> dict[str, Any]:
    row: dict[str, Any] = {**line.key._asdict(), "seeds": len(line.seeds)}
    for name, spread in [*line.test.items(), ("dev_las", line.dev_las)]:
        row |= {name: spread.mean, f"{name}_sd": spread.sd}
    effect = line.effect
    return row | {
        "difference_las": effect and effect.las.mean,
        "difference_las_low": effect and effect.las.low,
        "difference_las_high": effect and effect.las.high,
        "difference_uas": effect and effect.uas,
        "difference_clas": effect and effect.clas,
        "seed_pairs": effect and effect.las.seed_pairs,
        "p_sentences": effect and effect.las.p_sentences,
        "p_sentences_corrected": effect and effect.p_sentences,
        "p_seeds": effect and effect.las.p_seeds,
        "p_seeds_corrected": effect and effect.p_seeds,
    }
