"""The end of a sweep, `dyparse train -m`: a table of its runs.

Hydra makes one object of the class below, and launchers copy it to the processes of the runs. Each
run adds its directory to a list, in a file beside the runs: they may be on several machines.
"""

import secrets
import sys
import time
from pathlib import Path
from typing import Any, ClassVar

from hydra.core.utils import JobReturn, JobStatus
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig, read_write

from dyparse.errors import DyparseError
from dyparse.runtime.launch import is_first_rank


class SweepTable(Callback):
    """Lists the directories of a sweep's runs, and prints their results at its end."""

    under_way: ClassVar[Path | None] = None  # the list of the sweep that this process has begun

    def __init__(self) -> None:
        self.name = f"sweep-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}.txt"

    def on_multirun_start(self, config: DictConfig, **_: Any) -> None:
        """Begin a list of runs, and search for the best of them."""
        SweepTable.under_way = self._list(config)
        maximize(config)

    def on_job_end(self, config: DictConfig, job_return: JobReturn, **_: Any) -> None:
        """Add the directory of a run to the list."""
        if config.hydra.mode != RunMode.MULTIRUN or job_return.status != JobStatus.COMPLETED:
            return
        if is_first_rank():
            from dyparse.training.run_directory import directory_of  # it imports torch

            assert isinstance(job_return.cfg, DictConfig)
            with self._list(config).open("a", encoding="utf-8") as file:
                file.write(f"{directory_of(job_return.cfg)}\n")

    def on_multirun_end(self, config: DictConfig, **_: Any) -> None:  # noqa: ARG002 - of Hydra
        """Print a table of the runs, best first, and where their list is."""
        print_finished_runs()

    def _list(self, config: DictConfig) -> Path:
        return Path(config.hydra.sweep.dir) / self.name


def print_finished_runs() -> None:
    """Print a table of the runs of the sweep under way, which an error may have ended."""
    path, SweepTable.under_way = SweepTable.under_way, None
    if not path or not path.exists():
        return
    from dyparse.comparison.settings_table import table_of_runs
    from dyparse.evaluation.run_result import finished_results

    directories = [Path(line) for line in path.read_text(encoding="utf-8").splitlines()]
    try:
        table = table_of_runs([result for _, result in finished_results(directories)])
    except DyparseError as error:  # of a damaged result: the trainings are done all the same
        sys.stdout.write(f"no table of the runs: {error}\n")
        return
    note = f"{table.note}\n" if table.note else ""
    sys.stdout.write(f"\n{table.to_text()}{note}\n")
    report = path.with_suffix("")
    sys.stdout.write(f"report    dyparse report $(cat {path}) -o {report}\n")


def maximize(config: DictConfig) -> None:
    """Let Optuna maximize unless the command line gives a direction: by default it minimizes, and
    would search for the worst parser.
    """
    given = {override.lstrip("+").partition("=")[0] for override in config.hydra.overrides.hydra}
    sweeper = config.hydra.sweeper
    if "direction" in sweeper and "hydra.sweeper.direction" not in given:
        with read_write(config), read_write(sweeper):
            sweeper.direction = "maximize"
