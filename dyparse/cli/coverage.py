"""`dyparse coverage`: how much of a treebank each transition system can build."""

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from dyparse.cli.arguments import (
    ALTERNATIVE,
    STDIN,
    TREEBANK,
    Commands,
    add_on_error,
    chosen_system,
)
from dyparse.cli.sentences import tree_for_oracle
from dyparse.data.columns.pseudo_projective import AS_IT_IS, PROJECTIVITIES
from dyparse.data.conllu import Source
from dyparse.data.malformed import read_trees
from dyparse.errors import ConfigError
from dyparse.runtime.atomic_files import replacing, require_apart
from dyparse.runtime.console import print_notice, standard_output
from dyparse.treebank._names import files_of

if TYPE_CHECKING:  # it imports numba, which is slow
    from dyparse.evaluation.coverage import Row


def register(commands: Commands) -> None:
    """The arguments of the command."""
    command = commands.add_parser(
        "coverage",
        help="show how much of a treebank each transition system can build",
        description="For every treebank and transition system: how many sentences have a gold\n"
        "tree that the system can build, how many gold arcs are in the best trees that it can\n"
        "build, and how many arcs a sentence loses that cannot be built, on average and at most.",
        epilog="examples:\n"
        "  dyparse coverage sample\n"
        "  dyparse coverage ud/UD_English-LinES\n"
        "  dyparse coverage ud/UD_* --csv coverage.csv\n"
        "  dyparse coverage dev.conllu --system arc_eager --system arc_eager:root=first\n"
        "  dyparse coverage dev.conllu --system arc_eager --projectivity head+path",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "files",
        metavar="TREEBANK",
        nargs="+",
        help=f"{TREEBANK}, or {STDIN} for standard input",
    )
    command.add_argument(
        "--system",
        action="append",
        dest="systems",
        metavar="SYSTEM",
        help=f"transition system, {ALTERNATIVE}; may be repeated (default: all, with their "
        "default options)",
    )
    command.add_argument(
        "--projectivity",
        action="append",
        dest="projectivities",
        choices=PROJECTIVITIES[1:],
        metavar="ENCODING",
        help="also a line for every system that builds projective trees, with crossing arcs lifted "
        "and put back by labels: head, path or head+path; may be repeated",
    )
    command.add_argument(
        "--csv", metavar="OUT", type=Path, help="also write a line per treebank and system here"
    )
    add_on_error(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print a table for each treebank; write all of them as CSV if asked for."""
    from dyparse.evaluation.coverage import compare, table, write_csv
    from dyparse.system import names

    systems = {text: chosen_system(text) for text in options.systems or names()}
    projectivities = (AS_IT_IS, *dict.fromkeys(options.projectivities or ()))
    if options.projectivities and all(system.trees != "projective" for system in systems.values()):
        raise ConfigError(
            f"--projectivity is {options.projectivities[0]}, but no tree is lifted for "
            f"{', '.join(systems)}; add a --system that builds projective trees only, such as "
            "arc_eager, or leave --projectivity out"
        )
    treebanks = [treebank_sources(name) for name in options.files]  # all, before the first is read
    read = [source for _, sources in treebanks for source in sources if source is not sys.stdin]
    require_apart({"--csv": options.csv}, map(str, read))
    rows: list[Row] = []
    with ExitStack() as stack:
        if options.csv:
            temporary = stack.enter_context(replacing(options.csv))
            file = stack.enter_context(
                temporary.open("w", encoding="utf-8", errors="surrogateescape", newline="")
            )
        out = stack.enter_context(standard_output())
        for number, (treebank, sources) in enumerate(treebanks):
            sentences = read_trees(sources, options.on_error, print_notice, check=tree_for_oracle)
            of_treebank = compare(treebank, sentences, systems, projectivities)
            out.write("\n" * (number > 0) + "\n".join(table(of_treebank)) + "\n")
            out.flush()
            rows += of_treebank
        if options.csv:
            write_csv(rows, file)
    return 0


def treebank_sources(name: str) -> tuple[str, list[Source]]:
    """The name of a treebank, and its files; or standard input."""
    if name == STDIN:
        return "<stdin>", [sys.stdin]
    short, files = files_of(name)
    return short, [*files]
