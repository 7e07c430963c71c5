"""Training: walk, learn from what was visited, keep the best."""

import copy
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils import clip_grads_with_norm_, get_total_norm
from tqdm import tqdm

from dyparse.attachment_scores import attachment_scores
from dyparse.batch import group_by_length
from dyparse.errors import DyparseError
from dyparse.exploration import Exploration
from dyparse.loss import Loss
from dyparse.model import Model, label_loss
from dyparse.parser import Parser
from dyparse.scorer import Scorer
from dyparse.sentence import Sentence
from dyparse.state_memory import StateMemory
from dyparse.walk import Visited, walk_and_record

UPDATES_PER_AVERAGE = 4  # reading all weights is dear; an average over hundreds misses nothing


@dataclass(frozen=True)
class Lesson:
    """What is learnt, and how it is explored."""

    exploration: Exploration
    loss: Loss
    train: Sequence[Sentence]
    dev: Sequence[Sentence]
    seed: int


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
    max_sentences: int | None = None

    def __post_init__(self) -> None:
        for name in ("epochs", "patience", "max_tokens_per_batch"):
            if getattr(self, name) < 1:
                raise ValueError(f"trainer.{name} is {getattr(self, name)}, expected 1 or more")
        for name in ("learning_rate", "max_gradient_norm", "final_rate"):
            if not getattr(self, name) > 0:
                raise ValueError(f"trainer.{name} is {getattr(self, name)}, expected more than 0")
        if self.weight_decay < 0:
            raise ValueError(f"trainer.weight_decay is {self.weight_decay}, expected 0 or more")
        if not 0 <= self.warmup <= self.constant <= 1:
            raise ValueError(
                f"trainer.warmup is {self.warmup} and trainer.constant {self.constant}, "
                "expected 0 <= warmup <= constant <= 1: shares of the training"
            )
        for name in ("beta1", "beta2", "average_decay"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"trainer.{name} is {getattr(self, name)}, expected 0 <= x < 1")
        if self.max_sentences is not None and self.max_sentences < 1:
            raise ValueError(f"trainer.max_sentences is {self.max_sentences}, expected 1 or more")

    def train(
        self, parser: Parser, lesson: Lesson, keep: Callable[[Parser, dict[str, float]], None]
    ) -> Iterator[dict[str, float]]:
        """Train the parser in place; figures after each epoch.

        `keep` is called with the averaged parser and its figures after each epoch that is better
        on dev than all before.
        """
        course = Course(self, parser, lesson)
        best_las, epochs_since = -1.0, 0
        for epoch in range(1, self.epochs + 1):
            figures = course.run_epoch(epoch)
            averaged = course.averaged_parser()
            figures |= dev_figures(averaged, lesson.dev)
            epochs_since += 1
            if figures["dev_las"] > best_las:
                best_las, epochs_since = figures["dev_las"], 0
                keep(averaged, figures)
            yield figures
            if epochs_since >= self.patience:
                return

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


class Course:
    """One training as it goes on: optimizer, averaged weights, random numbers."""

    def __init__(self, trainer: Trainer, parser: Parser, lesson: Lesson) -> None:
        self.trainer, self.parser, self.lesson = trainer, parser, lesson
        self.optimizer = torch.optim.AdamW(
            parser.model.parameters(),
            lr=trainer.learning_rate,
            betas=(trainer.beta1, trainer.beta2),
            weight_decay=trainer.weight_decay,
            fused=True,
        )
        self.average = MovingAverage(parser.model, trainer.average_decay)
        self.generator = np.random.default_rng(lesson.seed)
        self.memory = StateMemory()

    def averaged_parser(self) -> Parser:
        """The parser with averaged weights."""
        return replace(self.parser, model=self.average.model)

    def run_epoch(self, epoch: int) -> dict[str, float]:
        """Learn from every training sentence once."""
        start = time.perf_counter()
        sentences = self.lesson.train
        groups = group_by_length(
            [len(s) for s in sentences], self.trainer.max_tokens_per_batch, self.generator
        )
        self.parser.model.train()
        loss = torch.zeros((), device=self.parser.model.device)
        states = paid = 0
        bar = tqdm(groups, desc=f"epoch {epoch}", unit="batch", leave=False, disable=None)
        for step, group in enumerate(bar):
            progress = (epoch - 1 + step / len(groups)) / self.trainer.epochs
            batch_loss, visited = self.learn(group, epoch, progress)
            loss += batch_loss
            states += len(visited.paid)
            paid += int(visited.paid.sum())
        mean_loss = loss.item() / len(groups)
        if not math.isfinite(mean_loss):
            raise DyparseError(
                f"the loss became {mean_loss} in epoch {epoch}; "
                f"lower trainer.learning_rate (now {self.trainer.learning_rate}) "
                "or trainer.max_gradient_norm"
            )
        seconds = time.perf_counter() - start
        return {
            "epoch": epoch,
            "loss": mean_loss,
            "cost_per_state": paid / states,
            "learning_rate": self.optimizer.param_groups[0]["lr"],
            "tokens_per_second": sum(map(len, sentences)) / seconds,
            "seconds": seconds,
        }

    def learn(self, group: Sequence[int], epoch: int, progress: float) -> tuple[Tensor, Visited]:
        """One update from the states of a batch, the training sentences with these numbers.

        Its loss per word, and the states learnt from.
        """
        model, lesson = self.parser.model, self.lesson
        sentences = [lesson.train[k] for k in group]
        batch, gold = self.parser.batcher.batch(sentences), self.parser.batcher.gold(sentences)
        encoded = model.encode(batch.to(model.device))  # [B, N, width]
        table = model.table(encoded)  # [tokens, F, D]
        visited, walks = self.visit(group, model.scorer(table), batch.words, gold.head, epoch)
        features, legal, cost, head, label = self._on_device(
            visited.features, visited.legal, visited.cost, gold.head, gold.label
        )
        scores = model.score(table, features)  # [T, M]
        states_per_word = len(scores) / (walks * int(batch.words.sum()))
        loss = states_per_word * lesson.loss(scores, legal, cost)
        loss = loss + label_loss(model.labeller(encoded, head.long()), label)
        self.update(loss, self.trainer.rate_at(progress))
        return loss.detach(), visited

    def visit(
        self,
        group: Sequence[int],
        scorer: Scorer,
        words: NDArray[np.int32],
        gold: NDArray[np.int32],
        epoch: int,
    ) -> tuple[Visited, int]:
        """The states of a batch to learn from, and from how many walks they are.

        Those of a walk with the present model, or all that were kept, this walk's among them.
        """
        exploration, memory = self.lesson.exploration, self.memory
        if exploration.walks_in(epoch):
            visited = walk_and_record(
                self.parser.system,
                exploration,
                scorer,
                words,
                gold,
                epoch=epoch,
                seed=int(self.generator.integers(2**32)),
                threads=torch.get_num_threads(),
            )
            if not exploration.keeps_states:
                return visited, 1
            memory.add(group, gold.shape[1], visited)
        return memory.recall(group, gold.shape[1]), memory.walks(group[0])

    def update(self, loss: Tensor, rate: float) -> None:
        """One step of the optimizer at this learning rate."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]  # torch has no types for it
        self.clip_gradients()
        self.optimizer.step()
        self.average.follow(self.parser.model)

    def clip_gradients(self) -> None:
        """Scale the gradients down to the largest norm allowed, if they are above it."""
        parameters = [p for p in self.parser.model.parameters() if p.grad is not None]
        norm = get_total_norm([p.grad for p in parameters if p.grad is not None])
        most = self.trainer.max_gradient_norm
        if norm.device.type != "cpu" or norm > most:  # a device is not waited for
            clip_grads_with_norm_(parameters, most, norm)

    def _on_device(self, *arrays: NDArray[Any]) -> list[Tensor]:
        device = self.parser.model.device
        return [torch.from_numpy(array).to(device, non_blocking=True) for array in arrays]


def dev_figures(parser: Parser, dev: Sequence[Sentence]) -> dict[str, float]:
    """How well the parser does on dev."""
    scores = attachment_scores(dev, list(parser.parse_sentences(dev)))
    return {"dev_uas": scores.uas, "dev_las": scores.las}


class MovingAverage:
    """A copy of a model whose weights follow it slowly; when young it forgets its past sooner.

    Not torch's AveragedModel, which waits for the device at every update.
    """

    def __init__(self, model: Model, decay: float) -> None:
        self.model = copy.deepcopy(model)
        self.decay = decay
        self.updates = 0

    @torch.no_grad()
    def follow(self, model: Model) -> None:
        """To be called after every update; decay is per update."""
        self.updates += 1
        interval = UPDATES_PER_AVERAGE if self.updates > 100 and self.decay > 0 else 1
        if self.updates % interval:
            return
        decay = min(self.decay, self.updates / (10 + self.updates))
        weight = 1 - decay**interval
        for mine, theirs in zip(self.model.parameters(), model.parameters(), strict=True):
            mine.lerp_(theirs, weight)
