"""The `dyparse` command and what can be asked of it; commands that parse say so themselves."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from dyparse.cli.commands import (
    STDIN,
    run_check,
    run_coverage,
    run_download,
    run_oracle,
)
from dyparse.cli.draw import run_draw
from dyparse.cli.parse import add_on_error, add_parse
from dyparse.cli.parse_corpus import add_parse_corpus
from dyparse.data.download import MAX_BYTES, RELEASE, URL
from dyparse.runtime.console import escape_unencodable_output
from dyparse.runtime.entry import clear_errors
from dyparse.version import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status."""
    escape_unencodable_output()  # for --help too
    options = parse_arguments(arguments)
    with clear_errors():
        try:
            status: int = options.run(options)
            sys.stdout.flush()
        except BrokenPipeError:  # whoever reads our output has had enough
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
    """What can be asked of `dyparse`."""
    top = argparse.ArgumentParser(
        prog="dyparse",
        description="Greedy neural dependency parsing with exact dynamic oracles.",
        epilog="train.py and evaluate.py of the source tree train and evaluate models.",
    )
    top.add_argument("--version", action="version", version=f"dyparse {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    add_parse(commands)
    add_parse_corpus(commands)
    _add_check(commands)
    _add_download(commands)
    _add_coverage(commands)
    _add_oracle(commands)
    _add_draw(commands)
    _add_compare(commands)
    _add_report(commands)
    return top


def _later(name: str) -> Callable[[argparse.Namespace], int]:
    """A function of compare_command, imported when it is called: it needs torch, which is slow."""

    def run(options: argparse.Namespace) -> int:
        from dyparse.cli import compare as compare_command

        status: int = getattr(compare_command, name)(options)
        return status

    return run


def _add_check(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    check = commands.add_parser(
        "check",
        help="check that files are sound CoNLL-U with one tree per sentence",
        description="Check CoNLL-U files strictly. Exit status 2 if a sentence is unsound.",
    )
    check.add_argument(
        "files", metavar="FILE", nargs="+", help=f"files to check; {STDIN} is standard input"
    )
    check.add_argument(
        "--limit",
        type=int,
        default=20,
        metavar="N",
        help="list at most N findings a file (default: %(default)s)",
    )
    check.set_defaults(run=run_check)


def _add_download(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    fetch = commands.add_parser(
        "download",
        help="fetch one treebank of a Universal Dependencies release",
        description="Fetch one treebank of a UD release, for\n"
        "train.py treebank=ud treebank.root=DIR treebank.name=NAME.",
        epilog="If the connection breaks off or stalls, the download starts over, up to three\n"
        "times. DIR/NAME appears only when it is complete. While one process downloads a\n"
        "treebank into DIR, a second download of the same treebank is refused.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    fetch.add_argument("name", metavar="NAME", help="for example UD_English-EWT")
    fetch.add_argument(
        "--root", default="ud", metavar="DIR", help="put it into DIR/NAME (default: %(default)s)"
    )
    fetch.add_argument("--release", default=RELEASE, help="UD release (default: %(default)s)")
    fetch.add_argument(
        "--url", default=URL, help="address with {name} and {release} (default: %(default)s)"
    )
    fetch.add_argument("--sha256", help="refuse an archive with another checksum, in hexadecimal")
    fetch.add_argument(
        "--max-bytes",
        type=int,
        default=MAX_BYTES,
        metavar="N",
        help="refuse an archive of more bytes, or with more in it (default: %(default)s)",
    )
    fetch.add_argument("--force", action="store_true", help="replace what is in DIR/NAME")
    fetch.set_defaults(run=run_download)


def _add_coverage(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    coverage = commands.add_parser(
        "coverage",
        help="tell how much of a treebank each transition system can build",
        description="For every treebank and transition system: the share of sentences whose gold\n"
        "tree the system can build, the share of gold arcs in the best trees that it can\n"
        "build, and the arcs lost in a sentence that cannot be built, mean and most.",
        epilog="examples:\n"
        "  dyparse coverage ud/UD_English-LinES\n"
        "  dyparse coverage ud/UD_* --csv coverage.csv\n"
        "  dyparse coverage dev.conllu --system arc_eager --system arc_eager:root=first",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    coverage.add_argument(
        "files",
        metavar="TREEBANK",
        nargs="+",
        help=f"a CoNLL-U file, a directory with *.conllu files, or {STDIN} for standard input",
    )
    coverage.add_argument(
        "--system",
        action="append",
        dest="systems",
        metavar="SYSTEM",
        help="a transition system, NAME or NAME:KEY=VALUE,KEY=VALUE; may be repeated "
        "(default: all, with their default options)",
    )
    coverage.add_argument(
        "--csv", metavar="OUT", type=Path, help="also write a line per treebank and system here"
    )
    add_on_error(coverage)
    coverage.set_defaults(run=run_coverage)


def _add_oracle(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    oracle = commands.add_parser(
        "oracle",
        help="show a derivation of a gold tree, and what the oracle says at every step",
        description="Show the derivation of a gold tree step by step: stack and buffer, what\n"
        "every legal move costs, which are best, and the move that is taken.",
        epilog="examples:\n"
        "  dyparse oracle dev.conllu\n"
        "  dyparse oracle dev.conllu --sentence 7 --system arc_eager:root=first\n"
        "  dyparse oracle dev.conllu --sentence weblog-01 --mistakes 0.1 --seed 3 --json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    oracle.add_argument("file", metavar="FILE", help=f"CoNLL-U file; {STDIN} is standard input")
    oracle.add_argument(
        "--system",
        default="arc_eager",
        help="transition system, NAME or NAME:KEY=VALUE,KEY=VALUE (default: %(default)s)",
    )
    oracle.add_argument(
        "--sentence", metavar="ID", help="sent_id, or number in the file (default: the first)"
    )
    oracle.add_argument(
        "--mistakes",
        metavar="P",
        type=float,
        default=0.0,
        help="how often to take a random move that costs something (default: %(default)s)",
    )
    oracle.add_argument(
        "--seed", type=int, default=0, help="of the mistakes (default: %(default)s)"
    )
    oracle.add_argument(
        "--json", action="store_true", help="one JSON object instead of lines to read"
    )
    oracle.add_argument(
        "--width",
        metavar="N",
        type=int,
        help="columns to shorten lines to, 0 for none (default: those of the terminal)",
    )
    oracle.set_defaults(run=run_oracle)


def _add_draw(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    draw = commands.add_parser(
        "draw",
        help="draw trees as SVG or HTML, with what differs between files",
        description="Draw dependency trees: arcs above the words, crossing ones dashed. With\n"
        "--with, the trees of other files stand below, and what differs from FILE is marked.",
        epilog="examples:\n"
        "  dyparse draw dev.conllu -o tree.svg\n"
        "  dyparse draw dev.conllu --sentence 7 --sentence weblog-01 -o trees.svg\n"
        "  dyparse draw gold.conllu --with static.conllu --with dynamic.conllu --all -o all.html",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    draw.add_argument("file", metavar="FILE", help=f"CoNLL-U file; {STDIN} is standard input")
    draw.add_argument(
        "--sentence",
        action="append",
        dest="sentences",
        metavar="ID",
        help="sent_id, or number in the file; may be repeated (default: the first)",
    )
    draw.add_argument("--all", action="store_true", help="draw all sentences")
    draw.add_argument(
        "--with",
        action="append",
        dest="others",
        default=[],
        metavar="FILE",
        help="other trees of the same sentences, as a parser predicts them; may be repeated",
    )
    draw.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        type=Path,
        help="write here, SVG or HTML as the name ends (default: SVG to standard output)",
    )
    draw.add_argument(
        "--width",
        metavar="N",
        type=int,
        default=1000,
        help="pixels to wrap long sentences at, 0 for never (default: %(default)s)",
    )
    draw.set_defaults(run=run_draw)


def _add_compare(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    compare = commands.add_parser(
        "compare",
        help="train a grid of parsers and compare static with dynamic oracles",
        description="Train every combination of systems, explorations, losses, treebanks and\n"
        "seeds, several at a time, and report on them: report.html, results.csv, results.json\n"
        "and figures. Cells that are finished already are not trained again.",
        epilog="examples:\n"
        "  dyparse compare --system arc_eager --system attardi --exploration static\n"
        "      --exploration explore --seeds 1-2\n"
        "  dyparse compare --treebank ud/UD_English-LinES --system nonmonotonic:reduce=false\n"
        "  dyparse compare --experiment none trainer.epochs=10 logger=wandb",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for axis, plural in (
        ("system", "systems"),
        ("exploration", "explorations"),
        ("loss", "losses"),
    ):
        compare.add_argument(
            f"--{axis}",
            action="append",
            dest=plural,
            default=[],
            metavar=axis.upper(),
            help=f"NAME or NAME:KEY=VALUE,KEY=VALUE; may be repeated (default: the {plural} of "
            "the experiment)",
        )
    compare.add_argument(
        "--treebank",
        action="append",
        dest="treebanks",
        default=[],
        metavar="DIR",
        help="directory of a UD treebank, or `sample`; may be repeated (default: sample)",
    )
    compare.add_argument(
        "--seeds", metavar="LIST", help="such as 1-5 or 1,4,7 (default: those of the experiment)"
    )
    compare.add_argument(
        "--experiment",
        default="static_vs_dynamic",
        metavar="NAME",
        help="conf/experiment/NAME.yaml: size of the model, and what the grid is made of where no "
        "option says so; none: as train.py (default: %(default)s)",
    )
    compare.add_argument(
        "--baseline",
        default="static",
        metavar="EXPLORATION",
        help="what the others are compared with (default: %(default)s)",
    )
    compare.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("compare"),
        metavar="DIR",
        help="directory of cells and report (default: %(default)s)",
    )
    compare.add_argument(
        "--jobs", type=int, metavar="N", help="cells at a time (default: one per core, or per GPU)"
    )
    compare.add_argument("--keep-models", action="store_true", help="keep the parser of every cell")
    compare.add_argument("--dry-run", action="store_true", help="list the cells, and run nothing")
    compare.add_argument("--conf", type=Path, metavar="DIR", help="directory of train.yaml")
    compare.add_argument(
        "files", metavar="KEY=VALUE", nargs="*", help="more options of train.py, for all cells"
    )
    compare.set_defaults(run=_later("run_compare"))


def _add_report(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    report = commands.add_parser(
        "report",
        help="compare finished runs of train.py",
        description="Report on all finished runs below some directories, as `dyparse compare` "
        "does at its end.",
        epilog="example:\n"
        "  python train.py -m experiment=static_vs_dynamic\n"
        "  dyparse report outputs -o outputs/report",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    report.add_argument("files", metavar="DIR", nargs="+", help="directories with runs")
    report.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="DIR",
        help="directory of the report (default: the first DIR)",
    )
    report.add_argument(
        "--baseline",
        default="static",
        metavar="EXPLORATION",
        help="what the others are compared with (default: %(default)s)",
    )
    report.add_argument(
        "--title",
        default="Static against dynamic oracles",
        help="of the page (default: %(default)s)",
    )
    report.set_defaults(run=_later("run_report"))


if __name__ == "__main__":
    sys.exit(main())
