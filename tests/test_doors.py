"""A feature, a head and an encoder of somebody else's train, are saved, loaded, and parse the same.

They come from helpers/toy_parts.py; nothing in the package knows them.
"""

import subprocess
import sys

import pytest
import torch
from helpers.tiny import PROJECT, plan, sample
from helpers.toy_parts import Sums

import dyparse
from dyparse import system as systems
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


@pytest.fixture(scope="module")
def session():
    torch.manual_seed(1)
    config = ModelConfig(
        systems.load("arc_eager"), Sums(FEATURES), load_heads(HEADS), ScorerSizes(hidden=16)
    )
    session = Session(SETTINGS, Parser.untrained(config, TRAIN), plan(TRAIN, DEV))
    session.before = {k: v.clone() for k, v in session.parser.model.state_dict().items()}
    session.figures = list(loop.train(session, lambda *_: None))
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
    assert (saved / "encoder" / "alphabet.txt").read_text() == "abcdefghijklmnopqrstuvwxyz"
    assert "encoder/alphabet.txt" in (saved / "manifest.sha256").read_text()
    before = digest_of_model(saved)
    (saved / "encoder" / "alphabet.txt").write_text("zyx")
    try:
        assert digest_of_model(saved) != before
        with pytest.raises(dyparse.errors.CheckpointError, match=r"alphabet\.txt: damaged"):
            dyparse.load(saved)
    finally:
        (saved / "encoder" / "alphabet.txt").write_text("abcdefghijklmnopqrstuvwxyz")


def test_a_loaded_parser_parses_and_tags_the_same(session, saved):
    parsed = session.averaged_parser().parse(DEV)
    assert dyparse.load(saved).parse(DEV) == parsed
    assert any(s.upos != gold.upos for s, gold in zip(parsed, DEV, strict=True))
    assert parsed[0].upos[0] in parsed[0].to_conllu().splitlines()[-len(parsed[0]) - 1]


def test_code_that_is_not_imported_is_named_and_never_imported(saved):
    program = (
        "import sys, dyparse, dyparse.errors\n"
        "try:\n    dyparse.load(sys.argv[1])\n"
        "except dyparse.errors.CheckpointError as error:\n    print(error)\n"
        "assert 'helpers.toy_parts' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, saved],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": f"{PROJECT}:{PROJECT / 'tests'}"},
    )
    assert "helpers.toy_parts" in done.stdout
    assert "import" in done.stdout
