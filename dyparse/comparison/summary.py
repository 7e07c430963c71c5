"""The outcome of a comparison for the terminal: the table that matters, what is missing from it,
and where the report is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import compress
from pathlib import Path

from dyparse.comparison.groups import ALL, BASELINE
from dyparse.comparison.report.page import CSV, FIGURES, JSON, PAGE, TABLES, write_report
from dyparse.comparison.report.sentence_browser import Run
from dyparse.comparison.report.table import Table, interval, p_value, spread
from dyparse.comparison.report.text import caution
from dyparse.comparison.settings_table import (
    comparable,
    differing_options,
    setting_rows,
    settings_csv,
    table_of_runs,
    with_settings_in_systems,
)
from dyparse.comparison.significance import RESAMPLES, SIGNIFICANT, least_p, pairs_needed
from dyparse.comparison.statistics import Comparison, Line, Pooled, Spread, comparison_of
from dyparse.errors import DyparseError
from dyparse.runtime.atomic_files import write

TITLE = "Static against dynamic oracles"  # of a report, unless another is given
SETTINGS = "settings.csv"
ABOUT = (
    "LAS: mean ± standard deviation over seeds. p: paired permutation test over runs, "
    "Holm-corrected."
)
MOST_TREEBANKS = 3  # with a row of their own; with more there are rows over all of them only
MOST_NAMED = 3
MOST_NOTES = 6  # in the terminal; the page has all


@dataclass(frozen=True, repr=False)
class Summary:
    """A comparison of finished runs, and the files that were written about it."""

    tables: list[Table]
    notes: list[str]
    paths: dict[str, Path]  # by what they are; `report` is the page, unless nothing is comparable

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} {path}" for name, path in self.paths.items())
        return f"<Summary: {shown}; print it for its tables>"

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        """All of it, for a notebook."""
        parts = [table.to_html() for table in self.tables]
        parts += [f"<p>{escape(note)}</p>" for note in self.notes]
        paths = [f"<li>{escape(f'{name}: {path}')}</li>" for name, path in self.paths.items()]
        return f"<div>{''.join(parts)}<ul>{''.join(paths)}</ul></div>"

    def to_text(self, *, bold: bool = False) -> str:
        """All of it as plain text; with `bold`, differences that the report emphasizes are bold."""
        blocks = []
        for table in self.tables:
            note = f"{table.note}\n" if table.note else ""
            blocks.append(f"{table.title}\n\n{table.to_text(bold=bold)}{note}")
        blocks += ["".join(f"{note}\n" for note in self.notes)] if self.notes else []
        blocks.append("".join(f"{name:8}  {path}\n" for name, path in self.paths.items()))
        return "\n".join(blocks)


def report_on(
    runs: Sequence[Run],
    output: Path,
    *,
    title: str = TITLE,
    baseline: str = BASELINE,
    notes: Iterable[str] = (),
    resamples: int = RESAMPLES,
) -> Summary:
    """Write the report on finished runs into a directory; the notes say which runs are missing.

    Runs of different settings are listed by what differs, and compared where the baseline and
    another exploration share all other options.
    """
    notes = list(notes)
    results = [result for _, result in runs]
    names = differing_options(results)
    if not names:
        summary = _with_page(runs, output, title, baseline, notes, resamples)
        return replace(summary, notes=[*summary.notes, *_left_from_earlier(output / SETTINGS)])
    output.mkdir(parents=True, exist_ok=True)
    path = output / SETTINGS
    write(path, settings_csv(setting_rows(results)).encode())
    listed = Summary([table_of_runs(results)], [], {"settings": path})
    chosen = list(compress(runs, comparable(results, baseline)))
    notes.append(_what_was_compared(names, len(chosen), len(runs), baseline))
    if not chosen:
        return replace(listed, notes=[*notes, *_left_from_earlier(output / PAGE)])
    folded = with_settings_in_systems([result for _, result in chosen])
    both = [(directory, result) for (directory, _), result in zip(chosen, folded, strict=True)]
    try:
        compared = _with_page(both, output, title, baseline, notes, resamples)
    except DyparseError as error:  # the data differ as well, for instance
        notes = [*notes[:-1], f"Nothing was compared: {error}"]
        return replace(listed, notes=[*notes, *_left_from_earlier(output / PAGE)])
    return Summary(
        [*listed.tables, *compared.tables], compared.notes, {**compared.paths, **listed.paths}
    )


def _with_page(
    runs: Sequence[Run],
    output: Path,
    title: str,
    baseline: str,
    notes: list[str],
    resamples: int,
) -> Summary:
    results = [result for _, result in runs]
    comparison = comparison_of(results, baseline=baseline, resamples=resamples)
    comparison = replace(comparison, notes=[*notes, *comparison.notes])
    page = write_report(runs, comparison, output, title=title)
    paths = {"report": page, "results": output / CSV, "details": output / JSON}
    paths |= {"figures": output / FIGURES, "tables": output / TABLES}
    return Summary([summary_table(comparison)], shortened(comparison.notes), paths)


def shortened(notes: Sequence[str]) -> list[str]:
    """The first notes; a grid of many cells may have one for each."""
    if len(notes) <= MOST_NOTES:
        return list(notes)
    return [*notes[:MOST_NOTES], f"{len(notes) - MOST_NOTES} more notes are in the report."]


def _left_from_earlier(path: Path) -> list[str]:
    """A note about a file of an earlier report that this one does not write; empty without it."""
    return [f"{path.name} is from an earlier report, not about these runs."] * path.exists()


def _what_was_compared(names: Sequence[str], compared: int, total: int, baseline: str) -> str:
    differ = f"Runs differ in {', '.join(names)}"
    if not compared:
        return (
            f"{differ}: nothing was compared, since no run of {baseline} shares all options but "
            "the exploration with another run."
        )
    alone = total - compared
    rest = (
        f"; {alone} of {total} runs {'has' if alone == 1 else 'have'} no counterpart"
        if alone
        else ""
    )
    return f"{differ}: trainings were compared with {baseline} within each setting only{rest}."


def missing_note(missing: Sequence[str], total: int, what: str) -> list[str]:
    """A line about runs that are not in a report; empty if there are none."""
    if not missing:
        return []
    named = ", ".join(missing[:MOST_NAMED]) + ", …" * (len(missing) > MOST_NAMED)
    return [f"{len(missing)} of {total} runs {what}: {named}."]


def summary_table(comparison: Comparison) -> Table:
    """System, training, LAS and difference from the baseline; over treebanks, if there are many.

    What is the same in all rows is in the title, so that the table fits most terminals.
    """
    rows = _summary_rows(comparison)
    named = [
        {
            "treebank": treebank,
            "system": row.key.system,
            "training": comparison.training(row.key),
            "runs": str(number),
        }
        for row, treebank, number, _ in rows
    ]
    same = [name for name in named[0] if name != "training" and len({r[name] for r in named}) == 1]
    kept = [name for name in named[0] if name not in same]
    common = [named[0][name] for name in same if name != "runs"]
    runs = "1 run" if rows[0][2] == 1 else f"{rows[0][2]} runs"
    common += [f"{runs} each"] * ("runs" in same)
    return Table(
        "summary",
        ", ".join([f"LAS on {comparison.split}", *common]),
        (*kept, "LAS", f"LAS − {comparison.baseline} [95 %]", "p"),
        [
            (
                *(names[name] for name in kept),
                spread(las),
                interval(row.effect.las) if row.effect else "",
                p_value(row.effect.p_seeds if row.effect else None),
            )
            for names, (row, _, _, las) in zip(named, rows, strict=True)
        ],
        "\n".join([ABOUT, *caution(comparison), *_too_few_runs(comparison)]),
        text_columns=len(kept) - ("runs" in kept),
        verdicts=[row.effect.verdict if row.effect else "" for row, *_ in rows],
        key_column=-2,
    )


def _summary_rows(comparison: Comparison) -> list[tuple[Line | Pooled, str, int, Spread]]:
    """Rows, each with the name of its treebank, its number of runs and its LAS.

    The spread over treebanks is that of their mean: sqrt(Σ sd²) / n.
    """
    treebanks = comparison.values("treebank")
    rows: list[tuple[Line | Pooled, str, int, Spread]] = []
    if len(treebanks) <= MOST_TREEBANKS:
        rows += [
            (line, line.key.treebank.removeprefix("UD_"), len(line.seeds), line.test["las"])
            for name in treebanks
            for line in comparison.lines
            if line.key.treebank == name
        ]
    if len(treebanks) > 1:
        rows += [
            (row, f"{len(row.treebanks)} treebanks", *_over_treebanks(comparison, row))
            for row in comparison.pooled
        ]
    return rows


def _too_few_runs(comparison: Comparison) -> Iterator[str]:
    """A line for each kind of rows in the table of which none could have been significant."""
    treebanks = len(comparison.values("treebank"))
    lines = comparison.lines if treebanks <= MOST_TREEBANKS else []
    pooled = comparison.pooled if treebanks > 1 else []
    for rows in (lines, pooled):
        pairs = [row.effect.las.seed_pairs for row in rows if row.effect]
        if pairs and (least := least_p(max(pairs), len(pairs))) >= SIGNIFICANT:
            most = "1 pair" if max(pairs) == 1 else f"{max(pairs)} pairs"
            of = f" in {len(pairs)} comparisons" if len(pairs) > 1 else ""
            yield (
                f"No p below {p_value(least)} is possible with {most} of runs{of}, whatever the "
                f"scores; p < {SIGNIFICANT} takes {pairs_needed(len(pairs))} or more: add seeds."
            )


def _over_treebanks(comparison: Comparison, pooled: Pooled) -> tuple[int, Spread]:
    """Number of runs on all treebanks, and the spread of their mean LAS."""
    lines = [line for line in comparison.lines if line.key._replace(treebank=ALL) == pooled.key]
    sds = [line.test["las"].sd for line in lines]
    known = [sd for sd in sds if sd is not None]
    sd = math.hypot(*known) / len(lines) if len(known) == len(sds) else None
    return sum(len(line.seeds) for line in lines), Spread(pooled.test["las"], sd)
