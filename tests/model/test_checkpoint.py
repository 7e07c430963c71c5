"""Models on disk: data only, whole or refused with the path of what is wrong."""

import json
import os
import pickle
import shutil

import pytest
import torch
import yaml
from helpers.saved_models import (
    FILES,
    MANIFEST,
    Mischief,
    assert_refused,
    forge,
    rewrite_config,
)
from helpers.tiny import fresh_parser, sample
from safetensors.torch import load_file, save_file

import dyparse
from dyparse.errors import CheckpointError
from dyparse.model import checkpoint, checkpoint_files
from dyparse.model.parser import Parser


def test_a_saved_parser_has_the_same_weights_and_gives_the_same_trees(tmp_path):
    sentences = sample("train")[:30]
    parser = fresh_parser(sentences)
    parser.save(tmp_path / "new" / "model", {"las": 1.5})
    names = sorted(path.name for path in (tmp_path / "new" / "model").iterdir())
    assert names == sorted([*FILES, MANIFEST])
    loaded = dyparse.load(tmp_path / "new" / "model", precision="float32")
    assert not loaded.model.training
    weights, again = parser.model.state_dict(), loaded.model.state_dict()
    assert list(weights) == list(again)
    assert all(torch.equal(weights[name], again[name]) for name in weights)
    assert loaded.parse(sentences) == parser.parse(sentences)
    assert loaded.parts.config == parser.parts.config
    assert loaded.vocabulary == parser.vocabulary
    assert checkpoint.read_metrics(tmp_path / "new" / "model") == {"las": 1.5}


def test_a_model_can_be_saved_over_another(tmp_path):
    sentences = sample("train")[:5]
    for seed in (1, 2):
        parser = fresh_parser(sentences, seed=seed)
        parser.save(tmp_path / "model", {"seed": seed})
    loaded = dyparse.load(tmp_path / "model", precision="float32")
    assert torch.equal(loaded.model.hidden_bias, parser.model.hidden_bias)
    assert torch.equal(loaded.model.output.weight, parser.model.output.weight)
    assert checkpoint.read_metrics(tmp_path / "model") == {"seed": 2}


def test_the_directory_of_a_run_stands_for_the_model_in_it(saved, tmp_path, dyparse_command):
    (tmp_path / "config.yaml").write_text("system: arc_eager\n")  # as train.py leaves it
    assert dyparse.load(tmp_path).vocabulary == dyparse.load(saved).vocabulary
    assert checkpoint_files.digest_of_model(tmp_path) == checkpoint_files.digest_of_model(saved)
    assert checkpoint_files.files_of_model(tmp_path) == checkpoint_files.files_of_model(saved)
    checkpoint.write_metrics(tmp_path, {"las": 2})
    assert checkpoint.read_metrics(saved) == {"las": 2}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.yaml", "model"]
    status, out, _ = dyparse_command("parse", tmp_path, "--input=lines", stdin="It works.\n")
    assert (status, out.count("\tnsubj\t") + out.count("\troot\t") > 0) == (0, True)
    status, _, err = dyparse_command("parse", tmp_path, "-o", saved / "config.yaml")
    assert status == 2
    assert str(saved / "config.yaml") in err


def test_a_run_without_a_model_is_refused_as_such(saved, tmp_path):
    (tmp_path / "config.yaml").write_text("system: arc_eager\n")
    saved.rename(tmp_path.parent / f"{tmp_path.name}-elsewhere")
    for left in ("training.state", "result.json"):
        assert_refused(tmp_path, tmp_path, "a run without a model: its training saved none yet")
        (tmp_path / left).touch()
    (tmp_path / "model").mkdir()  # empty: killed before the first epoch was saved
    assert_refused(tmp_path, tmp_path / "model" / "config.yaml", "No such file")


def test_the_config_names_no_code(saved):
    text = (saved / "config.yaml").read_text()
    config = yaml.safe_load(text)
    assert "dyparse." not in text
    assert "_target_" not in text
    assert config["system"]["name"] == "arc_eager"
    assert config["encoder"]["name"] == "bilstm"
    assert config["dyparse"] == dyparse.__version__


def test_a_missing_directory_is_named(tmp_path):
    assert_refused(tmp_path / "none", tmp_path / "none", "no such model directory")
    (tmp_path / "file").write_text("x")
    assert_refused(tmp_path / "file", tmp_path / "file", "no such model directory")
    (tmp_path / "empty").mkdir()
    assert_refused(tmp_path / "empty", tmp_path / "empty" / "config.yaml")


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(saved, name):
    (saved / name).unlink()
    assert_refused(saved, saved / name, "No such file")


@pytest.mark.parametrize("fraction", [0.0, 0.001, 0.5, 0.999])
def test_weights_that_are_cut_short_are_refused(saved, fraction):
    path = saved / "model.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * fraction)])
    assert_refused(saved, path, "sha256")
    forge(saved)
    assert_refused(saved, path, "damaged")


def test_weights_of_another_model_are_refused(saved):
    other = fresh_parser(sample("dev")[:10], hidden=9)
    other.save(saved.parent / "other", {})
    shutil.copy(saved.parent / "other" / "model.safetensors", saved)
    assert_refused(saved, saved / "model.safetensors", "sha256")
    forge(saved)
    assert_refused(saved, saved / "model.safetensors", "of another model")


def test_weights_with_a_tensor_too_many_or_too_few_are_refused(saved):
    path = saved / "model.safetensors"
    weights = load_file(path)
    save_file(weights | {"more": torch.zeros(1)}, path)
    forge(saved)
    assert_refused(saved, path, "more is one too many")
    missing = sorted(weights)[0]
    save_file({name: tensor for name, tensor in weights.items() if name != missing}, path)
    forge(saved)
    assert_refused(saved, path, f"{missing} is missing")


def test_another_vocabulary_is_refused(saved):
    path = saved / "vocabulary.json"
    vocabulary = json.loads(path.read_text())
    vocabulary["features"]["word"].append("zzz")
    path.write_text(json.dumps(vocabulary))
    assert_refused(saved, path, "sha256")
    forge(saved)
    assert_refused(saved, saved / "model.safetensors", "of another model")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"words": 1}', "\udcff"])
def test_a_vocabulary_that_is_none_is_refused(saved, text):
    (saved / "vocabulary.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    forge(saved)
    assert_refused(saved, saved / "vocabulary.json", "damaged")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"just words",
        b"[1, 2]",
        b"a: [",
        b"\xff\xfe\x00",
        b"a: b",
        b"!!python/object/apply:os.system ['false']",
        b"format_version: !!python/name:os.system",
    ],
)
def test_a_config_that_is_none_is_refused(saved, content):
    (saved / "config.yaml").write_bytes(content)
    forge(saved)
    assert_refused(saved, saved / "config.yaml", "damaged")


@pytest.mark.parametrize("version", [1, checkpoint.FORMAT_VERSION + 1, "4", True, 1.5, None])
def test_another_format_version_is_refused_with_the_one_that_fits(saved, version):
    path = rewrite_config(saved, lambda config: config.update(format_version=version))
    assert_refused(saved, path, f"reads {checkpoint.FORMAT_VERSION}")


@pytest.mark.parametrize("choice", ["system", "encoder"])
@pytest.mark.parametrize(
    "name", ["os", "../x", "dyparse.system.arc_eager", "__init__", "", None, 3, ["arc_eager"]]
)
def test_a_config_that_names_other_code_is_refused(saved, choice, name):
    path = rewrite_config(saved, lambda config: config[choice].update(name=name))
    assert_refused(saved, path, choice)


@pytest.mark.parametrize(
    "change",
    [
        lambda config: config.pop("system"),
        lambda config: config.pop("encoder"),
        lambda config: config.pop("network"),
        lambda config: config.update(system=None),
        lambda config: config.update(encoder=[1]),
        lambda config: config.update(network=7),
        lambda config: config.update(heads=None),
        lambda config: config.update(heads=[{"name": "labels"}, {"name": "os.system"}]),
        lambda config: config["system"].update(root="middle"),
        lambda config: config["system"].update(_target_="os.system"),
        lambda config: config["encoder"].update(hidden="big"),
        lambda config: config["encoder"].update(hidden=0),
        lambda config: config["encoder"].update(features=["word", "os.system"]),
        lambda config: config["network"].update(hidden=-1),
        lambda config: config["network"].update(hidden="big"),
        lambda config: config["network"].update(nosuch=1),
    ],
)
def test_a_config_with_other_options_is_refused(saved, change):
    path = rewrite_config(saved, change)
    assert_refused(saved, path, "damaged")


@pytest.mark.parametrize("name", FILES[:3])
@pytest.mark.parametrize("how", ["pickle", "torch"])
def test_nothing_in_a_model_is_unpickled(saved, name, how, tmp_path):
    proof = tmp_path / "was unpickled"
    if how == "pickle":
        (saved / name).write_bytes(pickle.dumps(Mischief(proof)))
    else:
        torch.save({"weights": Mischief(proof)}, saved / name)
    forge(saved)
    assert_refused(saved, saved / name, "damaged")
    assert not proof.exists()


def test_a_write_that_fails_leaves_the_old_model(saved, monkeypatch):
    before = {path.name: path.read_bytes() for path in saved.iterdir()}

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        fresh_parser(sample("train")[:5]).save(saved, {})
    assert {path.name: path.read_bytes() for path in saved.iterdir()} == before
    monkeypatch.undo()
    assert Parser.load(saved).parse(sample("dev")[:1])[0].head


@pytest.mark.parametrize("text", ["{", "[]", "1", "[" * 5000])
def test_missing_or_garbled_metrics_are_named(saved, text):
    path = saved / "metrics.json"
    path.write_text(text)
    with pytest.raises(CheckpointError, match=r"metrics\.json.*sha256"):
        checkpoint.read_metrics(saved)
    assert_refused(saved, path, "sha256")
    forge(saved)
    with pytest.raises(CheckpointError, match=r"metrics\.json.*damaged"):
        checkpoint.read_metrics(saved)
    path.unlink()
    with pytest.raises(CheckpointError, match=r"metrics\.json.*No such file"):
        checkpoint.read_metrics(saved)
    assert_refused(saved, path, "No such file")


@pytest.mark.parametrize(
    "change",
    [
        lambda config: config["network"].update(hidden=1.5),
        lambda config: config["network"].update(hidden=True),
        lambda config: config["network"].update(hidden=10**14),
        lambda config: config["encoder"].update(hidden=10**14),
    ],
)
def test_sizes_that_cannot_be_built_are_refused(saved, change):
    rewrite_config(saved, change)
    assert_refused(saved, saved)


@pytest.mark.parametrize("content", [b"x: 2001-99-99", b"[" * 5000])
def test_yaml_that_cannot_be_read_is_refused(saved, content):
    (saved / "config.yaml").write_bytes(content)
    forge(saved)
    assert_refused(saved, saved / "config.yaml", "damaged")


def test_weights_of_an_unknown_type_are_refused(saved):
    header = b'{"a":{"dtype":"F8_E8M0","shape":[1],"data_offsets":[0,1]}}'
    content = len(header).to_bytes(8, "little") + header + b"\0"
    (saved / "model.safetensors").write_bytes(content)
    forge(saved)
    assert_refused(saved, saved / "model.safetensors", "damaged")
