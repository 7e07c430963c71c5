"""`dyparse draw`: pictures of sentences of a CoNLL-U file, with their trees in other files."""

import argparse
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path
from typing import TextIO

from dyparse.cli.arguments import STDIN, TREEBANK, Commands
from dyparse.cli.sentences import find_sentence, treebank_blocks
from dyparse.data.conllu import to_sentence
from dyparse.data.sentence import Sentence
from dyparse.drawing.svg import LEAST_WIDTH, Tree, draw, html_page, svg
from dyparse.drawing.tikz import tikz, tikz_parts
from dyparse.errors import ConfigError, TreebankError
from dyparse.runtime.atomic_files import replacing
from dyparse.runtime.console import standard_output

FORMATS = {".svg": "svg", ".html": "html", ".tex": "tikz"}  # by the suffix of the output
WIDTH = 1000  # pixels


def register(commands: Commands) -> None:
    """The arguments of the command."""
    command = commands.add_parser(
        "draw",
        help="draw trees as SVG, HTML or TikZ, and mark differences between files",
        description="Draw dependency trees: arcs above the words, crossing ones dashed. With\n"
        "--with, the trees of other files are drawn below, and differences from it are marked.",
        epilog="examples:\n"
        "  dyparse draw sample -o tree.svg\n"
        "  dyparse draw dev.conllu --sentence 7 --sentence weblog-01 -o trees.svg\n"
        "  dyparse draw gold.conllu --with static.conllu --with dynamic.conllu --all -o all.html\n"
        "  dyparse draw dev.conllu --standalone -o tree.tex && pdflatex tree.tex",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("file", metavar="TREEBANK", help=f"{TREEBANK}; {STDIN} is standard input")
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
        help="file to write, .svg, .html or .tex (default: standard output)",
    )
    command.add_argument(
        "--format",
        choices=list(dict.fromkeys(FORMATS.values())),
        help="tikz is for LaTeX with the package tikz-dependency (default: as OUT ends, else svg)",
    )
    command.add_argument(
        "--standalone", action="store_true", help="TikZ as a LaTeX document, a page per sentence"
    )
    command.add_argument(
        "--width",
        metavar="N",
        type=int,
        help=f"wrap long sentences at N pixels, 0 for never; TikZ never does (default: {WIDTH})",
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Draw the chosen sentences to the output."""
    kind = chosen_format(options)
    require_sensible(options, kind)
    parts = tikz_file(options) if kind == "tikz" else picture_file(options, kind)
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


def chosen_format(options: argparse.Namespace) -> str:
    """The format by its name, else by the suffix of the output, else SVG."""
    if options.format:
        return str(options.format)
    suffix = options.output.suffix.lower() if options.output else ".svg"
    if suffix not in FORMATS:
        raise ConfigError(
            f"--output is {options.output}, expected a name in {', '.join(FORMATS)}, "
            "or give --format"
        )
    return FORMATS[suffix]


def require_sensible(options: argparse.Namespace, kind: str) -> None:
    """ConfigError for options that exclude each other, and for a wrong width."""
    if options.width and options.width < LEAST_WIDTH:
        raise ConfigError(
            f"--width is {options.width}, expected {LEAST_WIDTH} or more, or 0 to never wrap"
        )
    if options.width and kind == "tikz":
        raise ConfigError("--width does not apply to TikZ; leave it out, or use --format svg")
    if options.standalone and kind != "tikz":
        raise ConfigError(f"--standalone is for TikZ, not for {kind}; add --format tikz")
    if options.all and options.sentences:
        raise ConfigError("--all and --sentence exclude each other; give one of them")


def picture_file(options: argparse.Namespace, kind: str) -> Iterable[str]:
    """The chosen trees as SVG or HTML."""
    width = WIDTH if options.width is None else options.width
    drawings = (
        draw(trees, width=width or None, caption=caption)
        for caption, trees in chosen_trees(options)
    )
    return html_page(drawings, options.file) if kind == "html" else [svg(list(drawings))]


def tikz_file(options: argparse.Namespace) -> Iterable[str]:
    """The chosen trees as LaTeX."""
    pictures = (tikz(trees, caption=caption) for caption, trees in chosen_trees(options))
    return tikz_parts(pictures, standalone=options.standalone)


def chosen_trees(options: argparse.Namespace) -> Iterator[tuple[str, list[Tree]]]:
    """A caption for every sentence to draw, and its tree in each of the files."""
    names = [options.file, *options.others]
    if names.count(STDIN) > 1:
        raise ConfigError("standard input can be read once; write it to a file to compare it")
    files = [list(treebank_blocks(name)) for name in names]
    given = ["<stdin>" if name == STDIN else name for name in names]
    for name, blocks in zip(given[1:], files[1:], strict=True):
        if len(blocks) != len(files[0]):
            raise TreebankError(
                f"{name}: {len(blocks)} sentences, but {len(files[0])} in {given[0]}; compare "
                "files with the same sentences"
            )
    chosen = [
        find_sentence(options.file, wanted, files[0]) for wanted in options.sentences or [None]
    ]
    short = [Path(blocks[0].path).name for blocks in files]
    titles = short if len(set(short)) == len(short) else [blocks[0].path for blocks in files]
    if not options.others:
        titles = [""]
    number_of = {id(block): number for number, block in enumerate(files[0])}
    for block in files[0] if options.all else chosen:
        number = number_of[id(block)]
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
