"""A training on disk, so that it can go on where it was: `training.pt` in the run's directory.

Weights and their average, the optimizer, the states that were kept, how far it is, the figures so
far. It is read as plain data (`weights_only`), written beside the old one and renamed, and removed
when the training is finished.
"""

import io
import pickle
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from dyparse.course import Course
from dyparse.errors import CheckpointError
from dyparse.output_file import write
from dyparse.state_memory import CompactStates

NAME = "training.pt"


@dataclass
class Progress:
    """How far a training is."""

    epoch: int = 1  # the one that goes on
    step: int = 0  # batches of it that are done
    loss: float = 0.0  # sums over them
    states: int = 0
    paid: int = 0
    seconds: float = 0.0
    best_las: float = -1.0
    epochs_since: int = 0
    curve: list[dict[str, float]] = field(default_factory=list)

    def begin_epoch(self) -> None:
        """The next epoch; nothing of it is done."""
        self.epoch += 1
        self.step, self.loss, self.states, self.paid, self.seconds = 0, 0.0, 0, 0, 0.0


@dataclass
class TrainingFile:
    """Where a training is kept, and how often."""

    path: Path
    options: str  # what is trained: another training's state is not taken up
    minutes: float = 10.0
    last: float = field(default_factory=time.monotonic)

    def is_due(self) -> bool:
        """Whether it is time to save again."""
        return time.monotonic() - self.last >= 60 * self.minutes

    def fits(self) -> bool:
        """Whether there is a state of these options."""
        return self.path.exists() and self._content()["options"] == self.options

    def save(self, course: Course, progress: Progress) -> None:
        """Write everything down."""
        memory = course.memory
        content = {
            "options": self.options,
            "progress": asdict(progress),
            "model": course.parser.model.state_dict(),
            "average": course.average.model.state_dict(),
            "updates": course.average.updates,
            "optimizer": course.optimizer.state_dict(),
            "states": [torch.from_numpy(array[: memory.size]) for array in memory.states],
            "spans": memory.spans,
            "left_out": sorted(course.left_out),
        }
        buffer = io.BytesIO()
        torch.save(content, buffer)
        write(self.path, buffer.getvalue())
        self.last = time.monotonic()

    def load(self, course: Course) -> Progress | None:
        """Put a course where the saved one was; None if there is none of these options."""
        if not self.fits():
            return None
        try:
            return self._restored(course, self._content())
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise self._damaged(error) from error

    def _content(self) -> dict[str, Any]:
        try:
            content = torch.load(self.path, map_location="cpu", weights_only=True)
            if not isinstance(content, dict) or "options" not in content:
                raise ValueError("no state of a training")
            return content
        except (RuntimeError, pickle.UnpicklingError, EOFError, ValueError) as error:
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> CheckpointError:
        finding = " ".join(str(error).split())[:200]
        return CheckpointError(
            f"{self.path}: damaged ({finding}); remove it to train from the beginning, or train "
            "with resume=false"
        )

    @staticmethod
    def _restored(course: Course, content: dict[str, Any]) -> Progress:
        progress = Progress(**content["progress"])
        course.parser.model.load_state_dict(content["model"])
        course.average.model.load_state_dict(content["average"])
        course.average.updates = content["updates"]
        course.optimizer.load_state_dict(content["optimizer"])
        memory = course.memory
        memory.states = CompactStates(*(tensor.cpu().numpy() for tensor in content["states"]))
        memory.size, memory.spans = len(memory.states.paid), content["spans"]
        course.left_out = set(content["left_out"])
        return progress

    def remove(self) -> None:
        """When the training is finished."""
        self.path.unlink(missing_ok=True)
