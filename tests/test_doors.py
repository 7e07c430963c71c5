"""A feature, a head and an encoder of somebody else's train, are saved, loaded, and parse the same.

They come from helpers/toy_parts.py, as does a way to decode; nothing in the package knows them.
"""

import json
import os
import subprocess
import sys

import pytest
import torch
from helpers.tiny import PROJECT, fresh_parser, plan, run, sample
from helpers.toy_parts import Ending, Sums

import dyparse
import dyparse.errors
from dyparse import system as systems
from dyparse.data.vocabulary import Vocabulary
from dyparse.head import load_heads
from dyparse.model.checkpoint_files import digest_of_model
from dyparse.model.parser import Parser
from dyparse.model.parts import ModelConfig
from dyparse.model.sizes import ScorerSizes
from dyparse.training import loop
from dyparse.training.session import Session
from dyparse.training.settings import TrainingSettings

TRAIN, DEV = sample("train")[:60], sample("dev")[:20]
FEATURES = ["helpers.toy_parts.Ending:length=3", "upos"]
HEADS = ["labels", "helpers.toy_parts.Tags:weight=0.5"]
SETTINGS = TrainingSettings(epochs=1, learning_rate=1e-2, average_decay=0.5)


ALPHABET = "etaoinshrdlu"


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    torch.manual_seed(1)
    path = tmp_path_factory.mktemp("user") / "letters"
    path.write_text(ALPHABET)
    encoder, heads = Sums(FEATURES, alphabet=str(path)), load_heads(HEADS)
    config = ModelConfig(systems.load("arc_eager"), encoder, heads, ScorerSizes(hidden=16))
    session = Session(SETTINGS, Parser.untrained(config, TRAIN), plan(TRAIN, DEV))
    session.before = {k: v.clone() for k, v in session.parser.model.state_dict().items()}
    session.figures = list(loop.train(session, lambda *_: None))
    path.unlink()  # a saved encoder has its own
    return session


@pytest.fixture(scope="module")
def saved(session, tmp_path_factory):
    directory = tmp_path_factory.mktemp("doors") / "model"
    session.averaged_parser().save(directory, {})
    return directory


def test_everything_learns_at_its_own_rate_and_what_is_frozen_does_not(session):
    after = session.parser.model.state_dict()
    moved = {name: (after[name] - old).abs().max() for name, old in session.before.items()}
    assert moved["encoder.frozen"] == 0
    slow, fast = moved["encoder.letters.weight"], moved["encoder.embeddings.ending.weight"]
    assert 0 < slow < 0.3 * fast
    assert moved["heads.tags.output.weight"] > 0
    assert 0 < session.figures[0]["dev_upos_accuracy"] <= 100


def test_the_model_directory_has_the_files_of_the_encoder(saved):
    assert (saved / "encoder" / "alphabet.txt").read_text() == ALPHABET
    assert "encoder/alphabet.txt" in (saved / "manifest.sha256").read_text()
    before = digest_of_model(saved)
    (saved / "encoder" / "alphabet.txt").write_text("zyx")
    try:
        assert digest_of_model(saved) != before
        with pytest.raises(dyparse.errors.CheckpointError, match=r"alphabet\.txt: damaged"):
            dyparse.load(saved)
    finally:
        (saved / "encoder" / "alphabet.txt").write_text(ALPHABET)


def test_a_loaded_parser_parses_and_tags_the_same(session, saved):
    parsed = session.averaged_parser().parse(DEV)
    loaded = dyparse.load(saved)
    assert loaded.parse(DEV) == parsed
    trained, encoder = session.parser.model.encoder, loaded.model.encoder
    assert encoder.seen == trained.seen > 0
    assert torch.equal(encoder.mean, trained.mean)
    assert any(s.upos != gold.upos for s, gold in zip(parsed, DEV, strict=True))
    lines = [line.split("\t") for line in parsed[0].to_conllu().splitlines()]
    words = [line for line in lines if line[0].isdecimal()]
    assert [word[3] for word in words] == parsed[0].upos


LOAD = """
import sys, dyparse, dyparse.errors
try:
    dyparse.load(sys.argv[1])
except dyparse.errors.CheckpointError as error:
    print(error)
assert "helpers.toy_parts" not in sys.modules
"""


@pytest.mark.parametrize(
    "outside",
    [
        {},
        {"features": ["word", "helpers.toy_parts.Ending"]},
        {"heads": ["labels", "helpers.toy_parts.Tags"]},
    ],
    ids=["encoder", "feature", "head"],
)
def test_code_that_is_not_imported_is_named_and_never_imported(saved, tmp_path, outside):
    if outside:
        saved = tmp_path / "model"
        fresh_parser(TRAIN[:5], **outside).save(saved, {})
        assert dyparse.load(saved)
    done = subprocess.run(
        [sys.executable, "-c", LOAD, saved],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": f"{PROJECT}{os.pathsep}{PROJECT / 'tests'}"},
    )
    assert "this model needs helpers.toy_parts." in done.stdout
    assert str(saved) in done.stdout


def test_a_training_takes_them_from_its_options(tmp_path):
    done = run(
        "train.py",
        "trainer=debug",
        "encoder.features=[word,helpers.toy_parts.Ending]",
        "+encoder.widths.ending=8",
        "encoder.hidden=16",
        "encoder.layers=1",
        "heads=[labels,'helpers.toy_parts.Tags:weight=0.5']",
        "output=run",
        cwd=tmp_path,
        PYTHONPATH=f"{PROJECT}{os.pathsep}{PROJECT / 'tests'}",
    )
    assert done.returncode == 0, done.stderr
    assert "--import helpers.toy_parts" in done.stdout
    (line,) = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    assert 0 <= json.loads(line)["dev_upos_accuracy"] <= 100
    parser = dyparse.load(tmp_path / "run" / "model")
    assert [head.name for head in parser.parts.config.heads] == ["labels", "tags"]
    assert parser.parts.config.heads[1].weight == 0.5


class Frequent(Ending):
    """A feature whose vocabulary is not sorted, which a model directory cannot keep."""

    def entries(self, sentences):
        return super().entries(sentences)[::-1]


def test_a_vocabulary_that_cannot_be_kept_is_refused_before_training():
    with pytest.raises(ValueError, match="'ending' must be sorted"):
        Vocabulary({"ending": Frequent().entries(TRAIN)}, {})


def test_gradients_outside_all_groups_are_cleared_and_do_not_count(session):
    encoder = session.parser.model.encoder
    encoder.letters.weight.grad = torch.full_like(encoder.letters.weight, 1e6)
    session.optimizer.zero_grad()
    assert encoder.letters.weight.grad is None


def test_another_way_to_decode_is_chosen_by_its_path(saved):
    parser = Parser.load(saved, decoding="helpers.toy_parts.AllFromFirst")
    for sentence in parser.parse(DEV[:3]):
        assert sentence.head == [0] + [1] * (len(sentence) - 1)
    with pytest.raises(dyparse.errors.ConfigError, match="decoding: no decoding 'beam'"):
        Parser.load(saved, decoding="beam")
