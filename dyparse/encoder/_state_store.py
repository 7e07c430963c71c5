"""States of frozen layers, computed once before training and kept on disk."""

import errno
import hashlib
import os
import tempfile
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dyparse.data.sentence import Sentence
from dyparse.runtime.console import print_notice

IS_FULL = (errno.ENOSPC, errno.EDQUOT)


class PooledStates(NamedTuple):
    """States of the tokens of a batch in several layers."""

    states: Tensor  # float16 [B, N, layers, D]


class StateStore:
    """States of sentences, by their words, in a temporary file without a name.

    The system keeps in memory as much of the file as it has room for. What would make it larger
    than `most_bytes`, or fill the disk, is not kept.
    """

    def __init__(self, most_bytes: float) -> None:
        self.most_bytes = most_bytes
        self.file = tempfile.TemporaryFile(prefix="dyparse-states-")  # noqa: SIM115 - lives as long as this
        self.spans: dict[bytes, tuple[int, tuple[int, ...]]] = {}  # where, and shape
        self.size = 0

    def __deepcopy__(self, _memo: object) -> "StateStore":
        return self  # averaged weights have the same frozen layers

    def add(self, sentence: Sentence, states: NDArray[np.float16]) -> None:
        """Keep the states of a sentence's tokens, the root's first, if there is room.

        Of sentences with the same words, those of the first.
        """
        data, key = states.tobytes(), _key(sentence)
        if key in self.spans or self.size + len(data) > self.most_bytes:
            return
        if self._written(data):
            self.spans[key] = (self.size, states.shape)
            self.size += len(data)
        else:
            self.most_bytes = self.size
            print_notice(
                f"warning: {tempfile.gettempdir()} is full: states of some sentences will be "
                "computed in every epoch, which is slower; set TMPDIR to a directory with more room"
            )

    def _written(self, data: bytes) -> bool:
        """Whether there was room for more at the end of the file."""
        try:
            if os.pwrite(self.file.fileno(), data, self.size) == len(data):
                return True
        except OSError as error:
            if error.errno not in IS_FULL:
                raise
        os.ftruncate(self.file.fileno(), self.size)
        return False

    def batch(self, sentences: Sequence[Sentence]) -> PooledStates | None:
        """The states of a batch, padded with zeros; None if those of a sentence are not kept."""
        spans = [self.spans.get(_key(s)) for s in sentences]
        if None in spans:
            return None
        shapes = [shape for _, shape in filter(None, spans)]
        longest = max(shape[0] for shape in shapes)
        padded = np.zeros((len(shapes), longest, *shapes[0][1:]), dtype=np.float16)
        for row, (start, shape) in zip(padded, filter(None, spans), strict=True):
            data = os.pread(self.file.fileno(), 2 * int(np.prod(shape)), start)
            row[: shape[0]] = np.frombuffer(data, np.float16).reshape(shape)
        return PooledStates(torch.from_numpy(padded))


def _key(sentence: Sentence) -> bytes:
    text = "\n".join(sentence.form).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16).digest()
