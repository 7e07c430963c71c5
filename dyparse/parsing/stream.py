"""The parse loop, wherever it runs: checked sentences in, finished CoNLL-U or JSON out."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from dyparse.data.sentence import Sentence
from dyparse.parsing.settings import Settings
from dyparse.runtime.console import print_notice

if TYPE_CHECKING:  # torch is slow to import, and a process that only reads needs this module too
    from dyparse.model.parser import Parser

CONLLU, JSON = OUTPUT_FORMATS = ("conllu", "json")  # JSON: a line for every sentence


@dataclass
class Totals:
    """Counts of what a stream has parsed so far, and the tags that the model misses in it."""

    sentences: int = 0
    words: int = 0
    missing: tuple[str, ...] = ()  # tag columns that the model reads and a sentence lacks
    on_missing: Callable[[tuple[str, ...]], object] | None = None  # called the first time only

    def note_missing(self, columns: Iterable[str]) -> None:
        """Keep the columns that the first sentence without all its tags lacks."""
        if self.missing:
            return
        self.missing = tuple(columns)
        if self.missing and self.on_missing:
            self.on_missing(self.missing)


def parse_stream(
    parser: "Parser", sentences: Iterable[Sentence], settings: Settings, totals: Totals
) -> Iterator[bytes]:
    """Each sentence, parsed, in the output format, in order; memory does not grow with the stream.

    An error among the sentences is raised after the windows before it, which were parsed already.
    """

    def noted() -> Iterator[Sentence]:
        for sentence in sentences:
            if not totals.missing:
                totals.note_missing(parser.missing_columns(sentence))
            yield sentence

    most, is_json = settings.max_tokens_per_batch, settings.output_format == JSON
    for parsed in parser.parse_sentences(noted(), max_tokens_per_batch=most):
        totals.sentences += 1
        totals.words += len(parsed)
        yield (parsed.to_json() + "\n" if is_json else parsed.to_conllu()).encode()


def write_sentences(pieces: Iterable[bytes], out: IO[bytes], output_format: str = CONLLU) -> None:
    """Write pieces of whole sentences; in CoNLL-U, one that lacks its final blank line gets it
    before the next.

    (The last sentence of a file may lack it, and stays so at the end of the output.)
    """
    separator = b""
    for piece in pieces:
        out.write(separator + piece)
        is_complete = output_format == JSON or piece.endswith((b"\n\n", b"\n\r\n"))
        separator = b"" if is_complete else b"\n" if piece.endswith(b"\n") else b"\n\n"


def warn_of_missing_tags(columns: tuple[str, ...]) -> None:
    """A line on standard error: the input lacks tags that the model was trained with."""
    from dyparse.model.inputs import missing_tags

    print_notice(f"warning: {missing_tags(columns)}")
