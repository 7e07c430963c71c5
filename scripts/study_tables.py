"""Tables of grid A of docs/protocol.md, for README.md and docs/results.md."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import study
from learning_tables import MEASURED
from study import Outcome, Planned, Training

from dyparse.comparison.groups import ALL
from dyparse.comparison.report.table import Table, interval, p_value, percent, signed, spread
from dyparse.comparison.report.tables import tables
from dyparse.comparison.statistics import Comparison, comparison_of, spread_of

OUTCOME = (
    "pairs of runs",
    "from",
    "to",
    "difference [95 %]",
    "p, runs",
    "p, sentences",
    "could find",
    "answer",
)
ERRORS = ("propagation_rates", "first_mistake", "sentence_length", "arc_length", "projectivity")
MOVES = ("moves", "repairs")
ANSWERS = {
    "better": "better than static training",
    "worse": "worse",
    "no difference": "no different",
    "not known": "not known to be different",
}
FEW = 100  # resamples where only counts of errors are shown


def outcome_cells(found: Outcome) -> tuple[str, ...]:
    """The cells of a row for the columns of OUTCOME."""
    difference = found.difference
    if not difference:
        return *[""] * (len(OUTCOME) - 1), found.answer
    return (
        str(difference.seed_pairs),
        percent(difference.base),
        percent(difference.new),
        marked_interval(found),
        p_value(found.p_runs),
        p_value(found.p_sentences),
        percent(found.could_find),
        found.answer,
    )


def marked_interval(found: Outcome) -> str:
    """The difference with its interval; of one treebank in bold if there is a verdict."""
    text = interval(found.difference) if found.difference else ""
    return f"**{text}**" if found.is_of_one_treebank and found.verdict else text


def family_table(name: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    """A table with a row for each outcome of a family: its names, then the cells."""
    return Table(name, name, (*columns, *OUTCOME), rows, text_columns=len(columns))


def treebanks_table() -> Table:
    """The data, by which a release of UD can be recognised."""
    rows = []
    for grid, treebank in (*(("A", name) for name in study.SIX), ("C", study.EWT)):
        run, *_ = study.runs(grid, ("arc_eager", study.STATIC), [treebank], study.THREE)
        if run:
            words = run.sentences["words"]
            sizes = (run.train_words, len(words), sum(words))
            rows.append((treebank, *(f"{size:,}" for size in sizes)))
    header = ("treebank", "words of train", "sentences of test", "words of test")
    return Table("treebanks", "", header, rows, text_columns=1)


def primary_table() -> Table:
    """The five primary comparisons."""
    rows = [
        (study.name(o.planned.new[0]), *outcome_cells(o), up(o))
        for o in study.family(study.PRIMARY)
    ]
    table = family_table("primary", ("system",), rows)
    names = {"from": "LAS, static", "to": "LAS, dynamic"}
    header = tuple(names.get(column, column) for column in table.header)
    return replace(table, header=(*header, "higher on"))


def up(found: Outcome) -> str:
    """On how many treebanks the new training has the higher mean."""
    return f"{found.up} of {len(found.by_treebank)}" if found.by_treebank else ""


def trainings_table() -> Table:
    """Explore and ambiguity against static training."""
    rows = [
        (study.name(o.planned.new[0]), o.planned.new[1], *outcome_cells(o))
        for o in study.family(study.OTHER_TRAININGS)
    ]
    return family_table("trainings", ("system", "training"), rows)


def steps_table() -> Table:
    """The gain of default training in three steps, seeds 1 to 3; describes and does not test."""
    steps = itertools.pairwise((study.STATIC, study.AMBIGUITY, study.EXPLORE, study.REPLAY))
    header = ["system"]
    cells: dict[str, list[str]] = {system: [] for system in study.SYSTEMS}
    for base, new in steps:
        header.append(f"{base} to {new}")
        for system, texts in cells.items():
            found = study.difference(Planned("A", (system, new), (system, base)))
            texts.append(interval(found) if found else "")
    rows = [(study.name(system), *texts) for system, texts in cells.items()]
    return Table("steps", "", tuple(header), rows, text_columns=1)


def gains_over_static(exploration: str) -> Table | None:
    """The outcomes of an exploration against static training, a row for each system."""
    found = [*study.family(study.PRIMARY), *study.family(study.OTHER_TRAININGS)]
    rows = [
        (
            study.name(o.planned.new[0]),
            study.STATIC,
            str(o.difference.seed_pairs),
            interval(o.difference),
            p_value(o.p_runs),
        )
        for o in found
        if o.planned.new[1] == exploration and o.difference
    ]
    return Table("measured", "Measured", MEASURED, rows) if rows else None


def scores_table() -> Table:
    """The primary comparisons in UAS and CLAS."""
    rows = [
        (study.name(o.planned.new[0]), o.planned.metric.upper(), *outcome_cells(o))
        for o in study.family(study.OTHER_SCORES)
    ]
    return family_table("scores", ("system", "score"), rows)


def parts_table() -> Table:
    """Single moves of nonmonotonic and buffer: against static training, and against arc-eager."""
    rows = []
    for found in study.family(study.OF_PARTS):
        (new, _), (base, exploration) = found.planned.new, found.planned.base
        against = exploration if base == new else study.name(base)
        rows.append((study.name(new), against, *outcome_cells(found)))
    return family_table("parts", ("system", "against"), rows)


def by_treebank_table() -> Table:
    """The primary comparisons on each treebank; bold by p over sentences."""
    cells: dict[str, list[str]] = {}
    for found in study.family(study.BY_TREEBANK):
        cells.setdefault(study.name(found.planned.new[0]), []).append(marked_interval(found))
    rows = [(system, *texts) for system, texts in cells.items()]
    return Table("by_treebank", "", ("system", *map(study.short, study.SIX)), rows, text_columns=1)


def headline(found: Sequence[Outcome]) -> str | None:
    """What the primary comparisons say, in a sentence; None if one is incomplete."""
    by_answer: dict[str, list[float]] = {}
    for one in found:
        if not one.difference:
            return None
        by_answer.setdefault(one.answer, []).append(one.difference.mean)
    parts = []
    for answer, text in ANSWERS.items():
        gains = sorted({f"{abs(gain):.2f}" for gain in by_answer.get(answer, ())}, key=float)
        if gains:
            n = len(by_answer[answer])
            systems = "all five systems" if n == len(found) else f"{n} of the five systems"
            size = " to ".join(dict.fromkeys((gains[0], gains[-1])))
            parts.append(f"**{text} with {systems}** (by {size} LAS)")
    return (
        "Averaged over six treebanks and five seeds, training with the dynamic oracle is "
        f"{', '.join(parts)}.\n"
    )


def las_table() -> Table:
    """LAS by treebank, mean and standard deviation over seeds, for all trainings of grid A."""
    rows = []
    for system in (*study.SYSTEMS, *study.PARTS):
        for exploration in (study.STATIC, study.AMBIGUITY, study.EXPLORE, study.REPLAY):
            texts = [las_text("A", (system, exploration), treebank) for treebank in study.SIX]
            if any(texts):
                rows.append((study.name(system), exploration, *texts))
    return Table("las", "LAS", ("system", "training", *map(study.short, study.SIX)), rows)


def las_text(grid: str, training: Training, treebank: str) -> str:
    """Mean and standard deviation over the seeds that there are."""
    found = study.runs(grid, training, [treebank], study.FIVE)
    las = [run.test["las"] for run in found if run]
    return spread(spread_of(las)) if las else ""


def systems_table() -> Table:
    """Every system against arc-eager with the same training; describes and does not test."""
    rows = []
    for exploration in (study.STATIC, study.REPLAY):
        for system in (*study.SYSTEMS[1:], *study.PARTS):
            seeds = study.THREE if system in study.PARTS else study.FIVE
            planned = Planned("A", (system, exploration), ("arc_eager", exploration), seeds=seeds)
            found = study.difference(planned)
            if found:
                by_treebank = map(signed, study.differences(planned).values())
                rows.append((study.name(system), exploration, *by_treebank, interval(found)))
    header = ("system", "training", *map(study.short, study.SIX), "mean [95 %]")
    return Table("systems", "LAS minus that of arc_eager", header, rows)


def readme_table() -> Table:
    """The primary comparisons, short."""
    rows = []
    for found in study.family(study.PRIMARY):
        difference = found.difference
        if difference:
            figures = (percent(difference.base), percent(difference.new), interval(difference))
            rows.append((found.planned.new[0], *figures, p_value(found.p_runs), up(found)))
    header = ("system", "static", "dynamic", "gain [95 %]", "p", "higher on")
    return Table("readme", "LAS", header, rows, text_columns=1)


def lost_table(comparison: Comparison | None) -> Table | None:
    """Gold arcs lost by first mistakes and by later ones, static against default training."""
    if not comparison:
        return None
    rates: dict[str, dict[str, list[float]]] = {}
    for analysis in comparison.analyses_of(ALL):
        words = sum(of["words"] for of in analysis.counts["by_sentence_length"].values())
        found = analysis.counts["propagation"]
        lost = [100 * found[f"cost_{when}"] / words for when in ("before", "after")]
        rates.setdefault(analysis.key.system, {})[analysis.key.exploration] = lost
    rows = []
    for system, trainings in rates.items():
        both = zip(trainings[study.STATIC], trainings[study.REPLAY], strict=True)
        cells = [(f"{static:.2f}", f"{new:.2f}", signed(new - static)) for static, new in both]
        rows.append((system, *cells[0], *cells[1]))
    columns = (study.STATIC, study.REPLAY, "difference")
    header = ("system", *(f"first: {c}" for c in columns), *(f"later: {c}" for c in columns))
    return Table("lost", "", header, rows, text_columns=1)


def grid_a(systems: Sequence[str], seeds: tuple[int, ...]) -> Comparison | None:
    """Static and default training of these systems, for tables and figures of errors."""
    wanted = [
        run
        for system in systems
        for exploration in (study.STATIC, study.REPLAY)
        for run in study.runs("A", (system, exploration), study.SIX, seeds)
    ]
    found = [
        replace(run, cell=replace(run.cell, system=study.name(run.cell.system)))
        for run in wanted
        if run
    ]
    return comparison_of(found, resamples=FEW) if found and len(found) == len(wanted) else None


def error_tables(comparison: Comparison | None, names: Sequence[str]) -> dict[str, Table | None]:
    """Those tables of a comparison."""
    made = {table.name: table for table in tables(comparison)} if comparison else {}
    return {name: made.get(name) for name in names}


def study_tables() -> dict[str, Table | str | None]:
    """All tables and sentences by name, but those of errors."""
    made = (
        treebanks_table(),
        primary_table(),
        trainings_table(),
        steps_table(),
        scores_table(),
        parts_table(),
        by_treebank_table(),
        las_table(),
        systems_table(),
        readme_table(),
    )
    return {
        **{table.name: table for table in made},
        "headline": headline(study.family(study.PRIMARY)),
    }
