"""Batches: sentences as padded arrays of numbers, grouped by length."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dyparse.data.sentence import NONE, Sentence
from dyparse.data.vocabulary import PADDING, ROOT, UNKNOWN, Vocabulary, shortened, subwords
from dyparse.errors import ConfigError
from dyparse.tensors.transfer import to_device

FEATURES = ("word", "subword", "character", "upos", "xpos", "feats")
ROOT_FORM = "\0"  # no word of a file can be this
MOST_REMEMBERED = 200_000

T = TypeVar("T")


class Bags(NamedTuple):
    """Several numbers per entry, one entry after the other, as `embedding_bag` takes them."""

    numbers: Tensor  # int64 [total]
    offsets: Tensor  # int64 [entries]
    entry: Tensor  # int64 [B, N]  which entry a token has


@dataclass(frozen=True)
class Batch:
    """B sentences, padded to N tokens; token 0 is the root.

    Features that the encoder does not use are absent.
    """

    words: NDArray[np.int32]  # [B]  number of words; stays on the host
    length: Tensor  # int64 [B]  tokens, root included
    keys: Tensor | None = None  # int64 [B]  what is dropped while training follows from them
    word: Tensor | None = None  # int64 [B, N]
    upos: Tensor | None = None  # int64 [B, N]
    xpos: Tensor | None = None  # int64 [B, N]
    subword: Bags | None = None
    feats: Bags | None = None
    character: Tensor | None = None  # int64 [forms, longest]
    form: Tensor | None = None  # int64 [B, N]  row of character

    @property
    def shape(self) -> tuple[int, int]:
        """B, N."""
        return len(self.words), int(self.words.max()) + 1

    def to(self, device: torch.device) -> "Batch":
        """The same batch on a device, in one copy that is not waited for."""
        parts = {name: part for name, part in vars(self).items() if isinstance(part, Tensor | Bags)}
        flat = chain.from_iterable(
            part if isinstance(part, Bags) else (part,) for part in parts.values()
        )
        moved = iter(to_device(list(flat), device))
        on_device = {
            name: Bags(*islice(moved, 3)) if isinstance(part, Bags) else next(moved)
            for name, part in parts.items()
        }
        return replace(self, **on_device)  # type: ignore[arg-type]  # the fields are those just read


class Gold(NamedTuple):
    """The trees of a batch."""

    head: NDArray[np.int32]  # [B, N]
    label: NDArray[np.int64]  # [B, N]  NONE where the label was not seen in training


class Remembered(dict[str, T]):
    """A dictionary that computes what it lacks, and keeps it.

    It starts anew when it has grown too large.
    """

    def __init__(self, compute: Callable[[str], T]) -> None:
        super().__init__()
        self.compute = compute

    def __missing__(self, key: str) -> T:
        if len(self) >= MOST_REMEMBERED:
            self.clear()
        value = self[key] = self.compute(key)
        return value


class Collator:
    """Turns sentences into batches, with the features that an encoder uses."""

    def __init__(
        self, vocabulary: Vocabulary, features: Iterable[str], subword_buckets: int
    ) -> None:
        self.vocabulary = vocabulary
        self.features = frozenset(features)
        self.subword_buckets = subword_buckets
        v = vocabulary
        self._word = Remembered(lambda form: v.word_number.get(form.lower(), UNKNOWN))
        self._upos = Remembered(lambda tag: v.upos_number.get(tag, UNKNOWN))
        self._xpos = Remembered(lambda tag: v.xpos_number.get(tag, UNKNOWN))
        self._feats = Remembered(self._numbers_of_feats)
        self._subwords = Remembered(self._numbers_of_subwords)

    def batch(self, sentences: Sequence[Sentence], keys: NDArray[np.uint64] | None = None) -> Batch:
        """The sentences' features as arrays; for training, with a random key for each of them."""
        words = np.array([len(s) for s in sentences], dtype=np.int32)
        parts: dict[str, Tensor | Bags] = {}
        if "word" in self.features:
            parts["word"] = _grid(words, [s.form for s in sentences], self._word)
        if "upos" in self.features:
            parts["upos"] = _grid(words, [s.upos for s in sentences], self._upos)
        if "xpos" in self.features:
            parts["xpos"] = _grid(words, [s.xpos for s in sentences], self._xpos)
        if "feats" in self.features:
            parts["feats"] = _bags(words, [s.feats for s in sentences], self._feats)
        if "subword" in self.features:
            parts["subword"] = _bags(words, [s.form for s in sentences], self._subwords)
        if "character" in self.features:
            parts["character"], parts["form"] = self._characters(words, [s.form for s in sentences])
        length = torch.from_numpy(words.astype(np.int64) + 1)
        if keys is not None:
            parts["keys"] = torch.from_numpy(keys.view(np.int64))
        return Batch(words=words, length=length, **parts)  # type: ignore[arg-type]  # by name, as above

    def gold(self, sentences: Sequence[Sentence]) -> Gold:
        """The sentences' trees as arrays."""
        words = np.array([len(s) for s in sentences], dtype=np.int32)
        get = self.vocabulary.label_number.get
        head = np.fromiter(chain.from_iterable(s.head for s in sentences), np.int32)
        label = [get(label, NONE) for s in sentences for label in s.label]
        return Gold(
            _spread(words, head, first=0, padding=0),
            _spread(words, np.array(label, dtype=np.int64), first=NONE, padding=NONE),
        )

    def _numbers_of_feats(self, column: str) -> list[int]:
        if column == ROOT_FORM:
            return [ROOT]
        return [
            self.vocabulary.feature_number.get(feature, UNKNOWN) for feature in column.split("|")
        ]

    def _numbers_of_subwords(self, form: str) -> list[int]:
        return [self.subword_buckets] if form == ROOT_FORM else subwords(form, self.subword_buckets)

    def _characters(
        self, words: NDArray[np.int32], columns: Sequence[Sequence[str]]
    ) -> tuple[Tensor, Tensor]:
        entries, entry = _distinct(words, columns)
        number = self.vocabulary.character_number
        rows = [
            [ROOT] if form == ROOT_FORM else [number.get(c, UNKNOWN) for c in shortened(form)]
            for form in entries
        ]
        characters = np.full((len(rows), max(map(len, rows))), PADDING, dtype=np.int64)
        for row, numbers in zip(characters, rows, strict=True):
            row[: len(numbers)] = numbers
        return torch.from_numpy(characters), entry


def _spread(
    words: NDArray[np.int32], flat: NDArray[Any], *, first: int, padding: int
) -> NDArray[Any]:
    """[B, N] from the values of all words in one row: the root's first, padding last."""
    grid = np.full((len(words), int(words.max()) + 1), padding, dtype=flat.dtype)
    grid[:, 0] = first
    grid[:, 1:][np.arange(grid.shape[1] - 1) < words[:, None]] = flat
    return grid


def _grid(
    words: NDArray[np.int32], columns: Sequence[Sequence[str]], number: Remembered[int]
) -> Tensor:
    """[B, N] numbers of one column of the sentences."""
    flat = np.fromiter(map(number.__getitem__, chain.from_iterable(columns)), np.int64)
    return torch.from_numpy(_spread(words, flat, first=ROOT, padding=PADDING))


def _distinct(
    words: NDArray[np.int32], columns: Sequence[Sequence[str]]
) -> tuple[list[str], Tensor]:
    """The distinct values of a column, the root's first, and [B, N] which of them a token has;
    padding has the root's.
    """
    entries = list(dict.fromkeys(chain([ROOT_FORM], *columns)))
    position = {value: k for k, value in enumerate(entries)}
    flat = np.fromiter(map(position.__getitem__, chain.from_iterable(columns)), np.int64)
    return entries, torch.from_numpy(_spread(words, flat, first=0, padding=0))


def _bags(
    words: NDArray[np.int32], columns: Sequence[Sequence[str]], numbers: Remembered[list[int]]
) -> Bags:
    """The numbers of each distinct value of a column."""
    entries, entry = _distinct(words, columns)
    bags = list(map(numbers.__getitem__, entries))
    sizes = np.fromiter(map(len, bags), np.int64)
    flat = np.fromiter(chain.from_iterable(bags), np.int64)
    return Bags(torch.from_numpy(flat), torch.from_numpy(np.cumsum(sizes) - sizes), entry)


def group_by_length(
    lengths: Sequence[int], max_tokens: int, generator: np.random.Generator | None = None
) -> list[list[int]]:
    """Positions of sentences in groups of similar length, each of at most max_tokens tokens with
    its padding.

    With a generator the lengths are jittered and the groups shuffled, for training. A sentence
    longer than max_tokens is alone.
    """
    sizes = np.asarray(lengths, dtype=np.float64) + 1
    if generator is not None:
        sizes = sizes * generator.uniform(0.9, 1.1, len(sizes)) + generator.uniform(
            0, 2, len(sizes)
        )
    groups: list[list[int]] = []
    longest = 0
    for position in np.argsort(sizes, kind="stable").tolist():
        longest = max(longest, lengths[position] + 1)
        if not groups or longest * (len(groups[-1]) + 1) > max_tokens:
            groups.append([])
            longest = lengths[position] + 1
        groups[-1].append(position)
    if generator is not None:
        generator.shuffle(groups)
    return groups


def windows(items: Iterable[T], size_of: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """Successive items in lists whose sizes add up to at most `most` (or of one item)."""
    window: list[T] = []
    total = 0
    for item in items:
        if window and total + size_of(item) > most:
            yield window
            window, total = [], 0
        window.append(item)
        total += size_of(item)
    if window:
        yield window


def require_columns(
    features: Iterable[str], sentences: Sequence[Sentence], treebank: str, remedy: str
) -> None:
    """ConfigError if the encoder reads a column that is empty in all sentences."""
    for name in ("upos", "xpos", "feats"):
        if name in features and all(set(getattr(s, name)) == {"_"} for s in sentences):
            raise ConfigError(
                f"the encoder reads {name.upper()}, but that column of {treebank} is empty; "
                f"tag the treebank, or {remedy}"
            )
