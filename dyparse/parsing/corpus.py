"""Many files to parse: which there are, which are finished, and how one of them is parsed.

Beside every finished output there is a record of what it was made from: `out.conllu.json`. A file
whose record matches the model, the options and the input is not parsed again.
"""

import gzip
import json
import os
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dyparse.data.conllu import Block
from dyparse.data.malformed import STOP, Skipped
from dyparse.errors import ConfigError, DyparseError, TreebankError
from dyparse.model.checkpoint_files import sha256_of
from dyparse.parsing.chunks import parse_blocks
from dyparse.parsing.reading import CONLLU, TEXT, read_raw
from dyparse.parsing.settings import Settings
from dyparse.parsing.stream import JSON, Totals, write_sentences
from dyparse.runtime.atomic_files import replacing, write

if TYPE_CHECKING:  # torch is slow to import
    from dyparse.model.parser import Parser

GZIP = ".gz"
DECISIVE = (  # settings that the output depends on
    "input_format",
    "output_format",
    "max_tokens_per_batch",
    "precision",
    "decoding",
    "keep",
    "confidence",
)
MOST_ATTEMPTS = 3  # at a file, if the processes that parse it die


@dataclass(frozen=True)
class Job:
    """One file to parse."""

    source: str
    output: str

    @property
    def record(self) -> Path:
        """The file that says what the output was made from."""
        return Path(f"{self.output}.json")

    @property
    def attempts(self) -> Path:
        """The file that counts attempts to parse the input which have not ended."""
        return Path(f"{self.output}.attempts")


@dataclass(frozen=True)
class Record:
    """What an output was made from, and what it holds."""

    model: str  # digest
    input_format: str
    output_format: str
    max_tokens_per_batch: int | None
    precision: str
    decoding: str
    keep: str
    confidence: bool
    size: int  # of the input, as are mtime_ns and sha256
    mtime_ns: int
    sha256: str
    output_size: int
    sentences: int
    words: int
    seconds: float
    skipped: int = 0  # malformed sentences that the output lacks


def find_jobs(
    names: Sequence[str], output: Path, input_format: str, output_format: str = CONLLU
) -> list[Job]:
    """A job for every file, and for every file in and below a directory, with its name there.

    ConfigError if two outputs would be one file, or an output would overwrite an input.
    """
    jobs: dict[str, Job] = {}
    for name in names:
        path = Path(name)
        if path.is_dir():
            found = sorted(_files_below(path, output, input_format))
            if not found:
                endings = " or ".join(_endings(input_format))
                hint = ", or use --input text for .txt" if input_format == CONLLU else ""
                raise TreebankError(
                    f"{path}: no file in it ends in {endings}; name the files{hint}"
                )
        elif path.exists():
            found = [(path, Path(path.name))]
        else:
            raise TreebankError(f"{path}: there is no such file or directory; check the path")
        for source, relative in found:
            target = output.resolve() / _output_name(relative, output_format)
            job = Job(str(source.resolve()), str(target))
            _require_plain_name(job)
            other = jobs.setdefault(job.output, job)
            if other.source != job.source:
                raise ConfigError(
                    f"{job.source} and {other.source} would both be written to {job.output}; "
                    "name the directory above them, or parse them to two directories"
                )
    sources = {job.source for job in jobs.values()}
    for job in jobs.values():
        real = os.path.realpath(job.output)  # the output may be a link
        if real in sources:
            raise ConfigError(f"--output {output} would overwrite {real}; name another")
    return list(jobs.values())


def telling_names(names: Iterable[str], output: Path) -> Iterator[str]:
    """Names that `format_of` tells the format by: those of files, and for a directory that of one
    file in it, of CoNLL-U if there is any.
    """
    for name in names:
        path, formats = Path(name), (CONLLU, TEXT) if Path(name).is_dir() else ()
        found = (str(file) for kind in formats for file, _ in _files_below(path, output, kind))
        yield next(found, name)


def _require_plain_name(job: Job) -> None:
    """TreebankError if the names cannot be sent to another process as text."""
    for name in (job.source, job.output):
        try:
            name.encode()
        except UnicodeEncodeError:
            raise TreebankError(f"{name}: this name is not UTF-8; rename it") from None


def _endings(input_format: str) -> tuple[str, str]:
    plain = ".conllu" if input_format == CONLLU else ".txt"
    return plain, plain + GZIP


def _files_below(directory: Path, output: Path, input_format: str) -> Iterator[tuple[Path, Path]]:
    """Files with their paths relative to the directory, without earlier outputs."""
    is_same = output.resolve() == directory.resolve()
    for path in directory.rglob("*"):
        if is_same:
            is_output = Job("", str(path)).record.exists()
        else:
            is_output = path.resolve().is_relative_to(output.resolve())
        if path.name.endswith(_endings(input_format)) and path.is_file() and not is_output:
            yield path, path.relative_to(directory)


def _output_name(name: Path, output_format: str) -> Path:
    """The name of the parsed file: .txt becomes .conllu, for JSON both .jsonl; a .gz stays one."""
    gz = GZIP if name.suffix == GZIP else ""
    plain = name.name.removesuffix(gz)
    if output_format == JSON:
        plain = plain.removesuffix(".txt").removesuffix(".conllu") + ".jsonl"
    elif plain.endswith(".txt"):
        plain = plain.removesuffix(".txt") + ".conllu"
    return name.with_name(plain + gz)


def is_finished(job: Job, settings: Settings) -> bool:
    """Whether the output was made with these settings from the input as it is now.

    A file whose time alone has changed is read, to see whether it is still the same.
    """
    try:
        record = Record(**json.loads(job.record.read_bytes()))
        now, output_size = os.stat(job.source), os.stat(job.output).st_size
        if any(getattr(settings, name) != getattr(record, name) for name in DECISIVE):
            return False
        found = (settings.digest, now.st_size, output_size)
        if found != (record.model, record.size, record.output_size):
            return False
        if record.skipped and settings.on_error == STOP:
            return False
        return now.st_mtime_ns == record.mtime_ns or sha256_of(job.source) == record.sha256
    except (OSError, ValueError, TypeError):  # not there, or not a record
        return False


def parse_file(
    parser: "Parser",
    job: Job,
    settings: Settings,
    totals: Totals,
    skipped: Skipped | None = None,
) -> Record:
    """Parse a file, as a stream, to an output that appears whole; its record is written last.

    Malformed sentences are skipped and noted if there is a `skipped`, else they are an error.
    """
    start = time.perf_counter()
    Path(job.output).parent.mkdir(parents=True, exist_ok=True)
    _count_attempt(job)
    try:
        source = _write_output(parser, job, settings, totals, skipped)
        record = Record(
            model=settings.digest,
            input_format=settings.input_format,
            output_format=settings.output_format,
            max_tokens_per_batch=settings.max_tokens_per_batch,
            precision=settings.precision,
            decoding=settings.decoding,
            keep=settings.keep,
            confidence=settings.confidence,
            size=source.st_size,
            mtime_ns=source.st_mtime_ns,
            sha256=sha256_of(job.source),
            output_size=os.stat(job.output).st_size,
            sentences=totals.sentences,
            words=totals.words,
            seconds=round(time.perf_counter() - start, 3),
            skipped=skipped.malformed if skipped else 0,
        )
        write(job.record, (json.dumps(asdict(record), indent=2) + "\n").encode())
    finally:
        job.attempts.unlink(missing_ok=True)
    return record


def _write_output(
    parser: "Parser", job: Job, settings: Settings, totals: Totals, skipped: Skipped | None
) -> os.stat_result:
    """Parse a file to its output; size and time of the input, which must not change meanwhile."""
    before = os.stat(job.source)
    with ExitStack() as stack:
        source, out = _open(job, stack)
        raw = read_raw(source, settings.input_format, skipped=skipped)
        blocks = _gzip_checked(raw, job.source)
        pieces = parse_blocks(parser, [blocks], settings, totals, skipped)
        write_sentences(pieces, out, settings.output_format)
        after = os.stat(job.source)
        if (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
            raise TreebankError(f"{job.source}: changed while it was parsed; parse it again")
        job.record.unlink(missing_ok=True)  # it is about the output that is replaced now
    return before


def _open(job: Job, stack: ExitStack) -> tuple[Any, Any]:
    """The input to read, and the output to write, which replaces the old one at the end."""
    unpack = gzip.open if job.source.endswith(GZIP) else open
    source: Any = stack.enter_context(unpack(job.source, "rb"))  # with a name, for messages
    out: Any = stack.enter_context(stack.enter_context(replacing(Path(job.output))).open("wb"))
    if job.output.endswith(GZIP):  # without time and name: equal for equal content
        out = stack.enter_context(gzip.GzipFile("", "wb", 6, out, mtime=0))
    return source, out


def _gzip_checked(blocks: Iterable[Block], path: str) -> Iterator[Block]:
    """The same blocks; TreebankError if the archive that they come from is damaged."""
    try:
        yield from blocks
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TreebankError(f"{path}: damaged ({error}); pack it again with gzip") from error


def _count_attempt(job: Job) -> None:
    """Count an attempt at a file; DyparseError if too many before have not ended.

    Ray starts an actor that died again and again: this ends it.
    """
    try:
        before = int(job.attempts.read_text())
    except (OSError, ValueError):
        before = 0
    _remove_partial_outputs([job])
    if before >= MOST_ATTEMPTS:
        job.attempts.unlink()
        raise DyparseError(
            f"{job.source}: {before} processes died while they parsed it; if memory is short, use "
            "fewer actors or a smaller --max-tokens-per-batch, else look for a very long sentence"
        )
    job.attempts.write_text(str(before + 1))


@contextmanager
def cleaning_up(jobs: Sequence[Job]) -> Iterator[None]:
    """If the block fails, which ends all that parse, remove the partial outputs they leave."""
    try:
        yield
    except BaseException:
        _remove_partial_outputs(jobs)
        for job in jobs:
            job.attempts.unlink(missing_ok=True)
        raise


def _remove_partial_outputs(jobs: Iterable[Job]) -> None:
    """Remove the temporary files that killed processes have left beside the outputs."""
    names: dict[Path, set[str]] = {}
    for path in (Path(job.output) for job in jobs):
        names.setdefault(path.parent, set()).add(path.name)
    for directory, wanted in names.items():
        for left in directory.glob(".*.tmp"):
            if left.name[1:].rsplit(".", 2)[0] in wanted:  # .NAME.PROCESS.tmp
                left.unlink(missing_ok=True)
