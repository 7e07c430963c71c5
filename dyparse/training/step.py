"""A part of a batch to learn from, and its loss: what one update is made of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dyparse.data.batch import Batch, Gold
from dyparse.loss import Loss
from dyparse.model.network import Model, label_loss
from dyparse.rollout.rollout import VisitedStates
from dyparse.rollout.scorer import Scorer
from dyparse.tensors.dropout import STATES, keys_below
from dyparse.tensors.precision import encoder_precision, scorer_precision
from dyparse.tensors.transfer import to_device


@dataclass(frozen=True)
class Exercise:
    """A batch of training sentences with their trees, and what chance has in store for them."""

    epoch: int
    numbers: list[int]  # of the sentences
    batch: Batch  # on the host
    gold: Gold
    keys: NDArray[np.uint64]  # [B]
    key: int  # of the whole batch
    words: int  # of the whole batch, whichever part of it this is
    labels: int  # known ones of the whole batch
    counts: bool = True  # false for what a process without a share is given: it teaches nothing


class Learnt(NamedTuple):
    """What an update did."""

    loss: Tensor  # per word, on the device
    states: int
    paid: int  # cost of the moves taken


class Found(NamedTuple):
    """States to learn from, and from how many walks they are."""

    visited: VisitedStates
    walks: int


Find = Callable[[Exercise, Callable[[], Scorer]], Found]


class Update(nn.Module):
    """From a batch to its loss: one module, so that its gradients can be shared."""

    def __init__(self, model: Model, loss: Loss, precision: str) -> None:
        super().__init__()
        self.model, self.loss = model, loss
        self.precision = precision

    def encode(self, exercise: Exercise) -> tuple[Batch, Tensor, Tensor]:
        """The batch on the device, its vectors [B, N, width], its table [tokens, F, D]."""
        model = self.model
        batch = exercise.batch.to(model.device)
        with encoder_precision(self.precision, model.device):
            encoded = model.encode(batch)
        with scorer_precision(self.precision, model.device):
            return batch, encoded, model.table(encoded)

    @torch.no_grad()
    def scorer(self, exercise: Exercise) -> Callable[[], Scorer]:
        """What a walk through the exercise needs, with the present weights; to be waited for."""
        _, _, table = self.encode(exercise)
        return self.model.scorer(table, exercise.key)

    def forward(self, exercise: Exercise, find: Find) -> tuple[Tensor, Found]:
        """The share of this exercise in the loss per word of its batch, and the states of it."""
        model = self.model
        batch, encoded, table = self.encode(exercise)
        found = find(exercise, lambda: model.scorer(table, exercise.key)())
        features, legal, cost, keys, head, label = targets(exercise, found, model.device)
        with scorer_precision(self.precision, model.device):
            scores = model.score(table, features, keys)  # [T, M]
            labels = model.labeller(encoded, head, batch.keys)  # [B, N, labels]
        of_moves = self.loss(scores.float(), legal, cost) * len(scores)
        of_labels = label_loss(labels.float(), label)
        loss = of_moves / (found.walks * exercise.words) + of_labels / max(exercise.labels, 1)
        return loss * exercise.counts, found


def targets(exercise: Exercise, found: Found, device: torch.device) -> list[Tensor]:
    """What the loss needs of states and trees, on the device, in one copy."""
    visited, gold = found.visited, exercise.gold
    arrays = (visited.features, visited.legal, visited.cost, state_keys(exercise, visited))
    trees = (gold.head.astype(np.int64), gold.label)
    return to_device([torch.from_numpy(array) for array in (*arrays, *trees)], device)


def state_keys(exercise: Exercise, visited: VisitedStates) -> NDArray[np.int64]:
    """[T]: keys that depend on a state's sentence, and its number there, alone."""
    first = np.searchsorted(visited.sentence, np.arange(len(exercise.keys)))
    number = np.arange(len(visited.sentence)) - first[visited.sentence]
    of_sentence = keys_below(exercise.keys.view(np.int64), STATES)[visited.sentence]
    return keys_below(of_sentence, number)


def summary(loss: Tensor, found: Found, part: Exercise) -> Learnt:
    """What was learnt from a part."""
    paid = found.visited.paid
    return Learnt(loss.detach(), len(paid) * part.counts, int(paid.sum()) * part.counts)


def added(learnt: Sequence[Learnt]) -> Learnt:
    """The sum over the parts of a batch."""
    loss = torch.stack([part.loss for part in learnt]).sum()
    return Learnt(loss, sum(p.states for p in learnt), sum(p.paid for p in learnt))
