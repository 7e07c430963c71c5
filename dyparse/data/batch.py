"""Batches: the features of several sentences as padded arrays."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dyparse.data.sentence import Sentence
from dyparse.data.token_arrays import padded

if TYPE_CHECKING:  # it takes long to import, and not every parser makes batches
    import torch
    from torch import Tensor

# One array or tensor, or a NamedTuple of several; in a batch, tensors.
Arrays: TypeAlias = "NDArray[Any] | Tensor | tuple[NDArray[Any] | Tensor, ...]"


class Feature(Protocol):
    """A feature with its vocabulary: what a collator and an encoder need of it."""

    @property
    def name(self) -> str:
        """Its name in a batch and among an encoder's features."""
        ...

    @property
    def column(self) -> str:
        """The column of a sentence that it reads: form, upos, xpos or feats."""
        ...

    def arrays(self, sentences: Sequence[Sentence], words: NDArray[np.int32]) -> Arrays:
        """The column as arrays; `words` are the lengths of the sentences."""
        ...


@dataclass(frozen=True)
class Batch:
    """B sentences, padded to N tokens; token 0 is the root. Features are held by name."""

    words: NDArray[np.int32]  # [B]  number of words; stays on the host
    length: "Tensor"  # int64 [B]  tokens, root included
    features: dict[str, Arrays]
    keys: "Tensor | None" = None  # int64 [B]  random keys of the sentences, for dropout in training
    seed: int | None = None  # the first key, on the host: for what draws from torch's generator

    @property
    def shape(self) -> tuple[int, int]:
        """B, N."""
        return len(self.words), int(self.words.max()) + 1

    def to(self, device: "torch.device") -> "Batch":
        """The same batch on a device, in one asynchronous copy."""
        from torch import Tensor

        from dyparse.tensors.transfer import to_device

        parts: list[Any] = [self.length, *self.features.values()]
        if self.keys is not None:
            parts.append(self.keys)
        flat = chain.from_iterable((part,) if isinstance(part, Tensor) else part for part in parts)
        moved = iter(to_device(list(flat), device))

        def rebuilt(part: Any) -> Arrays:
            if isinstance(part, Tensor):
                return next(moved)
            tensors = islice(moved, len(part))
            return type(part)(*tensors) if hasattr(part, "_fields") else tuple(tensors)

        length = next(moved)
        features = {name: rebuilt(part) for name, part in self.features.items()}
        keys = None if self.keys is None else next(moved)
        return replace(self, length=length, features=features, keys=keys)


class Collator:
    """Turns sentences into batches of the given features."""

    def __init__(self, features: Sequence[Feature]) -> None:
        self.features = tuple(features)

    def batch(self, sentences: Sequence[Sentence], keys: NDArray[np.uint64] | None = None) -> Batch:
        """The sentences' features as arrays; for training, with a random key for each of them."""
        import torch

        words = n_words(sentences)
        return Batch(
            words=words,
            length=torch.from_numpy(words.astype(np.int64) + 1),
            features={f.name: as_tensors(f.arrays(sentences, words)) for f in self.features},
            keys=None if keys is None else torch.from_numpy(keys.view(np.int64)),
            seed=None if keys is None else int(keys[0] >> np.uint64(1)),
        )

    def lengths(self, sentences: Sequence[Sentence]) -> list[int]:
        """What sentences cost the encoder: pieces if it reads pieces, else words."""
        counted = next((f.length for f in self.features if hasattr(f, "length")), len)
        return list(map(counted, sentences))


def as_tensors(arrays: Any) -> Arrays:
    """The same arrays as tensors, which share their memory."""
    import torch

    if isinstance(arrays, np.ndarray):
        return torch.from_numpy(arrays)
    if not isinstance(arrays, tuple):
        return arrays  # type: ignore[no-any-return]  # a tensor, of a feature that makes its own
    parts = [as_tensors(part) for part in arrays]
    return type(arrays)(*parts) if hasattr(arrays, "_fields") else tuple(parts)  # type: ignore[arg-type]  # parts are no tuples


def n_words(sentences: Sequence[Sentence]) -> NDArray[np.int32]:
    """[B]: the number of words of every sentence."""
    return np.array([len(s) for s in sentences], dtype=np.int32)


def gold_heads(sentences: Sequence[Sentence]) -> NDArray[np.int32]:
    """[B, N]: the head of every word in its gold tree."""
    flat = np.fromiter(chain.from_iterable(s.head for s in sentences), np.int32)
    return padded(n_words(sentences), flat, root=0, padding=0)


def heads_of_words(heads: NDArray[np.int32], sentences: Sequence[Sentence]) -> NDArray[np.int32]:
    """[B, N]: the same heads, but 0 for the root and beyond the last word of a sentence."""
    token = np.arange(heads.shape[1])
    return np.where((token > 0) & (token <= n_words(sentences)[:, None]), heads, 0)
