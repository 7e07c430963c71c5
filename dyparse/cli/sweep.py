"""The end of a sweep, `dyparse train -m`: a table of its runs.

Hydra makes one object of the class below, and launchers copy it to the processes of the runs. Each
run adds its directory to a list, in a file beside the runs: they may be on several machines.
"""

import secrets
import sys
import time
from pathlib import Path
from typing import Any

from hydra.core.utils import JobReturn, JobStatus
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig

from dyparse.errors import DyparseError
from dyparse.runtime.launch import is_first_rank


class SweepTable(Callback):
    """Lists the directories of a sweep's runs, and prints their results when all are finished."""

    def __init__(self) -> None:
        self.name = f"sweep-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}.txt"

    def on_job_end(self, config: DictConfig, job_return: JobReturn, **_: Any) -> None:
        """Add the directory of a run to the list."""
        if config.hydra.mode != RunMode.MULTIRUN or job_return.status != JobStatus.COMPLETED:
            return
        if is_first_rank():
            from dyparse.training.run_directory import directory_of  # it imports torch

            assert isinstance(job_return.cfg, DictConfig)
            with self._list(config).open("a", encoding="utf-8") as file:
                file.write(f"{directory_of(job_return.cfg)}\n")

    def on_multirun_end(self, config: DictConfig, **_: Any) -> None:
        """Print a table of the runs, best first, and where their list is."""
        path = self._list(config)
        if not path.exists():
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

    def _list(self, config: DictConfig) -> Path:
        return Path(config.hydra.sweep.dir) / self.name
