"""Pretrained word vectors beside the embeddings of an encoder.

A new encoder reads the user's file (`new_files`); a saved one has the words in a file of its own
and the vectors among its weights.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dyparse.config.places import content_name, is_content_name
from dyparse.data.sentence import Sentence
from dyparse.data.token_arrays import ROOT_VALUE
from dyparse.data.vocabulary import RESERVED, ROOT, UNKNOWN, Entries, numbered
from dyparse.data.word_vectors.fasttext import Subwords
from dyparse.data.word_vectors.read import Wanted, read_vectors
from dyparse.data.word_vectors.stream import MOST_NUMBERS
from dyparse.errors import ConfigError
from dyparse.feature import BagPerToken, TokenBags
from dyparse.runtime.console import print_line

NAME = "vectors"
WORDS, NUMBERS = "vectors.json", "vectors.float32"  # the second is for a new encoder only
USES = ("projected", "tuned")


def require_options(use: str, scale: float) -> None:
    """ValueError for a use that there is not, or an impossible scale."""
    if use not in USES:
        raise ValueError(f"encoder.vectors_use is {use!r}, expected {' or '.join(USES)}")
    if not 0 < scale < math.inf:
        raise ValueError(f"encoder.vectors_scale is {scale}, expected more than 0")


def named_by_content(vectors: str) -> str:
    """The name of a file of vectors by its content; ConfigError if there is no such file."""
    if is_content_name(vectors):
        return vectors
    path = Path(vectors)
    try:
        if not path.is_file():
            raise FileNotFoundError(2, "no such file")
        return content_name(path.resolve().name, [path])
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"encoder.vectors: {path}: {reason}; give a file of word vectors (word2vec, fastText "
            "or GloVe), or leave the option out"
        ) from error


def read_new(
    vectors: str, sentences: Sequence[Sentence], *, scale: float, first: int, buckets: int
) -> dict[str, bytes]:
    """The files that a new encoder is built from: words, and vectors of mean norm `scale`."""
    if is_content_name(vectors):
        raise ConfigError(
            f"encoder.vectors is {vectors}, which is how a model names a file; give its path"
        )
    forms = {form for s in sentences for form in s.form}
    found = read_vectors(Path(vectors), Wanted(forms, first, buckets))
    _print_coverage(Path(vectors), forms, found.words)
    norm = np.linalg.norm(found.matrix[: len(found.words)], axis=1).mean()
    numbers = found.matrix * np.float32(scale / norm if norm > 0 else 1.0)
    table = VectorTable(tuple(found.words), found.matrix.shape[1], found.subwords)
    return {WORDS: table.to_json(), NUMBERS: numbers.tobytes()}


def _print_coverage(path: Path, forms: set[str], words: Sequence[str]) -> None:
    known = set(words)
    covered = sum(form in known or form.lower() in known for form in forms)
    if not covered:
        raise ConfigError(
            f"encoder.vectors: {path}: none of the {len(forms)} forms of the training treebank is "
            "in it; is it of another language or script?"
        )
    print_line(
        f"vectors   {path.name}: {len(words):,} words kept; "
        f"{100 * covered / len(forms):.0f}% of the forms to train on"
    )


@dataclass(frozen=True)
class VectorTable:
    """The words that have vectors, and how others get theirs from subwords."""

    words: Entries
    width: int
    subwords: Subwords

    def feature(self) -> TokenBags:
        """The feature that reads them."""
        return TokenBags(VectorWords(self.subwords), self.words)

    def to_json(self) -> bytes:
        """As a file of the model."""
        content = {
            "width": self.width,
            "subwords": self.subwords._asdict(),
            "words": self.words,
        }
        return json.dumps(content, ensure_ascii=False, indent=0).encode()

    @classmethod
    def from_json(cls, content: bytes) -> "VectorTable":
        """From the bytes of `to_json`; ValueError if it is something else."""
        try:
            parts: Any = json.loads(content)
            width, subwords, words = parts["width"], Subwords(**parts["subwords"]), parts["words"]
            "".join(words).encode()  # an error if they are not text, or not Unicode
        except (RecursionError, LookupError, TypeError, ValueError) as error:
            raise ValueError(f"{WORDS}: expected width, subwords and words ({error})") from error
        if not all(type(n) is int for n in (width, *subwords)) or not 1 <= width <= MOST_NUMBERS:
            raise ValueError(f"{WORDS}: width {width!r}, {subwords!r}")
        if not subwords.are_sound():
            raise ValueError(f"{WORDS}: impossible {subwords!r}")
        if not isinstance(words, list) or "" in words or len(set(words)) < len(words):
            raise ValueError(f"{WORDS}: expected a list of words, each once")
        return cls(tuple(words), width, subwords)


@dataclass(frozen=True)
class VectorWords(BagPerToken):
    """Rows of a matrix of vectors, of which the mean is taken: that of the form, else that of its
    lower case, else those of its subwords.
    """

    subwords: Subwords

    name: ClassVar[str] = NAME
    column: ClassVar[str] = "form"

    def size(self, entries: Entries) -> int:
        return RESERVED + len(entries) + self.subwords.buckets

    def numbering(self, entries: Entries) -> Callable[[str], list[int]]:
        numbers, after = numbered(entries), RESERVED + len(entries)

        def rows(form: str) -> list[int]:
            if form == ROOT_VALUE:
                return [ROOT]
            number = numbers.get(form) or numbers.get(form.lower())
            if number is not None:
                return [number]
            return [after + bucket for bucket in self.subwords.of(form)] or [UNKNOWN]

        return rows
