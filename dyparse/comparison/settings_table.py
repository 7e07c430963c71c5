"""Runs of different settings: a table by what differs, and how they enter one comparison.

A setting is all options of a run but its cell: those of encoder, network and trainer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from dyparse.comparison.groups import AXES, Key
from dyparse.comparison.report.export import rows_as_csv
from dyparse.comparison.report.table import Table, spread
from dyparse.comparison.statistics import Spread, spread_of
from dyparse.config.options import as_written, flat_options
from dyparse.data.columns.pseudo_projective import AS_IT_IS
from dyparse.evaluation.run_result import USUAL_HEADS, RunResult

USUAL = {"heads": as_written(USUAL_HEADS), "projectivity": AS_IT_IS}  # not named in settings


@dataclass(frozen=True)
class SettingRow:
    """Runs that differ only in their seed."""

    options: dict[str, str]  # those that differ between rows, by full name
    runs: int
    dev_las: Spread
    test_las: Spread


def table_of_runs(results: Sequence[RunResult]) -> Table:
    """A row for every setting, best LAS on dev first; columns only for options that differ.

    With several treebanks, rows are sorted by treebank first.
    """
    return _table(setting_rows(results), results)


def setting_rows(results: Sequence[RunResult]) -> list[SettingRow]:
    """The rows of the table."""
    options = [_all_options(result) for result in results]
    names = _differing(options)
    groups: dict[tuple[str, ...], list[RunResult]] = defaultdict(list)
    for result, of_run in zip(results, options, strict=True):
        groups[tuple(of_run.get(name, "") for name in names)].append(result)
    rows = [
        SettingRow(
            dict(zip(names, values, strict=True)),
            len(runs),
            spread_of([run.dev["las"] for run in runs]),
            spread_of([run.test["las"] for run in runs]),
        )
        for values, runs in groups.items()
    ]
    return sorted(rows, key=lambda row: (row.options.get("treebank", ""), -row.dev_las.mean))


def settings_csv(rows: Sequence[SettingRow]) -> str:
    """The rows as CSV; a missing standard deviation is empty."""
    lines = [
        {
            **row.options,
            "runs": row.runs,
            "dev_las": row.dev_las.mean,
            "dev_las_sd": row.dev_las.sd,
            "test_las": row.test_las.mean,
            "test_las_sd": row.test_las.sd,
        }
        for row in rows
    ]
    return rows_as_csv(lines)


def differing_options(results: Sequence[RunResult]) -> list[str]:
    """Full names of the options of settings, not of cells, that differ between runs."""
    return _differing([_setting_options(result) for result in results])


def comparable(results: Sequence[RunResult], baseline: str) -> list[bool]:
    """Per run: whether the baseline and another exploration share all other options with it."""
    names = differing_options(results)
    keys = [
        (Key.of(result.cell)._replace(exploration=""), *_values(result, names))
        for result in results
    ]
    explorations: dict[Any, set[str]] = defaultdict(set)
    for key, result in zip(keys, results, strict=True):
        explorations[key].add(result.cell.exploration)
    return [baseline in explorations[key] and len(explorations[key]) > 1 for key in keys]


def with_settings_in_systems(results: Sequence[RunResult]) -> list[RunResult]:
    """The runs with one common setting; options that differ are part of their system's name.

    So trainings are compared within each setting only.
    """
    names = differing_options(results)
    if not names:
        return list(results)
    changed = []
    for result in results:
        values = zip(names, _values(result, names), strict=True)
        system = f"{result.cell.system} {', '.join(f'{name}={value}' for name, value in values)}"
        changed.append(
            replace(
                result,
                cell=replace(result.cell, system=system),
                setting=_without(result.setting, names),
            )
        )
    return changed


def _setting_options(result: RunResult) -> dict[str, str]:
    return USUAL | {name: as_written(value) for name, value in flat_options(result.setting)}


def _all_options(result: RunResult) -> dict[str, str]:
    cell = {axis: str(value) for axis, value in asdict(result.cell).items() if axis in AXES[:-1]}
    return cell | _setting_options(result)


def _values(result: RunResult, names: Sequence[str]) -> list[str]:
    options = _setting_options(result)
    return [options.get(name, "") for name in names]


def _differing(options: Sequence[Mapping[str, str]]) -> list[str]:
    names = dict.fromkeys(name for of_run in options for name in of_run)
    return [name for name in names if len({of_run.get(name) for of_run in options}) > 1]


def _without(setting: Mapping[str, Any], names: Sequence[str], prefix: str = "") -> dict[str, Any]:
    """The nested options but those of these full names; sections without options are left out."""
    kept = {
        name: _without(value, names, f"{prefix}{name}.") if isinstance(value, Mapping) else value
        for name, value in setting.items()
        if prefix + name not in names
    }
    return {name: value for name, value in kept.items() if value != {}}


def _table(rows: Sequence[SettingRow], results: Sequence[RunResult]) -> Table:
    names = list(rows[0].options) if rows else []
    on_dev = sorted({result.cell.treebank for result in results if result.split != "test"})
    return Table(
        "settings",
        "Settings, best LAS on dev first",
        (*names, "runs", "LAS on dev", "LAS on test"),
        [
            (*row.options.values(), str(row.runs), spread(row.dev_las), spread(row.test_las))
            for row in rows
        ],
        f"No test set, so all scores are on dev: {', '.join(on_dev)}." if on_dev else "",
        text_columns=len(names),
    )
