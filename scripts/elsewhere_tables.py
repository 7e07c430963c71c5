"""Tables of other models and data: grids B to E of docs/protocol.md, and single models of these and
of grids J and K."""

from __future__ import annotations

from collections.abc import Sequence

import study
from study_tables import family_table, las_text, outcome_cells

from dyparse.comparison.report.table import Table, interval, percent, spread
from dyparse.comparison.statistics import spread_of

WHERE = {  # a grid beside A: its model and data
    "B": "the default model with gold tags (six treebanks)",
    "C": "the default model with gold tags (UD_English-EWT)",
    "D": "the default model, which predicts tags (LinES, Hungarian, Turkish)",
    "E": "fine-tuned MiniLM-L6, which predicts tags (LinES)",
}
MODELS = {
    "A": "the small model, gold tags",
    "B": "the default model, gold tags",
    "D": "the default model, predicted tags",
}
ENCODERS = (  # default training on LinES: encoder, tags in the input, grid
    ("MiniLM, fine-tuned", "no", "E"),
    ("MiniLM, frozen", "no", "J"),
    ("BiLSTM", "no", "D"),
    ("MiniLM, frozen", "gold UPOS", "K"),
    ("BiLSTM", "gold UPOS", "B"),
)
TAGS = ("uas", "las", *(f"{c}_accuracy" for c in ("upos", "xpos", "feats", "lemma")))


def elsewhere_tables() -> dict[str, Table | str | None]:
    """All tables and sentences by name."""
    default = default_table()
    return {
        "elsewhere": elsewhere_table(),
        "elsewhere_las": elsewhere_las_table(),
        "elsewhere_sentence": elsewhere_sentence(),
        "models": models_table(),
        "encoders": encoders_table(),
        "default": default,
        "default_sentence": default_sentence(default),
    }


def elsewhere_table() -> Table:
    """Larger models, more data, predicted tags, a pretrained encoder."""
    rows = [
        (WHERE[o.planned.grid], o.planned.new[0], o.planned.new[1], *outcome_cells(o))
        for o in study.family(study.ELSEWHERE)
    ]
    return family_table("elsewhere", ("model and data", "system", "training"), rows)


def elsewhere_las_table() -> Table:
    """LAS by treebank of the comparisons beside grid A whose cells are all there."""
    finished = [planned for planned in study.ELSEWHERE if study.pairs_of(planned)]
    sides = dict.fromkeys((p.grid, side) for p in finished for side in (p.base, p.new))
    treebanks = (*study.SIX, study.EWT)
    rows = [
        (WHERE[grid], *side, *(las_text(grid, side, treebank) for treebank in treebanks))
        for grid, side in sides
    ]
    header = ("model and data", "system", "training", *map(study.short, study.SIX), "English, EWT")
    return Table("elsewhere_las", "LAS", header, rows, text_columns=3)


def models_table() -> Table:
    """Gains of three models on the same treebanks and seeds; describes and does not test."""
    treebanks = (study.LINES, study.HUNGARIAN, study.TURKISH)
    rows = []
    for grid, model in MODELS.items():
        both = [
            study.difference(study.against_static(grid, "arc_eager", new, treebanks, study.THREE))
            for new in (study.REPLAY, study.EXPLORE)
        ]
        if all(both):
            found = [one for one in both if one]
            rows.append((model, percent(found[0].base), *map(interval, found)))
    header = ("model", study.STATIC, f"gain of {study.REPLAY}", f"gain of {study.EXPLORE}")
    return Table("models", "", header, rows, text_columns=1)


def elsewhere_sentence() -> str | None:
    """The gains of default training with arc_eager beside grid A, for README.md."""
    found = [
        f"{interval(one.difference)} with {WHERE[one.planned.grid]}"
        for one in study.family(study.ELSEWHERE)
        if one.difference and one.planned.new == ("arc_eager", study.REPLAY)
    ]
    return f"Beyond the small model, gains of arc_eager: {'; '.join(found)}.\n" if found else None


def default_table() -> Table | None:
    """All scores of the default model with its default training, of grid D."""
    rows = []
    for treebank in (study.LINES, study.HUNGARIAN, study.TURKISH):
        found = study.runs("D", ("arc_eager", study.REPLAY), [treebank], study.THREE)
        runs = [run for run in found if run]
        for split in ("dev", "test") if len(runs) == len(found) else ():
            scores = [getattr(run, split) for run in runs]
            texts = [spread(spread_of(of)) if (of := given(scores, tag)) else "" for tag in TAGS]
            rows.append((treebank, split, *texts))
    header = ("treebank", "", "UAS", "LAS", "UPOS", "XPOS", "FEATS", "lemmas")
    return Table("default", "", header, rows) if rows else None


def encoders_table() -> Table | None:
    """A pretrained encoder beside the BiLSTM, on LinES."""
    rows = []
    for encoder, tags, grid in ENCODERS:
        found = study.runs(grid, ("arc_eager", study.REPLAY), [study.LINES], study.THREE)
        runs = [run for run in found if run]
        if len(runs) == len(found):
            scores = (
                [run.dev["las"] for run in runs],
                [run.test["uas"] for run in runs],
                [run.test["las"] for run in runs],
            )
            rows.append((encoder, tags, *(spread(spread_of(of)) for of in scores)))
    header = ("encoder", "tags in the input", "dev LAS", "test UAS", "test LAS")
    return Table("encoders", "", header, rows) if rows else None


def default_sentence(table: Table | None) -> str | None:
    """Scores of the default model on LinES, for README.md."""
    for row in table.rows if table else ():
        of = dict(zip(("treebank", "split", *TAGS), row, strict=True))
        if (of["treebank"], of["split"]) == (study.LINES, "test"):
            return (
                "The default model of `dyparse train` reads no tags, it predicts them. On gold "
                f"words of {study.LINES}, test, mean ± standard deviation over three seeds: LAS "
                f"{of['las']}, UPOS {of['upos_accuracy']}, lemmas {of['lemma_accuracy']} "
                "(`bash scripts/study.sh D ud`).\n"
            )
    return None


def given(scores: Sequence[dict[str, float]], tag: str) -> list[float]:
    """The scores of a column, if the treebank has it."""
    return [of[tag] for of in scores if tag in of]
