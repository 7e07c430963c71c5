"""States of frozen layers: computed once, kept within bounds, and the same as computed again."""

import errno
import os

import numpy as np
import pytest
import torch
from helpers.tiny import plan, sample
from helpers.tiny_transformers import tiny_options, tiny_parser

import dyparse
from dyparse.data.sentence import Sentence
from dyparse.encoder._pieces import Pieces
from dyparse.encoder._state_store import PooledStates, StateStore
from dyparse.training import loop
from dyparse.training.session import Session
from dyparse.training.settings import TrainingSettings

TRAIN, DEV = sample("train")[:24], sample("dev")[:8]
SETTINGS = TrainingSettings(
    epochs=2, max_tokens_per_batch=300, learning_rate=1e-2, average_decay=0.5, precision="float32"
)
GIGABYTE = 1e9


@pytest.fixture
def session(tiny_pretrained):
    """session(option=value, …): a training with frozen layers that has not begun."""

    def make(train=TRAIN, **options):
        encoder = tiny_options(tiny_pretrained(), frozen="all", **options)
        return Session(SETTINGS, tiny_parser(encoder, train), plan(train, DEV))

    return make


def store_of(session):
    return session.parser.model.encoder.vectors.pieces.store


def finish(session):
    """The averaged parser, after training."""
    list(loop.train(session, lambda *_: None))
    return session.averaged_parser()


def test_kept_states_are_those_that_are_computed(session):
    one = session()
    encoder, collator = one.parser.model.encoder.eval(), one.parser.collator
    for sentences in (TRAIN[:5], DEV, [TRAIN[7], *DEV[:2]]):
        batch = collator.batch(sentences)
        assert isinstance(batch.features["pieces"], PooledStates)
        encoder.vectors.pieces.store, store = None, store_of(one)
        computed = collator.batch(sentences)
        encoder.vectors.pieces.store = store
        assert isinstance(computed.features["pieces"], Pieces)
        with torch.no_grad():
            kept, again = (encoder.vectors(each) for each in (batch, computed))
        for b, sentence in enumerate(sentences):  # padding is zeros in one, the root in the other
            row = slice(len(sentence) + 1)
            torch.testing.assert_close(kept[b, row], again[b, row], atol=3e-3, rtol=0)
    with_new = collator.batch([TRAIN[0], Sentence.from_words(["Never", "seen"])])
    assert isinstance(with_new.features["pieces"], Pieces)


def test_a_training_computes_frozen_layers_once(session, monkeypatch):
    one = session()
    model = one.parser.model.encoder.vectors.model
    monkeypatch.setattr(model, "forward", None)  # cannot be called any more
    averaged = finish(one)
    assert averaged.model.encoder.vectors.pieces.store is store_of(one)
    assert one.parser.model.encoder.vectors.mix.abs().sum() > 0  # what mixes them has learned


def test_trees_are_the_same_whether_states_are_kept_or_not(session, tmp_path):
    averaged = finish(session())
    kept = averaged.parse(DEV)
    averaged.save(tmp_path / "model", {})
    loaded = dyparse.load(tmp_path / "model")
    assert loaded.model.encoder.vectors.pieces.store is None
    assert loaded.parse(DEV) == kept


def test_no_more_is_kept_than_allowed(session):
    whole = session()
    all_bytes = store_of(whole).size
    assert all_bytes == sum(2 * 2 * 16 * (len(s) + 1) for s in [*TRAIN, *DEV])  # layers, width
    some = session(kept_gigabytes=0.4 * all_bytes / GIGABYTE)
    store = store_of(some)
    assert 0.2 * all_bytes < store.size <= 0.4 * all_bytes
    assert 0 < len(store.spans) < len(store_of(whole).spans)
    assert os.fstat(store.file.fileno()).st_size == store.size
    none = session(kept_gigabytes=0)
    assert store_of(none) is None
    assert not none.parser.model.encoder.keeps_states
    for one in (some, none):
        assert len(finish(one).parse(DEV)) == len(DEV)


@pytest.mark.parametrize("ends", ["with an error", "within a sentence"])
def test_a_full_disk_ends_the_keeping_and_not_the_training(session, monkeypatch, capsys, ends):
    room, write = 5000, os.pwrite

    def pwrite(file, data, offset):
        if offset + len(data) <= room:
            return write(file, data, offset)
        if ends == "with an error":
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, data[: room - offset], offset)

    monkeypatch.setattr(os, "pwrite", pwrite)
    one = session()
    store = store_of(one)
    assert 0 < store.size <= room
    assert os.fstat(store.file.fileno()).st_size == store.size
    assert capsys.readouterr().err.count("is full") == 1
    kept = next(s for s in TRAIN if store.batch([s]))
    missing = next(s for s in TRAIN if not store.batch([s]))
    assert len(finish(one).parse([kept, missing])) == 2


def test_other_errors_of_the_disk_are_reported(monkeypatch):
    def fail(*_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "pwrite", fail)
    with pytest.raises(OSError, match="Input/output error"):
        StateStore(GIGABYTE).add(Sentence.from_words(["a"]), np.ones((2, 1, 1), dtype=np.float16))


def test_sentences_with_the_same_words_are_kept_once(session):
    once, twice = session(), session([*TRAIN, *TRAIN[:9], *TRAIN[:9]])
    assert store_of(twice).size == store_of(once).size
    assert len(store_of(twice).spans) == len({tuple(s.form) for s in [*TRAIN, *DEV]})
    assert len(finish(twice).parse(TRAIN[:3])) == 3


def test_other_words_of_the_same_letters_have_their_own_states():
    store = StateStore(GIGABYTE)
    cases = [["ab", "c"], ["a", "bc"], ["abc"], ["a", "b", "c"], ["ABC"], ["a b", "c"], ["ab c"]]
    for number, words in enumerate(cases):
        states = np.full((len(words) + 1, 2, 3), number, dtype=np.float16)
        store.add(Sentence.from_words(words), states)
    found = store.batch([Sentence.from_words(words) for words in cases])
    assert found is not None
    for number, (row, words) in enumerate(zip(found.states, cases, strict=True)):
        assert (row[: len(words) + 1] == number).all()
        assert not row[len(words) + 1 :].any()
    assert store.batch([Sentence.from_words(["ab"]), Sentence.from_words(["abc"])]) is None


def test_the_file_of_states_has_no_name(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    store = StateStore(GIGABYTE)
    store.add(Sentence.from_words(["a"]), np.ones((2, 1, 1), dtype=np.float16))
    assert list(tmp_path.iterdir()) == []
