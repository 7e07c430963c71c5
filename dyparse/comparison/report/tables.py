"""All tables of a comparison: scores, differences, errors and the setting."""

from __future__ import annotations

from collections.abc import Mapping

from dyparse.comparison.report.error_tables import error_tables
from dyparse.comparison.report.table import Table, interval, p_value, percent, spread
from dyparse.comparison.statistics import Comparison, Pooled


def tables(comparison: Comparison) -> list[Table]:
    """All tables that have rows."""
    made = [
        _pooled_table(comparison),
        _las_table(comparison),
        _scores_table(comparison),
        *error_tables(comparison),
        _setting_table(comparison),
    ]
    return [table for table in made if table.rows]


def _pooled_table(comparison: Comparison) -> Table:
    rows, verdicts = [], []
    for row in comparison.pooled:
        if row.effect and row.tally:
            las, tally = row.effect.las, row.tally
            rows.append(
                (
                    row.key.system,
                    comparison.training(row.key),
                    str(row.compared),
                    str(las.seed_pairs),
                    percent(las.base),
                    percent(las.new),
                    interval(row.effect.las),
                    p_value(row.effect.p_seeds),
                    "" if row.effect.detectable is None else f"{row.effect.detectable:.2f}",
                    p_value(row.effect.p_sentences),
                    f"{tally.wins} / {tally.ties} / {tally.losses}",
                )
            )
            verdicts.append(row.effect.verdict)
    header = (
        "system",
        "training",
        "treebanks",
        "pairs of runs",
        f"LAS, {comparison.baseline}",
        "LAS",
        "difference [95 %]",
        "p, seeds",
        "could find",
        "p, sentences",
        "win / tie / loss",
    )
    return Table(
        "pooled",
        f"Difference from {comparison.baseline}, mean over treebanks",
        header,
        rows,
        "p corrected after Holm for all rows. Could find: the difference that would have p, seeds, "
        "below 0.05 with a probability of 80 %; empty if no difference would. Win / tie / loss: "
        "treebanks on which the training is better, not distinguishable, worse, by p over "
        "sentences, corrected.",
        verdicts=verdicts,
        key_column=6,
    )


def _mean(row: Pooled, treebanks: int) -> str:
    """LAS over all treebanks; empty if one is missing: such a mean would mislead."""
    return percent(row.test["las"]) if len(row.treebanks) == treebanks else ""


def _las_table(comparison: Comparison) -> Table:
    treebanks = comparison.values("treebank")
    found = {line.key: spread(line.test["las"]) for line in comparison.lines}
    rows = [
        (
            row.key.system,
            comparison.training(row.key),
            *(found.get(row.key._replace(treebank=name), "") for name in treebanks),
            *([_mean(row, len(treebanks))] if len(treebanks) > 1 else []),
        )
        for row in comparison.pooled
    ]
    return Table(
        "las",
        f"LAS on {comparison.split}: mean ± standard deviation over seeds",
        (
            "system",
            "training",
            *(name.removeprefix("UD_") for name in treebanks),
            *(["mean"] if len(treebanks) > 1 else []),
        ),
        rows,
    )


def _scores_table(comparison: Comparison) -> Table:
    rows, verdicts = [], []
    for line in sorted(
        comparison.lines, key=lambda line: (line.key.system, line.key.treebank, line.key.loss)
    ):
        effect = line.effect
        rows.append(
            (
                line.key.system,
                line.key.treebank.removeprefix("UD_"),
                comparison.training(line.key),
                str(len(line.seeds)),
                *(spread(line.test[metric]) for metric in ("uas", "las", "clas")),
                spread(line.dev_las),
                interval(effect.las) if effect else "",
                p_value(effect.p_seeds if effect else None),
                p_value(effect.p_sentences if effect else None),
            )
        )
        verdicts.append(effect.verdict if effect else "")
    header = (
        "system",
        "treebank",
        "training",
        "seeds",
        "UAS",
        "LAS",
        "CLAS",
        "LAS on dev",
        f"LAS − {comparison.baseline} [95 %]",
        "p, seeds",
        "p, sentences",
    )
    return Table(
        "scores",
        f"All scores on {comparison.split}",
        header,
        rows,
        "p corrected after Holm for all rows.",
        text_columns=3,
        verdicts=verdicts,
        key_column=8,
    )


def _setting_table(comparison: Comparison) -> Table:
    rows = [
        (part, ", ".join(f"{name}={value}" for name, value in options.items()))
        for part, options in comparison.setting.items()
        if isinstance(options, Mapping)
    ]
    return Table("setting", f"Setting {comparison.setting_name}", ("part", "options"), rows)
