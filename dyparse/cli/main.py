"""The `dyparse` command: its subcommands, and how one of them is run."""

import argparse
import os
import sys
from collections.abc import Sequence

from dyparse.cli import (
    check,
    compare,
    coverage,
    download,
    draw,
    oracle,
    parse,
    parse_corpus,
    report,
)
from dyparse.cli.arguments import STDIN
from dyparse.runtime.console import escape_unencodable_output
from dyparse.runtime.entry import clear_errors
from dyparse.version import __version__

COMMANDS = (parse, parse_corpus, check, download, coverage, oracle, draw, compare, report)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status."""
    escape_unencodable_output()  # for --help too
    options = parse_arguments(arguments)
    with clear_errors():
        try:
            status: int = options.run(options)
            sys.stdout.flush()
        except BrokenPipeError:  # nobody reads our output any more
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 141
        return status


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line as options; files may follow options, as in `parse MODEL --text FILE`."""
    parser = command_line()
    options, more = parser.parse_known_args(arguments)
    wrong = [m for m in more if m.startswith("-") and m != STDIN]
    if wrong or (more and not hasattr(options, "files")):
        parser.error(f"unrecognized arguments: {' '.join(more)}")
    if more:
        options.files += more
    return options


def command_line() -> argparse.ArgumentParser:
    """The parser of the command line, with all commands."""
    top = argparse.ArgumentParser(
        prog="dyparse",
        description="Greedy neural dependency parsing with exact dynamic oracles.",
        epilog="To train and evaluate models, use train.py and evaluate.py of the source tree.",
    )
    top.add_argument("--version", action="version", version=f"dyparse {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.register(commands)
    return top
