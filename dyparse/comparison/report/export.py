"""A comparison as files: `results.json` is complete, `results.csv` has one line per group."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from dyparse.comparison.groups import Key
from dyparse.comparison.statistics import Comparison, Line

DIGITS = 6  # after the decimal point


def to_json(comparison: Comparison) -> str:
    """The complete comparison as JSON."""
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
    """One line per system, exploration, loss and treebank; missing numbers are empty."""
    return rows_as_csv([_rounded(_csv_row(line)) for line in comparison.lines])


def rows_as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """A line per row, with a column for every name in any of them; what is missing is empty."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    stream = io.StringIO()
    writer = csv.DictWriter(stream, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
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
