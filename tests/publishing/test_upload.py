"""`dyparse push` against a local server: one commit with model and card, or one message."""

from pathlib import Path

import pytest
from helpers.hub_server import REPOSITORY, hub_server, use_hub
from helpers.messages import assert_one_message
from helpers.saved_models import FILES, MANIFEST

import dyparse


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A server with an empty repository."""
    with hub_server({}) as server:
        use_hub(server.url, tmp_path, monkeypatch)
        yield server


def calls(hub):
    """What was asked of the server, by the last parts of the paths."""
    return [path for method, path in hub.requests if method == "POST"]


def test_a_model_is_pushed_with_its_card_in_one_commit_and_can_be_loaded(
    hub, dyparse_command, model_directory
):
    given = ("push", model_directory, REPOSITORY, "--license", "mit", "--private")
    status, out, err = dyparse_command(*given)
    assert (status, err) == (0, "")
    assert f"dyparse.load('hf://{REPOSITORY}')" in out
    assert hub.files.keys() == {*FILES, MANIFEST, "README.md"}
    for name in (*FILES, MANIFEST):
        assert hub.files[name] == (model_directory / name).read_bytes()
    assert b"license: mit\nlibrary_name: dyparse\n" in hub.files["README.md"]
    assert sum("/commit/" in path for path in calls(hub)) == 1
    bodies = zip(hub.requests, hub.bodies, strict=True)
    (created,) = (body for (_, path), body in bodies if path == "/api/repos/create")
    assert b'"name":"model"' in created.replace(b" ", b"")
    assert b"private" in created
    assert dyparse.load(f"hf://{REPOSITORY}")


def test_a_model_is_pushed_in_half_precision_with_a_manifest_that_fits(
    hub, dyparse_command, model_directory
):
    assert dyparse_command("push", model_directory, REPOSITORY, "--half")[0] == 0
    full = (model_directory / "model.safetensors").stat().st_size
    assert len(hub.files["model.safetensors"]) < 0.6 * full
    assert dyparse.load(f"hf://{REPOSITORY}")


def test_a_branch_is_made_for_a_revision(hub, dyparse_command, model_directory):
    status, out, _ = dyparse_command("push", model_directory, REPOSITORY, "--revision", "v1")
    assert status == 0
    assert f"hf://{REPOSITORY}@v1" in out
    assert f'dyparse.load("hf://{REPOSITORY}@v1")' in hub.files["README.md"].decode()
    assert [path.split("/")[-2:] for path in calls(hub) if "branch" in path] == [["branch", "v1"]]
    assert calls(hub)[-1].endswith("/commit/v1")


def test_a_dry_run_prints_card_and_files_and_asks_nobody(hub, dyparse_command, model_directory):
    status, out, err = dyparse_command("push", model_directory, REPOSITORY, "--dry-run")
    assert (status, err, hub.requests) == (0, "", [])
    assert out.startswith("---\nlibrary_name: dyparse\n")
    assert all(name in out for name in (*FILES, MANIFEST, "README.md"))
    assert str(model_directory) not in out


def test_what_cannot_be_pushed_is_one_message(hub, dyparse_command, model_directory, tmp_path):
    push = ("push", model_directory)
    assert_one_message(dyparse_command("push", tmp_path / "none", REPOSITORY), "no such model")
    assert_one_message(dyparse_command(*push, "model"), "expected OWNER/NAME")
    assert_one_message(dyparse_command(*push, REPOSITORY, "--license", "free"), "spdx.org")
    assert hub.requests == []
    for refusal in (401, 403):
        hub.refusal = refusal
        assert_one_message(dyparse_command(*push, REPOSITORY), REPOSITORY, "hf auth login")


def test_a_damaged_model_is_not_pushed(hub, dyparse_command, saved: Path):
    (saved / "metrics.json").write_text("{}")
    assert_one_message(dyparse_command("push", saved, REPOSITORY), saved / "metrics.json")
    assert hub.requests == []
