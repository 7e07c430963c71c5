"""The `dyparse` command: parse, check, download."""

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from tqdm import tqdm

from dyparse.entry import clear_errors
from dyparse.errors import ConfigError, TreebankError
from dyparse.sentence import Sentence
from dyparse.treebank.check import check_files
from dyparse.treebank.conllu_file import read_sentences
from dyparse.treebank.download import MAX_BYTES, RECORD, RELEASE, URL, download
from dyparse.version import __version__

STDIN = "-"


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
