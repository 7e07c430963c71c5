"""What `dyparse parse` does: in this process, or in several."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import IO, NoReturn

from tqdm import tqdm

from dyparse.data.conllu import Block
from dyparse.data.malformed import ON_ERROR, STOP
from dyparse.data.sentence import Sentence
from dyparse.errors import ConfigError
from dyparse.model.checkpoint_files import digest_of_model, files_of_model
from dyparse.parsing.chunks import (
    STDIN,
    Parsed,
    blocks_of,
    read_chunks,
    read_inputs,
    sentence_of,
    warner,
    write_pieces,
    write_sentences,
)
from dyparse.parsing.worker_pool import Settings, WorkerPool, load_parser, threads_each
from dyparse.runtime.atomic_files import replacing, require_apart


def add_parse(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The command line of `dyparse parse`."""
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
        "--workers",
        type=int,
        default=1,
        metavar="K",
        help="processes to parse large input with; the output is the same (default: %(default)s)",
    )
    parse.add_argument(
        "--threads", type=int, help="threads of the CPU, of all workers together (default: all)"
    )
    add_how(parse)
    parse.set_defaults(run=run_parse)


def add_how(command: argparse.ArgumentParser) -> None:
    """Options of every command that parses."""
    command.add_argument(
        "--text", action="store_true", help="input is plain text, one sentence per line"
    )
    add_on_error(command)
    command.add_argument(
        "--device", default="cpu", help="where the network runs: cpu (default), cuda, …"
    )
    command.add_argument(
        "--precision",
        default="auto",
        choices=("auto", "float32", "mixed", "bfloat16"),
        help="of the network: auto computes parts of it in bfloat16 where the device has that; "
        "bfloat16 all, float32 none, which gives the same trees everywhere (default: %(default)s)",
    )
    command.add_argument(
        "--max-tokens-per-batch",
        type=int,
        default=2000,
        metavar="N",
        help="batch size (default: %(default)s)",
    )


def add_on_error(command: argparse.ArgumentParser) -> None:
    """What every command that reads many sentences can do about malformed ones."""
    command.add_argument(
        "--on-error",
        default=STOP,
        choices=ON_ERROR,
        help="at a malformed sentence: stop there, or skip it, name it and count it "
        "(default: %(default)s)",
    )


def require_positive(options: argparse.Namespace, *names: str) -> None:
    """ConfigError if one of these options is 0 or less."""
    for name in names:
        value = getattr(options, name)
        if value is not None and value < 1:
            raise ConfigError(f"--{name.replace('_', '-')} is {value}, expected 1 or more")


def run_parse(options: argparse.Namespace) -> int:
    """`dyparse parse`"""
    require_positive(options, "max_tokens_per_batch", "workers", "threads")
    require_apart({"--output": options.output}, files_of_model(options.model))
    blocks = read_inputs(options.files or [STDIN], text=options.text, on_error=options.on_error)
    settings = Settings(
        options.model,
        options.device,
        options.threads,
        options.text,
        options.max_tokens_per_batch,
        options.precision,
    )
    if options.workers == 1:
        parse_here(blocks, settings, options.output)
        return 0
    shares = read_chunks(blocks, text=options.text)
    first = list(islice(shares, 2))
    if len(first) < 2:  # not worth a process
        parse_here(chain.from_iterable(map(blocks_of, first)), settings, options.output)
        return 0
    each = settings._replace(
        threads=threads_each(options.threads, options.workers),
        digest=digest_of_model(options.model),
    )
    with WorkerPool(each, options.workers) as workers:
        write_parsed(workers.parse(chain(first, shares)), options.output)
    return 0


def parse_here(blocks: Iterable[Block], settings: Settings, output: Path | None) -> None:
    """Parse in this process."""
    parser = load_parser(settings)
    warn = warner()

    def checked_sentences() -> Iterator[Sentence]:
        for block in blocks:
            sentence = sentence_of(block, text=settings.text)
            warn(tuple(parser.missing_columns(sentence)))
            yield sentence

    parsed = parser.parse_sentences(
        checked_sentences(), max_tokens_per_batch=settings.max_tokens_per_batch
    )
    with destination(output) as (out, bar):
        write_sentences(_counted(parsed, bar), out)


def _counted(sentences: Iterable[Sentence], bar: "tqdm[NoReturn]") -> Iterator[Sentence]:
    for sentence in sentences:
        yield sentence
        bar.update()


def write_parsed(results: Iterable[Parsed], output: Path | None) -> None:
    """Write what workers have parsed; the first error ends it, where one process would end."""
    warn = warner()

    def pieces(bar: "tqdm[NoReturn]") -> Iterator[bytes]:
        for parsed in results:
            warn(parsed.missing)
            if parsed.error:
                raise parsed.error
            yield parsed.output
            bar.update(parsed.sentences)

    with destination(output) as (out, bar):
        write_pieces(pieces(bar), out)


@contextmanager
def destination(output: Path | None) -> Iterator[tuple[IO[bytes], "tqdm[NoReturn]"]]:
    """Where CoNLL-U goes, standard output or a file that appears whole; a bar beside a file."""
    with ExitStack() as stack:
        bar = tqdm(unit=" sentences", desc="parsing", disable=None if output else True)
        stack.enter_context(bar)
        if output:
            out = stack.enter_context(stack.enter_context(replacing(output)).open("wb"))
            yield out, bar
        else:
            yield sys.stdout.buffer, bar
