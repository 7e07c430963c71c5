"""Files parsed by a pool of Ray actors, on this machine or on a cluster (Ray Data)."""

import logging
import os
import socket
import traceback
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, NamedTuple

from dyparse.data.malformed import SKIP, Skipped
from dyparse.errors import ConfigError, DyparseError, EmptyFileError
from dyparse.parsing.corpus import Job, cleaning_up, parse_file
from dyparse.parsing.settings import Settings, load_parser
from dyparse.parsing.stream import Totals
from dyparse.runtime.signals import interrupts_deferred, preserving_handlers

LOCAL = "local"
SECONDS_TO_CONNECT = 10.0
OBJECT_STORE_BYTES = 100 << 20  # only names of files and counts pass through it
# No usage reports, and no log on standard error, where Ray warns that it could not restart actors
# if this process ended; set before ray is imported.
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal"}


class Pool(NamedTuple):
    """Where the actors run, and how many of them."""

    address: str = LOCAL  # of a cluster, or "auto"; LOCAL starts Ray on this machine
    actors: int | None = None  # None for as many as there is room for
    threads: int = 1  # of each actor


class Outcome(NamedTuple):
    """How the parse of a file ended: with an error, or with counts. A row of a Ray dataset."""

    source: str
    error: str = ""
    sentences: int = 0
    skipped: int = 0  # malformed sentences
    is_empty: bool = False  # no sentence in the file, which was skipped
    notices: str = ""  # lines that name what was skipped
    missing: str = ""  # tag columns that the model reads and the file lacks, separated by spaces


class ParserActor:
    """An actor: it loads the model once, and parses one file at a time.

    It raises nothing, which would end the whole run: an error is the outcome of the file.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.failure = ""
        try:
            self.parser = load_parser(settings)
        except DyparseError as error:
            self.failure = str(error)

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        """The outcomes of the files of a batch, by column."""
        jobs = map(Job, map(str, batch["source"]), map(str, batch["output"]))
        outcomes = [self.outcome(job) for job in jobs]
        return {name: [getattr(o, name) for o in outcomes] for name in Outcome._fields}

    def outcome(self, job: Job) -> Outcome:
        """Parse a file."""
        if self.failure:
            return Outcome(job.source, self.failure)
        totals, notices = Totals(), list[str]()
        skipped = Skipped(notices.append) if self.settings.on_error == SKIP else None
        outcome = self._parse(job, totals, skipped)
        if not outcome.error:
            outcome = outcome._replace(notices="\n".join(notices))
        return outcome._replace(missing=" ".join(totals.missing))

    def _parse(self, job: Job, totals: Totals, skipped: Skipped | None) -> Outcome:
        try:
            record = parse_file(self.parser, job, self.settings, totals, skipped)
        except DyparseError as error:
            if skipped and isinstance(error, EmptyFileError):
                return Outcome(job.source, is_empty=True)
            return Outcome(job.source, str(error))
        except OSError as error:
            return Outcome(job.source, f"{error.filename or job.source}: {error.strerror or error}")
        except Exception:  # an error in the program; the other files are parsed all the same
            return Outcome(job.source, f"{job.source}: {traceback.format_exc().strip()}")
        return Outcome(job.source, sentences=record.sentences, skipped=record.skipped)


def parse_on_ray(
    jobs: Sequence[Job], settings: Settings, pool: Pool
) -> Generator[Outcome, None, None]:
    """Parse files, each by one actor; outcomes as they come."""
    with cleaning_up(jobs), _connected(pool.address) as ray:
        gpus = 1 if settings.device.startswith("cuda") else 0
        actors = _number_of_actors(ray.cluster_resources(), pool, gpus, len(jobs))

        data = ray.data.from_items([asdict(job) for job in jobs], override_num_blocks=len(jobs))
        outcomes = data.map_batches(
            ParserActor,
            batch_size=1,
            batch_format="numpy",
            fn_constructor_kwargs={"settings": settings},
            compute=ray.data.ActorPoolStrategy(size=actors, max_tasks_in_flight_per_actor=1),
            num_cpus=pool.threads,
            num_gpus=gpus,
        )
        for row in outcomes.iter_rows():
            yield Outcome(**row)


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    """Ray, connected or started; a Ray that was started ends with the block."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise ConfigError(
            f'Ray Data is not installed ({error}); install it: pip install "dyparse[ray]"'
        ) from error
    start_options: dict[str, Any] = {}
    if address == LOCAL:
        start_options = {"include_dashboard": False, "object_store_memory": OBJECT_STORE_BYTES}
    else:
        _require_listener(address)
    try:
        with preserving_handlers(), interrupts_deferred():
            ray.init(
                address=address, log_to_driver=False, logging_level=logging.ERROR, **start_options
            )
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(
            f"--address {address}: Ray refuses the connection ({reason}); does the cluster run "
            "the same Ray, and does it ask for a token (docs.ray.io, token authentication)?"
        ) from error
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    try:
        yield ray
    except ray.exceptions.RayError as error:
        lines = str(error).strip().splitlines()
        raise DyparseError(
            f"Ray gave up ({lines[-1] if lines else type(error).__name__}); finished files are "
            "kept: run the same command again to resume"
        ) from error
    finally:
        with preserving_handlers():
            ray.shutdown()


def _require_listener(address: str) -> None:
    """ConfigError if nobody listens at host:port; Ray itself would try for many minutes."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if not colon:  # auto, which Ray looks up
        return
    try:
        socket.create_connection((host, int(port)), SECONDS_TO_CONNECT).close()
    except (OSError, ValueError, OverflowError) as error:
        raise ConfigError(
            f"--address {address}: nobody listens there ({error}); expected HOST:PORT as "
            "`ray start` prints it, auto, or local"
        ) from error


def _number_of_actors(there: dict[str, float], pool: Pool, gpus: int, jobs: int) -> int:
    """Actors to start, no more than there are files; ConfigError if there is no room for them."""
    room = int(there.get("CPU", 0)) // pool.threads
    if gpus:
        room = min(room, int(there.get("GPU", 0)))
    if room < (pool.actors or 1):
        raise ConfigError(
            f"{pool.actors or 1} actors of {pool.threads} threads{' and a GPU' * gpus} do not fit: "
            f"Ray has {there.get('CPU', 0):g} CPUs and {there.get('GPU', 0):g} GPUs; "
            "use fewer --actors or --threads-per-actor"
        )
    return min(pool.actors or room, jobs)
