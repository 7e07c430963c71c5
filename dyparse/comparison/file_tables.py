"""The scores of parsed files as tables, for `dyparse score`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dyparse.comparison.file_scores import Scored, arcs_by
from dyparse.comparison.report.table import Table, interval, p_value, percent
from dyparse.evaluation.conll18.parsed_file import ParsedFile
from dyparse.evaluation.conll18.scores import TITLES

WORDS_AND_TAGS = ("tokens", "sentences", "words", "upos", "xpos", "ufeats", "alltags", "lemmas")
TREES = ("uas", "las", "clas", "mlas", "blex")


def score_table(scored: Sequence[Scored]) -> Table:
    """UAS and LAS with full labels, a row per file; with several files also differences in LAS."""
    several = len(scored) > 1
    rows = []
    for row in scored:
        found = row.difference
        cells = [row.file, *(percent(row.scores.score(metric)) for metric in ("uas", "las"))]
        if several:
            cells.append(interval(found) if found else "")
            cells.append(p_value(row.p))
        rows.append(tuple(cells))
    note = "Labels in full."
    if several:
        note += (
            f" Differences in LAS from {scored[0].baseline}; p: paired permutation test over "
            "sentences, Holm-corrected."
        )
    return Table(
        "scores",
        "Scores",
        ("file", "UAS", "LAS", *(("difference [95 %]", "p") if several else ())),
        rows,
        note,
        text_columns=1,
        verdicts=[row.verdict for row in scored],
        key_column=-2,
    )


def conll18_tables(scored: Sequence[Scored]) -> list[Table]:
    """F1 of CoNLL 2018, a row per file: of words and tags, and of trees.

    One table of all would not fit into the width of a terminal.
    """
    notes = (
        "Words and tags, F1 as in the CoNLL 2018 shared task.",
        "Trees, F1 as in the CoNLL 2018 shared task: universal labels, all words.",
    )
    return [
        Table(
            f"conll18_{name}",
            f"CoNLL 2018: {name.replace('_', ' ')}",
            ("file", *(TITLES[metric] for metric in metrics)),
            [
                (row.file, *(percent(row.scores.conll18.f1()[metric]) for metric in metrics))
                for row in scored
            ],
            note,
            text_columns=1,
        )
        for name, metrics, note in zip(
            ("words_and_tags", "trees"), (WORDS_AND_TAGS, TREES), notes, strict=True
        )
    ]


def arc_table(files: Mapping[str, ParsedFile], kind: str, *, punctuation: bool = True) -> Table:
    """F1 of every file by `label` or `length`; with recall and precision if there is one file."""
    arcs = {name: arcs_by(file, kind, punctuation=punctuation) for name, file in files.items()}
    first = next(iter(arcs.values()))
    names = dict.fromkeys(name for of_file in arcs.values() for name in of_file)
    several = len(files) > 1
    header = (*files,) if several else ("parsed", "recall", "precision", "F1")
    rows = []
    for name in names:
        found = [of_file.get(name) for of_file in arcs.values()]
        gold = str(first[name].gold if name in first else 0)
        if several or not found[0]:
            figures = [percent(scores.f1 if scores else None) for scores in found]
        else:
            one = found[0]
            figures = [str(one.predicted), *map(percent, (one.recall, one.precision, one.f1))]
        rows.append((name, gold, *figures))
    right = "head and label" if kind == "label" else "head"
    note = f"F1 of arcs{'' if punctuation else ' without punctuation'}; right: {right}."
    return Table(f"by_{kind}", "Arcs", (kind, "gold", *header), rows, note, text_columns=1)
