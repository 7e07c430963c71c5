"""Many files to parse: which are there, which are finished, and how one of them is parsed.

Beside every finished output lies a record of what it was made from: `out.conllu.json`. A file whose
record fits the model, the options and the input is not parsed again.
"""

import gzip
import json
import os
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dyparse.data.conllu import Block
from dyparse.data.malformed import SKIP, STOP, Skipped
from dyparse.data.sentence import Sentence
from dyparse.errors import ConfigError, DyparseError, TreebankError
from dyparse.model.checkpoint_files import sha256_of
from dyparse.parsing.chunks import read_raw, sentence_of, write_sentences
from dyparse.parsing.worker_pool import Settings
from dyparse.runtime.atomic_files import replacing, write

if TYPE_CHECKING:  # torch is slow to import
    from dyparse.model.parser import Parser

GZIP = ".gz"
MOST_ATTEMPTS = 3  # at a file, if whoever parses it dies of it


@dataclass(frozen=True)
class Job:
    """One file to parse."""

    source: str
    output: str

    @property
    def record(self) -> Path:
        """What the output was made from."""
        return Path(f"{self.output}.json")

    @property
    def attempts(self) -> Path:
        """How often somebody began with the file and has not come to an end."""
        return Path(f"{self.output}.attempts")


@dataclass(frozen=True)
class Record:
    """What an output was made from, and what it holds."""

    model: str  # digest
    text: bool
    max_tokens_per_batch: int
    precision: str
    size: int  # of the input, as are mtime_ns and sha256
    mtime_ns: int
    sha256: str
    output_size: int
    sentences: int
    words: int
    seconds: float
    skipped: int = 0  # malformed sentences that the output lacks


def find_jobs(names: Sequence[str], output: Path, *, text: bool) -> list[Job]:
    """A job for every file and for every file in and below every directory, named as there.

    ConfigError if two would have the same output, or one would overwrite an input.
    """
    jobs: dict[str, Job] = {}
    for name in names:
        path = Path(name)
        if path.is_dir():
            found = sorted(_files_below(path, output, text=text))
            if not found:
                endings = " or ".join(_endings(text=text))
                raise TreebankError(f"{path}: no file in it ends in {endings}; name the files")
        elif path.exists():
            found = [(path, Path(path.name))]
        else:
            raise TreebankError(f"{path}: there is no such file or directory; check the path")
        for source, relative in found:
            job = Job(str(source.resolve()), str(output.resolve() / _as_conllu(relative)))
            _require_plain_name(job)
            other = jobs.setdefault(job.output, job)
            if other.source != job.source:
                raise ConfigError(
                    f"{job.source} and {other.source} would both be written to {job.output}; "
                    "name the directory above them, or parse them to two directories"
                )
    sources = {job.source for job in jobs.values()}
    for job in jobs.values():
        target = os.path.realpath(job.output)  # of a link that is there already
        if target in sources:
            raise ConfigError(f"--output {output} would overwrite {target}; name another")
    return list(jobs.values())


def _require_plain_name(job: Job) -> None:
    """TreebankError if the names cannot be sent to another process as text."""
    for name in (job.source, job.output):
        try:
            name.encode()
        except UnicodeEncodeError:
            raise TreebankError(f"{name}: this name is not UTF-8; rename it") from None


def _endings(*, text: bool) -> tuple[str, str]:
    plain = ".txt" if text else ".conllu"
    return plain, plain + GZIP


def _files_below(directory: Path, output: Path, *, text: bool) -> Iterator[tuple[Path, Path]]:
    """Files, and their names from the directory on; what was parsed before is not among them."""
    for path in directory.rglob("*"):
        is_output = output.resolve() != directory.resolve() and path.resolve().is_relative_to(
            output.resolve()
        )
        if path.name.endswith(_endings(text=text)) and path.is_file() and not is_output:
            yield path, path.relative_to(directory)


def _as_conllu(name: Path) -> Path:
    """What the parsed file is called: text becomes .conllu, and what was packed stays packed."""
    packed = GZIP if name.suffix == GZIP else ""
    plain = name.with_name(name.name.removesuffix(packed))
    if plain.suffix == ".txt":
        plain = plain.with_suffix(".conllu")
    return plain.with_name(plain.name + packed)


def is_finished(job: Job, model: str, settings: Settings) -> bool:
    """Whether the output was made by this model, in this way, from the input as it is now.

    A file with another time but the same size is read, to see whether it has changed.
    """
    try:
        record = Record(**json.loads(job.record.read_bytes()))
        now, output_size = os.stat(job.source), os.stat(job.output).st_size
        made_so = (settings.text, settings.max_tokens_per_batch, settings.precision)
        if made_so != (record.text, record.max_tokens_per_batch, record.precision):
            return False
        if (model, now.st_size, output_size) != (record.model, record.size, record.output_size):
            return False
        if record.skipped and settings.on_error == STOP:
            return False
        return now.st_mtime_ns == record.mtime_ns or sha256_of(job.source) == record.sha256
    except (OSError, ValueError, TypeError):  # not there, or not a record
        return False


def parse_file(
    parser: "Parser",
    job: Job,
    model: str,
    settings: Settings,
    tell: Callable[[str], object] = lambda _message: None,
) -> Record:
    """Parse a file, as a stream, to an output that appears whole; its record is written last.

    Malformed sentences are an error, or skipped, as the settings say; `tell` is told which.
    """
    start = time.perf_counter()
    Path(job.output).parent.mkdir(parents=True, exist_ok=True)
    _begin(job)
    try:
        before = os.stat(job.source)
        skipped = Skipped(tell)
        sentences, words = _parse_stream(parser, job, settings, skipped, before)
        record = Record(
            model=model,
            text=settings.text,
            max_tokens_per_batch=settings.max_tokens_per_batch,
            precision=settings.precision,
            size=before.st_size,
            mtime_ns=before.st_mtime_ns,
            sha256=sha256_of(job.source),
            output_size=os.stat(job.output).st_size,
            sentences=sentences,
            words=words,
            seconds=round(time.perf_counter() - start, 3),
            skipped=skipped.malformed,
        )
        write(job.record, (json.dumps(asdict(record), indent=2) + "\n").encode())
    finally:
        job.attempts.unlink(missing_ok=True)
    return record


def _parse_stream(
    parser: "Parser", job: Job, settings: Settings, skipped: Skipped, before: os.stat_result
) -> tuple[int, int]:
    """Parse a file that must stay as it was before; sentences and words in it, counted."""
    sentences = words = 0
    check = partial(sentence_of, text=settings.text)

    def checked(blocks: Iterable[Block]) -> Iterator[Sentence]:
        nonlocal sentences, words
        sound: Iterable[Sentence] = map(check, blocks)
        if settings.on_error == SKIP:
            sound = (sentence for _, sentence in skipped.sound_only([blocks], check))
        for sentence in sound:
            sentences += 1
            words += len(sentence)
            yield sentence

    with ExitStack() as stack:
        unpack = gzip.open if job.source.endswith(GZIP) else open
        source: Any = stack.enter_context(unpack(job.source, "rb"))  # with a name, for messages
        out: Any = stack.enter_context(stack.enter_context(replacing(Path(job.output))).open("wb"))
        if job.output.endswith(GZIP):  # neither time nor name in it: equal for equal content
            out = stack.enter_context(gzip.GzipFile("", "wb", 6, out, mtime=0))
        blocks = _unpacked(read_raw(source, text=settings.text), job.source)
        parsed = parser.parse_sentences(
            checked(blocks),
            max_tokens_per_batch=settings.max_tokens_per_batch,
        )
        write_sentences(parsed, out)
        after = os.stat(job.source)
        if (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
            raise TreebankError(f"{job.source}: changed while it was parsed; parse it again")
        job.record.unlink(missing_ok=True)  # it is of the output that is replaced now
    return sentences, words


def _begin(job: Job) -> None:
    """Count an attempt; DyparseError if too many have come to no end.

    Whoever runs us starts dead processes again and again: this ends it.
    """
    try:
        before = int(job.attempts.read_text())
    except (OSError, ValueError):
        before = 0
    _remove_half_written([job])
    if before >= MOST_ATTEMPTS:
        job.attempts.unlink()
        raise DyparseError(
            f"{job.source}: {before} processes died while they parsed it; if memory is short, give "
            "fewer actors or a smaller --max-tokens-per-batch, else look for a very long sentence"
        )
    job.attempts.write_text(str(before + 1))


@contextmanager
def tidied(jobs: Sequence[Job]) -> Iterator[None]:
    """Whoever parses is ended with this block: what they have left half done is removed."""
    try:
        yield
    except BaseException:
        _remove_half_written(jobs)
        for job in jobs:
            job.attempts.unlink(missing_ok=True)
        raise


def _remove_half_written(jobs: Iterable[Job]) -> None:
    """Remove what processes that were killed have left beside outputs."""
    names: dict[Path, set[str]] = {}
    for path in (Path(job.output) for job in jobs):
        names.setdefault(path.parent, set()).add(path.name)
    for directory, wanted in names.items():
        for left in directory.glob(".*.tmp"):
            if left.name[1:].rsplit(".", 2)[0] in wanted:  # .NAME.PROCESS.tmp
                left.unlink(missing_ok=True)


def _unpacked(blocks: Iterable[Block], path: str) -> Iterator[Block]:
    """The same blocks; TreebankError if the archive that they come from is damaged."""
    try:
        yield from blocks
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TreebankError(f"{path}: damaged ({error}); pack it again with gzip") from error
