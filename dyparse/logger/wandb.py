"""Weights & Biases: curves, a table of results, the model as artifact."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MODES = ("auto", "online", "offline")


@dataclass(frozen=True)
class WandbLogger:
    """Logs to wandb; without an account the run is kept offline beside the model, for `wandb sync`
    later.
    """

    project: str = "dyparse"
    entity: str | None = None
    group: str | None = None
    tags: list[str] = field(default_factory=list)
    mode: str = "auto"
    artifact: bool = True

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"logger.mode is {self.mode!r}, expected one of {', '.join(MODES)}")

    def open(self, directory: Path, config: dict[str, Any]) -> "WandbLog":
        group = self.group or re.sub(r"-seed\d+", "", directory.name)
        run = self._begin(directory, "train", directory.name, group, config)
        run.define_metric("*", step_metric="epoch")
        return WandbLog(run, artifact=self.artifact)

    def publish(self, page: Path, rows: list[dict[str, str]], figures: Sequence[Path]) -> None:
        import wandb

        group = self.group or page.parent.name
        run = self._begin(page.parent, "report", f"{group}-report", group, {})
        columns: list[Any] = list(rows[0])
        table = wandb.Table(columns=columns, data=[[row[name] for name in columns] for row in rows])
        pictures = {path.stem: wandb.Image(str(path)) for path in figures}
        try:
            run.log({"results": table, "report": wandb.Html(str(page)), **pictures})
        finally:
            run.finish()

    def _begin(
        self, directory: Path, job: str, name: str, group: str, config: dict[str, Any]
    ) -> Any:
        """A run of wandb; without an account it is kept offline."""
        import wandb  # a slow import, for those only who log

        mode = os.environ.get("WANDB_MODE") or self.mode
        if mode == "auto":
            mode = "online" if wandb.api.api_key else "offline"
        return wandb.init(
            project=self.project,
            entity=self.entity,
            group=group,
            job_type=job,
            name=name,
            tags=[*self.tags],
            config=config,
            dir=directory,
            mode=mode,  # type: ignore[arg-type]  # one of wandb's literals
        )


class WandbLog:
    """A wandb run."""

    def __init__(self, run: Any, *, artifact: bool) -> None:
        self.run = run
        self.artifact = artifact

    def epoch(self, figures: dict[str, float]) -> None:
        self.run.log(figures)

    def finish(self, results: dict[str, dict[str, float]], model: Path) -> None:
        import wandb

        names = sorted({name for figures in results.values() for name in figures})
        rows = [
            [split, *(figures.get(name) for name in names)] for split, figures in results.items()
        ]
        self.run.log({"results": wandb.Table(columns=["split", *names], data=rows)})
        for split, figures in results.items():
            for name, value in figures.items():
                self.run.summary[f"{split}_{name}"] = value
        if self.artifact:
            artifact = wandb.Artifact(f"model-{self.run.id}", type="model")
            artifact.add_dir(str(model))
            self.run.log_artifact(artifact)

    def close(self, *, failed: bool) -> None:
        self.run.finish(exit_code=int(failed))
