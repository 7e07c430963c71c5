"""The manifest of a model: it fits what was saved, and nothing else; saving may stop anywhere."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import torch
from helpers.saved_models import FILES, MANIFEST, assert_refused
from helpers.tiny import fresh_parser, sample

import dyparse
from dyparse.errors import CheckpointError
from dyparse.model import checkpoint, checkpoint_files


def content_of(directory):
    """All files of a directory, hidden ones too."""
    return {path.name: path.read_bytes() for path in directory.iterdir()}


@pytest.mark.skipif(not shutil.which("sha256sum"), reason="needs sha256sum")
def test_sha256sum_checks_a_model(saved):
    command = ["sha256sum", "--check", "--strict", MANIFEST]
    done = subprocess.run(command, cwd=saved, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == sorted(f"{name}: OK" for name in FILES)
    (saved / "metrics.json").write_text("{}")
    done = subprocess.run(command, cwd=saved, capture_output=True, text=True, check=False)
    assert done.returncode == 1


def test_a_model_without_its_manifest_is_refused(saved):
    (saved / MANIFEST).unlink()
    assert_refused(saved, saved / MANIFEST, "missing")


LINE = f"{'0' * 64}  "


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[:0],
        lambda text: text[:-1],
        lambda text: text + "\n",
        lambda text: text + text,
        lambda text: text + "x",
        lambda text: text + f"{LINE}../config.yaml\n",
        lambda text: text + f"{LINE}/etc/passwd\n",
        lambda text: text + f"{LINE}training.pt\n",
        lambda text: text + f"{LINE}config.yaml\n",
        lambda text: text.replace("config.yaml", "../model/config.yaml"),
        lambda text: text.replace("config.yaml", "./config.yaml"),
        lambda text: text.replace("config.yaml", "metrics.json"),
        lambda text: text.replace("  ", " ", 1),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\\" + text,
        lambda text: text.upper(),
        lambda text: "\n".join(text.splitlines()[1:]) + "\n",
        lambda text: "\N{FULLWIDTH DIGIT ONE}" + text[1:],
    ],
)
def test_a_manifest_of_other_files_or_another_form_is_refused(saved, change):
    path = saved / MANIFEST
    path.write_bytes(change(path.read_text()).encode())
    assert_refused(saved, path, "damaged")


def test_new_metrics_leave_a_model_that_fits_its_manifest(saved):
    before = content_of(saved)
    checkpoint.write_metrics(saved, {"las": 12.5})
    assert checkpoint.read_metrics(saved) == {"las": 12.5}
    assert dyparse.load(saved)
    changed = {name for name, content in content_of(saved).items() if before[name] != content}
    assert changed == {"metrics.json", MANIFEST}


def test_new_metrics_do_not_make_up_for_damage(saved):
    with (saved / "vocabulary.json").open("a") as file:
        file.write(" ")
    checkpoint.write_metrics(saved, {})
    assert_refused(saved, saved / "vocabulary.json", "sha256")


def test_what_would_be_refused_is_not_saved(saved, monkeypatch):
    before = content_of(saved)
    parser = dyparse.load(saved, precision="float32")
    monkeypatch.setitem(checkpoint_files.MOST_BYTES, "metrics.json", 1000)
    with pytest.raises(CheckpointError, match=r"metrics\.json: not saved"):
        parser.save(saved, {"much": "x" * 1000})
    with pytest.raises(CheckpointError, match=r"metrics\.json: not saved"):
        checkpoint.write_metrics(saved, {"much": "x" * 1000})
    with torch.no_grad():
        parser.model.hidden_bias[3] = torch.nan
    with pytest.raises(CheckpointError, match=r"not saved, for hidden_bias .*learning_rate"):
        parser.save(saved, {})
    assert content_of(saved) == before


def test_weights_of_another_precision_are_saved_as_they_are_read(saved):
    parser = dyparse.load(saved, precision="float32")
    parser.model.bfloat16()
    parser.save(saved, {})
    loaded = dyparse.load(saved, precision="float32")
    assert {p.dtype for p in loaded.model.parameters()} == {torch.float32}


class CrashError(BaseException):
    """The machine stops: nothing is tidied up."""


def crash_at(monkeypatch, function, number):
    """Let the machine stop before this call of a method of Path; what follows does nothing."""
    calls = 0
    original = getattr(Path, function)

    def stops(self, *arguments, **options):
        nonlocal calls
        calls += 1
        if calls > number:
            raise CrashError
        return original(self, *arguments, **options)

    monkeypatch.setattr(Path, function, stops)
    monkeypatch.setattr(Path, "unlink", lambda *_, **__: None)


def outcome(directory):
    """What is read: the hidden layer's bias and a figure, or why nothing is."""
    try:
        loaded = dyparse.load(directory, precision="float32")
        return loaded.model.hidden_bias.tolist(), checkpoint.read_metrics(directory)["seed"]
    except CheckpointError as error:
        return str(error)


def two_parsers(directory):
    """A saved parser, and another of the same shapes."""
    old, new = (fresh_parser(sample("train")[:5], seed=seed) for seed in (1, 2))
    for number, parser in enumerate((old, new), 1):
        parser.model.hidden_bias.data.fill_(number)
    old.save(directory, {"seed": 1})
    return old, new


@pytest.mark.parametrize("renamed", range(len(FILES) + 2))
def test_a_crash_between_any_two_files_leaves_the_old_model_the_new_one_or_an_error(
    tmp_path, monkeypatch, renamed
):
    old, new = two_parsers(tmp_path / "model")
    with monkeypatch.context() as patch:
        crash_at(patch, "replace", renamed)
        if renamed <= len(FILES):
            with pytest.raises(CrashError):
                new.save(tmp_path / "model", {"seed": 2})
        else:
            new.save(tmp_path / "model", {"seed": 2})
    expected = [(p.model.hidden_bias.tolist(), seed) for seed, p in enumerate((old, new), 1)]
    found = outcome(tmp_path / "model")
    assert found in expected or "interrupted" in found
    if renamed == 0:
        assert found == expected[0]
    elif renamed > len(FILES):
        assert found == expected[1]
    new.save(tmp_path / "model", {"seed": 2})  # saving again repairs it
    assert outcome(tmp_path / "model") == expected[1]


@pytest.mark.parametrize("written", range(len(FILES) + 1))
def test_a_disk_that_fills_up_at_any_file_leaves_the_old_model(tmp_path, monkeypatch, written):
    _, new = two_parsers(tmp_path / "model")
    before = content_of(tmp_path / "model")
    original, calls = Path.write_bytes, []

    def full(self, content):
        calls.append(self)
        if len(calls) > written:
            original(self, content[: len(content) // 2])
            raise OSError(28, "No space left on device", str(self))
        return original(self, content)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(OSError, match="No space"):
            new.save(tmp_path / "model", {"seed": 2})
    assert content_of(tmp_path / "model") == before


@pytest.mark.parametrize("flushed", range(len(FILES) + 1))
def test_a_disk_that_fails_to_flush_any_file_leaves_the_old_model(tmp_path, monkeypatch, flushed):
    _, new = two_parsers(tmp_path / "model")
    before = content_of(tmp_path / "model")
    original, calls = os.fsync, []

    def fails(descriptor):
        calls.append(descriptor)
        if len(calls) > flushed:
            raise OSError(5, "Input/output error")
        original(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fails)
        with pytest.raises(OSError, match="Input/output"):
            new.save(tmp_path / "model", {"seed": 2})
    assert content_of(tmp_path / "model") == before
