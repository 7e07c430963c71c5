"""`dyparse oracle`: the derivation of a gold tree, with the costs of all moves."""

import argparse
import shutil

from dyparse.cli.arguments import ALTERNATIVE, STDIN, TREEBANK, Commands, chosen_system
from dyparse.cli.sentences import find_sentence, tree_for_oracle
from dyparse.errors import ConfigError
from dyparse.runtime.console import shows_colours, standard_output

WIDTH = 100  # of lines, if standard output is no terminal
LATEX_WIDTH = 40  # of stack and buffer together


def register(commands: Commands) -> None:
    """The arguments of the command."""
    command = commands.add_parser(
        "oracle",
        help="show a derivation of a gold tree, with the costs of all moves",
        description="Show the derivation of a gold tree step by step: stack and buffer, the cost\n"
        "of every legal move, which gold arcs it loses, which moves are best, and which one is\n"
        "taken.",
        epilog="examples:\n"
        "  dyparse oracle sample\n"
        "  dyparse oracle dev.conllu --sentence 7 --system arc_eager:root=first\n"
        "  dyparse oracle dev.conllu --sentence weblog-01 --mistakes 0.1 --seed 3 --format json\n"
        "  dyparse oracle dev.conllu --format latex > derivation.tex",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("file", metavar="TREEBANK", help=f"{TREEBANK}; {STDIN} is standard input")
    command.add_argument(
        "--system",
        default="arc_eager",
        help=f"transition system, {ALTERNATIVE} (default: %(default)s)",
    )
    command.add_argument(
        "--sentence", metavar="ID", help="sent_id, or number in the file (default: the first)"
    )
    command.add_argument(
        "--mistakes",
        metavar="P",
        type=float,
        default=0.0,
        help="probability of a random move that costs something (default: %(default)s)",
    )
    command.add_argument(
        "--seed", type=int, default=0, help="random seed of the mistakes (default: %(default)s)"
    )
    command.add_argument(
        "--format",
        choices=("text", "json", "latex"),
        default="text",
        help="text, one JSON object, or a LaTeX table with booktabs (default: %(default)s)",
    )
    command.add_argument(
        "--width",
        metavar="N",
        type=int,
        help="shorten lines to N columns, 0 for no limit (default: as wide as the terminal; "
        f"LaTeX: {LATEX_WIDTH} for stack and buffer)",
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the derivation; exit status 1 if the costs do not add up to the arcs lost."""
    from dyparse.evaluation.oracle_trace import (
        Derivation,
        Page,
        write_json,
        write_latex,
        write_text,
    )

    if options.width is not None and options.width < 0:
        raise ConfigError(f"--width is {options.width}, expected 0 or more")
    system = chosen_system(options.system)
    sentence = tree_for_oracle(find_sentence(options.file, options.sentence))
    try:
        derivation = Derivation(system, sentence.head, options.mistakes, options.seed)
    except ValueError as error:
        raise ConfigError(f"--{error}") from error
    write = {"text": write_text, "json": write_json, "latex": write_latex}[options.format]
    width = options.width
    if width is None and options.format == "latex":
        width = LATEX_WIDTH
    elif width is None:
        width = shutil.get_terminal_size(fallback=(WIDTH, 0)).columns
    colour = shows_colours()
    page = Page(sentence, options.system, width, colour)
    with standard_output() as out:
        end = write(derivation, page, out)
    return 0 if end.adds_up else 1
