"""The report on finished runs: `report.html`, one page that needs nothing else, and its figures as
files.

Its text is made from the statistics. A training is called better or worse than the baseline only if
the test over pairs of runs says so, corrected for all comparisons; otherwise the page says that no
difference can be told, and whether there are too few runs for it.
"""

from __future__ import annotations

import base64
import gzip
import itertools
import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
from markupsafe import Markup

from dyparse.comparison import (
    ALL,
    BASELINE,
    SIGNIFICANT,
    Analysis,
    Comparison,
    Effect,
    Key,
    Pooled,
    Spread,
    comparison_of,
    to_csv,
    to_json,
)
from dyparse.errors import TreebankError
from dyparse.figures import Plot, plots
from dyparse.output_file import write
from dyparse.run_result import PARSED, RunResult
from dyparse.significance import RESAMPLES
from dyparse.tree_picture import STYLE, Tree, tree_picture
from dyparse.treebank.conllu_file import Block, read_blocks, to_sentence

PAGE, CSV, JSON, FIGURES = "report.html", "results.csv", "results.json", "figures"
GOLD = "gold.conllu"
MOST_PICTURES, MOST_WORDS = 200, 40
MOST_BYTES_OF_PICTURES = 2_500_000  # packed
PICTURE_WIDTH = 1000
LENGTHS = (10, 20, 30, MOST_WORDS)

Run = tuple[Path, RunResult]


def write_report(
    results: Sequence[Run],
    directory: Path,
    *,
    title: str,
    baseline: str = BASELINE,
    resamples: int = RESAMPLES,
) -> Path:
    """Compare finished runs, each with its directory; the path of the page.

    Beside it: results.csv, results.json, figures/*.png and *.svg.
    """
    comparison = comparison_of(
        [result for _, result in results], baseline=baseline, resamples=resamples
    )
    (directory / FIGURES).mkdir(parents=True, exist_ok=True)
    shown = plots(comparison)
    files = {(plot.name, kind): plot.to_bytes(kind) for plot in shown for kind in ("png", "svg")}
    for (name, kind), content in files.items():
        write(directory / FIGURES / f"{name}.{kind}", content)
    figures = [(plot, files[plot.name, "svg"].decode()) for plot in shown]
    write(directory / CSV, to_csv(comparison).encode())
    write(directory / JSON, to_json(comparison).encode())
    page = report_page(comparison, figures, browser_of(results, comparison), title=title)
    write(directory / PAGE, page.encode())
    return directory / PAGE


def report_page(
    comparison: Comparison,
    figures: Sequence[tuple[Plot, str]],
    browser: Browser,
    *,
    title: str,
) -> str:
    """The page, with figures as SVG."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    template = environment.get_template("report_page.html.j2")
    return template.render(
        title=title,
        extent=extent(comparison),
        verdict=verdict(comparison),
        sections=_sections(comparison, browser),
        figures={
            plot.name: {
                "title": plot.title,
                "caption": plot.caption,
                "svg": Markup(inline_svg(svg, plot.title)),
            }
            for plot, svg in figures
        },
        tables={table.name: table for table in [*tables(comparison), *browser.tables]},
        browser=browser,
        tree_style=Markup(STYLE),
        versions=f"Setting {comparison.setting_name}",
    )


def inline_svg(svg: str, label: str) -> str:
    """A picture as part of a page: without a prolog, and without names that nothing refers to."""
    body = svg[svg.index("<svg") :]
    used = set(re.findall(r'(?:url\(#|href="#)([^")]+)', body))

    def kept(match: re.Match[str]) -> str:
        return match.group() if match.group(1) in used else ""

    body = re.sub(r' id="([^"]*)"', kept, body)
    return body.replace("<svg ", f'<svg role="img" aria-label="{Markup.escape(label)}" ', 1)


# --- text ----------------------------------------------------------------------------------------


def verdict(comparison: Comparison) -> list[str]:
    """The answer, a sentence or two for every training other than the baseline."""
    rows: dict[str, list[tuple[Pooled, Effect]]] = defaultdict(list)
    for row in comparison.pooled:
        if row.effect:
            rows[comparison.training(row.key)].append((row, row.effect))
    if not rows:
        return [
            f"Nothing can be compared: no other training has a run of {comparison.baseline} with "
            "the same system, loss, treebank and seed beside it."
        ]
    undecided = sum(not effect.verdict for part in rows.values() for _, effect in part)
    return [
        " ".join(_sentences(comparison, training, of_training, undecided))
        for training, of_training in rows.items()
    ]


def _sentences(
    comparison: Comparison,
    training: str,
    rows: Sequence[tuple[Pooled, Effect]],
    undecided: int,
) -> Iterator[str]:
    subject = f"{training[:1].upper()}{training[1:]}"
    for kind, verb in (("better", "beats"), ("worse", "is worse than")):
        found = [row for row in rows if row[1].verdict == kind]
        if found:
            yield (
                f"{subject} {verb} {comparison.baseline} for {_systems(found, len(rows))}, by "
                f"{_amounts(found)} LAS on average over {_treebanks(found)} "
                f"({_p_values(found, greatest=True)})."
            )
    unsure = [row for row in rows if not row[1].verdict]
    if unsure:
        yield (
            f"For {_systems(unsure, len(rows))} no difference between {training} and "
            f"{comparison.baseline} can be told: {_amounts(unsure)} LAS over {_treebanks(unsure)} "
            f"({_p_values(unsure, greatest=False)}).{_doubts(unsure, undecided)}"
        )


def _systems(rows: Sequence[tuple[Pooled, Effect]], number: int) -> str:
    names = [row.key.system for row, _ in rows]
    if len(names) == 1:
        return names[0]
    if len(names) == number:
        return f"all {number} systems" if number > 2 else " and ".join(names)
    return f"{len(names)} of {number} systems ({', '.join(names)})"


def _amounts(rows: Sequence[tuple[Pooled, Effect]]) -> str:
    if len(rows) == 1:
        return interval(rows[0][1])
    ordered = sorted(rows, key=lambda row: row[1].las.mean)
    ends = [f"{signed(effect.las.mean)} ({row.key.system})" for row, effect in ordered]
    return f"{ends[0]} to {ends[-1]}"


def _treebanks(rows: Sequence[tuple[Pooled, Effect]]) -> str:
    numbers = {_compared(row) for row, _ in rows}
    if len(numbers) > 1:
        return f"{min(numbers)} to {max(numbers)} treebanks"
    return "one treebank" if numbers == {1} else f"{numbers.pop()} treebanks"


def _compared(row: Pooled) -> int:
    return row.tally.wins + row.tally.ties + row.tally.losses if row.tally else 0


def _p_values(rows: Sequence[tuple[Pooled, Effect]], *, greatest: bool) -> str:
    """The p of a single row, or a bound for that of all."""
    values = [effect.p_seeds for _, effect in rows if effect.p_seeds is not None]
    bound = max(values) if greatest else min(values)
    if bound < 0.001 and greatest:
        return "p < 0.001"
    sign = "=" if len(set(values)) == 1 else "≤" if greatest else "≥"
    return f"p {sign} {bound:.3f}"


def _doubts(rows: Sequence[tuple[Pooled, Effect]], undecided: int) -> str:
    """What sentences say where runs do not decide, and whether there are too few runs for it.

    n pairs of runs have 2ⁿ exchanges, two of which are as different; after Holm the least p of the
    undecided comparisons is multiplied by their number.
    """
    needed = 1
    while undecided * 2 / 2**needed >= SIGNIFICANT:
        needed += 1
    lacking = [(row, effect) for row, effect in rows if effect.las.seed_pairs < needed]
    is_sure = all(effect.p_sentences and effect.p_sentences < SIGNIFICANT for _, effect in rows)
    sentences = f" These trained parsers do differ (p < {SIGNIFICANT} over sentences); "
    if not lacking:
        return f"{sentences}others, trained with other seeds, need not." if is_sure else ""
    pairs = max(effect.las.seed_pairs for _, effect in lacking)
    runs = "a single pair of runs is" if pairs == 1 else f"{pairs} pairs of runs are"
    names = ", ".join(row.key.system for row, _ in lacking)
    who = "" if len(lacking) == len(rows) else f" for {names}"
    takes = "one comparison takes" if undecided == 1 else f"{undecided} comparisons take"
    return (
        f"{sentences if is_sure else ' But '}{runs} too few{who} to tell whether training again "
        f"would show a difference: {takes} at least {needed}, over seeds and treebanks."
    )


def explanation(comparison: Comparison) -> list[str]:
    """What the counts say about mistakes after the first one: the main loss, and of the systems
    those that have the baseline and the other training.
    """
    counts: dict[str, dict[str, dict[str, int]]] = defaultdict(dict)
    for analysis in comparison.analyses_of(ALL):
        if analysis.key.loss == comparison.main_loss:
            of_system = counts[analysis.key.exploration]
            of_system[analysis.key.system] = analysis.counts["propagation"]
    base = counts.pop(comparison.baseline, {})
    sentences = []
    for exploration, found in counts.items():
        shared = [system for system in found if system in base]
        (share, lost), (new_share, new_lost) = (
            _mistakes([part[system] for system in shared]) for part in (base, found)
        )
        if lost and new_lost:
            sentences.append(
                f"With {comparison.baseline} {share:.1f}\u00a0% of the sentences have a mistake, "
                f"with {exploration} {new_share:.1f}\u00a0%; after their first one they lose "
                f"another {lost:.2f} and {new_lost:.2f} gold arcs each "
                f"({signed(100 * (new_lost / lost - 1), 0)}\u00a0%)."
            )
    return sentences


def _mistakes(counts: Sequence[Mapping[str, int]]) -> tuple[float, float]:
    """The share of sentences with a mistake, and the arcs that each of them loses after its first;
    zeros where there is none.
    """
    names = ("sentences", "sentences_with_mistake", "cost_after")
    sentences, mistaken, cost = (sum(count[name] for count in counts) for name in names)
    return (100 * mistaken / sentences, cost / mistaken) if mistaken else (0.0, 0.0)


def extent(comparison: Comparison) -> str:
    """How much was compared."""
    parts = []
    for axis in ("treebank", "system", "exploration", "loss"):
        number = len(comparison.values(axis))
        plural = "losses" if axis == "loss" else f"{axis}s"
        parts.append(f"{number} {axis if number == 1 else plural}")
    numbers = sorted({len(line.seeds) for line in comparison.lines})
    seeds = f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else str(numbers[0])
    runs = sum(len(line.seeds) for line in comparison.lines)
    parts.append("1 seed" if seeds == "1" else f"{seeds} seeds")
    return f"{' · '.join(parts)} · {runs} runs"


def signed(value: float, digits: int = 2) -> str:
    """A difference with its sign, a true minus."""
    return f"{value:+.{digits}f}".replace("-", "−")


def interval(effect: Effect) -> str:
    """A difference and where it may lie."""
    las = effect.las
    return f"{signed(las.mean)} [{signed(las.low)}, {signed(las.high)}]"


def p_value(p: float | None) -> str:
    """Three digits suffice."""
    if p is None:
        return ""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


class Section(NamedTuple):
    """A part of the page: text, then figures and tables by name."""

    name: str
    title: str
    paragraphs: Sequence[str]
    parts: Sequence[str]


def _sections(comparison: Comparison, browser: Browser) -> list[Section]:
    differences = ("differences", "pooled", "differences_by_treebank")
    why = ("propagation", "propagation_rates", "by_first_mistake", "first_mistake")
    where = (
        *("by_sentence_length", "sentence_length", "by_arc_length", "arc_length"),
        *("projectivity", "moves", "repairs"),
    )
    return [
        Section("differences", "Differences", _caution(comparison), differences),
        Section("scores", "Scores", [], ("las", "scores")),
        Section("curves", "Learning curves", [], ("learning_curves",)),
        Section("why", "What happens after a mistake", explanation(comparison), why),
        Section("where", "Where the errors are", [], where),
        Section("sentences", "Sentences", browser.paragraphs, ("sentences",)),
        Section("method", "How it was computed", _method(comparison), ("setting",)),
    ]


def _caution(comparison: Comparison) -> list[str]:
    effects = [line.effect for line in comparison.lines if line.effect]
    if not any(effect.las.seed_pairs == 1 for effect in effects):
        return []
    return [
        "Some comparisons have a single seed on a treebank: there, intervals know nothing of luck "
        "with seeds, and are too narrow."
    ]


def _method(comparison: Comparison) -> list[str]:
    return [
        "LAS counts words whose head and full relation are right, on the test set, punctuation "
        "included; UAS heads; CLAS is that of the CoNLL 2018 shared task. Means and standard "
        "deviations (n − 1) are over seeds.",
        f"Each training is compared with {comparison.baseline} on the same system, loss, treebank "
        "and seeds. Intervals (95 %) are from a paired bootstrap over sentences and seeds, "
        f"p-values from paired permutation tests, {comparison.resamples:,} resamples each; exact "
        "where there are few units. “p, seeds” exchanges runs of the same seed and asks whether "
        "training again would show the difference; “p, sentences” exchanges sentences and is about "
        "these trained parsers. Each kind is corrected after Holm (1979) for all comparisons of "
        "its table. Over treebanks each treebank counts the same.",
        "Counts of errors are added up over seeds and treebanks.",
        *comparison.notes,
    ]


# --- tables --------------------------------------------------------------------------------------


CLASS_TABLES = {  # name: title, counts, the figure shown, note
    "first_mistake": (
        "LAS by the quarter of the derivation with the first mistake",
        "by_first_mistake",
        "las",
        "None: sentences without a mistake, whose errors are those of labels, or of gold arcs that "
        "the system cannot reach.",
    ),
    "sentence_length": (
        "LAS by the length of the sentence, in words",
        "by_sentence_length",
        "las",
        "",
    ),
    "arc_length": (
        "Labelled F1 by the length of the arc, in words",
        "by_arc_length",
        "f1",
        "Length of an arc: distance of head and dependent; root: arcs from the root.",
    ),
}


@dataclass(frozen=True)
class Table:
    """Cells to print; the first columns are text, the others numbers."""

    name: str
    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    note: str = ""
    text_columns: int = 2
    verdicts: list[str] = field(default_factory=list)  # of rows: better, worse or nothing
    key_column: int = -1  # that shows the verdict

    def to_markdown(self) -> str:
        """The table with its title and note."""
        line = "|".join(
            "---" if column < self.text_columns else "--:" for column in range(len(self.header))
        )
        cells = [[cell.replace("|", "\\|") for cell in row] for row in (self.header, *self.rows)]
        rows = [f"| {' | '.join(row)} |" for row in cells]
        parts = [f"### {self.title}", *([self.note] if self.note else [])]
        return "\n\n".join([*parts, "\n".join([rows[0], f"|{line}|", *rows[1:]])]) + "\n"


def tables(comparison: Comparison) -> list[Table]:
    """All tables with at least a row."""
    makers: tuple[Callable[[Comparison], Table], ...] = (
        _pooled_table,
        _las_table,
        _scores_table,
        _propagation_table,
        _projectivity_table,
        _moves_table,
        _repairs_table,
        _setting_table,
    )
    made = [*(make(comparison) for make in makers), *_class_tables(comparison)]
    return [table for table in made if table.rows]


def percent(value: float | None, digits: int = 2) -> str:
    """A figure, or nothing."""
    return "" if value is None else f"{value:.{digits}f}"


def spread(value: Spread) -> str:
    """Mean and standard deviation."""
    return percent(value.mean) + ("" if value.sd is None else f" ± {value.sd:.2f}")


def _pooled_table(comparison: Comparison) -> Table:
    rows, verdicts = [], []
    for row in comparison.pooled:
        if row.effect and row.tally:
            las, tally = row.effect.las, row.tally
            rows.append(
                (
                    row.key.system,
                    comparison.training(row.key),
                    str(_compared(row)),
                    str(las.seed_pairs),
                    percent(las.base),
                    percent(las.new),
                    interval(row.effect),
                    p_value(row.effect.p_seeds),
                    p_value(row.effect.p_sentences),
                    f"{tally.wins} / {tally.ties} / {tally.losses}",
                )
            )
            verdicts.append(row.effect.verdict)
    header = (
        *("system", "training", "treebanks", "pairs of runs", f"LAS, {comparison.baseline}"),
        *("LAS", "difference [95 %]", "p, seeds", "p, sentences", "win / tie / loss"),
    )
    return Table(
        "pooled",
        f"Difference to {comparison.baseline}, mean over treebanks",
        header,
        rows,
        "p corrected after Holm for all rows. Win / tie / loss: treebanks on which the training is "
        "better, not distinguishable, worse, by p over sentences, corrected.",
        verdicts=verdicts,
        key_column=6,
    )


def _las_table(comparison: Comparison) -> Table:
    treebanks = comparison.values("treebank")
    found = {line.key: spread(line.test["las"]) for line in comparison.lines}
    rows = [
        (
            row.key.system,
            comparison.training(row.key),
            *(found.get(row.key._replace(treebank=name), "") for name in treebanks),
            *([percent(row.test["las"])] if len(treebanks) > 1 else []),
        )
        for row in comparison.pooled
    ]
    return Table(
        "las",
        "LAS on test: mean ± standard deviation over seeds",
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
                interval(effect) if effect else "",
                p_value(effect.p_sentences if effect else None),
            )
        )
        is_sure = effect and effect.p_sentences is not None and effect.p_sentences < SIGNIFICANT
        sign = "better" if effect and effect.las.mean > 0 else "worse"
        verdicts.append(sign if is_sure else "")
    header = (
        *("system", "treebank", "training", "seeds", "UAS", "LAS", "CLAS", "LAS on dev"),
        *(f"LAS − {comparison.baseline} [95 %]", "p, sentences"),
    )
    return Table(
        "scores",
        "All scores on test",
        header,
        rows,
        "p corrected after Holm for all rows.",
        text_columns=3,
        verdicts=verdicts,
        key_column=8,
    )


def _analysis_rows(comparison: Comparison, cells: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """A row for every training over all treebanks."""
    both = zip(comparison.analyses_of(ALL), cells, strict=True)
    return [(a.key.system, comparison.training(a.key), *row) for a, row in both]


def _class_tables(comparison: Comparison) -> list[Table]:
    """Tables with a column for each class of words or arcs that occurs."""
    analyses = comparison.analyses_of(ALL)
    found = []
    for name, (title, counts, figure, note) in CLASS_TABLES.items():
        classes = [
            c
            for c in (analyses[0].rates[counts] if analyses else ())
            if any(a.rates[counts][c][figure] is not None for a in analyses)
        ]
        rows = [[percent(a.rates[counts][c][figure]) for c in classes] for a in analyses]
        named = _analysis_rows(comparison, rows)
        found.append(Table(name, title, ("system", "training", *classes), named, note))
    return found


def _propagation_table(comparison: Comparison) -> Table:
    def cells(analysis: Analysis) -> list[str]:
        rates = analysis.rates["propagation"][""]
        digits = {
            "sentences_with_mistake": 1,
            "cost_after_per_state": 4,
            "moves_per_sentence": 1,
        }
        return [percent(value, digits.get(name, 2)) for name, value in rates.items()]

    return Table(
        "propagation_rates",
        "Mistakes before and after the first one of a sentence",
        (
            *("system", "training", "sentences with a mistake, %", "mistakes up to the first, %"),
            *("mistakes after it, %", "cost after it per sentence", "cost after it per state"),
            "moves per sentence",
        ),
        _analysis_rows(comparison, [cells(a) for a in comparison.analyses_of(ALL)]),
        "Mistakes: moves with a cost, in percent of all moves there. Cost: gold arcs made "
        "unreachable; per sentence: with a mistake. Where trainings differ in moves per sentence, "
        "shares of moves cannot be compared, but the cost per sentence can.",
    )


def _projectivity_table(comparison: Comparison) -> Table:
    def cells(analysis: Analysis) -> list[str]:
        rates, counts = analysis.rates["by_projectivity"], analysis.counts["by_projectivity"]
        return [
            *(percent(rates["projective"][name]) for name in ("precision", "recall")),
            f"{counts['nonprojective']['gold']:,}",
            f"{counts['nonprojective']['predicted']:,}",
            *(percent(rates["nonprojective"][name]) for name in ("precision", "recall", "f1")),
        ]

    return Table(
        "projectivity",
        "Heads of projective and non-projective arcs",
        (
            *("system", "training", "projective: precision", "recall", "non-projective: gold"),
            *("predicted", "precision", "recall", "F1"),
        ),
        _analysis_rows(comparison, [cells(a) for a in comparison.analyses_of(ALL)]),
        "An arc is non-projective if it spans a word that does not descend from its head. A "
        "projective parser finds some of these heads too, in a tree where nothing crosses.",
    )


def _moves_table(comparison: Comparison) -> Table:
    """A row for every system and move, a column for every training."""
    trainings = list(dict.fromkeys(comparison.training(row.key) for row in comparison.pooled))
    found: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for analysis in comparison.analyses_of(ALL):
        for move, rates in analysis.rates["moves"].items():
            cell = percent(rates["free"])
            found[analysis.key.system, move][comparison.training(analysis.key)] = cell
    rows = [
        (system, move, *(cells.get(training, "") for training in trainings))
        for (system, move), cells in found.items()
        if any(cells.values())
    ]
    return Table(
        "moves",
        "Moves that cost nothing, in percent of those taken",
        ("system", "move", *trainings),
        rows,
    )


def _repairs_table(comparison: Comparison) -> Table:
    names = ("arcs", "right_arcs", "replaced", "mended", "broken")
    rows = [
        (
            analysis.key.system,
            comparison.training(analysis.key),
            move,
            *(f"{counts[name]:,}" for name in names),
        )
        for analysis in comparison.analyses_of(ALL)
        for move, counts in analysis.counts["moves"].items()
        if counts["replaced"] or (move == "REDUCE" and counts["arcs"])
    ]
    return Table(
        "repairs",
        "Repairs",
        ("system", "training", "move", "arcs", "right", "heads replaced", "mended", "broken"),
        rows,
        "Moves that replaced a head, or added one when the word left the stack. Mended: from a "
        "wrong head to the right one; broken: the other way round.",
        text_columns=3,
    )


def _setting_table(comparison: Comparison) -> Table:
    rows = [
        (part, ", ".join(f"{name}={value}" for name, value in options.items()))
        for part, options in comparison.setting.items()
        if isinstance(options, Mapping)
    ]
    return Table("setting", f"Setting {comparison.setting_name}", ("part", "options"), rows)


# --- sentences -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Browser:
    """Pictures of sentences that the trainings parse differently, and text about them."""

    paragraphs: list[str]
    tables: list[Table]
    pictures: list[dict[str, Any]]

    @property
    def packed(self) -> str:
        """The pictures for the page: JSON, gzip, base64."""
        return pack(self.pictures)

    @property
    def fields(self) -> list[dict[str, Any]]:
        """What one can choose by."""
        fields = []
        for name in ("system", "training", "treebank", "seed", "better"):
            values = sorted({picture[name] for picture in self.pictures})
            options = [("", "all"), *((str(value), str(value)) for value in values)]
            title = "better with" if name == "better" else name
            fields.append({"name": name, "title": title, "options": options})
        longest = max(picture["words"] for picture in self.pictures)
        steps = [n for n in LENGTHS if n < longest] + [MOST_WORDS]
        options = [(str(n), f"up to {n} words") for n in reversed(steps)]
        fields.append({"name": "most_words", "title": "length", "options": options})
        return fields


def pack(pictures: Sequence[Mapping[str, Any]]) -> str:
    """JSON, gzip, base64; the same for the same pictures."""
    text = json.dumps(pictures, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


class Example(NamedTuple):
    """A sentence that two runs of the same seed parse differently."""

    gain: int  # words right in the second, not in the first
    words: int
    sentence: int  # its place in the split
    base: Run
    new: Run

    @property
    def files(self) -> tuple[Path, Path, Path]:
        """Where its trees are: gold, and parsed by both."""
        (base, _), (new, _) = self.base, self.new
        gold = new / GOLD if (new / GOLD).is_file() else base / GOLD
        return gold, base / PARSED, new / PARSED


def browser_of(results: Sequence[Run], comparison: Comparison) -> Browser:
    """Pictures as far as the directories of the runs hold parsed and gold sentences."""
    groups, rows = _examples(results, comparison)
    table = Table(
        "sentences",
        "Sentences with more, as many and fewer right words, in percent",
        ("system", "training", "more", "as many", "fewer"),
        rows,
        f"Head and label; each sentence of each pair of runs, compared with {comparison.baseline}.",
    )
    shown_tables = [table] if rows else []
    if not groups:
        return Browser(["There are no pairs of runs whose sentences differ."], shown_tables, [])
    groups = [group for group in groups if all(path.is_file() for path in group[0].files)]
    chosen = list(itertools.islice(_in_turn(groups), MOST_PICTURES))
    reader = Reader(chosen)
    pictures = _bounded(picture for e in chosen if (picture := reader.picture(e, comparison)))
    if not pictures:
        reason = f" ({reader.faults[0]})" if reader.faults else ""
        needs = f"that needs {PARSED} and {GOLD} in the directories of the runs{reason}."
        return Browser([f"No sentences are shown: {needs}"], shown_tables, [])
    about = (
        f"{len(pictures)} sentences of at most {MOST_WORDS} words, chosen for the largest "
        "differences: in turn from each system, training and treebank, one with more right words "
        f"than {comparison.baseline}, then one with fewer. So they show what differs, not how "
        "often."
    )
    missing = [f"Left out: {fault}." for fault in reader.faults]
    pictures.sort(key=lambda picture: -abs(picture["gain"]))
    return Browser([about, *missing], shown_tables, pictures)


def _bounded(pictures: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
    """As many of the first as may be on the page."""
    kept: list[dict[str, Any]] = []
    size = 0
    for picture in pictures:
        size += len(pack([picture]))
        if size > MOST_BYTES_OF_PICTURES:
            break
        kept.append(picture)
    return kept


def _examples(
    results: Sequence[Run], comparison: Comparison
) -> tuple[list[list[Example]], list[tuple[str, ...]]]:
    """For every system, training and treebank the sentences that differ; and how many do."""
    runs = {(_key(run), run[1].cell.seed): run for run in results}
    groups: dict[Key, list[Example]] = defaultdict(list)
    tallies: dict[tuple[str, str], list[int]] = {}
    for line in comparison.lines:
        if not line.effect:
            continue
        tally = tallies.setdefault((line.key.system, comparison.training(line.key)), [0, 0, 0])
        of_base = line.key._replace(exploration=comparison.baseline)
        for seed in line.seeds:
            if (of_base, seed) in runs:
                for example in _differences(runs[of_base, seed], runs[line.key, seed]):
                    tally[(example.gain <= 0) + (example.gain < 0)] += 1
                    if example.gain and example.words <= MOST_WORDS:
                        groups[line.key].append(example)
    rows = [
        (system, training, *(percent(100 * n / sum(tally), 1) for n in tally))
        for (system, training), tally in tallies.items()
    ]
    return list(groups.values()), rows


def _key(run: Run) -> Key:
    cell = run[1].cell
    return Key(cell.system, cell.exploration, cell.loss, cell.treebank)


def _differences(base: Run, new: Run) -> Iterator[Example]:
    before, after = (run[1].sentences["labelled"] for run in (base, new))
    for place, words in enumerate(new[1].sentences["words"]):
        yield Example(after[place] - before[place], words, place, base, new)


def _in_turn(groups: Sequence[list[Example]]) -> Iterator[Example]:
    """From every group its most different sentence for the better or for the worse, then one of the
    other kind, and so on; each sentence of a group once. Half of the groups begin with the better.
    """
    queues = []
    for number, group in enumerate(random.Random(0).sample(groups, len(groups))):
        order = sorted(group, key=lambda e: (-abs(e.gain), e.words, e.sentence, e.new[1].cell.seed))
        once = {example.sentence: example for example in reversed(order)}
        kept = [example for example in order if once[example.sentence] is example]
        sides = [[e for e in kept if e.gain > 0], [e for e in kept if e.gain < 0]]
        queues.append(sides if number % 2 else sides[::-1])
    for turn in range(2 * max(map(len, groups), default=0)):
        for sides in queues:
            yield from sides[turn % 2][turn // 2 : turn // 2 + 1]


class Reader:
    """The trees of some examples, each file read once; `faults` says what is wrong with files."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.faults: list[str] = []
        self.blocks: dict[Path, dict[int, Block]] = {}
        self.needed: dict[Path, set[int]] = defaultdict(set)
        for example in examples:
            for path in example.files:
                self.needed[path].add(example.sentence)

    def picture(self, example: Example, comparison: Comparison) -> dict[str, Any] | None:
        """The gold tree and those of both runs, one above the other; None without them."""
        cell, training = example.new[1].cell, comparison.training(_key(example.new))
        names = ("gold", comparison.baseline, cell.exploration)
        found = [
            self.tree(name, path, example) for name, path in zip(names, example.files, strict=True)
        ]
        trees = [tree for tree in found if tree]
        if len(trees) < len(names):
            return None
        before, after = (
            run[1].sentences["labelled"][example.sentence] for run in (example.base, example.new)
        )
        return {
            "system": cell.system,
            "training": training,
            "treebank": cell.treebank,
            "seed": cell.seed,
            "better": training if example.gain > 0 else comparison.baseline,
            "words": example.words,
            "gain": example.gain,
            "about": f"{cell.treebank}, sentence {example.sentence + 1}, {cell.system}, seed "
            f"{cell.seed}: of {example.words} words {before} are right with "
            f"{comparison.baseline}, {after} with {training}",
            "svg": tree_picture(trees, width=PICTURE_WIDTH, standalone=False),
        }

    def tree(self, name: str, path: Path, example: Example) -> Tree | None:
        """The tree of the example's sentence in a file, if it is there and fits."""
        try:
            if path not in self.blocks:
                self.blocks[path] = self.read(path, len(example.new[1].sentences["words"]))
            if example.sentence not in self.blocks[path]:
                return None
            sentence = to_sentence(self.blocks[path][example.sentence], trees=True)
            if len(sentence) != example.words:
                raise TreebankError(f"{sentence.place} does not have {example.words} words")
        except TreebankError as error:
            self.faults.append(str(error))
            return None
        return Tree(name, sentence.form, sentence.head, sentence.relation, sentence.upos)

    def read(self, path: Path, expected: int) -> dict[int, Block]:
        """The blocks needed of a file; none if it has another number of sentences."""
        found, number = {}, 0
        for number, block in enumerate(read_blocks(path), 1):
            if number - 1 in self.needed[path]:
                found[number - 1] = block
        if number != expected:
            self.faults.append(f"{path} has {number} sentences, expected {expected}")
            return {}
        return found
