"""Batches: sentences as padded arrays of numbers, grouped by length."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dyparse.sentence import NONE, Sentence
from dyparse.vocabulary import PADDING, ROOT, UNKNOWN, Vocabulary, shortened, subwords

FEATURES = ("word", "subword", "character", "upos", "xpos", "feats")
ROOT_FORM = "\0"  # no word of a file can be this
MOST_FORMS_REMEMBERED = 200_000

T = TypeVar("T")


class Bags(NamedTuple):
    """Several numbers per entry, one entry after the other, as `embedding_bag` takes them."""

    numbers: Tensor  # int64 [total]
    offsets: Tensor  # int64 [entries]
    entry: Tensor  # int64 [B, N]  which entry a token has


@dataclass(frozen=True)
class Batch:
    """B sentences, padded to N tokens; token 0 is the root. Features that the encoder does not use are absent."""

    words: NDArray[np.int32]  # [B]  number of words
    length: Tensor  # int64 [B]  tokens, root included
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
        """The same batch on a device; the host copies overlap with what the device does."""

        def move(value: Tensor) -> Tensor:
            return value.to(device, non_blocking=True)

        changed: dict[str, object] = {}
        for name, value in vars(self).items():
            if isinstance(value, Tensor):
                changed[name] = move(value)
            elif isinstance(value, Bags):
                changed[name] = Bags(*map(move, value))
            else:
                changed[name] = value
        return Batch(**changed)  # type: ignore[arg-type]  # the fields are those just read


class Gold(NamedTuple):
    """The trees of a batch."""

    head: NDArray[np.int32]  # [B, N]
    label: NDArray[np.int64]  # [B, N]  NONE where the label was not seen in training


@dataclass(frozen=True)
class Batcher:
    """Turns sentences into batches, with the features that an encoder uses."""

    vocabulary: Vocabulary
    features: frozenset[str]
    subword_buckets: int
    _subwords: dict[str, list[int]] = field(default_factory=dict, repr=False, compare=False)

    def batch(self, sentences: Sequence[Sentence]) -> Batch:
        """The sentences' features as arrays."""
        words = np.array([len(s) for s in sentences], dtype=np.int32)
        v = self.vocabulary
        lower = [[form.lower() for form in s.form] for s in sentences] if "word" in self.features else []
        parts: dict[str, Tensor | Bags] = {}
        if "word" in self.features:
            parts["word"] = _grid(lower, v.word_number)
        if "upos" in self.features:
            parts["upos"] = _grid([s.upos for s in sentences], v.upos_number)
        if "xpos" in self.features:
            parts["xpos"] = _grid([s.xpos for s in sentences], v.xpos_number)
        if "feats" in self.features:
            parts["feats"] = _bags([s.feats for s in sentences], self._numbers_of_feats)
        if "subword" in self.features:
            parts["subword"] = _bags([s.form for s in sentences], self._numbers_of_subwords)
        if "character" in self.features:
            parts["character"], parts["form"] = self._characters([s.form for s in sentences])
        length = torch.from_numpy(words.astype(np.int64) + 1)
        return Batch(words=words, length=length, **parts)  # type: ignore[arg-type]  # by name, as above

    def gold(self, sentences: Sequence[Sentence]) -> Gold:
        """The sentences' trees as arrays."""
        N = max(map(len, sentences)) + 1
        head = np.zeros((len(sentences), N), dtype=np.int32)
        label = np.full((len(sentences), N), NONE, dtype=np.int64)
        number = self.vocabulary.label_number
        for b, s in enumerate(sentences):
            head[b, 1 : len(s) + 1] = s.head
            label[b, 1 : len(s) + 1] = [number.get(relation, NONE) for relation in s.relation]
        return Gold(head, label)

    def _numbers_of_feats(self, column: str) -> list[int]:
        if column == ROOT_FORM:
            return [ROOT]
        return [self.vocabulary.feature_number.get(feature, UNKNOWN) for feature in column.split("|")]

    def _numbers_of_subwords(self, form: str) -> list[int]:
        numbers = self._subwords.get(form)
        if numbers is None:
            if len(self._subwords) >= MOST_FORMS_REMEMBERED:
                self._subwords.clear()
            buckets = self.subword_buckets
            numbers = [buckets] if form == ROOT_FORM else subwords(form, buckets)
            self._subwords[form] = numbers
        return numbers

    def _characters(self, columns: Sequence[Sequence[str]]) -> tuple[Tensor, Tensor]:
        entries, entry = _distinct(columns)
        number = self.vocabulary.character_number
        rows = [
            [ROOT] if form == ROOT_FORM else [number.get(c, UNKNOWN) for c in shortened(form)]
            for form in entries
        ]
        characters = np.full((len(rows), max(map(len, rows))), PADDING, dtype=np.int64)
        for row, numbers in zip(characters, rows, strict=True):
            row[: len(numbers)] = numbers
        return torch.from_numpy(characters), entry


def _grid(columns: Sequence[Sequence[str]], number: dict[str, int]) -> Tensor:
    """[B, N] numbers of one column of the sentences; the root first, padding last."""
    N = max(map(len, columns)) + 1
    get = number.get
    rows = [
        [ROOT, *[get(value, UNKNOWN) for value in column], *[PADDING] * (N - 1 - len(column))]
        for column in columns
    ]
    return torch.tensor(rows)


def _distinct(columns: Sequence[Sequence[str]]) -> tuple[list[str], Tensor]:
    """The distinct values of a column, the root's first, and [B, N] which of them a token has; padding has the root's."""
    N = max(map(len, columns)) + 1
    seen: dict[str, int] = {ROOT_FORM: 0}
    rows = [
        [0, *[seen.setdefault(value, len(seen)) for value in column], *[0] * (N - 1 - len(column))]
        for column in columns
    ]
    return list(seen), torch.tensor(rows)


def _bags(columns: Sequence[Sequence[str]], numbers_of: Callable[[str], list[int]]) -> Bags:
    """The numbers of each distinct value of a column."""
    entries, entry = _distinct(columns)
    numbers: list[int] = []
    offsets: list[int] = []
    for value in entries:
        offsets.append(len(numbers))
        numbers += numbers_of(value)
    return Bags(torch.tensor(numbers), torch.tensor(offsets), entry)


def group_by_length(
    lengths: Sequence[int], max_tokens: int, generator: np.random.Generator | None = None
) -> list[list[int]]:
    """Positions of sentences in groups of similar length, each of at most max_tokens tokens with its padding.

    With a generator the lengths are jittered and the groups shuffled, for training. A sentence longer than max_tokens is alone.
    """
    sizes = np.asarray(lengths, dtype=np.float64) + 1
    if generator is not None:
        sizes = sizes * generator.uniform(0.9, 1.1, len(sizes)) + generator.uniform(0, 2, len(sizes))
    groups: list[list[int]] = []
    longest = 0
    for position in np.argsort(sizes, kind="stable").tolist():
        longest = max(longest, lengths[position] + 1)
        if not groups or longest * (len(groups[-1]) + 1) > max_tokens:
            groups.append([])
            longest = lengths[position] + 1
        groups[-1].append(position)
    if generator is not None:
        generator.shuffle(groups)  # type: ignore[arg-type]  # numpy shuffles lists too
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
