"""`dyparse parse-corpus`: parse many files with Ray actors."""

import argparse
import os
import sys
from contextlib import closing
from pathlib import Path

from tqdm import tqdm

from dyparse.cli.arguments import (
    Commands,
    add_model,
    add_parsing_options,
    parsing_settings,
    require_positive,
)
from dyparse.config.choices import import_modules
from dyparse.data.malformed import MOST_NAMED, Skipped
from dyparse.errors import ConfigError
from dyparse.model.checkpoint_files import digest_of_model
from dyparse.model.sources import find_model
from dyparse.parsing.corpus import Job, find_jobs, is_finished, telling_names
from dyparse.parsing.ray_pool import LOCAL, Pool, parse_on_ray
from dyparse.parsing.settings import Settings
from dyparse.parsing.stream import Totals, warn_of_missing_tags
from dyparse.runtime.locks import exclusive_directory


def register(commands: Commands) -> None:
    """The arguments of the command."""
    command = commands.add_parser(
        "parse-corpus",
        help="parse many files with Ray actors, on one machine or a cluster",
        description="Parse files with a pool of Ray actors; every file is parsed by one of them.\n"
        "Outputs have the names of the inputs, below OUTDIR. Files that are finished already are\n"
        "not parsed again, unless the model, the options or the input have changed.\n"
        "Exit status 2 if a file could not be parsed; the others are.",
        epilog="examples:\n"
        "  dyparse parse-corpus MODEL corpus -o parsed\n"
        "  dyparse parse-corpus MODEL corpus -o parsed --address auto --actors 64",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_model(command)
    command.add_argument(
        "files",
        metavar="FILE_OR_DIR",
        nargs="+",
        help="files, or directories with *.conllu and *.conllu.gz (of text: *.txt, *.txt.gz)",
    )
    command.add_argument(
        "-o", "--output", metavar="OUTDIR", type=Path, required=True, help="directory to write to"
    )
    command.add_argument(
        "--actors",
        type=int,
        metavar="K",
        help="files to parse at a time (default: as many as there are cores or GPUs for)",
    )
    command.add_argument(
        "--threads-per-actor",
        type=int,
        default=1,
        metavar="N",
        help="CPU threads of each actor (default: %(default)s)",
    )
    command.add_argument(
        "--address",
        default=os.environ.get("RAY_ADDRESS", LOCAL),
        help="address of a Ray cluster, or auto; local starts Ray on this machine (default: "
        "$RAY_ADDRESS, else local)",
    )
    add_parsing_options(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Parse the files that are not finished; exit status 2 if one of them failed."""
    require_positive(options, "max_tokens_per_batch", "actors", "threads_per_actor")
    if options.output.exists() and not options.output.is_dir():
        raise ConfigError(f"--output is {options.output}, a file; expected a directory")
    model = find_model(options.model)
    settings = parsing_settings(
        options,
        telling_names(options.files, options.output),
        model=str(Path(model).resolve()),
        threads=options.threads_per_actor,
        digest=digest_of_model(model),
    )
    formats = (settings.input_format, settings.output_format)
    jobs = find_jobs(options.files, options.output, *formats)
    waiting = [job for job in jobs if not is_finished(job, settings)]
    failed = empty = 0
    if waiting:
        pool = Pool(options.address, options.actors, options.threads_per_actor)
        with exclusive_directory(options.output, "parsing", "--output"):
            failed, empty = parse_waiting(waiting, settings, pool)
    parsed, before = len(waiting) - failed - empty, len(jobs) - len(waiting)
    sys.stdout.write(
        f"{len(jobs)} files: {parsed} parsed, {before} finished before, {failed} failed"
        f"{f', {empty} empty' if empty else ''}; in {options.output}\n"
    )
    return 2 if failed or empty == len(jobs) else 0


def parse_waiting(waiting: list[Job], settings: Settings, pool: Pool) -> tuple[int, int]:
    """Parse files; the number that failed, and the number that are empty and were skipped.

    Failures and skipped sentences are listed at the end.
    """
    require_loadable(settings)
    for job in waiting:
        job.attempts.unlink(missing_ok=True)  # of an earlier run
    failures: list[str] = []
    notices: list[str] = []  # about what was skipped
    skipped = Skipped(notices.append)
    totals = Totals(on_missing=warn_of_missing_tags)
    bar = tqdm(total=len(waiting), unit=" files", desc="parsing", disable=None)
    with bar, closing(parse_on_ray(waiting, settings, pool)) as outcomes:
        for outcome in outcomes:
            bar.update()
            totals.note_missing(outcome.missing.split())
            if outcome.error:
                failures.append(outcome.error)
            skipped.sound += outcome.sentences
            skipped.malformed += outcome.skipped
            skipped.empty_files += outcome.is_empty
            notices += outcome.notices.splitlines()
    del notices[MOST_NAMED:]
    skipped.report_counts()
    sys.stderr.writelines(f"{notice}\n" for notice in notices)
    sys.stderr.writelines(f"failed: {failure}\n" for failure in failures)
    return len(failures), skipped.empty_files


def require_loadable(settings: Settings) -> None:
    """The model's own error, here and once rather than in every actor, if it cannot be loaded."""
    import_modules(settings.imports)
    from dyparse.model.checkpoint import read_checkpoint  # imports numba, and then torch
    from dyparse.model.compiled_model import read_compiled

    if read_compiled(settings.model, settings.precision, settings.device) is None:
        read_checkpoint(settings.model)
