"""Models of every format there has been are read; what is saved anew is of the newest."""

import shutil

import pytest
import torch
import yaml
from make_old_model import SENTENCES, without_trees
from test_checkpoint import FILES, MANIFEST, forge
from tiny import PROJECT, sample

import dyparse
from dyparse import checkpoint
from dyparse.errors import CheckpointError

KEPT = sorted(path for path in (PROJECT / "tests" / "models").iterdir() if path.is_dir())


def version_of(directory):
    """What its config says."""
    return yaml.safe_load((directory / "config.yaml").read_text())["format_version"]


def trees_of(parser):
    """Trees of a few sentences, as text."""
    sentences = without_trees(sample("dev")[:SENTENCES])
    return "".join(tree.to_conllu() for tree in parser.parse(sentences))


def test_a_model_of_every_format_is_kept():
    assert list(map(version_of, KEPT)) == list(range(1, checkpoint.FORMAT_VERSION + 1))


@pytest.mark.parametrize("kept", KEPT, ids=lambda path: path.name)
def test_a_model_of_any_format_gives_the_trees_it_gave_when_it_was_made(kept):
    assert trees_of(dyparse.load(kept)) == kept.with_suffix(".conllu").read_text(encoding="utf-8")
    assert checkpoint.read_metrics(kept) == {"note": "random weights"}


@pytest.mark.parametrize("kept", KEPT, ids=lambda path: path.name)
def test_load_and_save_bring_a_model_of_any_format_to_the_newest(kept, tmp_path):
    old = dyparse.load(kept)
    old.save(tmp_path / "new", checkpoint.read_metrics(kept))
    assert version_of(tmp_path / "new") == checkpoint.FORMAT_VERSION
    assert {path.name for path in (tmp_path / "new").iterdir()} == {*FILES, MANIFEST}
    new = dyparse.load(tmp_path / "new")
    assert trees_of(new) == trees_of(old)
    weights, again = old.model.state_dict(), new.model.state_dict()
    assert list(weights) == list(again)
    assert all(torch.equal(weights[name], again[name]) for name in weights)


@pytest.mark.parametrize("kept", KEPT, ids=lambda path: path.name)
def test_results_are_added_to_a_model_of_any_format(kept, tmp_path):
    copy = shutil.copytree(kept, tmp_path / "model")
    checkpoint.write_metrics(copy, {"las": 90.5})
    assert checkpoint.read_metrics(copy) == {"las": 90.5}
    assert trees_of(dyparse.load(copy)) == trees_of(dyparse.load(kept))


@pytest.mark.parametrize("kept", KEPT[:2], ids=lambda path: path.name)
def test_an_old_format_does_not_excuse_from_a_manifest_that_is_there(kept, tmp_path):
    copy = shutil.copytree(kept, tmp_path / "model")
    forge(copy)
    assert dyparse.load(copy)
    with (copy / "vocabulary.json").open("a") as file:
        file.write("\n")
    with pytest.raises(CheckpointError, match=r"vocabulary\.json.*sha256"):
        dyparse.load(copy)


def test_an_old_model_without_metrics_is_read(tmp_path):
    copy = shutil.copytree(KEPT[0], tmp_path / "model")
    (copy / "metrics.json").unlink()
    assert dyparse.load(copy)


def test_the_weights_of_one_format_are_not_taken_for_those_of_another(tmp_path):
    copy = shutil.copytree(KEPT[0], tmp_path / "model")
    path = copy / "config.yaml"
    path.write_text(path.read_text().replace("format_version: 1", "format_version: 2"))
    with pytest.raises(CheckpointError, match=r"backwards.* is one too many"):
        dyparse.load(copy)
