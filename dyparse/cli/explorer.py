"""`dyparse explorer`: the oracle explorer as one page that needs no server."""

import argparse
from pathlib import Path

from dyparse.cli.arguments import ALTERNATIVE, STDIN, TREEBANK, Commands, chosen_system
from dyparse.cli.sentences import find_sentence, tree_for_oracle
from dyparse.runtime.atomic_files import write
from dyparse.runtime.console import standard_output


def register(commands: Commands) -> None:
    """The arguments of the command."""
    command = commands.add_parser(
        "explorer",
        help="write the oracle explorer of a short sentence as one web page",
        description="Write one self-contained web page in which a short sentence can be parsed\n"
        "by hand: all states that the system can reach, the costs of all moves, and the gold\n"
        "arcs that they lose. It needs no server and no network. `dyparse serve` is for longer\n"
        "sentences, for models, and for trees that you change.",
        epilog="examples:\n"
        "  dyparse explorer --static short.conllu -o page.html\n"
        "  dyparse explorer --static short.conllu --sentence 2 --system arc_hybrid -o page.html",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "--static",
        dest="file",
        metavar="TREEBANK",
        required=True,
        help=f"{TREEBANK}; {STDIN} is standard input",
    )
    command.add_argument(
        "--system",
        default="arc_eager",
        help=f"transition system, {ALTERNATIVE} (default: %(default)s)",
    )
    command.add_argument(
        "--sentence", metavar="ID", help="sent_id, or number in the file (default: the first)"
    )
    command.add_argument(
        "-o", "--output", metavar="OUT", type=Path, help="page (default: standard output)"
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the page."""
    from dyparse.web.static_page import static_page

    system = chosen_system(options.system)
    sentence = tree_for_oracle(find_sentence(options.file, options.sentence))
    page = static_page(system, sentence)
    if options.output:
        write(options.output, page.encode("utf-8", "replace"))
    else:
        with standard_output() as out:
            out.write(page)
    return 0
