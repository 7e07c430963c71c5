"""Encoders: a vector for every token.

To add one: write `dyparse/encoder/<name>.py` with a frozen dataclass whose `build` makes an
`Encoder`; write `conf/encoder/<name>.yaml`. Training, checkpoints and tests find it by its name.
"""

from typing import Protocol

from torch import Tensor, nn

from dyparse.data.batch import Batch
from dyparse.data.vocabulary import Vocabulary


class Encoder(nn.Module):
    """A batch in, vectors out."""

    width: int  # of the vectors

    def forward(self, batch: Batch) -> Tensor:
        """A vector for every token, the root and padding included.  batch → [B, N, width]"""
        raise NotImplementedError


class EncoderChoice(Protocol):
    """The numbers of an encoder; what it reads."""

    @property
    def features(self) -> list[str]:
        """Some of batch.FEATURES."""
        ...

    @property
    def subword_buckets(self) -> int:
        """The number of different subwords."""
        ...

    def build(self, vocabulary: Vocabulary) -> Encoder:
        """The encoder with fresh weights."""
        ...
