"""Training that starts from a trained model's weights."""

import json
import shlex
import shutil
from pathlib import Path

import pytest
import torch
from helpers.configured import configured
from helpers.hub_server import COMMIT, REPOSITORY, hub_server, use_hub
from helpers.tiny import sample

import dyparse
from dyparse.errors import CheckpointError, ConfigError
from dyparse.model.checkpoint_files import LISTED, MANIFEST
from dyparse.training.run import train
from dyparse.training.run_directory import directory_of, named_by_content

SMALL = [
    *("experiment=gold_tags", "threads=1", "trainer.precision=float32", "trainer.epochs=4"),
    *("encoder.hidden=16", "encoder.layers=1", "network.hidden=16", "encoder.word_dropout=0.1"),
    *("trainer.max_sentences=60", "trainer.max_tokens_per_batch=60", "trainer.learning_rate=2e-2"),
]
STILL = ("trainer.epochs=1", "trainer.learning_rate=1e-12")


def trained(directory, *overrides):
    config = configured(*SMALL, f"output={directory}", *overrides)
    return train(config)


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """A run that is finished."""
    directory = tmp_path_factory.mktemp("runs") / "first"
    trained(directory, "exploration=explore")
    return directory


def weights(directory):
    return dyparse.load(directory, precision="float32").model.state_dict()


@pytest.mark.parametrize("place", ["", "model"])
def test_training_starts_from_the_models_weights(first, tmp_path, place):
    model = first / place
    results = trained(tmp_path / "run", f"start={model}", "exploration=sample", *STILL)
    before = json.loads((first / "model/metrics.json").read_text())
    for split in ("dev", "test"):
        assert results[split]["las"] == before[split]["las"] > 40
    torch.testing.assert_close(weights(tmp_path / "run"), weights(first), rtol=0, atol=1e-6)
    untrained = trained(tmp_path / "other", "exploration=sample", *STILL)
    assert untrained["dev"]["las"] < before["dev"]["las"] - 5


def test_training_changes_the_weights(first, tmp_path):
    trained(tmp_path / "run", f"start={first}", "loss=expected_cost", "trainer.epochs=1")
    old, new = weights(first), weights(tmp_path / "run")
    assert all((old[name] - new[name]).abs().max() > 1e-5 for name in old if "output" in name)


def test_the_vocabulary_is_the_models(first, tmp_path):
    few = tmp_path / "few.conllu"
    few.write_text("".join(s.to_conllu() for s in sample("train")[-30:]), encoding="utf-8")
    options = ("treebank=files", f"treebank.train={few}", "trainer.max_sentences=null")
    fitted = dyparse.load(first).parts.config.options()["heads"]
    trained(tmp_path / "run", f"start={first}", *options, *STILL, f"heads=[{as_option(fitted)}]")
    old, new = (dyparse.load(directory).vocabulary for directory in (first, tmp_path / "run"))
    assert new.to_json() == old.to_json()


def as_option(heads):
    return ",".join(f'"{head}"' for head in heads)


@pytest.mark.parametrize(
    ("override", "finding"),
    [
        ("encoder.hidden=30", "a model with encoder.hidden 16, expected 30"),
        ("network.dropout=0.9", r"a model with network.dropout 0.33, expected 0.9"),
        ("system=arc_hybrid", "a model with system arc_eager, expected arc_hybrid"),
        ("system.single_root=false", "a model with system.single_root true, expected false"),
        ("tokenizer=learned", "a model with tokenizer"),
        ("heads=[labels,upos]", "a model with heads "),
        ("projectivity=head", "a model with projectivity none, expected head"),
        ("encoder.features=[word,upos]", r"a model with encoder.features \[word,"),
    ],
)
def test_a_model_of_other_options_is_refused_by_the_name_of_one(first, tmp_path, override, finding):
    with pytest.raises(ConfigError, match=f"start={first}: {finding}.*give those that it has"):
        trained(tmp_path / "run", f"start={first}", override)
    assert not (tmp_path / "run").exists()


def test_a_model_that_is_not_there_is_refused_before_anything_is_written(tmp_path):
    place = tmp_path / "nowhere"
    with pytest.raises(CheckpointError, match=f"^start={place}: no such model directory"):
        trained(tmp_path / "run", f"start={place}")
    assert not (tmp_path / "run").exists()


def test_a_run_is_named_after_what_it_starts_from_not_after_the_place(first, tmp_path):
    copy = shutil.copytree(first, tmp_path / "first")
    other = tmp_path / "other" / "first"
    trained(other, "seed=2", "trainer.epochs=1")
    none, another, *same = (
        directory_of(configured(*SMALL, *start))
        for start in ([], *([f"start={place}"] for place in (other, first, copy, first / "model")))
    )
    assert len({*same}) == 1
    assert len({none, another, *same}) == 3


def test_a_run_remembers_the_content_and_not_the_place(first, tmp_path):
    run = tmp_path / "run"
    trained(run, f"start={first}", "trainer.epochs=1")
    texts = {name: (run / name).read_text() for name in ("config.yaml", "result.json")}
    assert all("first@" in text and str(first.parent) not in text for text in texts.values())
    result = json.loads(texts["result.json"])
    assert result["setting"]["start"].startswith("first@")
    assert "start=DIR" in result["command"]
    assert "# DIR: first, hash" in result["command"]


def test_a_run_from_a_model_is_resumed_and_not_mixed_up_with_another(first, tmp_path, capsys):
    run, options = tmp_path / "run", (f"start={first}", "trainer.epochs=1")
    results = trained(run, *options)
    assert trained(run, *options)["dev"]["las"] == results["dev"]["las"]
    assert "finished  already" in capsys.readouterr().out
    trained(run, f"start={first / 'model'}", "trainer.epochs=1")
    assert "finished  already" in capsys.readouterr().out
    with pytest.raises(ConfigError, match="holds a run with another start"):
        trained(run, "trainer.epochs=1")


def test_a_relative_place_is_a_place_too(first, tmp_path, monkeypatch):
    monkeypatch.chdir(first)
    trained(tmp_path / "run", "start=.", *STILL)
    assert "start: first@" in Path(tmp_path, "run", "config.yaml").read_text()


def test_a_model_of_the_hub_keeps_its_name_there(first, tmp_path, monkeypatch):
    names = (*LISTED, MANIFEST)
    with hub_server({name: (first / "model" / name).read_bytes() for name in names}) as server:
        use_hub(server.url, tmp_path, monkeypatch)
        name = f"hf://{REPOSITORY}"
        trained(tmp_path / "run", f"start={name}", *STILL)
        by_revision = named_by_content(configured(*SMALL, f"start={name}@{COMMIT}"))
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert result["setting"]["start"] == by_revision.start
    assert by_revision.start.startswith(f"{REPOSITORY}@")
    comment, command = result["command"].splitlines()
    assert f"start='{name}'" in shlex.split(command)
    assert comment.startswith(f"# {name}: {REPOSITORY}, hash ")
