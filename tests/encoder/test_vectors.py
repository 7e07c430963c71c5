"""Word vectors in the BiLSTM encoder: trained, saved, and read again without their file."""

import json
import os
import re

import numpy as np
import pytest
import torch
from helpers.configured import configured
from helpers.saved_models import assert_refused
from helpers.small_training import SMALL
from helpers.tiny import fresh_parser, plan, sample, small_encoder
from helpers.vector_files import fasttext_binary, glove

import dyparse
from dyparse.config.places import is_content_name
from dyparse.data.sentence import Sentence
from dyparse.data.vocabulary import RESERVED, ROOT, UNKNOWN
from dyparse.data.word_vectors.fasttext import Subwords
from dyparse.encoder._vectors import VectorTable
from dyparse.errors import ConfigError
from dyparse.model.checkpoint_files import checksum, digest_of_model
from dyparse.tensors.optimizer import Optimizer
from dyparse.training import loop
from dyparse.training.run import train
from dyparse.training.run_directory import directory_of
from dyparse.training.session import Session
from dyparse.training.settings import TrainingSettings

TRAIN, DEV = sample("train")[:40], sample("dev")[:10]
FORMS = sorted({form for s in TRAIN for form in s.form})
RNG = np.random.default_rng(5)
VECTORS = {form: RNG.normal(size=6).round(3).tolist() for form in [*FORMS[::2], "zebra", "Yak"]}
SETTINGS = TrainingSettings(epochs=1, learning_rate=1e-2, average_decay=0.5)
UNSEEN = Sentence.from_words(["Zebra", "Yak", "YAK", "qwxz", "."], upos=["NOUN"] * 5)
SUBWORDS = Subwords(buckets=30, shortest=2, longest=3)


@pytest.fixture
def path(tmp_path):
    """A file of vectors in a directory whose name must stay private."""
    (tmp_path / "private").mkdir()
    path = tmp_path / "private" / "my.vec"
    path.write_bytes(glove(VECTORS))
    return path


def fasttext_file(path):
    words = ["</s>", "zebra", *FORMS[:5]]
    matrix = RNG.normal(size=(len(words) + SUBWORDS.buckets, 6)).astype(np.float32)
    path.write_bytes(fasttext_binary(words, matrix, SUBWORDS))


def embedder(parser):
    return parser.model.encoder.embedders["vectors"]


def numbers(parser, *forms):
    """Rows of the vectors that each form has."""
    (feature,) = parser.model.encoder.own_features()
    return [feature.numbers[form] for form in forms]


def trained(parser):
    """The parser after one epoch."""
    session = Session(SETTINGS, parser, plan(TRAIN, DEV))
    list(loop.train(session, lambda *_: None))
    return session.averaged_parser()


@pytest.mark.parametrize("use", ["projected", "tuned"])
def test_a_trained_model_parses_the_same_without_the_file(path, tmp_path, use):
    before = fresh_parser(TRAIN, vectors=str(path), vectors_use=use)
    weights = embedder(before).weight.clone()
    parser = trained(before)
    parser.save(tmp_path / "model", {})
    path.unlink()
    again = dyparse.load(tmp_path / "model", precision="float32")
    assert again.parse([*DEV, UNSEEN]) == parser.parse([*DEV, UNSEEN])
    assert torch.equal(embedder(again).weight, embedder(parser).weight)
    assert torch.equal(embedder(again).weight, weights) == (use == "projected")
    assert embedder(again).weight.requires_grad == (use == "tuned")
    again.save(tmp_path / "copy", {})
    assert digest_of_model(tmp_path / "copy") == digest_of_model(tmp_path / "model")


def test_vectors_change_trees_and_are_scaled_to_a_mean_norm(path):
    parser = fresh_parser(TRAIN, vectors=str(path), vectors_scale=2.5)
    weight = embedder(parser).weight
    assert not weight[:RESERVED].any()
    norms = weight[RESERVED:].norm(dim=1)
    assert norms.mean().item() == pytest.approx(2.5, rel=1e-5)
    row = torch.tensor(VECTORS["zebra"])
    (zebra,) = numbers(parser, "zebra")
    torch.testing.assert_close(weight[zebra[0]] / weight[zebra[0]].norm(), row / row.norm())
    sentences = [Sentence.from_words([word]) for word in ("zebra", "Yak")]
    one, other = (parser.encode([sentence]).encoded.vectors for sentence in sentences)
    assert not torch.equal(one, other)


def test_a_form_has_its_own_vector_or_that_of_its_lower_case_or_none(path):
    parser = fresh_parser(TRAIN, vectors=str(path))
    zebra, capital, yak, none, root = numbers(parser, "zebra", "Zebra", "Yak", "yak", "\0")
    assert zebra == capital
    assert yak != zebra
    assert none == [UNKNOWN]
    assert root == [ROOT]


def test_words_that_neither_training_nor_the_first_lines_have_are_left_out(path):
    parser = fresh_parser(TRAIN, vectors=str(path), vectors_words=0)
    assert numbers(parser, "zebra") == [[UNKNOWN]]
    assert len(embedder(parser).table.words) == len(VECTORS) - 2


@pytest.mark.parametrize("n_buckets", [0, SUBWORDS.buckets])
def test_unknown_words_have_subwords_if_they_are_kept_and_training_forms_always(
    path, tmp_path, n_buckets
):
    fasttext_file(path)
    parser = fresh_parser(TRAIN, vectors=str(path), vectors_subwords=n_buckets)
    parser.save(tmp_path / "model", {})
    parser = dyparse.load(tmp_path / "model", precision="float32")
    zebra, known, unknown = numbers(parser, "Zebra", FORMS[-1], "qwxz")
    assert len(zebra) == 1
    assert known != [UNKNOWN]
    assert (unknown == [UNKNOWN]) == (n_buckets == 0)
    sentences = [Sentence.from_words([w, "."]) for w in ("qwxz", "zxwq")]
    vectors = parser.encode(sentences).encoded.vectors
    assert vectors.isfinite().all()


def test_a_tuned_vector_moves_and_a_fixed_one_has_no_state_in_the_optimizer(path):
    for use, is_tuned in (("projected", False), ("tuned", True)):
        model = fresh_parser(TRAIN, vectors=str(path), vectors_use=use).model
        weight = model.encoder.embedders["vectors"].weight
        optimizer = Optimizer(model, model.parameter_groups(), SETTINGS)
        assert any(p is weight for p in optimizer.trained) == is_tuned


def test_without_vectors_the_same_weights_are_drawn_and_with_them_the_embeddings_are_the_same(path):
    plain, with_vectors = fresh_parser(TRAIN), fresh_parser(TRAIN, vectors=str(path))
    assert plain.model.encoder.own_features() == []
    assert plain.model.encoder.files() == {}
    names = [name for name in plain.model.state_dict() if "embedders" in name]
    for name in names:
        assert torch.equal(plain.model.state_dict()[name], with_vectors.model.state_dict()[name])


def test_a_run_keeps_no_path_and_is_named_by_content(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = [*SMALL, "trainer.epochs=1", "trainer.max_sentences=20", f"encoder.vectors={path}"]
    directory = directory_of(configured(*options))
    train(configured(*options))
    kept = [file for file in (tmp_path / directory).rglob("*") if file.is_file()]
    assert {"vectors.json", "config.yaml", "model.safetensors"} <= {file.name for file in kept}
    for file in kept:
        assert b"private" not in file.read_bytes(), file
        assert str(tmp_path).encode() not in file.read_bytes(), file
    moved = path.rename(tmp_path / "my.vec")
    assert directory_of(configured(*options[:-1], f"encoder.vectors={moved}")) == directory
    moved.write_bytes(glove(VECTORS | {"zebra": [0] * 6}))
    assert directory_of(configured(*options[:-1], f"encoder.vectors={moved}")) != directory


@pytest.mark.parametrize("name", ["no/such/file", ".", "a\0b", "pipe", "x@0123456789abcdef"])
def test_a_file_that_cannot_be_read_is_refused_before_training(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    config = configured(*SMALL, "output=run")
    config.encoder.vectors = name
    with pytest.raises(ConfigError, match=r"encoder\.vectors"):
        train(config)
    assert not (tmp_path / "run").exists()


def test_vectors_of_another_language_are_refused(path):
    path.write_bytes(glove({"собака": [1.0, 2.0], "кот": [3.0, 4.0]}))
    with pytest.raises(ConfigError, match=r"none of the .* forms .* another language"):
        fresh_parser(TRAIN, vectors=str(path))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vectors_use": "both"}, "encoder.vectors_use is 'both', expected projected or tuned"),
        ({"vectors_scale": 0.0}, "encoder.vectors_scale is 0.0"),
        ({"vectors_scale": float("nan")}, "encoder.vectors_scale is nan"),
        ({"vectors_words": -1}, "encoder.vectors_words is -1"),
        ({"vectors_subwords": -1}, "encoder.vectors_subwords is -1"),
    ],
)
def test_an_option_out_of_range_is_refused_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        small_encoder(**options)


def valid(**changed):
    content = json.loads(VectorTable(("a", "b"), 6, SUBWORDS).to_json())
    return json.dumps(content | changed).encode()


HOSTILE = {
    "no json": b"\x80\x04pickle",
    "nested": b"[" * 100_000,
    "a list": b"[]",
    "nothing": b"{}",
    "no list": valid(words={"a": 1, "b": 2}),
    "numbers": valid(words=[1, 2]),
    "twice": valid(words=["a", "a"]),
    "empty word": valid(words=[""]),
    "half a character": valid(words=["\ud800"]),
    "width 0": valid(width=0),
    "width true": valid(width=True),
    "width huge": valid(width=10**30),
    "no buckets": valid(subwords={"buckets": -1, "shortest": 3, "longest": 6}),
    "subwords without end": valid(subwords={"buckets": 5, "shortest": 3, "longest": 10**9}),
    "other keys": valid(subwords={"path": "/"}),
}
UNFIT = {  # sound, but not of these weights
    "many buckets": valid(subwords={"buckets": 2**31 - 1, "shortest": 3, "longest": 6}),
    "fewer words": valid(words=["a"]),
}


@pytest.mark.parametrize("name", [*HOSTILE, *UNFIT, "missing", "one more"])
def test_a_hostile_list_of_words_is_refused(path, tmp_path, name):
    fresh_parser(TRAIN, vectors=str(path)).save(tmp_path / "model", {})
    words, manifest = (tmp_path / "model" / n for n in ("encoder/vectors.json", "manifest.sha256"))
    lines = [line for line in manifest.read_text().splitlines() if "encoder/" not in line]
    if name == "missing":
        words.unlink()
    elif name == "one more":
        words.with_name("vectors.float32").write_bytes(b"\0" * 24)
    else:
        words.write_bytes((HOSTILE | UNFIT)[name])
    own = sorted(words.parent.iterdir())
    lines += [f"{checksum(file.read_bytes())}  encoder/{file.name}" for file in own]
    manifest.write_text("\n".join(lines) + "\n")
    finding = "vectors.json: " if name in HOSTILE else ""
    assert_refused(tmp_path / "model", tmp_path / "model", finding)


def test_loading_reads_no_file_that_a_model_names(path, tmp_path):
    fresh_parser(TRAIN, vectors=str(path)).save(tmp_path / "model", {})
    config, manifest = tmp_path / "model" / "config.yaml", tmp_path / "model" / "manifest.sha256"
    (named,) = re.findall(r"vectors: (my\.vec@\w+)", config.read_text())
    assert is_content_name(named)
    os.mkfifo(tmp_path / "pipe")  # opening it would wait for ever
    old = checksum(config.read_bytes())
    config.write_text(config.read_text().replace(named, str(tmp_path / "pipe")))
    manifest.write_text(manifest.read_text().replace(old, checksum(config.read_bytes())))
    assert dyparse.load(tmp_path / "model").parse([UNSEEN])
