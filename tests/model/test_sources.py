"""Models by the names of installed packages; that pip installs these is in tests/publishing."""

import shutil

import pytest
from helpers.saved_models import MANIFEST
from helpers.tiny import sample

import dyparse
from dyparse.errors import CheckpointError
from dyparse.model.sources import find_model
from dyparse.training.run_directory import start_by_content


@pytest.fixture
def install(model_directory, tmp_path, monkeypatch):
    """install(name, folder): put the tiny model on the path as pip would; its code has an error."""

    def make(name, folder, *, recorded=True):
        model = shutil.copytree(model_directory, tmp_path / "site" / folder)
        (model / "__init__.py").write_text("raise SystemExit('imported')")
        information = tmp_path / "site" / f"{folder}-1.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(f"Name: {name}\nVersion: 1\n")
        (information / "entry_points.txt").write_text(f"[dyparse.models]\n{name} = {folder}\n")
        (information / "RECORD").write_text(f"{folder}/{MANIFEST},,\n" * recorded)
        monkeypatch.syspath_prepend(tmp_path / "site")
        return model

    return make


@pytest.mark.parametrize("name", ["my-model", "My_Model", "my.model"])
def test_the_name_of_a_package_is_a_model_and_no_code_is_imported(install, parser, name):
    model = install("my-model", "my_model")
    assert find_model(name) == model
    sentences = sample("dev")[:3]
    assert dyparse.load(name, precision="float32").parse(sentences) == parser.parse(sentences)


def test_a_run_that_starts_from_a_package_has_one_name_for_it(install):
    install("my-model", "my_model")
    one, other = map(start_by_content, ("my-model", "My_Model"))
    assert one == other
    assert one.startswith("my-model@")


def test_a_directory_of_the_same_name_wins(install, tmp_path, monkeypatch):
    install("my-model", "my_model")
    (tmp_path / "my-model").mkdir()
    monkeypatch.chdir(tmp_path)
    assert find_model("my-model") == "my-model"


def test_a_name_of_nothing_says_what_was_looked_for_and_what_there_is(install):
    install("my-model", "my_model")
    with pytest.raises(CheckpointError) as caught:
        dyparse.load("nope")
    for part in ("nope: no such model directory, nor", "my-model", "training prints", "hf://"):
        assert part in str(caught.value)


def test_a_package_without_its_model_is_refused(install):
    install("my-model", "my_model", recorded=False)
    with pytest.raises(CheckpointError, match=r"my-model: the package .* install it again"):
        dyparse.load("my-model")
