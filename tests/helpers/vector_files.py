"""Files of word vectors in every format, made for tests."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dyparse.data.word_vectors.fasttext import Subwords

Vectors = Mapping[str, Sequence[float]]


def glove(vectors: Vectors) -> bytes:
    """A line per word, without a header."""
    lines = (f"{word} {' '.join(map(str, row))}\n" for word, row in vectors.items())
    return "".join(lines).encode()


def word2vec_text(vectors: Vectors, count: int | None = None, end: str = "") -> bytes:
    """The same after a header; fastText and word2vec end lines with a space."""
    width = len(next(iter(vectors.values())))
    header = f"{len(vectors) if count is None else count} {width}\n"
    return header.encode() + glove(vectors).replace(b"\n", f"{end}\n".encode())


def word2vec_binary(vectors: Vectors, count: int | None = None, end: bytes = b"\n") -> bytes:
    """Numbers in float32; gensim leaves out the newlines."""
    rows = (w.encode() + b" " + as_float32(row) + end for w, row in vectors.items())
    return word2vec_text(vectors, count).partition(b"\n")[0] + b"\n" + b"".join(rows)


def fasttext_binary(
    words: Sequence[str], matrix: NDArray[np.float32], subwords: Subwords, **changed: int
) -> bytes:
    """A model of fastText; `changed` are numbers of its header."""
    given = {
        **{"version": 12, "width": matrix.shape[1], "kind": 2, "n_words": len(words), "pruned": -1},
        **{"rows": len(matrix), "quantised": 0, **subwords._asdict(), **changed},
    }
    options = (given["width"], 5, 5, 1, 5, 1, 2, given["kind"], given["buckets"])
    options = (*options, given["shortest"], given["longest"], 100, 1e-4)
    sizes = (given["n_words"] + 1, given["n_words"], 1, 1000, given["pruned"])
    entries = [*((w, 0) for w in words), ("__label__x", 1)]
    return b"".join(
        [
            struct.pack("<14id", 793712314, given["version"], *options),
            struct.pack("<3i2q", *sizes),
            *(w.encode() + b"\0" + struct.pack("<qb", 7, kind) for w, kind in entries),
            struct.pack("<?2q", given["quantised"], given["rows"], matrix.shape[1]),
            as_float32(matrix),
            b"the output matrix, which nobody reads",
        ]
    )


def as_float32(numbers: Sequence[float] | NDArray[np.float32]) -> bytes:
    return np.asarray(numbers, "<f4").tobytes()
