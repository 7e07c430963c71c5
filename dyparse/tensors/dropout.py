"""Counter-based dropout: the mask depends on a sentence's key and the position in it, nothing else.

So a sentence loses the same components in any batch, process or device, and a training that is
split, distributed or resumed draws what an undisturbed one would have drawn. The numbers are those
of splitmix64 (Steele, Lea & Flood 2014) started at a key; one of 64 bits serves eight components,
which makes it cheaper on a CPU than torch's dropout.
"""

from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

Keys = TypeVar("Keys", Tensor, NDArray[np.int64])

# As signed integers: splitmix64's step and factors, and a step of our own for derived keys.
STEP, STEP_BELOW = 0x9E3779B97F4A7C15 - 2**64, 0xD1342543DE82EF95 - 2**64
LABELS, STATES, WORDS = -1, -2, -3  # derived from a sentence's key; layers count from 0
FIRST, SECOND = 0xBF58476D1CE4E5B9 - 2**64, 0x94D049BB133111EB - 2**64


def mixed(z: Keys) -> Keys:
    """splitmix64's mixing function on 64 bits; arithmetic wraps around."""
    z = (z ^ ((z >> 30) & (2**34 - 1))) * FIRST
    z = (z ^ ((z >> 27) & (2**37 - 1))) * SECOND
    return z ^ ((z >> 31) & (2**33 - 1))


def keys_below(keys: Keys, number: int | Keys) -> Keys:
    """Derive keys: one for each layer, word or state with this number."""
    return _below(keys, number)


def signed(number: int) -> int:
    """The signed 64-bit integer that equals this one modulo 2^64."""
    return (number + 2**63) % 2**64 - 2**63


class Dropout(nn.Module):
    """Zeroes components with a probability, in steps of 1/256, and scales up the others."""

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.dropped = min(round(probability * 256), 255)  # of the 256 values of a byte

    @property
    def is_active(self) -> bool:
        """Whether components are dropped: in training, with a probability above 0."""
        return self.training and self.dropped > 0

    def forward(self, x: Tensor, keys: Tensor | None) -> Tensor:
        """Apply dropout; keys are needed in training only.

        [..., D], keys [...] or broadcastable to it → [..., D]
        """
        return x * self.mask(keys, x) if self.is_active else x

    def mask(self, keys: Tensor | None, like: Tensor) -> Tensor:
        """0 for components to drop, the scale factor for the others.  [...] → [..., D]"""
        assert keys is not None, "training needs a batch with keys: Collator.batch(sentences, keys)"
        D = like.shape[-1]
        drawn = _numbers(keys, (D + 7) // 8).view(torch.uint8)[..., :D]
        return (drawn >= self.dropped).to(like.dtype).mul_(256 / (256 - self.dropped))


def dropped_places(keys: Tensor, places: int, probability: float) -> Tensor:
    """Whether each place of a sentence is dropped.  [B] → [B, places]"""
    drawn = _numbers(keys, places)
    return (drawn >> 11) & (2**53 - 1) < probability * 2**53


def _below(keys: Keys, number: int | Keys) -> Keys:
    step = (number + 1) * STEP_BELOW
    return mixed(keys + (signed(step) if isinstance(step, int) else step))


def _numbers(keys: Tensor, count: int) -> Tensor:
    """The first `count` numbers that splitmix64 draws from each key.  [...] → [..., count]"""
    counter = torch.arange(1, count + 1, device=keys.device)
    return mixed(keys.unsqueeze(-1) + counter * STEP)


def leave_uncompiled() -> None:
    """Keep the random numbers out of torch.compile; to be called before an encoder is compiled.

    torch's compiler takes no integers beyond 64 bits, and on a CPU those that wrap around came out
    wrong. This is not done on import because it imports the compiler, which is slow.
    """
    global _below, _numbers
    _below, _numbers = map(torch.compiler.disable, (_below, _numbers))
