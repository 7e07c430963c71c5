"""Pieces of words by the tokenizer of a pretrained model, as a feature of the encoder's own."""

import json
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dyparse.data.sentence import Sentence
from dyparse.data.token_arrays import Remembered
from dyparse.encoder._state_store import PooledStates, StateStore
from dyparse.feature import shortened

LEAST_ROOM = 4  # pieces
MOST_GROWTH = 1_000_000  # of a word, by normalization
MASK = ("[MASK]", "<mask>", "<|mask|>")
UNKNOWN = ("[UNK]", "<unk>", "<|unk|>", *MASK)


class Pieces(NamedTuple):
    """Sequences of pieces, one per sentence or window, and the places of each token's pieces."""

    ids: Tensor  # int64 [S, P]
    lengths: Tensor  # int64 [S]
    places: Tensor  # int64 [total]  in the flattened sequences, token after token
    offsets: Tensor  # int64 [B·N]  where the places of a token begin; padding has the root's

    def masked(self, dropped: Tensor, mask: int) -> Tensor:
        """The ids with the pieces of dropped tokens replaced by a mask.  [B, N] → [S, P]"""
        flat = self.ids.reshape(-1)
        order = torch.arange(len(self.places), device=flat.device)
        token = torch.searchsorted(self.offsets, order, right=True) - 1
        new = flat[self.places].masked_fill(dropped.reshape(-1)[token], mask)
        return flat.scatter(0, self.places, new).view_as(self.ids)


class PieceTokenizer:
    """The tokenizer of a pretrained model, for words that are given.

    Tokenizers treat the words of a sentence one by one, so each is asked for once.
    """

    def __init__(self, content: bytes) -> None:
        from tokenizers import Tokenizer  # of the extra `transformers`

        self.content = content
        try:
            self.tokenizer: Any = Tokenizer.from_str(content.decode())
            self.tokenizer.no_padding()
            self.tokenizer.no_truncation()
            self.tokenizer.encode_special_tokens = True  # a word "[SEP]" ends no sentence
            _require_bounded(self.tokenizer.normalizer)
            self.prefix, self.suffix = self._special()
            known = self.tokenizer.get_vocab(with_added_tokens=True).values()
            self.largest = max(*known, *self.prefix, *self.suffix)
        except BaseException as error:
            if not _is_of_library(error):
                raise
            finding = " ".join(str(error).split())[:200]
            raise ValueError(f"tokenizer.json is no tokenizer: {finding}") from error
        self.unknown: int = self._first_known(UNKNOWN, 0)
        self.mask: int = self._first_known(MASK, self.unknown)
        added = self.tokenizer.get_added_tokens_decoder()
        self.special = {number for number, token in added.items() if token.special}
        self.of_word: Remembered[str, list[int]] = Remembered(self._of_word)

    def __deepcopy__(self, _memo: object) -> "PieceTokenizer":
        return self  # it does not learn

    def __reduce__(self) -> tuple[type, tuple[bytes]]:
        return type(self), (self.content,)

    def _special(self) -> tuple[list[int], list[int]]:
        """The pieces before and after every sentence."""
        encoded = self.tokenizer.encode(["a"], is_pretokenized=True)
        inside = [k for k, special in enumerate(encoded.special_tokens_mask) if not special]
        first, last = (inside[0], inside[-1] + 1) if inside else (1, 1)
        return encoded.ids[:first], encoded.ids[last:]

    def _first_known(self, tokens: Sequence[str], otherwise: int) -> int:
        numbers = (self.tokenizer.token_to_id(token) for token in tokens)
        return next((number for number in numbers if number is not None), otherwise)

    def _of_word(self, form: str) -> list[int]:
        text = shortened(form).encode("utf-8", "replace").decode()
        try:
            encoded = self.tokenizer.encode([text], is_pretokenized=True, add_special_tokens=False)
        except BaseException as error:
            if not _is_of_library(error):
                raise
            return [self.unknown]  # without an unknown piece it refuses words with unknown letters
        # A unigram model has its special pieces among the others, and finds them in a word "</s>".
        pieces = [self.unknown if piece in self.special else piece for piece in encoded.ids]
        return pieces or [self.unknown]


def _is_of_library(error: BaseException) -> bool:
    """Whether an error may come from the tokenizer; some of its panics are no `Exception`."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def _require_bounded(normalizer: Any) -> None:
    """ValueError if a normalizer could make a word so long that no memory is large enough."""
    growth, pending = 1, [json.loads(normalizer.__getstate__()) if normalizer else None]
    while pending:
        part = pending.pop() or {}
        pending += part.get("normalizers", [])
        if part.get("type") in ("Replace", "Prepend"):
            growth *= 1 + len(part.get("content") or part.get("prepend") or "")
    if growth > MOST_GROWTH:
        raise ValueError("its normalizer makes words too long")


class PieceSequences:
    """The feature: sentences as sequences of pieces.

    A sentence longer than the model can read is cut into windows that overlap; a word is taken from
    the one in which it has more words on both sides.
    """

    name, column = "pieces", "form"

    def __init__(
        self, tokenizer: PieceTokenizer, *, positions: int, overlap: int, pooling: str
    ) -> None:
        self.tokenizer, self.pooling = tokenizer, pooling
        self.room = positions - len(tokenizer.prefix) - len(tokenizer.suffix)
        if self.room < LEAST_ROOM:
            raise ValueError(
                f"the model reads {positions} pieces at a time, which leaves {self.room} beside "
                f"the tokenizer's special ones, expected {LEAST_ROOM} or more"
            )
        self.overlap = min(overlap, self.room // 2)  # more would be read again and again
        self.store: StateStore | None = None  # states that were computed before training

    def length(self, sentence: Sentence) -> int:
        """Pieces of a sentence: what it costs the encoder."""
        special = len(self.tokenizer.prefix) + len(self.tokenizer.suffix)
        return sum(map(len, self.words(sentence))) + special

    def words(self, sentence: Sentence) -> list[list[int]]:
        """The pieces of every word; of one that does not fit into a window, the first ones."""
        of_word, most = self.tokenizer.of_word, max(self.room // 2, 1)
        return [of_word[form][:most] for form in sentence.form]

    def arrays(
        self, sentences: Sequence[Sentence], words: NDArray[np.int32]
    ) -> Pieces | PooledStates:
        if self.store and (states := self.store.batch(sentences)):
            return states
        N = int(words.max()) + 1
        before, after = self.tokenizer.prefix, self.tokenizer.suffix
        rows: list[list[int]] = []
        places: list[tuple[int, int]] = []  # row, column
        counts: list[int] = []  # places of every token
        for sentence in sentences:
            pieces, root = self.words(sentence), (len(rows), 0)
            places.append(root)
            counts.append(1)
            for window in windows(list(map(len, pieces)), self.room, self.overlap):
                column = len(before)
                for k in range(window.first, window.last):
                    size = len(pieces[k])
                    if window.own_first <= k < window.own_last:
                        taken = 1 if self.pooling == "first" else size
                        places += [(len(rows), column + c) for c in range(taken)]
                        counts.append(taken)
                    column += size
                inside = chain.from_iterable(pieces[window.first : window.last])
                rows.append([*before, *inside, *after])
            places += [root] * (N - 1 - len(sentence))
            counts += [1] * (N - 1 - len(sentence))
        return _as_tensors(rows, places, counts)


def _as_tensors(rows: list[list[int]], places: list[tuple[int, int]], counts: list[int]) -> Pieces:
    lengths = np.fromiter(map(len, rows), np.int64)
    ids = np.zeros((len(rows), int(lengths.max())), dtype=np.int64)
    for row, pieces in zip(ids, rows, strict=True):
        row[: len(pieces)] = pieces
    row_column = np.array(places, dtype=np.int64)
    flat = row_column[:, 0] * ids.shape[1] + row_column[:, 1]
    offsets = np.cumsum([0, *counts[:-1]], dtype=np.int64)
    return Pieces(*map(torch.from_numpy, (ids, lengths, flat, offsets)))


class Window(NamedTuple):
    """Words that are read together, and those of them whose vectors are taken from here."""

    first: int
    last: int  # excluded, as below
    own_first: int
    own_last: int


def windows(sizes: list[int], room: int, overlap: int) -> list[Window]:
    """Windows over words of these many pieces: at most `room`, up to `overlap` of them shared.

    No word may have more than `room` pieces.
    """
    spans: list[tuple[int, int]] = []
    first = last = 0
    while last < len(sizes):
        total, last = 0, first
        while last < len(sizes) and total + sizes[last] <= room:
            total += sizes[last]
            last += 1
        spans.append((first, last))
        shared, back = 0, last
        while back > first + 1 and shared + sizes[back - 1] <= overlap:
            back -= 1
            shared += sizes[back]
        first = back
    middles = ((after[0] + before[1] + 1) // 2 for before, after in pairwise(spans))
    borders = pairwise([0, *middles, len(sizes)])
    return [Window(*span, *own) for span, own in zip(spans, borders, strict=True)]


def for_given_words(content: bytes) -> bytes:
    """A tokenizer.json that treats every word as one after a space, also where it says otherwise:
    words are given here, without the spaces between them. ValueError if it is none.
    """
    try:
        tokenizer = json.loads(content)
    except RecursionError as error:
        raise ValueError("lists within each other, too many") from error
    if not isinstance(tokenizer, dict):
        raise ValueError(f"it is {str(tokenizer)[:40]!r}, expected an object")
    pending = [tokenizer.get("pre_tokenizer")]
    while pending:
        part = pending.pop()
        if isinstance(part, list):
            pending += part
        elif isinstance(part, dict):
            if part.get("type") == "ByteLevel":
                part["add_prefix_space"] = True
            elif part.get("type") == "Metaspace":
                part["prepend_scheme"] = "always"
            pending.append(part.get("pretokenizers"))
    tokenizer["truncation"] = tokenizer["padding"] = None
    return json.dumps(tokenizer, ensure_ascii=False).encode()
