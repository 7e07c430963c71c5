"""An encoder as a part of the network."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor, nn

from dyparse.data.batch import Batch, Feature
from dyparse.data.sentence import Sentence

Tag: TypeAlias = Callable[[Tensor], Tensor | None]  # see `Encoder.forward`


class ParameterGroup(NamedTuple):
    """Parameters that share a learning rate."""

    parameters: list[nn.Parameter]
    rate: float = 1.0  # relative to trainer.learning_rate


class Encoder(nn.Module):
    """A batch in, vectors out."""

    width: int  # of the vectors
    tag_width: int | None = None  # of the vectors that it calls `tag` with, if it does
    saved_in: torch.dtype = torch.float32  # how a model directory keeps its weights
    gains_from_bfloat16: bool = False  # on a CPU with instructions for it; on a GPU all do

    def forward(self, batch: Batch, tag: Tag | None = None) -> Tensor:
        """A vector for every token, the root and padding included.  batch → [B, N, width]

        An encoder with a `tag_width` calls `tag` once, with the vectors that tags are to be
        predicted from, [B, N, tag_width]. It gets the predicted tags, [B, N, fed_width], to read
        them above; None if there is nothing to read.
        """
        raise NotImplementedError

    def own_features(self) -> Sequence[Feature]:
        """Features beside those that the options list: pieces of words by a tokenizer, say."""
        return ()

    @property
    def keeps_states(self) -> bool:
        """Whether `keep_states` is to be called before a training."""
        return False

    def keep_states(self, sentences: Sequence[Sentence], batch: Batch) -> None:
        """Compute what frozen layers give for sentences of train and dev, and keep it."""
        raise NotImplementedError

    def parameter_groups(self) -> list[ParameterGroup]:
        """The parameters to train, with their rates; frozen ones have `requires_grad` unset."""
        return [ParameterGroup([p for p in self.parameters() if p.requires_grad])]

    def files(self) -> dict[str, bytes]:
        """Files to keep in the model directory, by plain names; `build` gets them back."""
        return {}
