"""Train the cells of a grid in parallel, skip finished ones, and collect their results.

A cell is finished when its `result.json` is there, so an interrupted grid resumes where it stopped.
"""

import contextlib
import csv
import functools
import multiprocessing
import os
import shutil
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.synchronize import Lock
from pathlib import Path
from statistics import mean
from typing import Any

import torch
from omegaconf import DictConfig, OmegaConf
from tqdm import tqdm

from dyparse.comparison.grid import Task
from dyparse.comparison.report.page import CSV, FIGURES
from dyparse.config.build import build, checked
from dyparse.config.options import TrainOptions
from dyparse.data.sentence import Sentence
from dyparse.errors import DyparseError
from dyparse.evaluation.run_result import RESULT, Cell, read_result
from dyparse.logger import Logger
from dyparse.runtime.launch import cores
from dyparse.runtime.signals import interrupts_deferred
from dyparse.training.run import from_disk, train
from dyparse.treebank import Treebank

LOG = "train.log"
NO_WORKER = (
    "no worker could be started; each imports the script that runs, so there call dyparse.compare "
    'below `if __name__ == "__main__":`'
)
SECONDS_BETWEEN_CHECKS = 1.0  # of a worker, whether its parent is alive; of the progress bar


def run_grid(tasks: Sequence[Task], *, jobs: int, keep_models: bool = False) -> list[str]:
    """Run all unfinished cells, `jobs` at a time; returns a line for each cell that failed.

    Every cell has one thread, so its result does not depend on how many run at a time.
    """
    waiting = [task for task in tasks if not task.is_finished]
    durations = [(task.cell, run_seconds(task)) for task in tasks if task.is_finished]
    failures: list[str] = []
    if not waiting:
        return failures
    places = devices("auto")  # for cells without a device
    context = multiprocessing.get_context("spawn")
    counter = context.Value("i", 0)
    bar = tqdm(
        total=len(tasks),
        initial=len(tasks) - len(waiting),
        unit="cell",
        desc="training",
        smoothing=0,
        bar_format="{desc} {n_fmt}/{total_fmt} cells |{bar}| {elapsed} so far{postfix}",
    )
    pool = ProcessPoolExecutor(
        min(jobs, len(waiting)), context, _start_worker, (os.getpid(), counter, places)
    )
    with bar, _one_thread_each():
        try:
            with interrupts_deferred():  # while workers start
                running = {pool.submit(_run_cell, task, keep_models): task for task in waiting}
            while running:
                _show_time_left(bar, durations, running.values(), jobs)
                finished = wait(running, SECONDS_BETWEEN_CHECKS, FIRST_COMPLETED).done
                for future in finished:
                    task = running.pop(future)
                    durations += _outcome(future, task, failures)
                    _show_time_left(bar, durations, running.values(), jobs)
                    bar.update()
        except BaseException as error:
            for child in multiprocessing.active_children():
                child.terminate()
            # It waits for its thread, which would else meet closed pipes while Python exits.
            pool.shutdown(cancel_futures=True)
            if isinstance(error.__cause__, BrokenProcessPool) and counter.value == 0:
                raise DyparseError(NO_WORKER) from None
            raise
        pool.shutdown()
    return failures


def _outcome(future: "Future[float]", task: Task, failures: list[str]) -> list[tuple[Cell, float]]:
    """The cell and its duration; empty if it failed, with a line added to the failures."""
    try:
        return [(task.cell, future.result())]
    except BrokenProcessPool as error:
        raise DyparseError(
            f"a worker died, perhaps for lack of memory, while {task.directory} or another cell "
            "was trained; finished cells are kept: run the command again to resume, if necessary "
            "with fewer --jobs" + "".join(f"\nfailed: {failure}" for failure in failures)
        ) from error
    except Exception as error:  # one cell's failure does not stop the others
        failures.append(f"{task.directory}: {error} (see {LOG} there)")
        return []


def _run_cell(task: Task, keep_models: bool) -> float:  # noqa: FBT001 - a pool passes arguments by position
    """In a worker: train one cell, with its output in a log; returns the seconds it took."""
    start = time.perf_counter()
    if task.is_finished:  # by another command in the meantime
        return 0.0
    task.directory.mkdir(parents=True, exist_ok=True)
    changes: dict[str, Any] = {"output": str(task.directory)}
    if task.config.threads is None:
        changes["threads"] = 1
    if task.config.device == "auto":
        changes["device"] = _device
    with (
        (task.directory / LOG).open(
            "a", encoding="utf-8"
        ) as log,  # another command may write there too
        contextlib.redirect_stdout(log),
        contextlib.redirect_stderr(log),
    ):
        config: DictConfig = OmegaConf.merge(task.config, changes)  # type: ignore[assignment]  # of one, it is one
        try:
            train(config, read=_read_once)
        except Exception:
            traceback.print_exc()  # into the log; the user sees one line
            raise
    if not keep_models:
        shutil.rmtree(task.directory / "model", ignore_errors=True)
    return time.perf_counter() - start


@functools.lru_cache(maxsize=24)
def _read_once(treebank: Treebank, split: str) -> list[Sentence]:
    """The sentences of a split, cached: the cells of a worker share treebanks."""
    return from_disk(treebank, split)


def devices(device: str) -> list[str]:
    """Devices that cells take in turn: the given one; for `auto` all GPUs, or the CPU."""
    if device != "auto":
        return [device]
    return [f"cuda:{k}" for k in range(torch.cuda.device_count())] or ["cpu"]


def usual_jobs(config: DictConfig) -> int:
    """Default number of cells at a time: one per GPU, or as many as fit on the cores."""
    places = devices(config.device)
    return max(1, cores() // (config.threads or 1)) if places == ["cpu"] else len(places)


_device = "cpu"  # of this worker


def _start_worker(parent: int, counter: Any, places: list[str]) -> None:
    """Take a device, leave Ctrl-C to the parent, and exit when the parent does."""
    global _device
    lock: Lock = counter.get_lock()
    with lock:
        _device = places[counter.value % len(places)]
        counter.value += 1
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with, args=(parent,), daemon=True).start()


def _exit_with(parent: int) -> None:
    """Exit when the parent is gone: if it was killed, a worker would wait for work for ever."""
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_CHECKS)
    os._exit(1)


@contextlib.contextmanager
def _one_thread_each() -> Iterator[None]:
    """Give workers that start in this block one OpenMP thread each."""
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        yield
    finally:
        os.environ.pop("OMP_NUM_THREADS")
        if before is not None:
            os.environ["OMP_NUM_THREADS"] = before


def run_seconds(task: Task) -> float:
    """Duration of the training of a finished cell."""
    return sum(figures["seconds"] for figures in read_result(task.directory / RESULT).curve)


def seconds_left(
    durations: Sequence[tuple[Cell, float]], waiting: Sequence[Cell], jobs: int
) -> float | None:
    """Estimate from finished cells with the same system and treebank, else the same treebank, else
    any; None before the first cell is finished.
    """
    if not durations:
        return None

    def expected(cell: Cell) -> float:
        same_treebank = [(c, s) for c, s in durations if c.treebank == cell.treebank] or durations
        alike = [(c, s) for c, s in same_treebank if c.system == cell.system] or same_treebank
        return mean(seconds for _, seconds in alike)

    return sum(map(expected, waiting)) / max(1, min(jobs, len(waiting)))


def _show_time_left(
    bar: "tqdm[Any]", durations: Sequence[tuple[Cell, float]], waiting: Any, jobs: int
) -> None:
    left = seconds_left(durations, [task.cell for task in waiting], jobs)
    if left is not None:
        text = f"about {tqdm.format_interval(left)} left" if waiting else ""
        bar.set_postfix_str(text, refresh=sys.stderr.isatty())  # in a log, one line per cell


def publish(task: Task, page: Path) -> None:
    """Send the report to the logger of the runs."""
    options: TrainOptions = checked(task.config, TrainOptions)
    logger: Logger = build(options.logger, "logger")
    with (page.parent / CSV).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    logger.publish(page, rows, sorted((page.parent / FIGURES).glob("*.png")))
