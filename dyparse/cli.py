"""The `dyparse` command: parse, check, download, coverage, oracle."""

import argparse
import dataclasses
import difflib
import io
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TextIO

from tqdm import tqdm

from dyparse.entry import clear_errors
from dyparse.errors import ConfigError, TreebankError
from dyparse.sentence import Sentence
from dyparse.treebank.check import check_files
from dyparse.treebank.conllu_file import (
    BYTE_ORDER_MARK,
    SENT_ID,
    Block,
    Source,
    read_blocks,
    read_sentences,
    to_sentence,
)
from dyparse.treebank.download import MAX_BYTES, RECORD, RELEASE, URL, download
from dyparse.version import __version__

if TYPE_CHECKING:  # numba is slow to import and not every command needs it
    from dyparse.coverage import Row
    from dyparse.system import System

STDIN = "-"
WIDTH = 100  # of lines, where no terminal says otherwise


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status."""
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
    _add_parse(commands)
    _add_check(commands)
    _add_download(commands)
    _add_coverage(commands)
    _add_oracle(commands)
    return top


def _add_parse(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parse = commands.add_parser(
        "parse",
        help="parse CoNLL-U files or text with a trained model",
        description="Parse CoNLL-U; only HEAD and DEPREL of the input change. "
        "Reads standard input if no file is given.",
    )
    parse.add_argument("model", metavar="MODEL", help="model directory, as train.py prints it")
    parse.add_argument(
        "files", metavar="FILE", nargs="*", help=f"files to parse; {STDIN} is standard input"
    )
    parse.add_argument(
        "-o", "--output", metavar="OUT", type=Path, help="write here instead of standard output"
    )
    parse.add_argument(
        "--text", action="store_true", help="input is plain text, one sentence per line"
    )
    parse.add_argument(
        "--device", default="cpu", help="where the network runs: cpu (default), cuda, …"
    )
    parse.add_argument("--threads", type=int, help="threads of the CPU (default: all)")
    parse.add_argument(
        "--max-tokens-per-batch",
        type=int,
        default=2000,
        metavar="N",
        help="batch size (default: %(default)s)",
    )
    parse.set_defaults(run=run_parse)


def _add_check(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    check = commands.add_parser(
        "check",
        help="check that files are sound CoNLL-U with one tree per sentence",
        description="Check CoNLL-U files strictly. Exit status 1 if a sentence is unsound.",
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
        description="Fetch one treebank of a UD release, for "
        "train.py treebank=ud treebank.root=DIR treebank.name=NAME.",
    )
    fetch.add_argument("name", metavar="NAME", help="for example UD_English-EWT")
    fetch.add_argument(
        "--root", default="ud", metavar="DIR", help="put it into DIR/NAME (default: %(default)s)"
    )
    fetch.add_argument("--release", default=RELEASE, help="UD release (default: %(default)s)")
    fetch.add_argument(
        "--url", default=URL, help="address with {name} and {release} (default: %(default)s)"
    )
    fetch.add_argument("--sha256", help="refuse an archive with another checksum")
    fetch.add_argument(
        "--max-bytes",
        type=int,
        default=MAX_BYTES,
        metavar="N",
        help="refuse more than this (default: %(default)s)",
    )
    fetch.add_argument("--force", action="store_true", help="replace what is there")
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


def run_check(options: argparse.Namespace) -> int:
    """`dyparse check`"""
    sources = [sys.stdin if name == STDIN else name for name in options.files]
    return check_files(sources, sys.stdout, limit=options.limit)


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


def run_parse(options: argparse.Namespace) -> int:
    """`dyparse parse`"""
    from dyparse.checkpoint import (
        replacing,  # torch is slow to import and no other command needs it
    )
    from dyparse.experiment import prepare_machine
    from dyparse.parser import Parser

    if options.max_tokens_per_batch < 1:
        raise ConfigError(
            f"--max-tokens-per-batch is {options.max_tokens_per_batch}, expected 1 or more"
        )
    device = prepare_machine(options.device, options.threads, seed=0)
    parser = Parser.load(options.model, device)
    sentences = read_inputs(options.files or [STDIN], text=options.text)
    parsed = parser.parse_sentences(
        warn_of_missing_tags(parser, sentences), max_tokens_per_batch=options.max_tokens_per_batch
    )
    bar = tqdm(parsed, unit=" sentences", desc="parsing", disable=None if options.output else True)
    with ExitStack() as stack:
        out = sys.stdout.buffer
        if options.output:
            out = stack.enter_context(stack.enter_context(replacing(options.output)).open("wb"))
        write_sentences(bar, out)
    return 0


def run_coverage(options: argparse.Namespace) -> int:
    """`dyparse coverage`"""
    from dyparse.coverage import compare, table, write_csv
    from dyparse.system import names

    systems = {text: chosen_system(text) for text in options.systems or names()}
    rows: list[Row] = []
    with ExitStack() as stack:
        if options.csv:
            from dyparse.checkpoint import replacing

            temporary = stack.enter_context(replacing(options.csv))
            file = stack.enter_context(temporary.open("w", encoding="utf-8", newline=""))
        out = stack.enter_context(standard_output())
        for number, name in enumerate(options.files):
            treebank, sources = treebank_sources(name)
            of_treebank = compare(treebank, sources, systems)
            out.write("\n" * (number > 0) + "\n".join(table(of_treebank)) + "\n")
            out.flush()
            rows += of_treebank
        if options.csv:
            write_csv(rows, file)
    return 0


def treebank_sources(name: str) -> tuple[str, list[Source]]:
    """What to call a treebank, and its files: all CoNLL-U files of a directory, or one."""
    if name == STDIN:
        return "<stdin>", [sys.stdin]
    directory = Path(name)
    if not directory.is_dir():
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
    from dyparse.derivation import Derivation, Page, write_json, write_text

    if options.width is not None and options.width < 0:
        raise ConfigError(f"--width is {options.width}, expected 0 or more")
    system = chosen_system(options.system)
    sentence = to_sentence(find_sentence(options.file, options.sentence), trees=True)
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


def find_sentence(name: str, wanted: str | None) -> Block:
    """The lines of the sentence with this sent_id, else of the one with this number, else of the
    first; the others are not checked.
    """
    identifiers: list[str] = []
    numbered: Block | None = None
    for number, block in enumerate(read_blocks(sys.stdin if name == STDIN else name), 1):
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

    name, _, listed = text.partition(":")
    try:
        defaults = {f.name: f.default for f in dataclasses.fields(load(name))}  # type: ignore[arg-type]
        given = {}
        for option in filter(None, listed.split(",")):
            key, sign, value = option.partition("=")
            if not sign:
                raise ValueError(f"{option!r} is no option, expected key=value")
            given[key] = _of_type(value, defaults.get(key))
        return load(name, **given)
    except ValueError as error:
        raise ConfigError(f"--system {text}: {error}") from error


def _of_type(value: str, default: Any) -> Any:
    """A value from the command line as the default's type; a bool that is none stays a text."""
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(value.lower(), value)
    if not isinstance(default, (int, float)):
        return value
    try:
        return type(default)(value)
    except ValueError:
        raise ValueError(f"{value!r} is no number, expected one like {default}") from None


@contextmanager
def standard_output() -> Iterator[TextIO]:
    """Standard output in UTF-8, whatever the locale."""
    sys.stdout.flush()
    out = io.TextIOWrapper(
        sys.stdout.buffer, "utf-8", "surrogateescape", newline="\n", write_through=True
    )
    try:
        yield out
    finally:
        out.detach()


def read_inputs(names: Iterable[str], *, text: bool) -> Iterator[Sentence]:
    """The sentences of all inputs, one after the other."""
    for name in names:
        if text:
            yield from read_text(name)
        else:
            yield from read_sentences(sys.stdin if name == STDIN else name, trees=False)


def read_text(name: str) -> Iterator[Sentence]:
    """A sentence per line that is not blank."""
    from dyparse.parser import as_sentence

    path = "<stdin>" if name == STDIN else name
    with sys.stdin.buffer if name == STDIN else Path(name).open("rb") as raw:
        for number, line in enumerate(raw, 1):
            try:
                words = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise TreebankError(
                    f"{path}:{number}: not UTF-8 ({error.reason}); convert the file to UTF-8"
                ) from error
            if words.strip():
                yield as_sentence(words)


def warn_of_missing_tags(parser: object, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """The same sentences; a warning, once, if they lack tags that the model was trained with."""
    from dyparse.parser import Parser

    assert isinstance(parser, Parser)
    warned = False
    for sentence in sentences:
        if not warned and (missing := parser.missing_columns(sentence)):
            warned = True
            sys.stderr.write(
                f"warning: the model reads {' and '.join(missing)}, which the input lacks: expect "
                "worse trees; tag the input first, or train a model without tags "
                "(encoder.features=[word,subword])\n"
            )
        yield sentence


def write_sentences(sentences: Iterable[Sentence], out: IO[bytes]) -> None:
    """Write CoNLL-U; where a file ended without a blank line, one is put before the next."""
    unfinished = ""
    for sentence in sentences:
        text = sentence.to_conllu()
        out.write((unfinished + text).encode())
        unfinished = (
            "" if text.endswith(("\n\n", "\n\r\n")) else "\n" if text.endswith("\n") else "\n\n"
        )


if __name__ == "__main__":
    sys.exit(main())
