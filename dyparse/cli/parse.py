"""`dyparse parse`: parse files or standard input, in this process or in several."""

import argparse
import sys
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import IO, TypeAlias

from tqdm import tqdm

from dyparse.cli.arguments import (
    STDIN,
    Commands,
    add_model,
    add_parsing_options,
    input_source,
    parsing_settings,
    require_positive,
)
from dyparse.data.conllu import Block
from dyparse.data.malformed import SKIP, Skipped
from dyparse.model.checkpoint_files import digest_of_model, files_of_model
from dyparse.model.sources import find_model
from dyparse.parsing.chunks import Chunk, parse_blocks, read_chunks
from dyparse.parsing.reading import blocks_to_cut, read_files
from dyparse.parsing.settings import Settings, load_parser
from dyparse.parsing.stream import Totals, parse_stream, warn_of_missing_tags, write_sentences
from dyparse.parsing.worker_pool import WorkerPool, threads_per_worker
from dyparse.runtime.atomic_files import replacing, require_apart
from dyparse.runtime.console import print_notice

Pieces: TypeAlias = Generator[tuple[bytes, int], None, None]  # output, number of sentences in it


def register(commands: Commands) -> None:
    """The arguments of the command."""
    command = commands.add_parser(
        "parse",
        help="parse raw text or CoNLL-U files with a trained model",
        description="Parse raw text (.txt) or CoNLL-U, to CoNLL-U or JSON. Of CoNLL-U the words\n"
        "and sentences stay; HEAD, DEPREL and the columns that the model predicts change.\n"
        "Reads standard input if no file is given.",
        epilog="examples:\n"
        "  dyparse parse MODEL book.txt > book.conllu\n"
        "  dyparse parse MODEL book.txt --format json > book.jsonl\n"
        "  dyparse parse MODEL test.conllu --keep upos,xpos -o parsed.conllu\n"
        "  echo 'The dog barks. It sleeps.' | dyparse parse MODEL --input text",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_model(command)
    command.add_argument(
        "files", metavar="FILE", nargs="*", help=f"files to parse; {STDIN} is standard input"
    )
    command.add_argument(
        "-o", "--output", metavar="OUT", type=Path, help="write here instead of standard output"
    )
    command.add_argument(
        "--workers",
        type=int,
        default=1,
        metavar="K",
        help="processes to parse large input with; the output is the same (default: %(default)s)",
    )
    command.add_argument(
        "--threads",
        type=int,
        metavar="N",
        help="CPU threads of all workers together (default: all)",
    )
    add_parsing_options(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Parse the input to the output."""
    require_positive(options, "max_tokens_per_batch", "workers", "threads")
    model = find_model(options.model)
    require_apart({"--output": options.output}, files_of_model(model))
    names = options.files or [STDIN]
    settings = parsing_settings(options, names, model=str(model), threads=options.threads)
    skipped = Skipped(print_notice) if options.on_error == SKIP else None
    files = read_files(map(input_source, names), settings.input_format, skipped=skipped)
    if options.workers == 1:
        pieces = parse_here(files, settings, skipped)
    else:
        blocks = blocks_to_cut(files, settings.input_format, skipped=skipped)
        chunks = read_chunks(blocks, settings.input_format)
        pieces = parse_with_workers(chunks, settings, options.workers)
    write_output(pieces, options.output, settings.output_format)
    if skipped:
        skipped.report_counts()
    return 0


def parse_here(
    files: Iterable[Iterable[Block]], settings: Settings, skipped: Skipped | None
) -> Pieces:
    """Parse in this process, a sentence per piece."""
    parser = load_parser(settings)
    totals = Totals(on_missing=warn_of_missing_tags)
    for piece in parse_blocks(parser, files, settings, totals, skipped):
        yield piece, 1


def parse_with_workers(chunks: Iterator[Chunk], settings: Settings, workers: int) -> Pieces:
    """Parse in several processes, a chunk per piece; or here, if there is one chunk only.

    An error comes after the pieces that one process would have written before it.
    """
    first = list(islice(chunks, 2))
    if len(first) < 2:
        yield from parse_chunks_here(first, settings)
        return
    settings = replace(
        settings,
        threads=threads_per_worker(settings.threads, workers),
        digest=digest_of_model(settings.model),
    )
    if settings.precision == "int8":
        from dyparse.model.compiled_model import warn_of_processor  # imports numba

        warn_of_processor(settings.precision)  # here, and not in every worker
    totals = Totals(on_missing=warn_of_missing_tags)
    with WorkerPool(settings, workers) as pool:
        for parsed in pool.parse(chain(first, chunks)):
            totals.note_missing(parsed.missing)
            if parsed.error:
                raise parsed.error
            yield parsed.output, parsed.sentences


def parse_chunks_here(chunks: Iterable[Chunk], settings: Settings) -> Pieces:
    """Parse chunks in this process, a sentence per piece."""
    parser = load_parser(settings)
    totals = Totals(on_missing=warn_of_missing_tags)
    for chunk in chunks:
        sentences = chunk.sentences(settings.input_format, parser.tokenizer)
        for piece in parse_stream(parser, sentences, settings, totals):
            yield piece, 1


def write_output(pieces: Pieces, output: Path | None, output_format: str) -> None:
    """Write sentences to standard output, or to a file that appears whole, with a progress bar."""
    with ExitStack() as stack:
        stack.enter_context(closing(pieces))  # which ends the workers
        bar = tqdm(unit=" sentences", desc="parsing", disable=None if output else True)
        stack.enter_context(bar)
        out: IO[bytes] = sys.stdout.buffer
        if output:
            out = stack.enter_context(stack.enter_context(replacing(output)).open("wb"))

        def counted() -> Iterator[bytes]:
            for piece, sentences in pieces:
                yield piece
                bar.update(sentences)

        write_sentences(counted(), out, output_format)
