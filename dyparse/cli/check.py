"""`dyparse check`: are these files sound CoNLL-U?"""

import argparse

from dyparse.cli.arguments import STDIN, TREEBANK, Commands, input_source
from dyparse.data.conllu import Source
from dyparse.data.conllu_report import check_files
from dyparse.errors import TreebankError
from dyparse.runtime.console import standard_output
from dyparse.treebank._names import files_of


def register(commands: Commands) -> None:
    """The arguments of the command."""
    command = commands.add_parser(
        "check",
        help="check that files are sound CoNLL-U with one tree per sentence",
        description="Check CoNLL-U files, or all files of a treebank, strictly. "
        "Exit status 2 if a sentence is malformed.",
    )
    command.add_argument(
        "files", metavar="TREEBANK", nargs="+", help=f"{TREEBANK}; {STDIN} is standard input"
    )
    command.add_argument(
        "--limit",
        type=int,
        default=20,
        metavar="N",
        help="list at most N findings per file (default: %(default)s)",
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Report on every file; the exit status."""
    with standard_output() as out:
        sources = [source for name in options.files for source in sources_of(name)]
        return check_files(sources, out, limit=options.limit)


def sources_of(name: str) -> list[Source]:
    """The files of a treebank, or standard input; what cannot be found stands for itself, and is
    reported as a file.
    """
    try:
        return [input_source(name)] if name == STDIN else [*files_of(name)[1]]
    except TreebankError:
        return [name]
