"""One training as it goes on: batches, walks, updates.

All that is random follows from the seed, the epoch and the number of the batch, so a training that
was interrupted goes on as if it had not been, and one that is shared or split learns the same.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.utils import clip_grads_with_norm_, get_total_norm

from dyparse.data.batch import group_by_length
from dyparse.data.sentence import Sentence
from dyparse.errors import DyparseError, DyparseWarning
from dyparse.exploration import Exploration
from dyparse.loss import Loss
from dyparse.model.parser import Parser
from dyparse.rollout.rollout import rollout
from dyparse.rollout.scorer import Scorer
from dyparse.tensors.moving_average import MovingAverage
from dyparse.training.distributed import SINGLE, World
from dyparse.training.out_of_memory import free_memory, is_out_of_memory
from dyparse.training.replay_buffer import ReplayBuffer
from dyparse.training.step import Exercise, Find, Found, Learnt, Update, added, summary

if TYPE_CHECKING:
    from dyparse.training.loop import Trainer


@dataclass(frozen=True)
class Lesson:
    """What is learnt, and how it is explored."""

    exploration: Exploration
    loss: Loss
    train: Sequence[Sentence]
    dev: Sequence[Sentence]
    seed: int


class Course:
    """One training as it goes on: optimizer, averaged weights, states kept."""

    def __init__(
        self, trainer: "Trainer", parser: Parser, lesson: Lesson, processes: World = SINGLE
    ) -> None:
        self.trainer, self.parser, self.lesson = trainer, parser, lesson
        self.processes = processes
        self.optimizer = torch.optim.AdamW(
            parser.model.parameters(),
            lr=trainer.learning_rate,
            betas=(trainer.beta1, trainer.beta2),
            weight_decay=trainer.weight_decay,
            fused=True,
        )
        self.average = MovingAverage(parser.model, trainer.average_decay)
        self.memory = ReplayBuffer()
        self.memory_lock = Lock()  # a batch tried again meets the walk ahead of the next one
        self.threads = torch.get_num_threads()
        self.update = Update(parser.model, lesson.loss, trainer.precision)
        self.update_together = processes.joined(self.update)
        known = parser.vocabulary.label_number
        self.words = np.array([len(s) for s in lesson.train])
        self.labels = np.array([sum(r in known for r in s.label) for s in lesson.train])
        self.left_out: set[int] = set()  # sentences that do not fit into memory

    def averaged_parser(self) -> Parser:
        """The parser with averaged weights."""
        return replace(self.parser, model=self.average.model)

    def groups(self, epoch: int) -> list[list[int]]:
        """The batches of an epoch, as numbers of sentences."""
        chance = np.random.default_rng([self.lesson.seed, epoch])
        return group_by_length(self.words.tolist(), self.trainer.max_tokens_per_batch, chance)

    def share(self, group: Sequence[int], epoch: int, step: int) -> Exercise:
        """This process's share of the batch that has this number in the epoch."""
        chance = np.random.default_rng([self.lesson.seed, epoch, step])
        keys = chance.integers(2**64, size=len(group), dtype=np.uint64)
        key = int(chance.integers(2**63))
        rows = self.processes.share([row for row, k in enumerate(group) if k not in self.left_out])
        of_batch = (int(self.words[group].sum()), int(self.labels[group].sum()))
        if not rows:  # nothing for this process to learn, but the others wait for its gradients
            return self.exercise(epoch, [group[0]], keys[:1], key, of_batch, counts=False)
        return self.exercise(epoch, [group[row] for row in rows], keys[rows], key, of_batch)

    def exercise(
        self,
        epoch: int,
        numbers: list[int],
        keys: NDArray[np.uint64],
        key: int,
        of_batch: tuple[int, int],
        *,
        counts: bool = True,
    ) -> Exercise:
        """The sentences with these numbers as a part of a batch of so many words and labels."""
        sentences = [self.lesson.train[k] for k in numbers]
        batch, gold = (
            self.parser.collator.batch(sentences, keys),
            self.parser.collator.gold(sentences),
        )
        return Exercise(epoch, numbers, batch, gold, keys, key, *of_batch, counts)

    def learn(self, exercise: Exercise, progress: float, find: Find | None = None) -> Learnt:
        """One update from the states of a batch, when this share of the training is done."""
        self.optimizer.zero_grad(set_to_none=True)
        learnt = self.gradients(exercise, find or self.find)
        self.step(self.trainer.rate_at(progress))
        return learnt

    def gradients(self, exercise: Exercise, find: Find) -> Learnt:
        """Gradients of the loss; of smaller and smaller parts where memory is short."""
        if not exercise.counts and self.processes.count == 1:  # all of the batch is left out
            return self._nothing()
        try:
            return self._in_turn([exercise], find)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            if self.processes.count > 1:
                remedy = "several processes cannot learn it in smaller parts"
                told = shortage(self.trainer, self.sentences(exercise), remedy)
                raise DyparseError(told) from error
        # Not inside the except: the error's frames hold what has to be freed.
        return self._in_small_parts([exercise])

    def _in_turn(self, parts: list[Exercise], find: Find) -> Learnt:
        """Gradients of one part after the other."""
        learnt = []
        for part in parts:
            self._present = part
            loss, found = self.update_together(part, find)
            loss.backward()
            learnt.append(summary(loss, found, part))
        return added(learnt)

    def _in_small_parts(self, parts: list[Exercise]) -> Learnt:
        """Gradients of as small parts as are needed; a sentence too large by itself is left out."""
        if len(parts[0].numbers) > 1:
            told = shortage(self.trainer, self.sentences(parts[0]), "it is learnt in smaller parts")
            warnings.warn(told, DyparseWarning, stacklevel=3)
        while parts:
            self.optimizer.zero_grad(set_to_none=True)
            free_memory()
            try:
                return self._in_turn(parts, self.find)
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
                culprit = self._present
            if len(culprit.numbers) == 1:
                self._leave_out(culprit)
                parts = [part for part in parts if part is not culprit]
            else:
                parts = [half for part in parts for half in self._halves(part)]
        return self._nothing()

    def _nothing(self) -> Learnt:
        return Learnt(torch.zeros((), device=self.parser.model.device), 0, 0)

    def _leave_out(self, exercise: Exercise) -> None:
        self.left_out |= {*exercise.numbers}
        (sentence,) = self.sentences(exercise)
        warnings.warn(
            f"{sentence.place} with {len(sentence)} words does not fit into memory even alone: it "
            "is left out of the training",
            DyparseWarning,
            stacklevel=3,
        )

    def _halves(self, exercise: Exercise) -> list[Exercise]:
        numbers, keys, middle = exercise.numbers, exercise.keys, len(exercise.numbers) // 2
        of_batch = (exercise.words, exercise.labels)
        return [
            self.exercise(exercise.epoch, numbers[part], keys[part], exercise.key, of_batch)
            for part in (slice(middle), slice(middle, None))
            if numbers[part]
        ]

    def sentences(self, exercise: Exercise) -> list[Sentence]:
        """Those of an exercise."""
        return [self.lesson.train[k] for k in exercise.numbers]

    def find(self, exercise: Exercise, scorer: Callable[[], Scorer]) -> Found:
        """The states of a batch to learn from.

        Those of a walk with the present model, or of several that were kept, this one among them.
        """
        exploration, memory = self.lesson.exploration, self.memory
        N = exercise.gold.head.shape[1]
        if exploration.rolls_out_in(exercise.epoch):
            visited = rollout(
                self.parser.system,
                exploration,
                scorer(),
                exercise.batch.words,
                exercise.gold.head,
                epoch=exercise.epoch,
                seed=exercise.keys,
                threads=self.threads,
            )
            if not exploration.keeps_states:
                return Found(visited, 1)
            mine = (exercise.numbers, N, visited) if exercise.counts else None
            with_states = [of_one for of_one in self.processes.all_gather(mine) if of_one]
            with self.memory_lock:
                for numbers, tokens, states in with_states:
                    memory.add(numbers, tokens, states, walk=exercise.epoch)
        with self.memory_lock:
            of_walks = (exercise.keys, exploration.replayed_rollouts)
            return Found(*memory.recall(exercise.numbers, N, *of_walks))

    def look_ahead(self, exercise: Exercise, walker: ThreadPoolExecutor) -> Find:
        """Begin to walk through a batch before the update on the one before it.

        The walk runs while the device is busy with that update; its weights are one update old.
        Costs do not depend on them, only which states are visited does.
        """
        try:
            arrive = self.update.scorer(exercise)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            return self.find  # in its turn, where smaller parts are tried
        if self.parser.model.device.type == "cpu":  # an update must not reach into its arrays
            arrive = partial(Scorer, *map(np.copy, arrive()))
        walk = walker.submit(self.find, exercise, arrive)
        return lambda _exercise, _scorer: walk.result()

    def batches(self, epoch: int, first: int = 0) -> Iterator[tuple[float, Exercise, Find]]:
        """The batches of an epoch from a number on: the share of the epoch that is done before
        each, the batch, and where its states come from.

        A batch is made while the one before it is learnt from.
        """
        groups = self.groups(epoch)
        if first == len(groups):  # saved after the last batch, before dev was parsed
            return
        with ThreadPoolExecutor(1, "batch") as maker, ThreadPoolExecutor(1, "ahead") as walker:

            def make(step: int) -> "Future[Exercise]":
                return maker.submit(self.share, groups[step], epoch, step)

            def finder(exercise: Exercise) -> Find:
                return (
                    self.look_ahead(exercise, walker) if self.trainer.rollout_ahead else self.find
                )

            exercise = make(first).result()
            find = finder(exercise)
            for step in range(first, len(groups)):
                coming = make(step + 1) if step + 1 < len(groups) else None
                find_next = (
                    finder(coming.result()) if coming and self.trainer.rollout_ahead else find
                )
                yield step / len(groups), exercise, find
                if coming:
                    exercise, find = coming.result(), find_next

    def step(self, rate: float) -> None:
        """One step of the optimizer at this learning rate."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate
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


def shortage(trainer: "Trainer", sentences: Sequence[Sentence], consequence: str) -> str:
    """What to say when a batch does not fit into memory."""
    longest = max(sentences, key=len)
    return (
        f"out of memory on a batch of {len(sentences)} sentences, the longest of {len(longest)} "
        f"words ({longest.place}): {consequence}; if this comes often, lower "
        f"trainer.max_tokens_per_batch (now {trainer.max_tokens_per_batch})"
    )
