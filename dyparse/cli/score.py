"""`dyparse score`: score parsed files, of any parser, and test their differences."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dyparse.cli.arguments import STDIN, Commands, input_source
from dyparse.data.conllu import read_sentences
from dyparse.errors import ConfigError
from dyparse.runtime.atomic_files import require_apart, write_all
from dyparse.runtime.console import shows_colours, standard_output
from dyparse.treebank._names import files_of_split

if TYPE_CHECKING:  # it imports numpy, which is slow
    from dyparse.comparison.file_scores import Scored
    from dyparse.comparison.report.table import Table
    from dyparse.evaluation.conll18.parsed_file import ParsedFile


def register(commands: Commands) -> None:
    """The arguments of the command."""
    command = commands.add_parser(
        "score",
        help="score parsed CoNLL-U files, also of other parsers, against a gold file",
        description="Score parsed files: UAS and LAS with full labels, and all scores of the\n"
        "CoNLL 2018 shared task, equal to those of the official scorer: tokens, sentences, words,\n"
        "tags, features, lemmas, and trees with universal labels. With several files, the LAS of\n"
        "each is compared with that of the first: difference, bootstrap interval (95 %) and p of\n"
        "a paired permutation test over sentences, Holm-corrected.\n\n"
        "Files with other words or sentences than the gold file, but the same text, are aligned\n"
        "as in the shared task; all scores are F1.",
        epilog="Any parser that writes CoNLL-U can enter a comparison: let it parse the gold file\n"
        "of a run (gold.conllu beside result.json) and score its output beside the run's own\n"
        "(parsed.conllu). p is about these outputs, not about training again.\n\n"
        "examples:\n"
        "  dyparse score test.conllu parsed.conllu\n"
        "  dyparse score ud/UD_English-LinES parsed.conllu\n"
        "  dyparse score run/gold.conllu run/parsed.conllu udpipe.conllu stanza.conllu\n"
        "  dyparse parse model/ test.conllu | dyparse score test.conllu - --by label",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "gold",
        metavar="GOLD",
        help=f"gold file, or a treebank, whose test split is meant; {STDIN} is standard input",
    )
    command.add_argument(
        "files", metavar="SYSTEM", nargs="+", help=f"parsed files; {STDIN} is standard input"
    )
    command.add_argument(
        "--baseline",
        metavar="SYSTEM",
        help="file that the others are compared with (default: the first)",
    )
    command.add_argument(
        "--by",
        choices=("label", "length"),
        help="also F1 of every label (heads and labels), or of arcs by length (heads)",
    )
    command.add_argument(
        "--no-punctuation",
        action="store_true",
        help="leave out words that are punctuation, but for the scores of CoNLL 2018",
    )
    command.add_argument("--json", metavar="OUT", type=Path, help="also write all scores here")
    command.add_argument("--csv", metavar="OUT", type=Path, help="also write a line per file here")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the scores; write them as JSON and CSV if asked for."""
    from dyparse.comparison.file_scores import score_files
    from dyparse.comparison.report.export import rows_as_csv
    from dyparse.evaluation.conll18.parsed_file import parsed_file

    gold_files = [STDIN] if options.gold == STDIN else files_of_split(options.gold, "test")
    _require_names(options, gold_files)
    gold = [s for name in gold_files for s in read_sentences(input_source(name), trees=True)]
    files = {
        name: parsed_file(gold, list(read_sentences(input_source(name), trees=True)))
        for name in options.files
    }
    punctuation = not options.no_punctuation
    scored = score_files(files, baseline=options.baseline, punctuation=punctuation)
    contents = {}
    if options.json:
        contents[options.json] = _json(options, scored, files)
    if options.csv:
        contents[options.csv] = rows_as_csv([row.to_row() for row in scored])
    # names of files need not be UTF-8
    write_all({path: text.encode(errors="backslashreplace") for path, text in contents.items()})
    with standard_output() as out:
        out.write("\n".join(_tables(options, scored, files)))
    return 0


def _tables(
    options: argparse.Namespace, scored: "list[Scored]", files: "dict[str, ParsedFile]"
) -> Iterator[str]:
    """What is printed; one file gets the table of CoNLL 2018 in the layout of the shared task."""
    from dyparse.comparison.file_tables import arc_table, conll18_tables, score_table

    def shown(table: "Table") -> str:
        return table.to_text(bold=shows_colours()) + table.note + "\n"

    yield shown(score_table(scored))
    if len(scored) == 1:
        yield f"{scored[0].scores.conll18}\n"
    else:
        yield from map(shown, conll18_tables(scored))
    if options.by:
        yield shown(arc_table(files, options.by, punctuation=not options.no_punctuation))


def _require_names(options: argparse.Namespace, gold_files: list[str]) -> None:
    """ConfigError if a file is named twice, or the baseline not at all."""
    options.baseline = options.baseline or options.files[0]
    names = [*gold_files, *options.files]
    if names.count(STDIN) > 1:
        raise ConfigError(f"{STDIN} is given twice; standard input can be read once only")
    for name in options.files:
        if options.files.count(name) > 1:
            raise ConfigError(f"{name}: given twice; name each parsed file once")
    if options.baseline not in options.files:
        raise ConfigError(
            f"--baseline is {options.baseline}, expected one of {', '.join(options.files)}"
        )
    read = [name for name in names if name != STDIN]
    require_apart({"--json": options.json, "--csv": options.csv}, read)


def _json(
    options: argparse.Namespace, scored: "list[Scored]", files: "dict[str, ParsedFile]"
) -> str:
    from dataclasses import asdict

    from dyparse.comparison.file_scores import arcs_by

    punctuation = not options.no_punctuation
    rows: list[dict[str, Any]] = [row.to_dict() for row in scored]
    if options.by:
        for row in rows:
            arcs = arcs_by(files[row["file"]], options.by, punctuation=punctuation)
            row[f"by_{options.by}"] = {name: asdict(scores) for name, scores in arcs.items()}
    content = {
        "gold": options.gold,
        "baseline": options.baseline,
        "punctuation": punctuation,
        "files": rows,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
