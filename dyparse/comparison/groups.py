"""Groups of finished runs that differ only in their seed.

Runs can be compared if they have the same setting and, on each treebank, the same data; otherwise
DyparseError says what differs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from dyparse.config.options import flat_options
from dyparse.errors import DyparseError
from dyparse.evaluation.run_result import Cell, RunResult

BASELINE = "static"
ALL = "all treebanks"


class Key(NamedTuple):
    """The axes that the runs of a group have in common: all but the seed."""

    system: str
    exploration: str
    loss: str
    treebank: str

    @classmethod
    def of(cls, cell: Cell) -> Key:
        """The key of a cell."""
        return cls(*(getattr(cell, axis) for axis in cls._fields))


AXES = (*Key._fields, "seed")  # of a grid; a cell has a value on each

Groups = dict[Key, list[RunResult]]
RunPair = tuple[list[RunResult], list[RunResult]]  # baseline and new, with the same seeds


def grouped(results: Sequence[RunResult], baseline: str = BASELINE) -> Groups:
    """The runs of each group in order of seeds; groups in order of names, the baseline first.

    DyparseError if runs have different settings or data, or if a run appears twice.
    """
    if not results:
        raise DyparseError("no finished run to report; expected directories with result.json")
    _require_one_setting(results)
    _require_same_data(results)
    groups: Groups = defaultdict(list)
    for result in sorted(results, key=lambda result: result.cell.seed):
        cell = result.cell
        runs = groups[Key.of(cell)]
        if runs and runs[-1].cell.seed == cell.seed:
            raise DyparseError(f"{_name(result)}: found twice; leave out one of the directories")
        runs.append(result)

    def place(key: Key) -> tuple[Any, ...]:
        return key.system, key.loss, key.exploration != baseline, key.exploration, key.treebank

    return {key: groups[key] for key in sorted(groups, key=place)}


def _name(result: RunResult) -> str:
    return ", ".join((*Key.of(result.cell), f"seed {result.cell.seed}"))


def _require_one_setting(results: Sequence[RunResult]) -> None:
    by_name: dict[str, list[RunResult]] = defaultdict(list)
    for result in results:
        by_name[result.setting_name].append(result)
    if len(by_name) == 1:
        return
    options = {name: dict(flat_options(runs[0].setting)) for name, runs in by_name.items()}
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
        "give directories of one setting only"
    )


def _require_same_data(results: Sequence[RunResult]) -> None:
    """DyparseError unless all runs of a treebank have the same training size and test sentences."""
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
                    "a comparison needs the same data: remove the directories of one of them and "
                    "run its cells again"
                )


def _test_set(run: RunResult) -> str:
    words = run.sentences["words"]
    trace = sum(place * count for place, count in enumerate(words, 1))
    return f"{len(words)} sentences of {sum(words)} words (check sum {trace})"


def remarks(results: Sequence[RunResult]) -> list[str]:
    """Notes on what makes runs hard to compare: scores on dev, different versions of programs."""
    notes = [
        f"{name} has no test set: its scores are on dev, on which epochs were chosen."
        for name in treebanks_on_dev(results)
    ]
    for program in sorted({name for result in results for name in result.versions}):
        found = sorted({result.versions.get(program, "unknown") for result in results})
        if len(found) > 1:
            notes.append(f"Runs used different versions of {program}: {', '.join(found)}.")
    return notes


def treebanks_on_dev(results: Sequence[RunResult]) -> list[str]:
    """Treebanks without a test set, whose scores are on dev."""
    return sorted({result.cell.treebank for result in results if result.split != "test"})


def paired(groups: Groups, baseline: str, notes: list[str]) -> dict[Key, RunPair]:
    """For every group with a baseline: runs of baseline and group with the seeds that both have."""
    pairs = {}
    for key, runs in groups.items():
        if key.exploration == baseline:
            continue
        base = groups.get(key._replace(exploration=baseline), [])
        seeds = {run.cell.seed for run in runs} & {run.cell.seed for run in base}
        if not seeds:
            lack = f"no seed in common with {baseline}" if base else f"no run of {baseline}"
            notes.append(f"{', '.join(key)}: {lack}, so there is no difference to report.")
            continue
        if len(seeds) < max(len(runs), len(base)):
            listed = ", ".join(map(str, sorted(seeds)))
            notes.append(
                f"{', '.join(key)}: {len(runs)} runs, {baseline}: {len(base)}; the difference is "
                f"over the seeds that both have ({listed})."
            )
        pairs[key] = tuple([run for run in part if run.cell.seed in seeds] for part in (base, runs))
    return pairs  # type: ignore[return-value]  # a tuple of two
