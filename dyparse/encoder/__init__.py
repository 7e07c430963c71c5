"""Encoders: a vector for every token.

An encoder says which features it reads (`dyparse.feature`); it may bring features, files and
learning rates of its own, such as the tokenizer and the pretrained layers of a language model. To
add one, write a module with a frozen dataclass that has the members of `EncoderChoice` and builds
an `Encoder`, in this folder with `conf/encoder/<name>.yaml`, or in a package of your own
(`encoder._target_=mylab.MyEncoder`).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias

import torch
from torch import Tensor, nn

from dyparse.data.batch import Batch
from dyparse.data.sentence import Sentence
from dyparse.feature import Feature

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


class EncoderChoice(Protocol):
    """The options of an encoder: a frozen dataclass."""

    @property
    def features(self) -> list[str]:
        """Names of the features that it reads, with options in text; see `dyparse.feature`."""
        ...

    def build(self, features: Sequence[Feature], files: Mapping[str, bytes]) -> Encoder:
        """The encoder with fresh weights over these features.

        `files` are those that the saved encoder gave; for a new one those of `new_files`. A choice
        that is a `ReadsTags` also takes `fed_width`: how many numbers of predicted tags the
        encoder reads for every token (see `Encoder.forward`).
        """
        ...


class ReadsTags:
    """A base class for the options of an encoder that reads predicted tags."""

    def build(
        self, features: Sequence[Feature], files: Mapping[str, bytes], fed_width: int = 0
    ) -> Encoder:
        raise NotImplementedError


def extras(choice: EncoderChoice) -> tuple[str, ...]:
    """The extras of dyparse that an encoder needs, for `pip install "dyparse[…]"`.

    A choice that needs any lists them as `extras`.
    """
    found: tuple[str, ...] = getattr(choice, "extras", ())
    return found


def new_files(choice: EncoderChoice, sentences: Sequence[Sentence]) -> Mapping[str, bytes]:
    """What a new encoder takes from files of the user, by names that `build` knows.

    A choice that reads any for the training sentences has a method `new_files(sentences)`; loading
    a model never calls it.
    """
    return choice.new_files(sentences) if hasattr(choice, "new_files") else {}
