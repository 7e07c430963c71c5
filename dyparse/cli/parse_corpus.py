"""What `dyparse parse-corpus` does: many files, on Ray."""

import argparse
import os
import sys
from contextlib import closing
from pathlib import Path

from tqdm import tqdm

from dyparse.cli.parse import add_how, require_positive
from dyparse.data.malformed import MOST_NAMED, Skipped
from dyparse.errors import ConfigError
from dyparse.model.checkpoint_files import digest_of_model
from dyparse.parsing.corpus import Job, find_jobs, is_finished
from dyparse.parsing.ray_pool import LOCAL, Pool, parse_on_ray
from dyparse.parsing.worker_pool import Settings
from dyparse.runtime.locks import exclusive_directory


def add_parse_corpus(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The command line of `dyparse parse-corpus`."""
    corpus = commands.add_parser(
        "parse-corpus",
        help="parse many files with a pool of Ray actors, on one machine or a cluster",
        description="Parse files with a pool of Ray actors; every file is parsed by one of them.\n"
        "Outputs have the names of the inputs, below OUTDIR. Files that are finished already are\n"
        "not parsed again, unless the model, the options or the input have changed.\n"
        "Exit status 2 if a file could not be parsed; the others are.",
        epilog="examples:\n"
        "  dyparse parse-corpus MODEL corpus -o parsed\n"
        "  dyparse parse-corpus MODEL corpus -o parsed --address auto --actors 64",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    corpus.add_argument("model", metavar="MODEL", help="model directory, as train.py prints it")
    corpus.add_argument(
        "files",
        metavar="FILE_OR_DIR",
        nargs="+",
        help="files, or directories with *.conllu and *.conllu.gz (with --text: *.txt, *.txt.gz)",
    )
    corpus.add_argument(
        "-o", "--output", metavar="OUTDIR", type=Path, required=True, help="directory to write to"
    )
    corpus.add_argument(
        "--actors",
        type=int,
        metavar="K",
        help="files to parse at a time (default: as many as there are cores or GPUs for)",
    )
    corpus.add_argument(
        "--threads-per-actor", type=int, default=1, metavar="N", help="default: %(default)s"
    )
    corpus.add_argument(
        "--address",
        default=os.environ.get("RAY_ADDRESS", LOCAL),
        help="of a Ray cluster, or auto; local starts Ray on this machine (default: "
        "$RAY_ADDRESS, else local)",
    )
    add_how(corpus)
    corpus.set_defaults(run=run_parse_corpus)


def run_parse_corpus(options: argparse.Namespace) -> int:
    """`dyparse parse-corpus`"""
    require_positive(options, "max_tokens_per_batch", "actors", "threads_per_actor")
    if options.output.exists() and not options.output.is_dir():
        raise ConfigError(f"--output is {options.output}, a file; expected a directory")
    settings = Settings(
        str(Path(options.model).resolve()),
        options.device,
        options.threads_per_actor,
        options.text,
        options.max_tokens_per_batch,
        options.precision,
        options.on_error,
    )
    model = digest_of_model(options.model)
    jobs = find_jobs(options.files, options.output, text=options.text)
    waiting = [job for job in jobs if not is_finished(job, model, settings)]
    failed = empty = 0
    if waiting:
        pool = Pool(options.address, options.actors, options.threads_per_actor)
        with exclusive_directory(options.output, "parsing", "--output"):
            failed, empty = parse_waiting(waiting, model, settings, pool)
    parsed, before = len(waiting) - failed - empty, len(jobs) - len(waiting)
    sys.stdout.write(
        f"{len(jobs)} files: {parsed} parsed, {before} finished before, {failed} failed"
        f"{f', {empty} empty' if empty else ''}; in {options.output}\n"
    )
    return 2 if failed or empty == len(jobs) else 0


def parse_waiting(
    waiting: list[Job], model: str, settings: Settings, pool: Pool
) -> tuple[int, int]:
    """Parse files; what failed, and what was skipped, is told at the end.

    The number of files that failed, and of those that are empty if these are skipped.
    """
    from dyparse.model.checkpoint import read_checkpoint  # it imports torch, which is slow

    read_checkpoint(settings.model)  # better here and once than in every actor
    for job in waiting:
        job.attempts.unlink(missing_ok=True)  # of an earlier run
    failures: list[str] = []
    names: list[str] = []  # of what was skipped
    skipped = Skipped(names.append)
    bar = tqdm(total=len(waiting), unit=" files", desc="parsing", disable=None)
    with bar, closing(parse_on_ray(waiting, model, settings, pool)) as outcomes:
        for outcome in outcomes:
            bar.update()
            if outcome.error:
                failures.append(outcome.error)
            skipped.sound += outcome.sentences
            skipped.malformed += outcome.skipped
            skipped.empty_files += outcome.is_empty
            names += outcome.told.splitlines()
    del names[MOST_NAMED:]
    skipped.report_counts()
    sys.stderr.writelines(f"{name}\n" for name in names)
    sys.stderr.writelines(f"failed: {failure}\n" for failure in failures)
    return len(failures), skipped.empty_files
