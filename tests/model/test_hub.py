"""Models on the Hub, against a local server: only a model's own files are downloaded."""

from __future__ import annotations

import pickle
import re
import sys
from pathlib import Path

import pytest
from helpers.hub_server import COMMIT, REPOSITORY, hub_server, use_hub
from helpers.messages import assert_one_message
from helpers.saved_models import FILES, MANIFEST, Mischief
from helpers.tiny import run, sample

import dyparse
from dyparse.errors import CheckpointError, ConfigError, DyparseWarning
from dyparse.model.hub import HubModel

NAME = f"hf://{REPOSITORY}"
SENTENCES = sample("dev")[:5]


@pytest.fixture
def hub(model_directory, tmp_path, monkeypatch):
    """A server with the tiny model, a pickle and a program; its client has an empty cache."""
    files = {name: (model_directory / name).read_bytes() for name in (*FILES, MANIFEST)}
    files["model.pkl"] = pickle.dumps(Mischief(tmp_path / "unpickled"))
    files["modeling.py"] = files["encoder/code.py"] = b"raise SystemExit('run')"
    with hub_server(files) as server:
        use_hub(server.url, tmp_path, monkeypatch)
        yield server


def refused(name=NAME):
    """The message with which a model is refused."""
    with pytest.raises(CheckpointError) as caught:
        dyparse.load(name)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", [NAME, f"{NAME}@v1", f"{NAME}@{COMMIT}", Path(NAME)])
def test_a_model_is_loaded_by_its_name_and_nothing_else_is_downloaded(hub, parser, tmp_path, name):
    loaded = dyparse.load(name, precision="float32")
    assert loaded.parse(SENTENCES) == parser.parse(SENTENCES)
    assert hub.downloaded == {*FILES, MANIFEST}
    names = {path.name for path in (tmp_path / "cache").rglob("*")}
    assert not {name for name in names if name.endswith((".py", ".pkl"))}
    assert not (tmp_path / "unpickled").exists()


def test_it_is_downloaded_once_and_used_offline_with_a_warning(hub):
    dyparse.load(NAME)
    asked = len(hub.requests)
    dyparse.load(NAME)
    assert not any("resolve" in path for _, path in hub.requests[asked:])
    hub.refusal = 401
    with pytest.warns(DyparseWarning, match=rf"{NAME}: .*using the copy"):
        dyparse.load(NAME)


def test_a_command_uses_the_variables_of_the_library_and_prints_no_bar(hub, parser, tmp_path):
    source = tmp_path / "in.conllu"
    source.write_text("".join(s.to_conllu() for s in SENTENCES), encoding="utf-8")
    environment = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home")}
    command = ("dyparse", "parse", NAME, source, "--precision", "float32")
    done = run("-m", *command, cwd=tmp_path, **environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "".join(s.to_conllu() for s in parser.parse(SENTENCES))


@pytest.mark.usefixtures("hub")
def test_evaluate_takes_a_model_of_the_hub(model_directory):
    found, expected = (dyparse.evaluate(m, split="dev") for m in (NAME, model_directory))
    assert found == expected


@pytest.mark.usefixtures("hub")
def test_parse_corpus_takes_a_model_of_the_hub(dyparse_command, no_ray, tmp_path):
    source = tmp_path / "in.conllu"
    source.write_text("".join(s.to_conllu() for s in SENTENCES), encoding="utf-8")
    status, out, _ = dyparse_command("parse-corpus", NAME, source, "-o", tmp_path / "out")
    assert status == 0, out
    assert no_ray == ["in.conllu"]


def test_a_lying_manifest_is_refused(hub):
    hub.files[MANIFEST] = re.sub(rb"[0-9a-f]{64}", b"0" * 64, hub.files[MANIFEST])
    assert "its sha256 is not the one in manifest.sha256" in refused()


@pytest.mark.parametrize("name", ["modeling.py", "../config.yaml"])
def test_a_manifest_that_lists_other_files_gets_none_of_them(hub, name):
    hub.files[MANIFEST] += f"{'0' * 64}  {name}\n".encode()
    assert "expected a line for each of" in refused()
    assert hub.downloaded == {MANIFEST}


@pytest.mark.parametrize(
    ("name", "size"),
    [(MANIFEST, 1 << 20), ("config.yaml", 1 << 20), ("model.safetensors", 1 << 40)],
)
def test_a_file_that_is_too_large_is_refused_before_it_is_downloaded(hub, name, size):
    hub.announced[name] = size
    assert f"{NAME}: {name} has {size} bytes, expected at most" in refused()
    assert hub.downloaded <= {MANIFEST}


def test_a_repository_without_a_model_is_refused(hub):
    for name in (*FILES, MANIFEST):
        del hub.files[name]
    assert f"{NAME}: no {MANIFEST} in it" in refused()
    assert hub.downloaded == set()


def test_a_missing_repository_revision_or_right_is_one_message(hub, dyparse_command):
    assert "hf://me/other: no such repository, or a private one" in refused("hf://me/other")
    assert f"{NAME}@v9: no such revision" in refused(f"{NAME}@v9")
    hub.refusal = 401
    assert_one_message(dyparse_command("parse", NAME), NAME, "hf auth login")


@pytest.mark.usefixtures("hub")
def test_a_hub_that_cannot_be_reached_is_one_message(tmp_path, monkeypatch):
    use_hub("http://127.0.0.1:9", tmp_path, monkeypatch)
    assert f"{NAME}: the Hub cannot be reached" in refused()


@pytest.mark.parametrize("name", ["hf://", "hf://me", "hf://me/a/b", "hf://me/a@", "hf://me/a b\n"])
def test_a_name_that_cannot_be_one_is_refused(name):
    assert "expected hf://OWNER/NAME" in refused(name)


def test_a_name_that_the_hub_does_not_allow_is_refused(hub):
    assert refused("hf://me/a..b").startswith("hf://me/a..b: no repository can have this name")
    assert hub.requests == []


def test_without_the_extra_the_message_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ConfigError, match=re.escape('pip install "dyparse[hub]"')):
        dyparse.load(NAME)


def test_a_name_says_where_it_leads():
    assert HubModel.named("outputs/model") is None
    assert HubModel.named(f"{NAME}@a/b") == HubModel(REPOSITORY, "a/b")
    assert str(HubModel(REPOSITORY, "a/b")) == f"{NAME}@a/b"


@pytest.mark.usefixtures("hub")
def test_requests_are_no_lines_of_a_log(caplog):
    with caplog.at_level("INFO"):
        dyparse.load(NAME)
    assert not [record for record in caplog.records if "HTTP" in record.getMessage()]
