"""`dyparse check`: are these files sound CoNLL-U?"""

import argparse

from dyparse.cli.arguments import STDIN, Commands, input_source
from dyparse.data.conllu_report import check_files
from dyparse.runtime.console import standard_output


def register(commands: Commands) -> None:
    """The arguments of the command."""
    command = commands.add_parser(
        "check",
        help="check that files are sound CoNLL-U with one tree per sentence",
        description="Check CoNLL-U files strictly. Exit status 2 if a sentence is malformed.",
    )
    command.add_argument(
        "files", metavar="FILE", nargs="+", help=f"files to check; {STDIN} is standard input"
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
        return check_files(map(input_source, options.files), out, limit=options.limit)
