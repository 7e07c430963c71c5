"""Training with too little memory: a batch in smaller parts, without a sentence that never fits."""

import gc
import warnings
from collections.abc import Callable, Sequence
from typing import TypeAlias

import torch

from dyparse.data.sentence import Sentence
from dyparse.errors import DyparseError, DyparseWarning
from dyparse.training.batches import Batches, TrainingBatch
from dyparse.training.step import StepResult, Visit

Gradients: TypeAlias = Callable[[TrainingBatch, Visit | None], StepResult]

OUT_OF_MEMORY = (RuntimeError, MemoryError)  # types that `is_out_of_memory` tells apart


class SplitOnOutOfMemory:
    """Gradients of a batch; of smaller and smaller parts of it where memory is short."""

    def __init__(
        self, gradients: Gradients, zero_grad: Callable[[], None], batches: Batches
    ) -> None:
        self.gradients, self.zero_grad, self.batches = gradients, zero_grad, batches

    def __call__(self, batch: TrainingBatch, visit: Visit | None = None) -> StepResult:
        """The sums over all parts; `visit` is for the whole batch only."""
        if not batch.counts and self.batches.world.size == 1:  # all sentences are left out
            return NOTHING
        try:
            return self.gradients(batch, visit)
        except OUT_OF_MEMORY as error:
            if not is_out_of_memory(error):
                raise
            if self.batches.world.size > 1:
                remedy = "several processes cannot train on it in smaller parts"
                raise DyparseError(self._message(batch, remedy)) from error
        # Not inside the except: the error's frames hold the memory that has to be freed.
        return self._in_parts(batch)

    def _in_parts(self, batch: TrainingBatch) -> StepResult:
        if len(batch.indices) > 1:
            message = self._message(batch, "it is trained on in smaller parts")
            warnings.warn(message, DyparseWarning, stacklevel=4)
        parts = [batch]
        while parts:
            self.zero_grad()
            free_memory()
            done: list[StepResult] = []
            try:
                for part in parts:
                    done.append(self.gradients(part, None))
                return total(done)
            except OUT_OF_MEMORY as error:
                if not is_out_of_memory(error):
                    raise
            too_large = parts[len(done)]
            if len(too_large.indices) == 1:
                self._leave_out(too_large)
                parts = [part for part in parts if part is not too_large]
            else:
                parts = [half for part in parts for half in self.batches.halves(part)]
        return NOTHING

    def _leave_out(self, batch: TrainingBatch) -> None:
        self.batches.left_out |= {*batch.indices}
        (sentence,) = self._sentences(batch)
        warnings.warn(
            f"{sentence.place} with {len(sentence)} words does not fit into memory even alone: it "
            "is left out of the training",
            DyparseWarning,
            stacklevel=5,
        )

    def _sentences(self, batch: TrainingBatch) -> Sequence[Sentence]:
        return [self.batches.sentences[k] for k in batch.indices]

    def _message(self, batch: TrainingBatch, consequence: str) -> str:
        sentences = self._sentences(batch)
        longest = max(sentences, key=len)
        return (
            f"out of memory on a batch of {len(sentences)} sentences, the longest of "
            f"{len(longest)} words ({longest.place}): {consequence}; if this happens often, lower "
            f"trainer.max_tokens_per_batch (now {self.batches.max_tokens})"
        )


NOTHING = StepResult(torch.zeros(()), 0, 0)


def total(results: Sequence[StepResult]) -> StepResult:
    """The sum over the parts of a batch."""
    loss = torch.stack([part.loss for part in results]).sum()
    return StepResult(loss, sum(p.states for p in results), sum(p.paid for p in results))


def is_out_of_memory(error: BaseException) -> bool:
    """Whether a device, torch on the host, or numpy had no room."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return "can't allocate memory" in str(error) or "not enough memory" in str(error)


def free_memory() -> None:
    """Return unused memory to the device."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
