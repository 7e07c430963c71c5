"""A training that is interrupted resumes: to the same weights and figures as an undisturbed one."""

import hashlib
import io
import json
import os
import resource
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers.tiny import PROJECT, fresh_parser, plan, run, sample
from safetensors.torch import load_file

from dyparse.errors import CheckpointError, DyparseWarning
from dyparse.exploration.dagger_replay import DaggerReplay
from dyparse.exploration.explore import Explore
from dyparse.training import loop
from dyparse.training.resume import NAME, Progress, TrainingFile, seal
from dyparse.training.session import Session
from dyparse.training.settings import TrainingSettings

TRAIN, DEV = sample("train")[:30], sample("dev")[:10]
SETTINGS = TrainingSettings(
    epochs=4, max_tokens_per_batch=60, learning_rate=1e-2, average_decay=0.5
)
TIMES = {"seconds", "tokens_per_second"}
SMALL = [
    *(
        "trainer=debug",
        "tokenizer=plain",
        "trainer.epochs=4",
        "trainer.max_tokens_per_batch=60",
        "threads=1",
    ),
    *("encoder.hidden=20", "encoder.layers=1", "network.hidden=20", "trainer.precision=float32"),
]


def sealed(data):
    """A state's file with this content, intact or not."""
    return seal(hashlib.sha256(data).hexdigest()) + data


def without_times(curve):
    return [{k: v for k, v in figures.items() if k not in TIMES} for figures in curve]


def train(task, file=None, *, settings=SETTINGS, stop_after=None):
    """Train, perhaps up to an epoch only; figures, weights, averaged weights."""
    parser, averages, curve = fresh_parser(TRAIN), [], []
    session = Session(settings, parser, task)
    epochs = loop.train(session, lambda best, _: averages.append(best), file)
    for figures in epochs:
        curve.append(figures)
        if figures["epoch"] == stop_after:
            break
    epochs.close()
    weights = {name: tensor.clone() for name, tensor in parser.model.state_dict().items()}
    return without_times(curve), weights, averages[-1].model.state_dict() if averages else {}


def assert_same_weights(one, other):
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("exploration", [Explore(), DaggerReplay()])
@pytest.mark.parametrize("epoch", [1, 3])
def test_after_an_epoch_a_training_resumes_to_the_same_weights(tmp_path, exploration, epoch):
    task = plan(TRAIN, DEV, exploration=exploration)
    curve, weights, average = train(task)
    file = TrainingFile(tmp_path / NAME, "options")
    first, *_ = train(task, file, stop_after=epoch)
    assert first == curve[:epoch]
    resumed, weights_resumed, average_resumed = train(
        task, TrainingFile(tmp_path / NAME, "options")
    )
    assert resumed == curve
    assert_same_weights(weights, weights_resumed)
    if average_resumed:  # no epoch after the interruption need be the best
        assert_same_weights(average, average_resumed)


def test_within_an_epoch_too(tmp_path, monkeypatch):
    task = plan(TRAIN, DEV, exploration=DaggerReplay())
    curve, weights, _ = train(task)
    file = TrainingFile(tmp_path / NAME, "options", minutes=1e-9)  # after every batch
    saves, real = [], TrainingFile.save

    def save_and_stop(self, session, progress):
        real(self, session, progress)
        saves.append((progress.epoch, progress.step))
        if saves[-1] == (2, 5):
            raise KeyboardInterrupt

    monkeypatch.setattr(TrainingFile, "save", save_and_stop)
    with pytest.raises(KeyboardInterrupt):
        train(task, file)
    resumed, weights_resumed, _ = train(task, TrainingFile(tmp_path / NAME, "options"))
    assert saves[0] == (1, 1)
    assert resumed == curve
    assert_same_weights(weights, weights_resumed)


def test_the_state_of_another_training_is_not_resumed(tmp_path):
    task = plan(TRAIN, DEV)
    train(task, TrainingFile(tmp_path / NAME, "one"), stop_after=2)
    curve, *_ = train(task, TrainingFile(tmp_path / NAME, "another"))
    assert [figures["epoch"] for figures in curve] == [1, 2, 3, 4]
    assert curve == train(task)[0]


def test_patience_is_kept_over_an_interruption(tmp_path):
    settings = replace(SETTINGS, epochs=9, patience=3, learning_rate=1e-12, weight_decay=0.0)
    task = plan(TRAIN[:5], DEV[:3])
    train(task, TrainingFile(tmp_path / NAME, "o"), settings=settings, stop_after=2)
    curve, *_ = train(task, TrainingFile(tmp_path / NAME, "o"), settings=settings)
    assert [figures["epoch"] for figures in curve] == [1, 2, 3, 4]


@pytest.mark.parametrize("content", [b"", b"no state", b"PK\x03\x04 half a file", sealed(b"PK")])
def test_a_damaged_state_is_refused_with_the_remedy(tmp_path, content):
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(CheckpointError, match=r"training\.state.*resume=false"):
        train(plan(TRAIN, DEV), TrainingFile(tmp_path / NAME, "options"))


def test_a_state_of_which_a_single_bit_has_changed_is_refused(tmp_path):
    path = tmp_path / NAME
    train(plan(TRAIN, DEV), TrainingFile(path, "options"), stop_after=1)
    sound = path.read_bytes()
    for place in np.random.default_rng(1).integers(len(sound), size=20):
        changed = bytearray(sound)
        changed[place] ^= 1
        path.write_bytes(changed)
        with pytest.raises(CheckpointError, match=r"training\.state.*resume=false"):
            TrainingFile(path, "options").fits()
    path.write_bytes(sound)
    assert TrainingFile(path, "options").fits()


def test_a_disk_that_is_full_halfway_leaves_the_old_state(tmp_path):
    path, task = tmp_path / NAME, plan(TRAIN, DEV)
    train(task, TrainingFile(path, "options"), stop_after=1)
    sound, limits = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    file = TrainingFile(path, "options")
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))  # bytes
    try:
        with pytest.warns(DyparseWarning, match=r"File too large; the training continues"):
            file.save(Session(SETTINGS, fresh_parser(TRAIN), task), Progress())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [p.name for p in tmp_path.iterdir()] == [NAME]
    assert path.read_bytes() == sound


def test_a_state_that_would_run_code_is_refused(tmp_path):
    class Evil:
        def __reduce__(self):
            return (os.mkdir, (str(tmp_path / "ran"),))

    buffer = io.BytesIO()
    torch.save({"options": "options", "progress": Evil()}, buffer)
    (tmp_path / NAME).write_bytes(sealed(buffer.getvalue()))
    with pytest.raises(CheckpointError, match="cannot be used"):
        train(plan(TRAIN, DEV), TrainingFile(tmp_path / NAME, "options"))
    assert not (tmp_path / "ran").exists()


def killed(command, cwd, when):
    """Start a program, kill it when something is so; what it printed."""
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    deadline = time.monotonic() + 120
    while process.poll() is None and not when() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    return process.communicate()[0]


def test_the_same_command_after_a_kill_gives_the_model_of_an_undisturbed_run(tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    done = run("train.py", *SMALL, f"output={whole}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not (whole / NAME).exists()
    command = [sys.executable, str(PROJECT / "train.py"), *SMALL, f"output={broken}"]
    printed = killed([*command, "checkpoint_minutes=0.0001"], tmp_path, (broken / NAME).exists)
    assert not (broken / "result.json").exists(), printed
    again = run("train.py", *SMALL, f"output={broken}", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "resuming" in again.stdout
    one, other = (load_file(path / "model" / "model.safetensors") for path in (whole, broken))
    assert_same_weights(one, other)
    curves = [
        [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]
        for path in (whole, broken)
    ]
    assert without_times(curves[0]) == without_times(curves[1])
    assert not (broken / NAME).exists()
    third = run("train.py", *SMALL, f"output={broken}", "resume=false", cwd=tmp_path)
    assert third.returncode == 0
    assert "resuming" not in third.stdout
