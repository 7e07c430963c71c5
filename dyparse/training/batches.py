"""Training batches: which sentences, with which random keys, made ahead on a thread of their own.

All that is random follows from the seed, the epoch and the number of the batch, so a training that
was interrupted resumes as if it had not been, and one that is distributed or split learns the same.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from dyparse.data.batch import Batch, gold_heads
from dyparse.data.sampler import group_by_length
from dyparse.data.sentence import Sentence
from dyparse.model.parser import Parser
from dyparse.tensors.precision import encoder_precision
from dyparse.training.distributed import SINGLE, World

T = TypeVar("T")
TOKENS_OF_FROZEN = 2000  # in a batch for frozen layers, without gradients


class Whole(NamedTuple):
    """Counts of a whole batch, by which the loss of any part of it is divided, and its key."""

    epoch: int
    key: int  # random, for the dropout of the rollout
    n_words: int
    n_targets: dict[str, int]  # by prediction head


@dataclass(frozen=True)
class TrainingBatch:
    """A training batch: inputs, gold trees, and the random keys for dropout and exploration."""

    whole: Whole
    indices: list[int]  # of the training sentences
    inputs: Batch  # on the host
    gold_heads: NDArray[np.int32]  # [B, N]
    gold: NDArray[np.int32]  # as the oracle takes it: the same, or with labels [B, N, 2]
    targets: dict[str, NDArray[np.int64]]  # of every prediction head  [B, N]
    keys: NDArray[np.uint64]  # [B]
    counts: bool = True  # false for the stand-in of a rank without sentences: its loss is 0


class Batches:
    """The batches of every epoch."""

    def __init__(
        self,
        parser: Parser,
        sentences: Sequence[Sentence],
        *,
        max_tokens: int,
        seed: int,
        world: World = SINGLE,
    ) -> None:
        self.collator, self.heads = parser.collator, parser.model.head_items()
        self.gold = parser.parts.gold
        self.sentences, self.max_tokens, self.seed = sentences, max_tokens, seed
        self.world = world
        self.words = np.array([len(s) for s in sentences])
        self.lengths = parser.collator.lengths(sentences)
        self.n_targets = {
            name: np.array([head.n_targets(s) for s in sentences]) for name, head in self.heads
        }
        self.left_out: set[int] = set()  # sentences that do not fit into memory

    def groups(self, epoch: int) -> list[list[int]]:
        """The batches of an epoch, as indices of sentences."""
        random = np.random.default_rng([self.seed, epoch])
        return group_by_length(self.lengths, self.max_tokens, random)

    def make(self, group: Sequence[int], epoch: int, step: int) -> TrainingBatch:
        """This rank's part of the batch that has this number in the epoch."""
        random = np.random.default_rng([self.seed, epoch, step])
        keys = random.integers(2**64, size=len(group), dtype=np.uint64)
        key = int(random.integers(2**63))
        rows = self.world.shard([row for row, k in enumerate(group) if k not in self.left_out])
        n_targets = {name: int(n[group].sum()) for name, n in self.n_targets.items()}
        whole = Whole(epoch, key, int(self.words[group].sum()), n_targets)
        if not rows:  # the other ranks wait for this one's gradients
            return self._part(whole, [group[0]], keys[:1], counts=False)
        return self._part(whole, [group[row] for row in rows], keys[rows])

    def parts(self, batch: TrainingBatch, max_tokens: int | None) -> list[TrainingBatch]:
        """A batch in parts of at most so many tokens, which have its gradients together."""
        if max_tokens is None:
            return [batch]
        lengths = [self.lengths[k] for k in batch.indices]
        groups = [sorted(rows) for rows in group_by_length(lengths, max_tokens)]
        if len(groups) == 1:
            return [batch]
        return [
            self._part(batch.whole, [batch.indices[row] for row in rows], batch.keys[rows])
            for rows in groups
        ]

    def halves(self, batch: TrainingBatch) -> list[TrainingBatch]:
        """Two parts of a batch that have its gradients together."""
        middle = len(batch.indices) // 2
        return [
            self._part(batch.whole, batch.indices[rows], batch.keys[rows])
            for rows in (slice(middle), slice(middle, None))
            if batch.indices[rows]
        ]

    def _part(
        self, whole: Whole, indices: list[int], keys: NDArray[np.uint64], *, counts: bool = True
    ) -> TrainingBatch:
        """These sentences as a part of a batch."""
        sentences = [self.sentences[k] for k in indices]
        inputs = self.collator.batch(sentences, keys)
        targets = {name: head.targets(sentences) for name, head in self.heads}
        heads, gold = gold_heads(sentences), self.gold(sentences)
        return TrainingBatch(whole, indices, inputs, heads, gold, targets, keys, counts)

    def stream(
        self, epoch: int, first: int = 0, look_ahead: Callable[[TrainingBatch], T] | None = None
    ) -> Iterator[tuple[float, TrainingBatch, T | None]]:
        """The batches of an epoch from a number on: the fraction of the epoch that is done before
        each, the batch, and what `look_ahead` gave for it.

        A batch is made while the one before it is trained on, and looked ahead at before that.
        """
        groups = self.groups(epoch)
        if first == len(groups):  # saved after the last batch, before dev was parsed
            return
        with ThreadPoolExecutor(1, "batch") as maker:

            def make(step: int) -> "Future[TrainingBatch]":
                return maker.submit(self.make, groups[step], epoch, step)

            batch = make(first).result()
            seen = look_ahead(batch) if look_ahead else None
            for step in range(first, len(groups)):
                coming = make(step + 1) if step + 1 < len(groups) else None
                seen_next = look_ahead(coming.result()) if coming and look_ahead else None
                yield step / len(groups), batch, seen
                if coming:
                    batch, seen = coming.result(), seen_next


@torch.no_grad()
def keep_states(parser: Parser, sentences: Sequence[Sentence], precision: str) -> None:
    """Before a training, let the encoder keep the states of its frozen layers.

    Always in the same batches, so that a training that is resumed has the same states.
    """
    model = parser.model
    model.eval()
    groups = group_by_length(parser.collator.lengths(sentences), TOKENS_OF_FROZEN)
    bar = tqdm(
        total=len(sentences), desc="frozen layers", unit="sentence", leave=False, disable=None
    )
    with bar, encoder_precision(precision, model.device, gains=True):
        for group in groups:
            chosen = [sentences[k] for k in group]
            model.encoder.keep_states(chosen, parser.collator.batch(chosen).to(model.device))
            bar.update(len(group))
