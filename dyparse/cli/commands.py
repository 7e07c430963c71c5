"""What the `dyparse` command does: check, download, coverage, oracle."""

import argparse
import difflib
import os
import shutil
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from dyparse.data.conllu import (
    BYTE_ORDER_MARK,
    SENT_ID,
    Block,
    Source,
    read_blocks,
    to_sentence,
)
from dyparse.data.conllu_report import check_files
from dyparse.data.download import RECORD, download
from dyparse.data.malformed import read_trees
from dyparse.data.sentence import MOST_WORDS, Sentence
from dyparse.errors import ConfigError, TreebankError
from dyparse.parsing.chunks import STDIN as STDIN  # others take both from here
from dyparse.parsing.chunks import write_sentences as write_sentences
from dyparse.runtime.atomic_files import replacing, require_apart
from dyparse.runtime.console import print_notice, standard_output

if TYPE_CHECKING:  # numba is slow to import and not every command needs it
    from dyparse.evaluation.coverage import Row
    from dyparse.system import System

WIDTH = 100  # of lines, where no terminal says otherwise


def run_check(options: argparse.Namespace) -> int:
    """`dyparse check`"""
    sources = [sys.stdin if name == STDIN else name for name in options.files]
    with standard_output() as out:
        return check_files(sources, out, limit=options.limit)


def run_download(options: argparse.Namespace) -> int:
    """`dyparse download`"""
    directory = download(
        options.name,
        root=options.root,
        release=options.release,
        url=options.url,
        sha256=options.sha256,
        max_bytes=options.max_bytes,
        force=options.force,
    )
    sys.stdout.write((directory / RECORD).read_text(encoding="utf-8"))
    sys.stdout.write(
        f"{directory}\ntrain on it: python train.py treebank=ud treebank.root={options.root} "
        f"treebank.name={options.name}\n"
    )
    return 0


def run_coverage(options: argparse.Namespace) -> int:
    """`dyparse coverage`"""
    from dyparse.evaluation.coverage import compare, table, write_csv
    from dyparse.system import names

    systems = {text: chosen_system(text) for text in options.systems or names()}
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
            of_treebank = compare(treebank, sentences, systems)
            out.write("\n" * (number > 0) + "\n".join(table(of_treebank)) + "\n")
            out.flush()
            rows += of_treebank
        if options.csv:
            write_csv(rows, file)
    return 0


def tree_for_oracle(block: Block) -> Sentence:
    """The sentence of a block; TreebankError if it is malformed, or too long for oracles."""
    sentence = to_sentence(block, trees=True)
    if len(sentence) > MOST_WORDS:
        raise TreebankError(
            f"{sentence.place} has {len(sentence)} words, for which oracles take too long; "
            f"expected at most {MOST_WORDS}: split it, or leave it out"
        )
    return sentence


def treebank_sources(name: str) -> tuple[str, list[Source]]:
    """What to call a treebank, and its files: all CoNLL-U files of a directory, or one."""
    if name == STDIN:
        return "<stdin>", [sys.stdin]
    directory = Path(name)
    if not directory.is_dir():
        if not directory.exists():
            raise TreebankError(f"{name}: there is no such file or directory; check the path")
        return name, [name]
    files = sorted(directory.glob("*.conllu"))
    if not files:
        raise TreebankError(
            f"{name}: no *.conllu in it; expected the directory of one treebank: "
            "name several as ud/UD_*"
        )
    return directory.resolve().name, [*files]


def run_oracle(options: argparse.Namespace) -> int:
    """`dyparse oracle`"""
    from dyparse.evaluation.oracle_trace import Derivation, Page, write_json, write_text

    if options.width is not None and options.width < 0:
        raise ConfigError(f"--width is {options.width}, expected 0 or more")
    system = chosen_system(options.system)
    sentence = tree_for_oracle(find_sentence(options.file, options.sentence))
    try:
        derivation = Derivation(system, sentence.head, options.mistakes, options.seed)
    except ValueError as error:
        raise ConfigError(f"--{error}") from error
    width = options.width
    if width is None:
        width = shutil.get_terminal_size(fallback=(WIDTH, 0)).columns
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    page = Page(sentence, options.system, width, colour)
    with standard_output() as out:
        end = (write_json if options.json else write_text)(derivation, page, out)
    return 0 if end.adds_up else 1


def find_sentence(name: str, wanted: str | None, blocks: Iterable[Block] | None = None) -> Block:
    """The lines of the sentence with this sent_id, else of the one with this number, else of the
    first; the others are not checked. The file is read unless its blocks are given.
    """
    identifiers: list[str] = []
    numbered: Block | None = None
    for number, block in enumerate(blocks or read_blocks(sys.stdin if name == STDIN else name), 1):
        identifier = sent_id(block)
        if wanted in (None, identifier):
            return block
        identifiers.append(identifier)
        if wanted == str(number):
            numbered = block
    if numbered:
        return numbered
    named = list(filter(None, identifiers))
    near = difflib.get_close_matches(str(wanted), named, 3, 0.5) or named[:3]
    hint = f", or a sent_id such as {', '.join(near)}" if near else ""
    raise TreebankError(
        f"{'<stdin>' if name == STDIN else name}: no sentence {wanted!r}; "
        f"expected a number 1..{len(identifiers)}{hint}"
    )


def sent_id(block: Block) -> str:
    """The sent_id among the comments of a sentence, or nothing."""
    comments = (line.decode(errors="replace").lstrip(BYTE_ORDER_MARK) for line in block.lines)
    return next((found[1] for found in map(SENT_ID.match, comments) if found), "")


def chosen_system(text: str) -> "System":
    """The system that `NAME` or `NAME:KEY=VALUE,…` means; ConfigError if there is none."""
    from dyparse.system import load

    try:
        return load(text)
    except ValueError as error:
        raise ConfigError(f"--system {text}: {error}") from error
