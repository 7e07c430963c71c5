"""Training with a pretrained encoder: resumed to the same bits, without a path of the user's
machine, refused with one message.
"""

import builtins
import re
import shutil
import socket
import sys

import pytest
import torch
from helpers.configured import configured
from helpers.messages import assert_one_message
from helpers.tiny import plan, sample
from helpers.tiny_transformers import tiny_options, tiny_parser, write_pretrained

from dyparse.errors import CheckpointError, ConfigError
from dyparse.exploration.dagger_replay import DaggerReplay
from dyparse.model.parser import Parser
from dyparse.training import loop
from dyparse.training.resume import NAME, TrainingFile
from dyparse.training.run import train as train_run
from dyparse.training.run_directory import directory_of
from dyparse.training.session import Session
from dyparse.training.settings import TrainingSettings

TRAIN, DEV = sample("train")[:16], sample("dev")[:5]
SETTINGS = TrainingSettings(
    epochs=3, max_tokens_per_batch=200, learning_rate=1e-2, average_decay=0.5, precision="float32"
)
TIMES = {"seconds", "tokens_per_second"}
FROZEN = pytest.mark.parametrize("frozen", ["embeddings", "all"])


def train(encoder, file=None, *, stop_after=None, disturb=0):
    """Figures, weights and averaged weights of a training, perhaps up to an epoch only."""
    parser = tiny_parser(encoder, TRAIN)
    session = Session(SETTINGS, parser, plan(TRAIN, DEV, exploration=DaggerReplay()))
    torch.rand(disturb)  # what others draw does not matter
    curve = []
    epochs = loop.train(session, lambda *_: None, file)
    for figures in epochs:
        curve.append({k: v for k, v in figures.items() if k not in TIMES})
        if figures["epoch"] == stop_after:
            break
    epochs.close()
    weights = [p.clone() for p in parser.model.state_dict().values()]
    averages = [p.clone() for p in session.averaged_parser().model.state_dict().values()]
    return curve, weights, averages


def assert_same(one, other):
    assert one[0] == other[0]
    for mine, yours in zip(one[1:], other[1:], strict=True):
        assert all(map(torch.equal, mine, yours))


@FROZEN
def test_a_training_that_is_resumed_gives_the_bits_of_an_undisturbed_one(
    frozen, tiny_pretrained, tmp_path
):
    options = tiny_options(tiny_pretrained(), frozen=frozen)
    config = tiny_parser(options, TRAIN).model.encoder.vectors.model.config
    assert (config.hidden_dropout_prob, config.attention_probs_dropout_prob) == (0.1, 0.1)
    undisturbed = train(options)
    assert_same(undisturbed, train(options, disturb=17))
    first, *_ = train(options, TrainingFile(tmp_path / NAME, "o"), stop_after=1)
    assert first == undisturbed[0][:1]
    resumed = train(options, TrainingFile(tmp_path / NAME, "o"), disturb=5)
    assert_same(undisturbed, resumed)


def test_a_state_of_other_frozen_layers_is_refused(tiny_pretrained, tmp_path):
    file = TrainingFile(tmp_path / NAME, "o")
    train(tiny_options(tiny_pretrained(), frozen="2"), file, stop_after=1)
    with pytest.raises(CheckpointError, match=r"training\.state.*weights of another model"):
        train(tiny_options(tiny_pretrained(), frozen="1"), TrainingFile(tmp_path / NAME, "o"))


SMALL = [
    *(
        "encoder=transformer",
        "trainer=debug",
        "tokenizer=plain",
        "trainer.max_sentences=8",
        "threads=1",
    ),
    *("encoder.features=[upos]", "encoder.hidden=12", "network.hidden=12", "encoder.overlap=16"),
]
SECRET = "a-private-directory"


@pytest.fixture
def private(tmp_path):
    """A pretrained model in a directory whose name must stay private."""
    return write_pretrained(tmp_path / SECRET / "tiny-bert", "bert")


def test_nothing_that_a_training_leaves_or_logs_names_the_directory(
    private, tmp_path, fake_wandb, capsys
):
    fake = fake_wandb("key")
    output = tmp_path / "run"
    where = [f"encoder.pretrained={private}", f"output={output}", "logger=wandb"]
    train_run(configured(*SMALL, *where, "logger.mode=offline"))
    shutil.rmtree(private)
    files = [path for path in output.rglob("*") if path.is_file()]
    names = {str(path.relative_to(output)) for path in files}
    assert {"config.yaml", "metrics.jsonl", "result.json", "model/config.yaml"} <= names
    assert {"model/encoder/architecture.json", "model/encoder/tokenizer.json"} <= names
    for path in files:
        assert SECRET.encode() not in path.read_bytes(), path
    assert re.search(
        r"pretrained: tiny-bert@[0-9a-f]{16}$", (output / "config.yaml").read_text(), re.M
    )
    assert fake.options["config"]["encoder"]["pretrained"].startswith("tiny-bert@")
    told = [fake.options, fake.run.logged, fake.run.summary]
    assert SECRET not in repr(told)
    assert SECRET not in capsys.readouterr().out
    assert len(Parser.load(output).parse(DEV)) == len(DEV)


def directory(pretrained, *more):
    return directory_of(configured(*SMALL, f"encoder.pretrained={pretrained}", *more))


def test_a_run_is_known_by_the_content_of_its_pretrained_model(private, tmp_path):
    before = directory(private)
    copied = shutil.copytree(private, tmp_path / "elsewhere" / "tiny-bert")
    assert directory(copied) == before
    assert directory(private, "encoder.rate=0.2") != before
    (copied / "README.md").write_text("about it")
    assert directory(copied) == before
    for name, seed in (("model.safetensors", 2), ("tokenizer.json", None), ("config.json", None)):
        path = copied / name
        content = path.read_bytes()
        if seed:
            write_pretrained(tmp_path / "other", "bert", seed=seed)
            path.write_bytes((tmp_path / "other" / name).read_bytes())
        else:
            path.write_bytes(content.replace(b"{", b"{ ", 1))
        assert directory(copied) != before, name
        path.write_bytes(content)
        assert directory(copied) == before


def test_other_weights_in_the_same_place_are_not_resumed(private, tmp_path):
    where = [f"encoder.pretrained={private}", f"output={tmp_path / 'run'}"]
    train_run(configured(*SMALL, *where))
    write_pretrained(private, "bert", seed=2)
    with pytest.raises(ConfigError, match=r"encoder\.pretrained"):
        train_run(configured(*SMALL, *where))


@pytest.fixture
def train_command(dyparse_command, tmp_path, monkeypatch):
    """The result of `dyparse train encoder=transformer …`, of which nothing may be left."""
    monkeypatch.chdir(tmp_path)

    def call(*overrides):
        result = dyparse_command("train", *SMALL, "treebank=sample", *overrides)
        assert not (tmp_path / "outputs").exists()
        return result

    return call


def test_without_a_pretrained_model_there_is_one_message(train_command):
    assert_one_message(train_command(), "encoder.pretrained is missing", "config.json")


def test_a_directory_that_is_none_is_one_message(train_command, tmp_path):
    where = tmp_path / "no" / "such"
    assert_one_message(train_command(f"encoder.pretrained={where}"), where, "no such directory")
    (tmp_path / "empty").mkdir()
    assert_one_message(train_command(f"encoder.pretrained={tmp_path / 'empty'}"), "no config.json")
    (tmp_path / "empty" / "config.json").write_text('{"model_type": "bert"}')
    result = train_command(f"encoder.pretrained={tmp_path / 'empty'}")
    assert_one_message(result, "no model.safetensors")
    (tmp_path / "file").touch()
    assert_one_message(
        train_command(f"encoder.pretrained={tmp_path / 'file'}"), "no such directory"
    )


def test_a_name_that_the_hub_cannot_give_is_one_message(train_command, monkeypatch):
    def refuse(*_, **__):
        raise ConnectionError("no network here")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr("huggingface_hub.snapshot_download", refuse)
    result = train_command("encoder.pretrained=some/model")
    assert_one_message(result, "some/model", "no such directory here", "no network here")


def test_without_the_library_there_is_one_message_with_the_remedy(
    train_command, private, monkeypatch
):
    real = builtins.__import__

    def without(name, *rest, **named):
        if name.partition(".")[0] == "transformers":
            raise ImportError("No module named 'transformers'")
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    status, _, err = train_command(f"encoder.pretrained={private}")
    assert_one_message((status, "", err), "pip install 'dyparse[transformers]'")


def test_a_saved_model_needs_the_library_too(tiny_pretrained, tmp_path, monkeypatch):
    tiny_parser(tiny_options(tiny_pretrained()), TRAIN).save(tmp_path / "model", {})
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(CheckpointError, match=r"pip install 'dyparse\[transformers\]'"):
        Parser.load(tmp_path / "model")
