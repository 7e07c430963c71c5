"""Training: epochs over a treebank, the best on dev is kept."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from tqdm import tqdm

from dyparse.data.sentence import Sentence
from dyparse.errors import DyparseError
from dyparse.evaluation.attachment_scores import attachment_scores
from dyparse.model.parser import Parser
from dyparse.runtime.gpu_usage import GpuUsage
from dyparse.tensors.precision import require_precision
from dyparse.training.distributed import SINGLE, World
from dyparse.training.resume import Progress, TrainingFile
from dyparse.training.session import Course, Lesson


@dataclass(frozen=True)
class Trainer:
    """AdamW over batches of similar length, a learning rate that rises, stays and falls, averaged
    weights, early stopping.

    The average is an exponential moving one (Polyak & Juditsky 1992); it is what dev sees and what
    is kept.
    """

    epochs: int = 18
    patience: int = 10
    max_tokens_per_batch: int = 300
    learning_rate: float = 2e-3
    warmup: float = 0.03
    constant: float = 0.3
    final_rate: float = 0.03
    beta1: float = 0.9
    beta2: float = 0.98
    weight_decay: float = 1e-3
    max_gradient_norm: float = 5.0
    average_decay: float = 0.998
    precision: str = "float32"
    rollout_ahead: bool = False
    max_sentences: int | None = None

    def __post_init__(self) -> None:
        for name in ("epochs", "patience", "max_tokens_per_batch"):
            self._require(name, getattr(self, name) >= 1, "1 or more")
        for name in ("learning_rate", "max_gradient_norm", "final_rate"):
            self._require(name, 0 < getattr(self, name) < math.inf, "more than 0")
        self._require("weight_decay", 0 <= self.weight_decay < math.inf, "0 or more")
        for name in ("beta1", "beta2", "average_decay"):
            self._require(name, 0 <= getattr(self, name) < 1, "0 <= x < 1")
        require_precision(self.precision, "trainer.precision")
        self._require(
            "max_sentences", self.max_sentences is None or self.max_sentences >= 1, "1 or more"
        )
        if not 0 <= self.warmup <= self.constant <= 1:
            raise ValueError(
                f"trainer.warmup is {self.warmup} and trainer.constant {self.constant}, "
                "expected 0 <= warmup <= constant <= 1: shares of the training"
            )

    def _require(self, name: str, is_so: bool, expected: str) -> None:  # noqa: FBT001 - a claim
        if not is_so:
            raise ValueError(f"trainer.{name} is {getattr(self, name)}, expected {expected}")

    def train(
        self,
        parser: Parser,
        lesson: Lesson,
        keep: Callable[[Parser, dict[str, float]], None],
        *,
        file: TrainingFile | None = None,
        processes: World = SINGLE,
    ) -> Iterator[dict[str, float]]:
        """Train the parser in place; figures after each epoch.

        `keep` is called with the averaged parser and its figures after each epoch that is better
        on dev than all before. With a file the training goes on where the file says it was; the
        figures of the epochs before that come first. If it has been asked to stop it saves once
        more and raises Stopped.
        """
        course = Course(self, parser, lesson, processes)
        progress = (file and file.load(course)) or Progress()
        if len({(p.epoch, p.step) for p in processes.all_gather(progress)}) > 1:
            raise DyparseError(
                "not all processes found the unfinished training; put the run's directory on a "
                "disk that all machines share, or train with resume=false"
            )
        yield from progress.curve
        while progress.epoch <= self.epochs and progress.epochs_since < self.patience:
            figures = self.run_epoch(course, progress, file)
            averaged = course.averaged_parser()
            if processes.is_first:
                figures |= dev_figures(averaged, lesson.dev)
            figures = processes.broadcast(figures)
            progress.epochs_since += 1
            if figures["dev_las"] > progress.best_las:
                progress.best_las, progress.epochs_since = figures["dev_las"], 0
                if processes.is_first:
                    keep(averaged, figures)
            progress.curve.append(figures)
            progress.begin_epoch()
            if file and processes.is_first:
                file.save(course, progress)
            yield figures
            if file:
                file.stop_if_asked()

    def run_epoch(
        self, course: Course, progress: Progress, file: TrainingFile | None = None
    ) -> dict[str, float]:
        """Learn from every training sentence once, or from those of the epoch that are left."""
        start, epoch = time.perf_counter() - progress.seconds, progress.epoch
        is_first = course.processes.is_first
        # Within an epoch only where this process knows all: no sums of others, no walk ahead.
        can_save = course.processes.count == 1 and not self.rollout_ahead
        loss = torch.tensor(progress.loss, dtype=torch.float64, device=course.parser.model.device)
        load = GpuUsage(course.parser.model.device)
        total = len(course.groups(epoch))
        hidden = None if is_first else True
        bar = tqdm(desc=f"epoch {epoch}", unit="batch", total=total, leave=False, disable=hidden)
        course.parser.model.train()
        with bar:
            bar.update(progress.step)
            for done, exercise, find in course.batches(epoch, progress.step):
                learnt = course.learn(exercise, (epoch - 1 + done) / self.epochs, find)
                loss += learnt.loss
                progress.states += learnt.states
                progress.paid += learnt.paid
                progress.step += 1
                load.sample(progress.step)
                bar.update()
                if file and can_save and file.is_due():
                    progress.loss, progress.seconds = loss.item(), time.perf_counter() - start
                    file.save(course, progress)
                if file:
                    file.stop_if_asked()
        progress.loss, progress.seconds = loss.item(), time.perf_counter() - start
        return epoch_figures(course, progress) | load.figures()

    def rate_at(self, progress: float) -> float:
        """The learning rate when this share of the training, 0..1, is done."""
        if progress < self.warmup:
            share = progress / self.warmup
        elif progress < self.constant:
            share = 1.0
        else:
            share = 1 - (1 - self.final_rate) * (progress - self.constant) / max(
                1 - self.constant, 1e-9
            )
        return self.learning_rate * max(share, self.final_rate)


def epoch_figures(course: Course, progress: Progress) -> dict[str, float]:
    """What an epoch was like, over all processes."""
    sums = torch.tensor([progress.loss, progress.states, progress.paid], dtype=torch.float64)
    loss, states, paid = course.processes.all_reduce(sums).tolist()
    mean_loss = loss / progress.step
    if not math.isfinite(mean_loss):
        raise DyparseError(
            f"the loss became {mean_loss} in epoch {progress.epoch}; "
            f"lower trainer.learning_rate (now {course.trainer.learning_rate}) "
            "or trainer.max_gradient_norm"
        )
    return {
        "epoch": progress.epoch,
        "loss": mean_loss,
        "cost_per_state": paid / max(states, 1),
        "learning_rate": course.optimizer.param_groups[0]["lr"],
        "tokens_per_second": int(course.words.sum()) / progress.seconds,
        "seconds": progress.seconds,
    }


def dev_figures(parser: Parser, dev: Sequence[Sentence]) -> dict[str, float]:
    """How well the parser does on dev."""
    scores = attachment_scores(dev, list(parser.parse_sentences(dev)))
    return {"dev_uas": scores.uas, "dev_las": scores.las}
