"""`dyparse draw`: pictures of sentences of a CoNLL-U file, with their trees in other files."""

import argparse
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path
from typing import TextIO

from dyparse.cli.arguments import STDIN, Commands, input_source
from dyparse.cli.sentences import find_sentence
from dyparse.data.conllu import read_blocks, to_sentence
from dyparse.data.sentence import Sentence
from dyparse.drawing.svg import LEAST_WIDTH, Tree, draw, html_page, svg
from dyparse.errors import ConfigError, TreebankError
from dyparse.runtime.atomic_files import replacing
from dyparse.runtime.console import standard_output


def register(commands: Commands) -> None:
    """The arguments of the command."""
    command = commands.add_parser(
        "draw",
        help="draw trees as SVG or HTML, and mark differences between files",
        description="Draw dependency trees: arcs above the words, crossing ones dashed. With\n"
        "--with, the trees of other files are drawn below, and differences from FILE are marked.",
        epilog="examples:\n"
        "  dyparse draw dev.conllu -o tree.svg\n"
        "  dyparse draw dev.conllu --sentence 7 --sentence weblog-01 -o trees.svg\n"
        "  dyparse draw gold.conllu --with static.conllu --with dynamic.conllu --all -o all.html",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("file", metavar="FILE", help=f"CoNLL-U file; {STDIN} is standard input")
    command.add_argument(
        "--sentence",
        action="append",
        dest="sentences",
        metavar="ID",
        help="sent_id, or number in the file; may be repeated (default: the first)",
    )
    command.add_argument("--all", action="store_true", help="draw all sentences")
    command.add_argument(
        "--with",
        action="append",
        dest="others",
        default=[],
        metavar="FILE",
        help="other trees of the same sentences, such as predicted ones; may be repeated",
    )
    command.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        type=Path,
        help="file to write, .svg or .html (default: SVG to standard output)",
    )
    command.add_argument(
        "--width",
        metavar="N",
        type=int,
        default=1000,
        help="wrap long sentences at N pixels, 0 for never (default: %(default)s)",
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Draw the chosen sentences to the output."""
    if options.width and options.width < LEAST_WIDTH:
        raise ConfigError(
            f"--width is {options.width}, expected {LEAST_WIDTH} or more, or 0 to never wrap"
        )
    suffix = options.output.suffix.lower() if options.output else ".svg"
    if suffix not in (".svg", ".html"):
        raise ConfigError(f"--output is {options.output}, expected a name in .svg or .html")
    if options.all and options.sentences:
        raise ConfigError("--all and --sentence exclude each other; give one of them")
    drawings = (
        draw(trees, width=options.width or None, caption=caption)
        for caption, trees in chosen_trees(options)
    )
    if suffix == ".html":
        parts: Iterable[str] = html_page(drawings, options.file)
    else:
        parts = [svg(list(drawings))]
    with ExitStack() as stack:
        if options.output:
            temporary = stack.enter_context(replacing(options.output))
            out: TextIO = stack.enter_context(
                temporary.open("w", encoding="utf-8", errors="backslashreplace", newline="\n")
            )  # names of files may hold what cannot be encoded
        else:
            out = stack.enter_context(standard_output())
        out.writelines(parts)
    return 0


def chosen_trees(options: argparse.Namespace) -> Iterator[tuple[str, list[Tree]]]:
    """A caption for every sentence to draw, and its tree in each of the files."""
    names = [options.file, *options.others]
    if names.count(STDIN) > 1:
        raise ConfigError("standard input can be read once; write it to a file to compare it")
    files = [list(read_blocks(input_source(name))) for name in names]
    for blocks in files[1:]:
        if len(blocks) != len(files[0]):
            raise TreebankError(
                f"{blocks[0].path}: {len(blocks)} sentences, but {len(files[0])} in "
                f"{files[0][0].path}; compare files with the same sentences"
            )
    chosen = [
        find_sentence(options.file, wanted, files[0]) for wanted in options.sentences or [None]
    ]
    short = [Path(blocks[0].path).name for blocks in files]
    titles = short if len(set(short)) == len(short) else [blocks[0].path for blocks in files]
    if not options.others:
        titles = [""]
    number_of = {block.line_number: number for number, block in enumerate(files[0])}
    for block in files[0] if options.all else chosen:
        number = number_of[block.line_number]
        sentences = [to_sentence(blocks[number], trees=True) for blocks in files]
        for other in sentences[1:]:
            require_same_words(sentences[0], other)
        caption = sentences[0].sent_id or f"sentence {number + 1}"
        yield (
            caption,
            [
                Tree(title, s.form, s.head, s.label, s.upos if set(s.upos) != {"_"} else ())
                for title, s in zip(titles, sentences, strict=True)
            ],
        )


def require_same_words(one: Sentence, other: Sentence) -> None:
    """TreebankError at the first word that differs."""
    pairs = enumerate(zip_longest(one.form, other.form), 1)
    for word, (here, there) in pairs:
        if here != there:
            found, wanted = (f"{form!r}" if form else "missing" for form in (there, here))
            raise TreebankError(
                f"{other.place}: word {word} is {found}, but {wanted} in {one.place}; "
                "compare files with the same words"
            )
