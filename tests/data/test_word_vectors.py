"""Readers of word vectors: every format gives the same vectors, and malformed files one message."""

import gzip

import numpy as np
import pytest
from helpers.vector_files import (
    as_float32,
    fasttext_binary,
    glove,
    word2vec_binary,
    word2vec_text,
)

from dyparse.data.word_vectors import rows, stream
from dyparse.data.word_vectors.fasttext import Subwords
from dyparse.data.word_vectors.read import Wanted, read_vectors
from dyparse.errors import ConfigError

VECTORS = {
    "</s>": [0.0, 0.5, 0.0, 1.0],
    "the": [0.1, -0.25, 3.0, 4.5e-3],
    "Zürich": [1.0, 2.0, 3.0, 4.0],
    "的": [-1.0, -2.0, -3.0, -4.0],
    "dog": [0.5, 0.5, 0.5, 0.5],
    "Dog": [0.25, 0.0, 0.0, 0.0],
}
FORMATS = {
    "glove": glove(VECTORS),
    "word2vec text": word2vec_text(VECTORS),
    "fasttext text": word2vec_text(VECTORS, end=" "),
    "windows text": word2vec_text(VECTORS, end="\r"),
    "without a last newline": glove(VECTORS)[:-1],
    "empty lines at the end": glove(VECTORS) + b"\n \r\n\n",
    "a header, empty lines at the end": word2vec_text(VECTORS) + b"\n\n",
    "word2vec binary": word2vec_binary(VECTORS),
    "gensim binary": word2vec_binary(VECTORS, end=b""),
    "fasttext binary": fasttext_binary(
        list(VECTORS), np.array(list(VECTORS.values()), np.float32), Subwords()
    ),
}
SUBWORDS = Subwords(buckets=50, shortest=3, longest=6)
MATRIX = np.random.default_rng(3).normal(size=(2 + SUBWORDS.buckets, 4)).astype(np.float32)
SMALL = dict(list(VECTORS.items())[:2])
FASTTEXT = fasttext_binary(["</s>", "dog"], MATRIX, SUBWORDS)


def read(path, content, forms=(), first=100, buckets=0):
    path.write_bytes(content)
    return read_vectors(path, Wanted(frozenset(forms), first, buckets))


def as_dict(found):
    return dict(zip(found.words, found.matrix.tolist(), strict=True))


@pytest.mark.parametrize("is_zipped", [False, True], ids=["plain", "gzipped"])
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_vectors_whatever_the_file_is_called(tmp_path, name, is_zipped):
    content = gzip.compress(FORMATS[name]) if is_zipped else FORMATS[name]
    found = read(tmp_path / "some.bin", content)
    assert found.words == list(VECTORS)
    assert found.matrix.dtype == np.float32
    np.testing.assert_array_equal(found.matrix, np.array([*VECTORS.values()], np.float32))


@pytest.mark.parametrize("name", FORMATS)
def test_words_of_the_treebank_and_the_first_of_the_file_are_kept(tmp_path, name):
    found = read(tmp_path / "vectors", FORMATS[name], forms=["DOG", "Zürich", "cat"], first=2)
    assert found.words == ["</s>", "the", "Zürich", "dog"]


def test_a_word_that_comes_twice_has_its_first_vector(tmp_path):
    found = read(tmp_path / "vectors", b"a 1 2\nb 3 4\na 5 6\n")
    assert as_dict(found) == {"a": [1, 2], "b": [3, 4]}


def test_words_with_spaces_are_read_and_words_that_are_not_unicode_are_left_out(tmp_path):
    content = b"a 1 2\n. . . 3 4\nat name@domain.com 5 6\n\xff\xfe 7 8\n 9 9\n"
    found = read(tmp_path / "vectors", content)
    assert as_dict(found) == {"a": [1, 2], ". . .": [3, 4], "at name@domain.com": [5, 6]}


def test_a_file_of_many_chunks_is_read_as_a_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "CHUNK", 50)
    monkeypatch.setattr(rows, "START", 50)
    vectors = {f"w{k}": [k, k + 0.5, 0, 1] for k in range(2000)}
    for content in (glove(vectors), word2vec_binary(vectors)):
        found = read(tmp_path / "vectors", content, forms=["w1999", "w777"], first=1)
        assert as_dict(found) == {w: vectors[w] for w in ("w0", "w777", "w1999")}


def test_subwords_are_hashed_as_fasttext_does():
    """Compared with `get_subwords` of fasttext 0.9.2 with 5000 buckets."""
    subwords = Subwords(5000, 3, 6)
    assert subwords.of("x") == [4917]
    assert subwords.of("€") == [3129]
    assert subwords.of("şüğıöç") == [
        *(2968, 2161, 1578, 991, 2103, 3656, 3789, 2711, 3768),
        *(4533, 2871, 595, 1282, 3108, 3974, 1645, 4521, 536),
    ]
    assert len(Subwords(5000, 1, 2).of("ab")) == len(["<a", "a", "ab", "b", "b>"])
    assert Subwords().of("word") == []


def test_the_vector_of_a_fasttext_word_is_the_mean_of_its_own_and_its_subwords(tmp_path):
    found = read(tmp_path / "vectors", FASTTEXT)
    assert found.words == ["</s>", "dog"]
    parts = [1, *(2 + bucket for bucket in SUBWORDS.of("dog"))]
    np.testing.assert_allclose(found.matrix[1], MATRIX[parts].mean(0), rtol=1e-5)
    np.testing.assert_array_equal(found.matrix[0], MATRIX[0])  # the end of a sentence has none
    assert found.subwords == Subwords()


def test_forms_of_the_treebank_that_fasttext_lacks_get_the_mean_of_their_subwords(tmp_path):
    found = read(tmp_path / "vectors", FASTTEXT, forms=["Dog", "Cat", ""])
    assert found.words == ["</s>", "dog", "Cat"]  # Dog has the vector of dog
    parts = [2 + bucket for bucket in SUBWORDS.of("Cat")]
    np.testing.assert_allclose(found.matrix[2], MATRIX[parts].mean(0), rtol=1e-5)


def test_subwords_are_kept_if_they_are_few_enough(tmp_path):
    found = read(tmp_path / "vectors", FASTTEXT, forms=["Cat"], buckets=SUBWORDS.buckets)
    assert found.words == ["</s>", "dog"]
    assert found.subwords == SUBWORDS
    np.testing.assert_array_equal(found.matrix[2:], MATRIX[2:])


def test_a_supervised_model_of_format_11_has_no_subwords(tmp_path):
    content = fasttext_binary(["a", "dog"], MATRIX, SUBWORDS, version=11, kind=3)
    np.testing.assert_array_equal(read(tmp_path / "vectors", content).matrix[1], MATRIX[1])


BINARY = word2vec_binary(SMALL)
MALFORMED = {
    "no vectors": (b"once upon a time\n", ", byte 0: no word vectors; expected word2vec"),
    "empty": (b"", "no word vectors"),
    "pickle": (b"\x80\x04\x95\x00\x01garbage\n", "no word vectors"),
    "zip": (b"PK\x03\x04...", "unzip it first"),
    "too few numbers": (b"a 1 2 3\nb 1 2\n", ":2: 2 numbers, but the vectors have 3"),
    "too many numbers": (b"a 1 2 3\nb 1 2 3 4\n", ":2: 4 numbers, but the vectors have 3"),
    "blank line": (b"a 1 2 3\n\nb 1 2 3\n", ":2: 0 numbers, but the vectors have 3"),
    "no number": (b"a 1 2 3\nb 1 x 3\n", ":2: 'x' is no number"),
    "no number in the first row": (b"1 3\na 1 x 3\n", ":2: 'x' is no number"),
    "two spaces": (b"a 1 2 3\nb 1  2\n", ":2: '' is no number"),
    "not finite": (b"a 1 2 3\nb 1 nan 3\n", ":2: a number that is not finite"),
    "beyond float32": (b"a 1 2 3\nb 1 1e39 3\n", ":2: a number that is not finite"),
    "fewer words": (word2vec_text(VECTORS, count=7), "ends after 6 words, but its first line"),
    "more words": (word2vec_text(VECTORS, count=5), "ends after 6 words, but its first line"),
    "absurd width": (b"3 1000000000\na 1 2\n", "3 words of 1000000000 numbers"),
    "absurd count": (b"99999999999 3\na 1 2 3\n", "99999999999 words of 3 numbers"),
    "no words": (b"0 3\n", "0 words of 3 numbers"),
    "endless line": (b"a 1 2 3\n" + b"1" * (3 << 20), ":2: a line or word of more than"),
    "binary cut in numbers": (BINARY[:-6], ", byte 30: the file ends 5 bytes too early"),
    "binary cut in a word": (BINARY[:27], ", byte 25: the file ends within a word"),
    "binary with too few words": (word2vec_binary(SMALL, count=3), "the file ends within a word"),
    "binary with too many words": (
        word2vec_binary(SMALL, count=1),
        "there is more after the 1 words",
    ),
    "binary not finite": (b"1 2\na " + as_float32([np.inf, 1]), "not finite"),
    "gzip cut off": (gzip.compress(glove(VECTORS))[:-12], "cannot be read"),
    "gzip damaged": (gzip.compress(glove(VECTORS))[:20] + b"\xff" * 40, "cannot be read"),
    "fasttext cut off": (FASTTEXT[:-100], "too early"),
    "fasttext cut in its header": (FASTTEXT[:40], "byte 0: the file ends 24 bytes too early"),
    "fasttext cut in a word": (FASTTEXT[:94], "the file ends within a word"),
    **{
        f"fasttext {name} {number}": (
            fasttext_binary(["</s>", "dog"], MATRIX, SUBWORDS, **{name: number}),
            finding,
        )
        for name, number, finding in [
            ("version", 13, "fastText's format 13"),
            ("width", 2**31 - 1, "impossible numbers"),
            ("n_words", -1, "impossible numbers"),
            ("n_words", 2**31 - 2, "the file ends"),
            ("buckets", -1, "impossible numbers"),
            ("buckets", 2**31 - 1, "a matrix of 52 x 4"),
            ("longest", 1000, "impossible numbers"),
            ("shortest", -1, "impossible numbers"),
            ("rows", 2**62, "a matrix of"),
            ("pruned", 5, "quantised"),
            ("quantised", 1, "quantised"),
        ]
    },
    "fasttext not finite": (FASTTEXT.replace(as_float32(MATRIX[1]), b"\xff" * 16), "not finite"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_file_has_one_message_with_file_place_and_finding(tmp_path, name):
    content, finding = MALFORMED[name]
    path = tmp_path / "vectors.bin"
    with pytest.raises(ConfigError) as caught:
        read(path, content)
    message = str(caught.value)
    assert message.startswith(f"encoder.vectors: {path}")
    assert finding in message
    assert "\n" not in message
    assert message.isprintable()


def test_every_cut_and_every_changed_byte_of_a_binary_file_is_read_or_refused(tmp_path):
    rng = np.random.default_rng(1)
    path = tmp_path / "vectors"
    for content in (BINARY, FASTTEXT, gzip.compress(FASTTEXT), FORMATS["word2vec text"]):
        damaged = [content[:cut] for cut in rng.integers(0, len(content), 40)]
        for place in rng.integers(0, min(len(content), 200), 60):
            damaged.append(content[:place] + bytes([rng.integers(256)]) + content[place + 1 :])
        for wrong in damaged:
            try:
                found = read(path, wrong)
            except ConfigError:
                continue
            assert np.isfinite(found.matrix).all()
            assert len(found.matrix) == len(found.words)
