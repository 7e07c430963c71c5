"""Weights & Biases: curves, a table of results, the model as an artifact.

wandb receives the options and figures of a run, but no path of the user's machine: its recording of
host, paths, code, git and terminal is switched off, and so are its own error reports. A lost
connection costs nothing but a warning; what was not sent stays beside the model for `wandb sync`.
"""

import math
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dyparse.config.extras import require_training
from dyparse.errors import ConfigError, DyparseWarning

MODES = ("auto", "online", "offline")
LONGEST_TAG = 64  # wandb's limit
PRIVATE: dict[str, Any] = {  # settings of wandb: record nothing about the machine
    "x_disable_meta": True,
    "x_disable_machine_info": True,
    "host": "-",
    "disable_git": True,
    "disable_code": True,
    "console": "off",
    "program": "dyparse",
}

# wandb's own error reports contain paths. It reads this when it is imported.
os.environ.setdefault("WANDB_ERROR_REPORTING", "false")


@dataclass(frozen=True)
class WandbLogger:
    """Logs to wandb; without an account or a connection the run is stored beside the model, for
    `wandb sync` later.
    """

    project: str = "dyparse"
    entity: str | None = None
    group: str | None = None
    tags: list[str] = field(default_factory=list)
    mode: str = "auto"
    artifact: bool = True
    timeout_seconds: float = 120.0

    def __post_init__(self) -> None:
        require_training("logger=wandb", "wandb")
        if self.mode not in MODES:
            raise ValueError(f"logger.mode is {self.mode!r}, expected one of {', '.join(MODES)}")
        if not 0 < self.timeout_seconds < math.inf:
            raise ValueError(
                f"logger.timeout_seconds is {self.timeout_seconds}, expected more than 0"
            )
        if wrong := [tag for tag in self.tags if not 0 < len(tag) <= LONGEST_TAG]:
            raise ValueError(
                f"logger.tags has {wrong[0]!r}, expected 1 to {LONGEST_TAG} characters"
            )

    def open(self, directory: Path, config: dict[str, Any]) -> "WandbLog":
        group = self.group or re.sub(r"-seed\d+", "", directory.name)
        run = self._start(directory, "train", directory.name, group, config)
        with errors_as_warnings():
            run.define_metric("*", step_metric="epoch")
        return WandbLog(run, artifact=self.artifact)

    def publish(self, page: Path, rows: list[dict[str, str]], figures: Sequence[Path]) -> None:
        import wandb

        group = self.group or page.parent.name
        run = self._start(page.parent, "report", f"{group}-report", group, {})
        columns: list[Any] = list(rows[0])
        table = wandb.Table(columns=columns, data=[[row[name] for name in columns] for row in rows])
        pictures = {path.stem: wandb.Image(str(path)) for path in figures}
        with errors_as_warnings():
            run.log({"results": table, "report": wandb.Html(str(page)), **pictures})
        with errors_as_warnings():
            run.finish()

    def _start(
        self, directory: Path, job: str, name: str, group: str, config: dict[str, Any]
    ) -> Any:
        """Start a wandb run; offline without an account or a connection."""
        import wandb  # a slow import, only for those who log

        mode = os.environ.get("WANDB_MODE") or self.mode
        if mode not in (*MODES, "disabled"):
            raise ConfigError(
                f"WANDB_MODE is {mode!r}, expected one of {', '.join(MODES)}, disabled"
            )
        if mode == "auto":
            mode = "online" if wandb.api.api_key else "offline"
        options: dict[str, Any] = {
            "project": self.project,
            "entity": self.entity,
            "group": group,
            "name": name,
            "job_type": job,
            "tags": [*self.tags],
            "config": config,
            "dir": directory,
        }

        def settings() -> wandb.Settings:  # new ones for each run: wandb writes its id into them
            seconds = self.timeout_seconds
            return wandb.Settings(init_timeout=seconds, finish_timeout=seconds, **PRIVATE)

        # A resumed training continues its wandb run.
        resume: Any = "auto" if job == "train" and mode == "online" else None
        try:
            return wandb.init(**options, mode=mode, resume=resume, settings=settings())  # type: ignore[arg-type]  # one of wandb's literals
        except wandb.errors.CommError as error:
            warn(f"cannot be reached ({one_line(error)}); the run is stored in {directory}/wandb")
            return wandb.init(**options, mode="offline", settings=settings())
        except wandb.errors.Error as error:
            raise ConfigError(
                f"logger=wandb: {one_line(error)}; run `wandb login`, or set logger.mode=offline"
            ) from error


class WandbLog:
    """The log of a training, as a wandb run."""

    def __init__(self, run: Any, *, artifact: bool) -> None:
        self.run = run
        self.artifact = artifact
        self.known_epochs = int(run.summary.get("epoch", 0)) if run.resumed else 0

    def epoch(self, figures: dict[str, float]) -> None:
        if figures["epoch"] > self.known_epochs:
            with errors_as_warnings():
                self.run.log(figures)

    def finish(self, results: dict[str, dict[str, float]], model: Path) -> None:
        import wandb

        names = sorted({name for figures in results.values() for name in figures})
        rows = [
            [split, *(figures.get(name) for name in names)] for split, figures in results.items()
        ]
        with errors_as_warnings():
            self.run.log({"results": wandb.Table(columns=["split", *names], data=rows)})
            for split, figures in results.items():
                for name, value in figures.items():
                    self.run.summary[f"{split}_{name}"] = value
            if self.artifact:
                artifact = wandb.Artifact(f"model-{self.run.id}", type="model")
                artifact.add_dir(str(model))
                self.run.log_artifact(artifact)

    def close(self, *, failed: bool) -> None:
        import wandb

        with errors_as_warnings():
            self.run.finish(exit_code=int(failed))
            return
        # wandb's own process has died. Without teardown it would print errors when we exit, and the
        # next run of this process would look for the dead one.
        with suppress(Exception):
            wandb.teardown()


@contextmanager
def errors_as_warnings() -> Iterator[None]:
    """Whatever fails in wandb is a warning and does not stop the training."""
    try:
        yield
    except Exception as error:  # wandb's errors have no common base class
        warn(f"{one_line(error)}; this does not affect the training: send it later with wandb sync")


def warn(message: str) -> None:
    """Warn the user about wandb."""
    warnings.warn(f"wandb: {message}", DyparseWarning, stacklevel=3)


def one_line(error: Exception) -> str:
    """First line of an error's message."""
    return str(error).strip().partition("\n")[0] or type(error).__name__
