"""A training on disk, so that it can go on where it was: `training.state` in the run's directory.

Weights and their average, the optimizer, the states that were kept, how far it is, the figures so
far. Behind a line with version and checksum it is what torch saves, and read as plain data
(`weights_only`). It is written beside the old one and renamed, and removed when the training is
finished; then `training.done` says of what.
"""

import hashlib
import io
import pickle
import time
import warnings
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from dyparse.errors import CheckpointError, DyparseWarning
from dyparse.runtime.atomic_files import write
from dyparse.runtime.signals import Stopped, StopRequest
from dyparse.training.replay_buffer import CompactStates
from dyparse.training.session import Course

NAME, DONE = "training.state", "training.done"
VERSION = b"dyparse training 1 "


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

    def __str__(self) -> str:
        return f"epoch {self.epoch}, batch {self.step}" if self.step else f"epoch {self.epoch - 1}"


@dataclass
class TrainingFile:
    """Where a training is kept, how often, and whether it was asked to stop."""

    path: Path
    options: str  # what is trained: another training's state is not taken up
    minutes: float = 10.0
    stop: StopRequest = field(default_factory=StopRequest)
    last: float = field(default_factory=time.monotonic)
    saved: str = ""  # how far the training is that is on disk

    def is_due(self) -> bool:
        """Whether it is time to save again."""
        return bool(self.stop.signal_number) or time.monotonic() - self.last >= 60 * self.minutes

    def fits(self) -> bool:
        """Whether there is a state of these options."""
        return self.path.exists() and self._content()["options"] == self.options

    def save(self, course: Course, progress: Progress) -> None:
        """Write everything down; where that is not possible the training goes on without."""
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
        self.last = time.monotonic()
        try:
            buffer = io.BytesIO()
            torch.save(content, buffer)
            write(self.path, sealed(buffer.getvalue()))
            self.saved = str(progress)
        except (OSError, MemoryError) as error:
            reason = getattr(error, "strerror", None) or str(error) or "not enough memory"
            warnings.warn(
                f"{self.path}: {reason}; the training goes on and {self.kept}: "
                "make room, or mend the directory",
                DyparseWarning,
                stacklevel=2,
            )

    @property
    def kept(self) -> str:
        """What would be there if the training ended now."""
        return f"is saved up to {self.saved}" if self.saved else "is not saved yet"

    def stop_if_asked(self) -> None:
        """End the training if a signal has asked for it."""
        if self.stop.signal_number:
            told = f"saved after {self.saved}" if self.saved else "nothing is saved yet"
            again = "the same command goes on from there" if self.saved else "start again"
            raise Stopped(self.stop.signal_number, f"stopped: {told}; {again}")

    def load(self, course: Course) -> Progress | None:
        """Put a course where the saved one was; None if there is none of these options."""
        content = self._content() if self.path.exists() else {"options": None}
        if content["options"] != self.options:
            return None
        try:
            progress = self._restored(course, content)
        except (LookupError, AttributeError, TypeError, ValueError, RuntimeError) as error:
            raise self._damaged(str(error)) from error
        self.saved = str(progress)
        return progress

    def _content(self) -> dict[str, Any]:
        data = _unsealed(self.path.read_bytes())
        if data is None:
            raise self._damaged("its checksum does not fit, or another version of dyparse wrote it")
        try:
            content: dict[str, Any] = torch.load(
                io.BytesIO(data), map_location="cpu", weights_only=True
            )
        except (RuntimeError, pickle.UnpicklingError, EOFError, ValueError) as error:
            raise self._damaged(str(error)) from error
        if not isinstance(content, dict) or "options" not in content:
            raise self._damaged("no state of a training")
        return content

    def _damaged(self, finding: str) -> CheckpointError:
        return CheckpointError(
            f"{self.path}: cannot be used ({' '.join(finding.split())[:200]}); remove it to train "
            "from the beginning, or train with resume=false"
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

    @property
    def done(self) -> str:
        """Of what options and sentences a training was finished here; nothing if none was."""
        try:
            return self.path.with_name(DONE).read_text(encoding="ascii").strip()
        except (FileNotFoundError, ValueError):
            return ""

    def finish(self) -> None:
        """Write down that the training is finished; it needs no state any more."""
        write(self.path.with_name(DONE), f"{self.options}\n".encode())
        self.path.unlink(missing_ok=True)

    def reopen(self) -> None:
        """The training is not finished any more, if it was."""
        self.path.with_name(DONE).unlink(missing_ok=True)

    def remove(self) -> None:
        """Forget how far the training is."""
        self.path.unlink(missing_ok=True)


def sealed(data: bytes) -> bytes:
    """The data behind a line with version and checksum: torch does not notice a changed weight."""
    return _seal(data) + b"\n" + data


def _unsealed(content: bytes) -> bytes | None:
    """The data of `sealed`; None if it is of another version or has changed."""
    seal, _, data = content.partition(b"\n")
    return data if seal == _seal(data) else None


def _seal(data: bytes) -> bytes:
    return VERSION + hashlib.sha256(data).hexdigest().encode()
