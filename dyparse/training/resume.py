"""Resuming: a training on disk, in `training.state` of the run's directory.

Weights and their average, the optimizer, the replay buffer, the progress, the figures so far.
Behind a line with version and checksum it is what torch saves, and read as plain data
(`weights_only`). It is written beside the old one and renamed, and removed when the training is
finished; then `training.done` has the hash of its options.
"""

import hashlib
import io
import pickle
import time
import warnings
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

import torch

from dyparse.errors import CheckpointError, DyparseWarning
from dyparse.runtime.atomic_files import replacing, write
from dyparse.runtime.signals import Stopped, StopRequest
from dyparse.tensors.moving_average import learned_state, load_learned_state
from dyparse.training.replay_buffer import CompactStates
from dyparse.training.session import Session

NAME, DONE = "training.state", "training.done"
VERSION = b"dyparse training 3 "


@dataclass
class Progress:
    """How far a training is."""

    epoch: int = 1  # the present one
    step: int = 0  # batches of it that are done
    loss: float = 0.0  # sums over them
    states: int = 0
    paid: int = 0
    seconds: float = 0.0
    best_las: float = -1.0
    epochs_since: int = 0
    curve: list[dict[str, float]] = field(default_factory=list)

    def start_next_epoch(self) -> None:
        """Move on to the next epoch; nothing of it is done."""
        self.epoch += 1
        self.step, self.loss, self.states, self.paid, self.seconds = 0, 0.0, 0, 0, 0.0

    def __str__(self) -> str:
        return f"epoch {self.epoch}, batch {self.step}" if self.step else f"epoch {self.epoch - 1}"


@dataclass
class TrainingFile:
    """Where a training is kept, how often, and whether it was asked to stop."""

    path: Path
    options: str  # a hash of what is trained: the state of another training is not resumed
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

    def save(self, session: Session, progress: Progress) -> None:
        """Write everything down; where that is not possible the training continues without."""
        buffer = session.replay_buffer
        content = {
            "options": self.options,
            "progress": asdict(progress),
            "model": learned_state(session.parser.model),
            "optimizer": session.optimizer.state_dict(),
            "states": [torch.from_numpy(array[: buffer.size]) for array in buffer.states],
            "spans": buffer.spans,
            "left_out": sorted(session.batches.left_out),
        }
        self.last = time.monotonic()
        try:
            save_sealed(self.path, content)
            self.saved = str(progress)
        except (OSError, MemoryError) as error:
            reason = getattr(error, "strerror", None) or str(error) or "not enough memory"
            warnings.warn(
                f"{self.path}: {reason}; the training continues and {self.kept}: "
                "make room, or fix the directory",
                DyparseWarning,
                stacklevel=2,
            )

    @property
    def kept(self) -> str:
        """How much would be saved if the training ended now."""
        return f"is saved up to {self.saved}" if self.saved else "is not saved yet"

    def stop_if_asked(self) -> None:
        """End the training if a signal has asked for it."""
        if self.stop.signal_number:
            state = f"saved after {self.saved}" if self.saved else "nothing is saved yet"
            remedy = "the same command resumes from there" if self.saved else "start again"
            raise Stopped(self.stop.signal_number, f"stopped: {state}; {remedy}")

    def load(self, session: Session) -> Progress | None:
        """Put a session where the saved one was; None if there is none of these options."""
        content = self._content() if self.path.exists() else {"options": None}
        if content["options"] != self.options:
            return None
        try:
            progress = self._restored(session, content)
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
    def _restored(session: Session, content: dict[str, Any]) -> Progress:
        progress = Progress(**content["progress"])
        load_learned_state(session.parser.model, content["model"])
        session.optimizer.load_state_dict(content["optimizer"])
        buffer = session.replay_buffer
        buffer.states = CompactStates(*(tensor.cpu().numpy() for tensor in content["states"]))
        buffer.size, buffer.spans = len(buffer.states.paid), content["spans"]
        session.batches.left_out = set(content["left_out"])
        return progress

    @property
    def done(self) -> str:
        """The options of the training that was finished here; empty if none was."""
        try:
            return self.path.with_name(DONE).read_text(encoding="ascii").strip()
        except (FileNotFoundError, ValueError):
            return ""

    def finish(self) -> None:
        """Record that the training is finished; it needs no state any more."""
        write(self.path.with_name(DONE), f"{self.options}\n".encode())
        self.path.unlink(missing_ok=True)

    def reopen(self) -> None:
        """Record that the training is not finished."""
        self.path.with_name(DONE).unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove the saved state."""
        self.path.unlink(missing_ok=True)


class HashedFile:
    """A file for torch to write to, with the checksum of what it wrote.

    An error is kept for later: torch answers one in the middle of its work with errors of its own.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.hash = file, hashlib.sha256()
        self.error: OSError | None = None

    def write(self, data: bytes) -> int:
        """Write, unless that has failed before."""
        self.hash.update(data)
        try:
            if not self.error:
                self.file.write(data)
        except OSError as error:
            self.error = error
        return len(data)

    def flush(self) -> None:
        """Nothing: the file is flushed when it is closed."""


def save_sealed(path: Path, content: dict[str, Any]) -> None:
    """What torch saves, behind a line with version and checksum: it does not notice a changed
    weight. Written tensor by tensor, for the content is large.
    """
    with replacing(path) as temporary, temporary.open("wb") as file:
        hashed = HashedFile(file)
        file.write(seal(hashed.hash.hexdigest()))  # as long as the right one
        torch.save(content, hashed)  # type: ignore[arg-type]  # it only writes
        if hashed.error:
            raise hashed.error
        file.seek(0)
        file.write(seal(hashed.hash.hexdigest()))


def _unsealed(content: bytes) -> bytes | None:
    """The data behind a seal; None if it is of another version or has changed."""
    line, _, data = content.partition(b"\n")
    return data if line + b"\n" == seal(hashlib.sha256(data).hexdigest()) else None


def seal(checksum: str) -> bytes:
    """The first line of a file."""
    return VERSION + checksum.encode() + b"\n"
