"""One training step: encode the batch, roll it out, score the visited states, learn from them.

`BatchLoss` computes the loss of a batch, `backward` its gradients, `training_step` the new weights.
 Whatever is not the idea wraps these from outside: splitting after a lack of memory
(`out_of_memory`), several processes (`distributed`), rollouts ahead (`session`), `resume`.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dyparse.loss import Loss
from dyparse.model.network import Encoded, Model
from dyparse.rollout.rollout import VisitedStates
from dyparse.rollout.scorer import Scorer
from dyparse.tensors.dropout import STATES, keys_below
from dyparse.tensors.optimizer import Optimizer
from dyparse.tensors.precision import encoder_precision, scorer_precision
from dyparse.tensors.transfer import to_device
from dyparse.training.batches import TrainingBatch


class TrainingStates(NamedTuple):
    """States to learn from, and how many rollouts of each sentence they come from."""

    visited: VisitedStates
    rollouts: int


Visit: TypeAlias = Callable[[TrainingBatch, Callable[[], Scorer]], TrainingStates]


class StepResult(NamedTuple):
    """Figures of a step."""

    loss: Tensor  # per word, on the device
    states: int
    paid: int  # cost of the moves taken


class BatchLoss(nn.Module):
    """From a batch to its loss; a module, so that several processes can share its gradients."""

    def __init__(self, model: Model, loss: Loss, precision: str) -> None:
        super().__init__()
        self.model, self.loss, self.precision = model, loss, precision

    def forward(self, batch: TrainingBatch, visit: Visit) -> tuple[Tensor, TrainingStates]:
        """The loss per word, and the states that it was computed on."""
        model, device = self.model, self.model.device
        encoded, table, keys = self.encode(batch)  # vectors [B, N, width], [tokens, F, D], [B]
        # Compiled, without gradient: the rollout, or states of earlier ones.
        states = visit(batch, lambda: model.scorer(table, batch.whole.key)())
        tensors = to_device(host_tensors(batch, states), device)
        features, legal, cost, state_keys, tree, *targets = tensors
        with scorer_precision(self.precision, device):
            scores = model.score(table, features, state_keys)  # [T, M]
        moves = self.loss(scores.float(), legal, cost).sum()
        loss = self.loss.weight * moves / (states.rollouts * batch.whole.n_words)
        for (name, head), target in zip(model.head_items(), targets, strict=True):
            with scorer_precision(self.precision, device):
                learned = model.learned_scores(name, encoded, tree, keys)  # [B, N, entries] each
            of_head = sum(head.loss(scores.float(), target) for scores in learned)
            loss = loss + head.loss_weight * of_head / max(batch.whole.n_targets[name], 1)
        return loss * batch.counts, states

    def encode(self, batch: TrainingBatch) -> tuple[Encoded, Tensor, Tensor | None]:
        """Vectors and tags, table [tokens, F, D], and the sentences' keys on the device."""
        inputs = batch.inputs.to(self.model.device)
        gains = self.model.encoder.gains_from_bfloat16
        with encoder_precision(self.precision, self.model.device, gains=gains):
            encoded = self.model.encode(inputs)
        with scorer_precision(self.precision, self.model.device):
            return encoded, self.model.table(encoded.vectors), inputs.keys

    @torch.no_grad()
    def scorer(self, batch: TrainingBatch) -> Callable[[], Scorer]:
        """The scorer of a rollout with the present weights; the function returned waits for it."""
        _, table, _ = self.encode(batch)
        return self.model.scorer(table, batch.whole.key)


def backward(batch_loss: nn.Module, batch: TrainingBatch, visit: Visit) -> StepResult:
    """Add the gradients of a batch, or of a part of one, to those that are there."""
    loss, states = batch_loss(batch, visit)
    loss.backward()
    paid = states.visited.paid
    return StepResult(loss.detach(), len(paid) * batch.counts, int(paid.sum()) * batch.counts)


def training_step(
    optimizer: Optimizer[Model],
    gradients: Callable[[TrainingBatch], StepResult],
    batch: TrainingBatch,
    learning_rate: float,
) -> StepResult:
    """One step of the optimizer on a batch; `gradients` is `backward`, perhaps in smaller parts."""
    optimizer.zero_grad()
    result = gradients(batch)
    optimizer.step(learning_rate)
    return result


def host_tensors(batch: TrainingBatch, states: TrainingStates) -> list[Tensor]:
    """All that the loss needs of states and gold trees, for one copy to the device."""
    visited = states.visited
    of_states = (visited.features, visited.legal, visited.cost, state_keys(batch, visited))
    of_trees = (batch.gold_heads.astype(np.int64), *batch.targets.values())
    return [torch.from_numpy(array) for array in (*of_states, *of_trees)]


def state_keys(batch: TrainingBatch, visited: VisitedStates) -> NDArray[np.int64]:
    """[T]: random keys for dropout; they depend on a state's sentence and its number there only."""
    first = np.searchsorted(visited.sentence, np.arange(len(batch.keys)))
    number = np.arange(len(visited.sentence)) - first[visited.sentence]
    of_sentence = keys_below(batch.keys.view(np.int64), STATES)[visited.sentence]
    return keys_below(of_sentence, number)
