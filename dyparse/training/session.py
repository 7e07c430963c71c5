"""One training in progress: everything that a step changes, and where its states come from."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from threading import Lock

import numpy as np
import torch

from dyparse.data.sentence import Sentence
from dyparse.errors import ConfigError
from dyparse.exploration import Exploration
from dyparse.loss import Loss
from dyparse.model.network import Model
from dyparse.model.parser import Parser
from dyparse.rollout.rollout import rollout
from dyparse.rollout.scorer import Scorer
from dyparse.tensors.optimizer import Optimizer
from dyparse.training.batches import Batches, TrainingBatch, keep_states
from dyparse.training.distributed import SINGLE, World
from dyparse.training.out_of_memory import (
    OUT_OF_MEMORY,
    SplitOnOutOfMemory,
    is_out_of_memory,
    total,
)
from dyparse.training.replay_buffer import ReplayBuffer
from dyparse.training.settings import TrainingSettings
from dyparse.training.step import (
    BatchLoss,
    StepResult,
    TrainingStates,
    Visit,
    backward,
    training_step,
)


@dataclass(frozen=True)
class TrainingPlan:
    """Exploration, loss, sentences and seed of a training."""

    exploration: Exploration
    loss: Loss
    train: Sequence[Sentence]
    dev: Sequence[Sentence]
    seed: int


class Session:
    """A training in progress: parser, optimizer, batches, replay buffer."""

    def __init__(
        self,
        settings: TrainingSettings,
        parser: Parser,
        plan: TrainingPlan,
        world: World = SINGLE,
    ) -> None:
        self.settings, self.parser, self.plan, self.world = settings, parser, plan, world
        self.optimizer: Optimizer[Model] = Optimizer(
            parser.model, parser.model.parameter_groups(), settings
        )
        self.batches = Batches(
            parser,
            plan.train,
            max_tokens=settings.max_tokens_per_batch,
            seed=plan.seed,
            world=world,
        )
        if settings.max_tokens_per_pass and world.size > 1:
            raise ConfigError(
                "trainer.max_tokens_per_pass is for one process; with several, lower "
                "trainer.max_tokens_per_batch, which they share"
            )
        if parser.model.encoder.keeps_states:
            keep_states(parser, [*plan.train, *plan.dev], settings.precision)
        self.replay_buffer = ReplayBuffer()
        self.buffer_lock = Lock()  # a batch that is tried again meets the rollout ahead of the next
        self.threads = torch.get_num_threads()
        self.batch_loss = BatchLoss(parser.model, plan.loss, settings.precision)
        self.parallel_loss = world.data_parallel(self.batch_loss)
        self.split = SplitOnOutOfMemory(self.gradients, self.optimizer.zero_grad, self.batches)

    def step(self, batch: TrainingBatch, progress: float, visit: Visit | None = None) -> StepResult:
        """One step on a batch, when this fraction of the training is done."""
        gradients = partial(self.split, visit=visit)
        return training_step(self.optimizer, gradients, batch, self.settings.rate_at(progress))

    def gradients(self, batch: TrainingBatch, visit: Visit | None = None) -> StepResult:
        """Add the gradients of a batch, in the states that `visit` gives."""
        parts = self.batches.parts(batch, self.settings.max_tokens_per_pass)
        return total([backward(self.parallel_loss, part, visit or self.visit) for part in parts])

    def visit(self, batch: TrainingBatch, scorer: Callable[[], Scorer]) -> TrainingStates:
        """The states of a batch to learn from.

        Those of a rollout with the present model, or of several that were kept, this one among
        them.
        """
        exploration, buffer = self.plan.exploration, self.replay_buffer
        N = batch.gold_heads.shape[1]
        if exploration.rolls_out_in(batch.whole.epoch):
            visited = rollout(
                self.parser.parts.scored_system,
                exploration,
                scorer(),
                batch.inputs.words,
                batch.gold,
                epoch=batch.whole.epoch,
                seed=batch.keys,
                threads=self.threads,
            )
            if not exploration.keeps_states:
                return TrainingStates(visited, 1)
            own = (batch.indices, N, visited) if batch.counts else None
            of_all_ranks = [of_rank for of_rank in self.world.all_gather(own) if of_rank]
            with self.buffer_lock:
                for indices, tokens, states in of_all_ranks:
                    buffer.add(indices, tokens, states, rollout=batch.whole.epoch)
        with self.buffer_lock:
            most = exploration.replayed_rollouts
            return TrainingStates(*buffer.sample(batch.indices, N, batch.keys, most))

    def stream(
        self, epoch: int, first: int = 0
    ) -> Iterator[tuple[float, TrainingBatch, Visit | None]]:
        """The batches of an epoch from a number on: the fraction of the epoch that is done before
        each, the batch, and its states if they are visited ahead.
        """
        if not self.settings.rollout_ahead:
            yield from self.batches.stream(epoch, first)
            return
        with ThreadPoolExecutor(1, "ahead") as threads:
            yield from self.batches.stream(epoch, first, partial(self.roll_out_ahead, threads))

    def roll_out_ahead(self, threads: ThreadPoolExecutor, batch: TrainingBatch) -> Visit:
        """Start the rollout of a batch before the step on the one before it.

        The rollout runs while the device is busy with that step; its weights are one step old.
        Costs by the oracle do not depend on them; the states visited do, and so do costs by the
        model's completions (`lols`).
        """
        try:
            arrive = self.batch_loss.scorer(batch)
        except OUT_OF_MEMORY as error:
            if not is_out_of_memory(error):
                raise
            return self.visit  # in its turn, where smaller parts are tried
        if self.parser.model.device.type == "cpu":  # a step must not reach into its arrays
            arrive = partial(Scorer, *map(np.copy, arrive()))
        states = threads.submit(self.visit, batch, arrive)
        return lambda _batch, _scorer: states.result()

    def averaged_parser(self) -> Parser:
        """The parser with averaged weights."""
        return self.parser.with_network(self.optimizer.average.model)
