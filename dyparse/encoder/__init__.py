"""Encoders: a vector for every token.

An encoder says which features it reads (`dyparse.feature`); it may bring features, files and
learning rates of its own, such as the tokenizer and the pretrained layers of a language model. To
add one, write a module with a frozen dataclass that has the members of `EncoderChoice` and builds
an `Encoder`, in this folder with `conf/encoder/<name>.yaml`, or in a package of your own
(`encoder._target_=mylab.MyEncoder`).
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from dyparse.data.sentence import Sentence
from dyparse.feature import Feature

if TYPE_CHECKING:
    from dyparse.encoder._encoder import Encoder as Encoder
    from dyparse.encoder._encoder import ParameterGroup as ParameterGroup
    from dyparse.encoder._encoder import Tag as Tag

NETWORK = ("Encoder", "ParameterGroup", "Tag")  # parts of torch's network


def __getattr__(name: str) -> Any:
    """`Encoder` and its like, imported when first used: the options of encoders need no torch."""
    if name in NETWORK:
        from dyparse.encoder import _encoder

        return getattr(_encoder, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class EncoderChoice(Protocol):
    """The options of an encoder: a frozen dataclass."""

    @property
    def features(self) -> list[str]:
        """Names of the features that it reads, with options in text; see `dyparse.feature`."""
        ...

    def build(self, features: Sequence[Feature], files: Mapping[str, bytes]) -> "Encoder":
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
    ) -> "Encoder":
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
