"""The `dyparse` command: its subcommands, and how one of them is run."""

import argparse
import sys
from collections.abc import Sequence

from dyparse.cli import (
    check,
    compare,
    conf,
    coverage,
    download,
    draw,
    evaluate,
    explorer,
    oracle,
    package,
    parse,
    parse_corpus,
    push,
    report,
    score,
    serve,
    train,
    trajectories,
)
from dyparse.cli.arguments import STDIN
from dyparse.runtime.console import escape_unencodable_output
from dyparse.runtime.entry import clear_errors
from dyparse.version import __version__

COMMANDS = (
    train,
    evaluate,
    parse,
    parse_corpus,
    compare,
    report,
    score,
    conf,
    check,
    download,
    push,
    package,
    coverage,
    oracle,
    trajectories,
    draw,
    explorer,
    serve,
)
BY_HYDRA = {"train": train.main, "evaluate": evaluate.main}  # it reads their arguments


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status."""
    escape_unencodable_output()  # for --help too
    with clear_errors():
        try:
            return run(sys.argv[1:] if arguments is None else arguments)
        finally:
            sys.stdout.flush()  # of --help too


def run(arguments: Sequence[str]) -> int:
    """Run the command that the first argument names; the exit status."""
    if arguments and arguments[0] in BY_HYDRA:
        return BY_HYDRA[arguments[0]](arguments[1:])
    options = parse_arguments(arguments)
    status: int = options.run(options)
    return status


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """The command line as options; files may follow options: `parse MODEL --keep upos FILE`."""
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
        epilog="`dyparse COMMAND --help` explains a command. First steps:\n"
        "  dyparse train trainer.epochs=10      train on the sample treebank of the package\n"
        "  dyparse parse MODEL FILE.conllu      parse with the model that it prints",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"dyparse {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.register(commands)
    return top
